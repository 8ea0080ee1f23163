# SPDX-License-Identifier: Apache-2.0
"""f16 and bf16 GEMMs with split K by the names of older code, against float64."""

import pytest
import torch
from references import FLOATS, HALF_ULP, Problem

from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel, get_default_kwargs, hgemm_splitk_
from flydsl.kernels.gemm.small_m_hgemm import compile_small_m_hgemm_kernel

SMALL = {"TILE_M": 16, "TILE_N": 64, "TILE_K": 32, "BLOCK_M_WARPS": 1}


def counters_of(launch):
    semaphore, signal = (torch.zeros(256, dtype=torch.int32) for _ in range(2))
    return launch, semaphore, signal


def check(problem, c, parts=1):
    """`problem.check`, with a rounding for each part of K that is added to what is there."""
    if parts > 1:
        magnitude = problem.a.double().abs() @ problem.b.double().abs().t()
        problem.error = problem.error + (magnitude + problem.expected.abs()) * (parts + 1) * HALF_ULP[problem.out_dtype]
    problem.check(c)


@pytest.mark.parametrize(
    ("dtype", "shape", "options"),
    [
        ("bf16", (33, 64, 128), SMALL | {"HAS_BIAS": True}),
        ("f16", (20, 128, 256), SMALL | {"SPLIT_K": 2, "HAS_BIAS": True}),
        ("bf16", (17, 64, 512), SMALL | {"SPLIT_K": 4}),
        ("bf16", (70, 64, 128), {"TILE_M": 64, "TILE_N": 64, "TILE_K": 32, "B_TO_LDS": True}),
        ("f16", (33, 64, 256), SMALL | {"TILE_M": 32, "B_TO_LDS": True, "SPLIT_K": 2}),
        ("f16", (16, 64, 256), SMALL | {"BLOCK_K_WARPS": 2}),
        ("bf16", (16, 64, 512), SMALL | {"BLOCK_K_WARPS": 4, "BLOCK_N_WARPS": 1, "SPLIT_K": 2, "TILE_K": 128}),
    ],
)
def test_launchers(run, arch, dtype, shape, options):
    name, (M, N, K) = {"f16": "fp16"}.get(dtype, dtype), shape
    problem = Problem(*shape, name, name, arch=arch, epilogue="bias" if options.get("HAS_BIAS") else "none")
    launch, semaphore, signal = counters_of(compile_hgemm_kernel(dtype, N, K, **options))
    c, parts = problem.output(), options.get("SPLIT_K", 1)
    arguments = c, problem.a, problem.b, problem.bias, M, semaphore, signal
    # Which of the parts comes first decides how they are rounded.
    run(launch, *arguments, writes=[c], same_bits=parts == 1)
    check(problem, c, parts)


def test_other_rows_of_the_same_kernel(run, arch):
    launch, semaphore, signal = counters_of(compile_hgemm_kernel("bf16", 64, 128, SPLIT_K=2, **SMALL))
    for rows in (1, 33, 16, 0):
        problem = Problem(rows, 64, 128, "bf16", arch=arch, seed=rows)
        c = problem.output()
        run(launch, c, problem.a, problem.b, problem.bias, rows, semaphore, signal, writes=[c], same_bits=False)
        check(problem, c, 2)


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize(
    ("leading", "options"),
    [((2, 3), None), ((1,), {}), ((70,), SMALL | {"SPLIT_K": 4}), ((40,), SMALL | {"B_TO_LDS": True, "TILE_M": 32})],
)
def test_of_tensors(arch, dtype, leading, options):
    rows = torch.Size(leading).numel()
    problem = Problem(rows, 128, 512, dtype, dtype, arch=arch, epilogue="bias")
    c = torch.full((*leading, 128), float("nan"), dtype=FLOATS[dtype])
    assert hgemm_splitk_(c, problem.a.view(*leading, 512), problem.b, problem.bias, options) is c
    problem.check(c.view(rows, 128))  # parts are rounded once, whatever their number


@pytest.mark.parametrize("shape", [(1, 2112, 7168), (16, 384, 7168), (33, 48, 96), (5000, 8192, 8192), (64, 144, 320)])
def test_default_options_can_be_built(arch, shape):
    options = get_default_kwargs(*shape)
    assert compile_hgemm_kernel("bf16", *shape[1:], **options)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dtype": "f32"}, "dtype 'f32' is not supported"),
        ({"n": 100}, "n = 100 is no multiple of TILE_N = 64"),
        ({"k": 96, "SPLIT_K": 2}, r"k = 96 is no multiple of SPLIT_K \* TILE_K = 2 \* 32"),
        ({"k": 32}, "STAGES = 2 needs as many tiles"),
        ({"STAGES": 1}, "STAGES is 2 or more"),
        ({"STAGES": 3, "B_TO_LDS": True}, "B_TO_LDS has two"),
        ({"BLOCK_M_WARPS": 4, "BLOCK_N_WARPS": 8}, "are not 1, 2, 4, 8 or 16 waves"),
        ({"BLOCK_N_WARPS": 8}, "no multiples of 16 for each of 1 x 8"),
        ({"TILE_M": 256, "TILE_N": 256, "n": 256, "SPLIT_K": 2}, "256 x 256 has TILE_K = 64"),
        ({"B_TO_LDS": True, "BLOCK_K_WARPS": 2}, "B_TO_LDS has no waves along K"),
        ({"TILE_K": 48, "k": 480}, "TILE_K = 48 is no multiple of 32"),
    ],
)
def test_refusals(change, said):
    with pytest.raises(ValueError, match=said):
        compile_hgemm_kernel(**({"dtype": "bf16", "n": 64, "k": 256} | SMALL | change))


def test_three_stages(run, arch):
    if arch != "gfx950":
        with pytest.raises(ValueError, match="STAGES = 3: gfx942 has no loads of 16 bytes a lane to LDS"):
            compile_hgemm_kernel("bf16", 64, 256, STAGES=3, **SMALL)
        return
    problem = Problem(20, 64, 256, "bf16", arch=arch)
    launch, semaphore, signal = counters_of(compile_hgemm_kernel("bf16", 64, 256, STAGES=3, **SMALL))
    c = problem.output()
    run(launch, c, problem.a, problem.b, problem.bias, 20, semaphore, signal, writes=[c])
    problem.check(c)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda a, b: hgemm_splitk_(a, a, b), r"c: expected \(16, 64\) of torch.bfloat16, got \(16, 128\)"),
        (lambda a, b: hgemm_splitk_(a[:, :64].half(), a, b), "of torch.float16"),
        (lambda a, b: hgemm_splitk_(a[:, :64], a, b), "c must be contiguous"),
        (lambda a, b: hgemm_splitk_(a.new_empty(16, 64), a, b, None, {"TILE": 1}), "unknown option 'TILE'"),
        (lambda a, b: hgemm_splitk_(a.new_empty(16, 64), a, b, None, {"HAS_BIAS": True}), "HAS_BIAS says another"),
        (lambda a, b: hgemm_splitk_(a.new_empty(16, 64), a.float(), b), "a is torch.float32"),
    ],
)
def test_tensors_that_do_not_fit(call, said):
    a, b = torch.zeros(16, 128, dtype=torch.bfloat16), torch.zeros(64, 128, dtype=torch.bfloat16)
    with pytest.raises(ValueError, match=said):
        call(a, b)


@pytest.mark.parametrize(
    "options",
    [
        {"TILE_N": 64, "TILE_K": 32, "HAS_BIAS": True, "WAVES_PER_EU_HINT": 2},
        {"TILE_N": 32, "TILE_K": 32, "N_TILE_REPEAT": 2, "PERSISTENT_N_TILES": 2, "SPLIT_K": 2},
        {"TILE_N": 64, "TILE_K": 64, "B_TO_LDS": True, "B_TO_LDS_UNROLL": 1},
    ],
)
def test_few_rows(run, arch, options):
    if arch != "gfx950":
        with pytest.raises(ValueError, match="is for gfx950, not for gfx942"):
            compile_small_m_hgemm_kernel("bf16", 128, 256, **options)
        return
    problem = Problem(5, 128, 256, "bf16", arch=arch, epilogue="bias" if "HAS_BIAS" in options else "none")
    launch, semaphore, signal = counters_of(compile_small_m_hgemm_kernel("bf16", 128, 256, **options))
    c, parts = problem.output(), options.get("SPLIT_K", 1)
    arguments = c, problem.a, problem.b, problem.bias, 5, semaphore, signal
    run(launch, *arguments, writes=[c], same_bits=parts == 1)
    check(problem, c, parts)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dtype": "f16"}, "dtype is 'bf16', got 'f16'"),
        ({"N_TILE_REPEAT": 0}, "N_TILE_REPEAT must be a positive"),
        ({"WAVES_PER_EU_HINT": 9}, "WAVES_PER_EU_HINT is an int from 0 to 8"),
        ({"B_TO_LDS_UNROLL": 1}, "is for B_TO_LDS"),
        ({"n": 192}, "n = 192 is no multiple of TILE_N = 128"),
    ],
)
def test_refusals_of_few_rows(arch, change, said):
    if arch != "gfx950":
        pytest.skip("gfx950's")
    with pytest.raises(ValueError, match=said):
        compile_small_m_hgemm_kernel(**({"dtype": "bf16", "n": 128, "k": 256} | change))
