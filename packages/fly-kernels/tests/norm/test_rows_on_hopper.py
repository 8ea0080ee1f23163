# SPDX-License-Identifier: Apache-2.0
"""Row kernels on NVIDIA Hopper: which of them begin while the launches before them end. No device is asked for."""

import pytest
import torch

import flydsl.compiler as flyc
from flydsl.kernels.common.row_plan import RowConfig
from flydsl.kernels.layernorm_kernel import build_layernorm_module
from flydsl.kernels.rmsnorm_kernel import build_rmsnorm_module
from flydsl.kernels.softmax_kernel import build_softmax_module


def operands(builder, columns):
    matrix, vector = torch.empty(4, columns, dtype=torch.bfloat16), torch.empty(columns, dtype=torch.bfloat16)
    vectors = {build_softmax_module: 0, build_rmsnorm_module: 1, build_layernorm_module: 2}[builder]
    return [matrix, *[vector] * vectors, matrix, 4]


@pytest.mark.once
@pytest.mark.parametrize("builder", [build_softmax_module, build_rmsnorm_module, build_layernorm_module])
@pytest.mark.parametrize(("columns", "config"), [(1024, None), (2048, None), (16384, None), (512, RowConfig(block=64))])
def test_rows_wait_by_themselves(builder, columns, config, monkeypatch):
    """With workgroups of 64 threads the instruction that lets others begin takes too long."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    compiled = flyc.compile.only(builder(columns, "bf16", config=config), *operands(builder, columns), None)
    (kernel,) = compiled.note["kernels"]
    assert kernel["griddepcontrol_wait"] is True
    few = config is not None or (columns, builder) == (1024, build_softmax_module)
    assert kernel["block"][0] == (64 if few else 256 if columns in (1024, 16384) else 128)
    assert ("griddepcontrol.launch_dependents" in compiled.ir("isa")) is not few


@pytest.mark.once
@pytest.mark.parametrize("builder", [build_softmax_module, build_layernorm_module])
@pytest.mark.parametrize(("columns", "loads"), [(1024, 4), (16384, 8), (1000, 3), (1001, 0), (100_000, 0)])
def test_rows_are_read_by_a_policy_of_the_cache(builder, columns, loads, monkeypatch):
    """Whole vectors of 16 bytes that all threads have, of rows that are read once."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    compiled = flyc.compile.only(builder(columns, "bf16"), *operands(builder, columns), None)
    few = columns in (1000, 1024) and builder is build_softmax_module  # of two waves a row
    assert compiled.ir("isa").count("L2::cache_hint") == (loads // 2 if few else loads)
