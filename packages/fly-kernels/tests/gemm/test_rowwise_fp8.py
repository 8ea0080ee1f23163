# SPDX-License-Identifier: Apache-2.0
"""The row-wise scaled fp8 GEMM against float64, by its public names."""

import pytest
import torch
from references import Problem

from flydsl.kernels.gemm.fp8_gemm_4wave import compile_fp8_gemm_4w
from flydsl.kernels.gemm.fp8_gemm_8wave import compile_fp8_gemm_8w
from flydsl.kernels.gemm.fp8_gemm_utils import preshuffle_b


def arguments(problem, c, b, flat):
    tensors = (problem.a.view(torch.int8), b.view(torch.int8), c, problem.scale_a, problem.scale_b)
    return (*(one.view(-1) if flat else one for one in tensors), problem.M, problem.N)


@pytest.mark.parametrize("b_preshuffled", [False, True])
@pytest.mark.parametrize(
    ("build", "shape", "blocks"),
    [
        (compile_fp8_gemm_4w, (65, 192, 384), {"BLOCK_M": 64, "BLOCK_N": 64}),
        (compile_fp8_gemm_4w, (33, 320, 128), {"BLOCK_M": 128, "BLOCK_N": 256}),  # columns that end within a block
        (compile_fp8_gemm_8w, (130, 256, 256), {}),
        (compile_fp8_gemm_8w, (1, 272, 512), {"BLOCK_M": 128}),
    ],
)
def test_against_float64(run, arch, build, shape, blocks, b_preshuffled):
    problem = Problem(*shape, "fp8", arch=arch)
    c, b = problem.output(), problem.b.view(torch.int8)
    launch = build(K=shape[2], b_preshuffled=b_preshuffled, **blocks)
    given = arguments(problem, c, preshuffle_b(b) if b_preshuffled else b, b_preshuffled)
    run(launch, *given, None, writes=[given[2]])
    problem.check(c)


def test_another_width_of_the_same_launcher(run, arch):
    launch = compile_fp8_gemm_4w(K=128, BLOCK_M=64, BLOCK_N=64, use_xcd_remap=False)
    for columns in (64, 100, 64):
        problem = Problem(20, columns, 128, "fp8", arch=arch, seed=columns)
        c = problem.output()
        run(launch, *arguments(problem, c, problem.b, False), writes=[c])
        problem.check(c)


@pytest.mark.parametrize(
    ("build", "numbers", "said"),
    [
        (compile_fp8_gemm_4w, {"K": 64}, "K must be a positive multiple of 128, got 64"),
        (compile_fp8_gemm_4w, {"K": 128, "BLOCK_M": 48}, "BLOCK_M must be a positive multiple of 64, got 48"),
        (compile_fp8_gemm_8w, {"K": 128, "BLOCK_N": 128}, "BLOCK_N must be a positive multiple of 256, got 128"),
        (compile_fp8_gemm_8w, {"K": 128, "BLOCK_M": 0}, "BLOCK_M must be a positive multiple of 128, got 0"),
        (compile_fp8_gemm_4w, {"K": 128, "BLOCK_M": 512, "BLOCK_N": 512}, "registers|LDS"),
    ],
)
def test_refusals(build, numbers, said):
    with pytest.raises(ValueError, match=said):
        build(**numbers)
