# SPDX-License-Identifier: Apache-2.0
"""The f16 / bf16 GEMM of torch tensors, with and without chosen parameters."""

import pytest
import torch
from references import FLOATS, Problem

from flydsl.kernels.gemm.gemm_a16w16_gfx950 import (
    GemmA16W16Param,
    gemm_a16w16,
    gemm_a16w16_gfx950,
    make_gemm_a16w16_gfx950_kernel_name,
    make_gemm_a16w16_gfx950_param,
    make_gemm_a16w16_param_and_validate,
)


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize(
    ("shape", "kwargs"),
    [
        ((32, 192, 2560), {"block_m": 32, "block_n": 64, "m_waves": 1, "split_k": 8}),
        ((40, 128, 512), {"block_m": 32, "block_n": 64, "m_waves": 1, "n_waves": 2, "k_waves": 2}),
        ((20, 64, 1024), {"block_m": 32, "block_n": 64, "m_waves": 1, "n_waves": 1, "k_waves": 4, "split_k": 2}),
        ((20, 64, 512), {"block_m": 16, "block_n": 64, "m_waves": 1, "n_waves": 4, "k_waves": 2}),
        ((40, 132, 512), {"block_m": 32, "block_n": 64, "m_waves": 1, "n_waves": 2, "k_waves": 4}),
        ((20, 128, 512), {"block_m": 16, "block_n": 64, "m_waves": 1, "n_waves": 1, "k_waves": 8, "split_k": 2}),
        ((3, 640, 320), {}),
        ((40, 260, 512), {"block_m": 64, "block_n": 128, "group_m": 4}),
        ((300, 256, 128), {"use_half_tile_interleaved": True}),
    ],
)
def test_against_float64(run, arch, dtype, shape, kwargs):
    problem = Problem(*shape, dtype, dtype, arch=arch)
    out = problem.output()
    run(lambda: gemm_a16w16(problem.a, problem.b.t(), out, user_kwargs=kwargs), writes=[out])
    problem.check(out)


@pytest.mark.parametrize(("stages", "tiles"), [(3, 4), (4, 9), (5, 4), (5, 5)])
def test_stages(run, arch, stages, tiles):
    problem = Problem(33, 128, 2 * 64 * tiles, "bf16", arch=arch)
    kwargs = {"block_m": 32, "block_n": 64, "m_waves": 1, "stages": stages, "split_k": 2}
    out = problem.output()
    if arch != "gfx950":
        with pytest.raises(ValueError, match=f"stages = {stages}: more than 2 need the loads .* of gfx950"):
            gemm_a16w16(problem.a, problem.b.t(), out, user_kwargs=kwargs)
        return
    run(lambda: gemm_a16w16(problem.a, problem.b.t(), out, user_kwargs=kwargs), writes=[out])
    problem.check(out)


def test_stages_of_waves_along_k(run, arch):
    """64 columns over 8 waves, which divide each stage of K."""
    if arch != "gfx950":
        pytest.skip("stages of loads that go directly to LDS are gfx950's")
    problem = Problem(20, 128, 64 * 8 * 4, "bf16", arch=arch)
    kwargs = {"block_m": 16, "block_n": 64, "block_k": 128, "m_waves": 1, "k_waves": 2, "stages": 4, "split_k": 2}
    out = problem.output()
    run(lambda: gemm_a16w16(problem.a, problem.b.t(), out, user_kwargs=kwargs), writes=[out])
    problem.check(out)


@pytest.mark.parametrize("out_dtype", ["bf16", "f32"])
def test_output_is_made_and_bias_added(arch, out_dtype):
    problem = Problem(17, 64, 256, "bf16", out_dtype, arch=arch, epilogue="bias")
    out = gemm_a16w16(problem.a, problem.b.t(), bias=problem.bias, out_dtype=FLOATS[out_dtype])
    assert out.dtype == FLOATS[out_dtype]
    assert out.shape == (17, 64)
    problem.check(out)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [8, 64, 512])
def test_sweep_of_rows(run, arch, rows):
    problem = Problem(rows, 512, 1024, "bf16", arch=arch)
    out = problem.output()
    run(lambda: gemm_a16w16(problem.a, problem.b.t(), out), writes=[out])
    problem.check(out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"layout": "xy"}, "layout is 'nn', 'nt', 'tn' or 'tt'"),
        ({"layout": "nn"}, r"says that b is row-major; its strides are \(1, 64\)"),
        ({"layout": "tt"}, r"says that a is column-major; its strides are \(64, 1\)"),
        ({"out_dtype": torch.float16}, "out is of the type of a or float32"),
        ({"user_kwargs": {"block_q": 3}}, "has no parameter 'block_q'"),
        ({"user_kwargs": {"m_waves": 4, "n_waves": 8}}, "is more than 16 waves"),
        ({"user_kwargs": {"k_waves": 4}}, "is more than 16 waves"),
        ({"user_kwargs": {"k_waves": 0}}, "must be a positive integer, got 0"),
        ({"user_kwargs": {"use_half_tile_interleaved": True}}, "needs an even number of tiles along K"),
        ({"user_kwargs": {"stages": 1}}, "stages must be at least 2"),
        ({"user_kwargs": {"block_m": 40}}, "tile_m = 40 is no multiple"),
        ({"user_kwargs": {"block_k": 96}}, "K = 64 is no multiple of split_k"),
    ],
)
def test_refusals(arguments, said):
    a, b = torch.zeros(16, 64, dtype=torch.bfloat16), torch.zeros(64, 64, dtype=torch.bfloat16).t()
    with pytest.raises(ValueError, match=said):
        gemm_a16w16(a, b, **arguments)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_storages(run, arch, layout):
    problem = Problem(24, 64, 128, "bf16", arch=arch)
    a = problem.a if layout[0] == "n" else problem.a.t().contiguous().t()
    b = problem.b.t() if layout[1] == "t" else problem.b.t().contiguous()
    out = problem.output()
    run(lambda: gemm_a16w16(a, b, out, layout=layout), writes=[out])
    problem.check(out)


@pytest.mark.parametrize("split_k", [1, 2])
def test_with_parameters(run, arch, split_k):
    problem = Problem(40, 128, 512, "bf16", arch=arch)
    param = make_gemm_a16w16_gfx950_param(block_m=32, block_n=64, m_waves=1, split_k=split_k)
    counters, out = torch.zeros(256, dtype=torch.int32), problem.output()
    arguments = (out, problem.a, problem.b.t(), None, counters, counters, split_k, param, None)
    run(gemm_a16w16_gfx950, *arguments, writes=[out])
    problem.check(out)
    with pytest.raises(ValueError, match=f"split_k = 3, but the parameters say {split_k}"):
        gemm_a16w16_gfx950(*arguments[:6], 3, param)


def test_parameters():
    param = make_gemm_a16w16_gfx950_param(block_m=64, block_n=128, m_waves=1)
    assert param == GemmA16W16Param(block_m=64, block_n=128, m_waves=1)
    names = {make_gemm_a16w16_gfx950_kernel_name(one) for one in (param, GemmA16W16Param(split_k=2), GemmA16W16Param())}
    assert len(names) == 3
    assert make_gemm_a16w16_param_and_validate(64, 128, 256, {}) == GemmA16W16Param()
    assert make_gemm_a16w16_param_and_validate(64, 128, 100, {}) is None
    assert make_gemm_a16w16_param_and_validate(64, 126, 256, {}) is None
    assert make_gemm_a16w16_param_and_validate(64, 128, 256, {"stages": 0}) is None
