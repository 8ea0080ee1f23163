# SPDX-License-Identifier: Apache-2.0
"""The problems that searches are run on."""

import pytest
import torch

from flydsl.autotune import Config
from flydsl.kernels.tuning import gemm_problem
from flydsl.kernels.tuning.device import peak
from flydsl.kernels.tuning.gemm import gemm_estimate


@pytest.mark.parametrize("in_dtype", ["fp8", "int8"])
def test_products_with_scales_are_a_problem_too(in_dtype):
    tuned, arguments = gemm_problem(16, 64, 256, in_dtype=in_dtype, sampled=False)  # sanitizers see whole launches
    a, b, out, scale_a, scale_b, *_ = arguments
    assert (a.element_size(), b.dtype, out.dtype) == (1, a.dtype, torch.bfloat16)
    assert (scale_a.shape, scale_b.shape) == ((16,), (64,))
    candidates = tuned.describe(arguments).candidates
    assert all(one.to_dict()["tile_m"] == 16 for one in candidates), "there are no rows for more"
    assert tuned.evaluate(candidates[0], arguments).milliseconds > 0


def test_limits_that_are_close_to_each_other_both_cost(arch):
    """Few rows are held up by memory, whatever K's parts are; more of them also wait less for loads."""
    named = {"arch": arch, "in_dtype": "bf16", "M": 32, "N": 4096, "K": 4096}
    parts = [Config(tile_m=32, tile_n=64, split_k=split, waves=None) for split in (2, 4)]
    two, four = (gemm_estimate(one, named) for one in parts)
    least = (32 * 4096 + 4096 * 4096) * 2 / peak().hbm
    assert least < four < two


def test_a_type_without_a_problem():
    with pytest.raises(ValueError, match="in_dtype 'f64': the problem is made of one of bf16, fp16, int8, fp8"):
        gemm_problem(16, 64, 256, in_dtype="f64")
