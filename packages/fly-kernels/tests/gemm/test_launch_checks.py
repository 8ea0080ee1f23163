# SPDX-License-Identifier: Apache-2.0
"""Extents that do not fit are refused by the launcher, with the argument's name, before anything runs."""

import pytest
import torch
from references import Problem

import flydsl.compiler as flyc
from flydsl.kernels.gemm.config import GemmConfig
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.gemm.row_major_gemm import compile_gemm
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8

C, A, B, SCALE_A, SCALE_B, BIAS, M, N = range(8)
TILE = {"N": 64, "K": 256, "tile_m": 32, "tile_n": 64, "tile_k": 128, "in_dtype": "int8"}


def wider(tensor):
    return torch.cat([tensor, tensor], 1)


@pytest.fixture(scope="module")
def launch():
    return compile_preshuffle_gemm(**TILE, epilogue="bias")


@pytest.fixture
def arguments(arch):
    problem = Problem(20, 64, 256, "int8", arch=arch, epilogue="bias")
    return list(problem.arguments(problem.output()))


@pytest.mark.parametrize(
    ("index", "change", "said"),
    [
        (N, lambda n: 128, "argument 'N': the kernel was built for 64, got 128"),
        (M, lambda m: -1, "argument 'M': expected a number of rows, got -1"),
        (M, lambda m: 21, "argument 'C': expected 21 or more rows of 64, got 20 of 64"),
        (C, wider, "argument 'C': expected 20 or more rows of 64, got 20 of 128"),
        (C, lambda c: c[:19], "argument 'C': expected 20 or more rows of 64, got 19 of 64"),
        (C, lambda c: c.view(-1)[:-1], "argument 'C': expected 1280 or more elements, got 1279"),
        (A, wider, "argument 'A': expected 20 or more rows of 256, got 20 of 512"),
        (A, lambda a: a[:, :128], "argument 'A': expected 20 or more rows of 256, got 20 of 128"),
        (A, lambda a: a[:16].view(-1), "argument 'A': expected 5120 or more elements, got 4096"),
        (B, lambda b: b[:48], "argument 'B': expected 64 rows of 256, got 48 of 256"),
        (B, wider, "argument 'B': expected 64 rows of 256, got 64 of 512"),
        (B, lambda b: wider(b).view(-1), "argument 'B': expected 16384 elements, got 32768"),
        (SCALE_A, lambda s: s[:19], "argument 'scale_a': expected 20 or more elements, got 19"),
        (SCALE_B, lambda s: s[:1], "argument 'scale_b': expected 64 elements, got 1"),
        (BIAS, lambda b: b[:0], "argument 'bias': expected 64 elements, got 0"),
    ],
)
def test_what_does_not_fit(launch, arguments, index, change, said):
    arguments[C].fill_(7)
    before = arguments[C]
    arguments[index] = change(arguments[index])
    with pytest.raises(ValueError, match=said):
        launch(*arguments)
    assert (before == 7).all()


def test_compiled_functions_check_too(launch, arguments):
    compiled = flyc.compile(launch, *arguments)
    with pytest.raises(ValueError, match="argument 'N': the kernel was built for 64, got 63"):
        compiled(*arguments[:N], 63)
    arguments[C] = arguments[C][:19]
    with pytest.raises(ValueError, match="argument 'C': expected 20 or more rows of 64, got 19 of 64"):
        compiled(*arguments)


def test_more_rows_than_are_used(launch, arguments):
    c, a = torch.full((40, 64), 7.0).bfloat16(), torch.cat([arguments[A]] * 2)
    launch(*arguments)
    launch(c, a, *arguments[B:SCALE_A], torch.cat([arguments[SCALE_A]] * 2), *arguments[SCALE_B:])
    assert torch.equal(c[:20], arguments[C])
    assert (c[20:] == 7).all()


def test_the_older_builder(arguments):
    launch = compile_preshuffle_gemm_a8(M=20, **TILE)
    c, a, b, scale_a, scale_b, *_ = arguments
    with pytest.raises(ValueError, match="argument 'N': the kernel was built for 64, got 65"):
        launch(c.view(-1), a.view(-1), b.view(-1), scale_a, scale_b, 20, 65)
    with pytest.raises(ValueError, match="argument 'C': expected 1280 or more elements, got 1216"):
        launch(c[:19].reshape(-1), a.view(-1), b.view(-1), scale_a, scale_b, 20, 64)


def test_row_major_with_k_in_parts(arch):
    problem = Problem(8, 64, 256, "bf16", arch=arch)
    launch = compile_gemm(N=64, K=256, config=GemmConfig(16, 64, 64, 2), in_dtype="bf16", out_dtype="bf16")
    none = torch.empty(0, dtype=torch.bfloat16)
    workspace = torch.empty(2 * 8 * 64)
    with pytest.raises(ValueError, match="argument 'workspace': expected 1024 or more elements, got 1023"):
        launch(problem.output(), problem.a, problem.b, none, none, none, none, workspace[:-1], 8)
    with pytest.raises(ValueError, match="argument 'B': expected 64 rows of 256, got 32 of 256"):
        launch(problem.output(), problem.a, problem.b[:32], none, none, none, none, workspace, 8)
    with pytest.raises(ValueError, match="argument 'C': expected 8 or more rows of 64, got 8 of 32"):
        launch(problem.output()[:, :32], problem.a, problem.b, none, none, none, none, workspace, 8)


@pytest.mark.parametrize("which", ["A", "C"])
def test_rows_too_far_apart_for_one_resource(arch, which):
    """The memory between them is never touched."""
    apart = 2**28
    launch = compile_preshuffle_gemm(**{**TILE, "in_dtype": "bf16"})
    problem = Problem(20, 64, 256, "bf16", arch=arch)
    c, a, *others = problem.arguments(problem.output())
    far = torch.empty(19 * apart + 256, dtype=torch.bfloat16).as_strided((20, 256 if which == "A" else 64), (apart, 1))
    with pytest.raises(ValueError, match=rf"argument '{which}': rows can be \d+ elements apart, got {apart}"):
        launch(*((c, far) if which == "A" else (far, a)), *others)


def test_rows_that_overlap_cannot_go_to_lds_directly(arch):
    if arch != "gfx950":
        pytest.skip("gfx950 only")
    launch = compile_preshuffle_gemm(**{**TILE, "in_dtype": "bf16"}, use_async_copy=True)
    problem = Problem(20, 64, 256, "bf16", arch=arch)
    arguments = list(problem.arguments(problem.output()))
    arguments[A] = problem.a[:1].expand(20, 256)
    with pytest.raises(ValueError, match="argument 'A': use_async_copy needs rows that do not overlap"):
        launch(*arguments)
