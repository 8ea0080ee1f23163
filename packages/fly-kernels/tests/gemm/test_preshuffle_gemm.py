# SPDX-License-Identifier: Apache-2.0
"""The preshuffled GEMM against float64, under all sanitizers and several orders of waves."""

import pytest
import torch
from references import Problem

from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8

DTYPES = ["fp16", "bf16", "fp8", "int8"]


def build(problem, tiles, in_dtype, **options):
    tile_m, tile_n, tile_k = tiles
    return compile_preshuffle_gemm(
        N=problem.N, K=problem.K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype=in_dtype,
        out_dtype=problem.out_dtype, epilogue=problem.epilogue, **options,
    )  # fmt: skip


def check(run, arch, shape, tiles, in_dtype, out_dtype="bf16", epilogue="none", **options):
    problem = Problem(*shape, in_dtype, out_dtype, arch=arch, epilogue=epilogue, seed=sum(shape))
    c = problem.output()
    run(build(problem, tiles, in_dtype, **options), *problem.arguments(c), writes=[c])
    problem.check(c)


@pytest.mark.parametrize("in_dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "tiles"),
    [
        ((64, 256, 512), (64, 256, 128)),  # the contract's tiles
        ((130, 128, 384), (128, 128, 128)),  # a row tile of two rows
        ((5, 64, 1024), (16, 64, 512)),  # decode
    ],
)
def test_types_and_tiles(run, arch, shape, tiles, in_dtype):
    check(run, arch, shape, tiles, in_dtype)


@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
@pytest.mark.parametrize(("shape", "tiles"), [((250, 256, 256), (256, 256, 128)), ((33, 512, 256), (160, 512, 128))])
def test_tiles_of_eight_waves(run, arch, shape, tiles, in_dtype):
    check(run, arch, shape, tiles, in_dtype)


@pytest.mark.parametrize("rows", [0, 1, 2, 15, 17, 37, 63, 64, 65, 127])
def test_any_number_of_rows(run, arch, rows):
    check(run, arch, (rows, 64, 256), (64, 64, 128), "bf16", "fp16")


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
def test_any_number_of_stages(run, arch, in_dtype, stages):
    check(run, arch, (33, 64, 64 * stages), (64, 64, 64), in_dtype, "fp16")


@pytest.mark.parametrize("tile_m", [48, 80, 96, 112, 144, 160])
def test_odd_row_tiles(run, arch, tile_m):
    check(run, arch, (tile_m + 1, 64, 512), (tile_m, 64, 256), "fp8")


@pytest.mark.parametrize("tile_k", [96, 160, 192])
def test_16_bit_tiles_of_no_power_of_two(run, arch, tile_k):
    check(run, arch, (70, 64, 2 * tile_k), (64, 64, tile_k), "fp16", "fp16")


@pytest.mark.parametrize("epilogue", ["bias", "bias_relu", "bias_silu", "bias_gelu"])
@pytest.mark.parametrize(("in_dtype", "out_dtype"), [("bf16", "bf16"), ("int8", "fp16")])
def test_epilogues(run, arch, in_dtype, out_dtype, epilogue):
    check(run, arch, (40, 128, 256), (32, 128, 128), in_dtype, out_dtype, epilogue)


@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
@pytest.mark.parametrize("options", [{"lds_stage": 1}, {"enable_scheduler": False}, {"preload": (2, 1)}])
def test_other_main_loops(run, arch, in_dtype, options):
    check(run, arch, (66, 128, 640), (64, 128, 128), in_dtype, **options)


@pytest.mark.parametrize("in_dtype", DTYPES)
@pytest.mark.parametrize("lds_stage", [1, 2])
def test_async_copy(run, arch, in_dtype, lds_stage):
    if arch != "gfx950":
        with pytest.raises(ValueError, match="use_async_copy needs gfx950"):
            check(run, arch, (64, 64, 128), (64, 64, 128), in_dtype, use_async_copy=True)
        return
    check(run, arch, (66, 128, 640), (64, 128, 128), in_dtype, use_async_copy=True, lds_stage=lds_stage)


@pytest.mark.parametrize("xcd_swizzle", [1, 2, 3, 8])
def test_the_order_of_workgroups_changes_nothing(run, arch, xcd_swizzle):
    check(run, arch, (70, 448, 256), (16, 64, 256), "fp8", xcd_swizzle=xcd_swizzle)


def test_flattened_tensors(run, arch):
    problem = Problem(20, 64, 256, "bf16", arch=arch)
    c = problem.output()
    arguments = [one.view(-1) if isinstance(one, torch.Tensor) else one for one in problem.arguments(c)]
    run(build(problem, (32, 64, 128), "bf16"), *arguments, writes=[arguments[0]])
    problem.check(c)


def test_no_bank_conflicts_and_full_lines(counters, arch):
    problem = Problem(64, 256, 1024, "bf16", arch=arch)
    c = problem.output()
    kernel = build(problem, (64, 256, 128), "bf16")
    kernel(*problem.arguments(c))
    total = counters(kernel, *problem.arguments(c))["total"]
    assert total["lds_conflict_cycles"] == 0
    operands = (problem.a.numel() + problem.b.numel()) * 2
    assert operands <= total["bytes_loaded"] <= operands + 1024  # kernel arguments
    assert total["bytes_stored"] == c.numel() * 2


GOOD = {"N": 128, "K": 256, "tile_m": 64, "tile_n": 128, "tile_k": 128}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"in_dtype": "fp4"}, "in_dtype 'fp4' is not supported; use one of fp8, int8, int4, fp16, bf16"),
        ({"in_dtype": "int4", "K": 1 << 17}, "K = 131072 int4 may overflow"),
        ({"out_dtype": "f32"}, "out_dtype 'f32' is not supported; use one of bf16, fp16"),
        ({"epilogue": "relu"}, "epilogue 'relu' is not supported; use one of none, bias, bias_relu"),
        ({"K": 320}, "K = 320 is no multiple of tile_k = 128"),
        ({"N": 192}, "N = 192 is no multiple of tile_n = 128"),
        ({"tile_n": 32}, "tile_n = 32 is no multiple of 64"),
        ({"tile_m": 24}, "tile_m = 24 is no multiple of 16"),
        ({"tile_m": 16, "tile_k": 64}, "no multiple of the 4096"),
        ({"tile_k": 32}, "tile_k = 32 fp8 are 32 bytes, no multiple of 64"),
        ({"K": 576, "tile_k": 192}, "12 chunks of 16 bytes"),
        ({"lds_stage": 3}, "lds_stage is 1 or 2, got 3"),
        ({"preload": (1, -1)}, "preload is two non-negative ints"),
        ({"preload": 2}, "preload is two non-negative ints"),
        ({"xcd_swizzle": -1}, "xcd_swizzle is a number of column tiles, or 0"),
        ({"tile_m": 0}, "tile_m must be a positive integer, got 0"),
        ({"N": 128.0}, "N must be a positive integer, got 128.0"),
        ({"tile_m": 4096}, "bytes of LDS for 2 buffers"),
        ({"tile_m": 512, "N": 512, "tile_n": 512}, "8 waves need 512 registers a thread for the sums"),
    ],
)
def test_refusals(change, said):
    with pytest.raises(ValueError, match=said):
        compile_preshuffle_gemm(**{**GOOD, **change})


def test_other_architectures_are_refused(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx1201")
    with pytest.raises(ValueError, match="written for gfx942 and gfx950, not for gfx1201"):
        compile_preshuffle_gemm(**GOOD)


@pytest.mark.parametrize(
    ("index", "other", "said"),
    [
        (0, lambda t: t.half(), "argument 'C': expected BFloat16, got Float16"),
        (1, lambda t: t.float(), "argument 'A': expected BFloat16, got Float32"),
        (1, lambda t: t.half(), "argument 'A': expected BFloat16, got Float16"),
        (1, lambda t: t.view(2, 8, 128), "argument 'A': expected a matrix, or all of it flattened, got 3 dimensions"),
        (1, lambda t: t.t().contiguous().t(), "argument 'A': the elements of a row must be neighbours"),
        (2, lambda t: t.to(torch.int8), "argument 'B': expected BFloat16, got Int8"),
    ],
)
def test_wrong_tensors_are_refused_by_name(arch, index, other, said):
    problem = Problem(16, 64, 128, "bf16", arch=arch)
    arguments = list(problem.arguments(problem.output()))
    arguments[index] = other(arguments[index])
    with pytest.raises((TypeError, ValueError), match=said):
        build(problem, (16, 64, 128), "bf16")(*arguments)


def test_fp8_is_the_architectures_or_plain_bytes(run, arch):
    problem = Problem(16, 64, 256, "fp8", arch=arch)
    kernel = build(problem, (16, 64, 256), "fp8")
    c, a, b, *rest = problem.arguments(problem.output())
    run(kernel, c, a.view(torch.int8), b.view(torch.uint8), *rest, writes=[c])
    problem.check(c)
    other = torch.float8_e4m3fn if arch == "gfx942" else torch.float8_e4m3fnuz
    with pytest.raises(TypeError, match=r"argument 'A': expected Float8E4M3FNU?Z? or Int8 or Uint8, got Float8E4M3FN"):
        kernel(c, a.view(other), b, *rest)


def test_rows_apart(run, arch):
    problem = Problem(21, 64, 256, "bf16", arch=arch)
    wide, out = torch.full((21, 400), float("nan")).bfloat16(), torch.full((21, 96), 7.0).bfloat16()
    wide[:, 64:320] = problem.a
    _, _, *rest = problem.arguments(None)
    build(problem, (32, 64, 128), "bf16")(out[:, 16:80], wide[:, 64:320], *rest)
    problem.check(out[:, 16:80])
    assert (out[:, :16] == 7).all()
    assert (out[:, 80:] == 7).all()


@pytest.mark.parametrize("out_dtype", ["fp16", "bf16"])
@pytest.mark.parametrize("in_dtype", ["fp8", "int8", "fp16"])
def test_the_older_builder_takes_flattened_tensors(run, arch, in_dtype, out_dtype):
    problem = Problem(30, 128, 256, in_dtype, out_dtype, arch=arch)
    exe = compile_preshuffle_gemm_a8(M=30, N=128, K=256, tile_m=32, tile_n=128, tile_k=128, in_dtype=in_dtype)
    c = problem.output().view(-1)
    b = shuffle_weight(problem.b)
    flat = [one.view(-1) for one in (problem.a, b, problem.scale_a, problem.scale_b)]
    run(exe, c, *flat, 30, 128, writes=[c])
    problem.check(c.view(30, 128))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"M": 0}, "M must be a positive integer"),
        ({"in_dtype": "int2"}, "in_dtype 'int2' is not supported; use one of fp8, int8, int4, fp16, bf16"),
        ({"in_dtype": "int4", "K": 1 << 17}, "K = 131072 int4 may overflow"),
        ({"epilogue": "bias"}, "takes no epilogue"),
        ({"waves_per_eu": -1}, "waves_per_eu is a number of waves"),
    ],
)
def test_refusals_of_the_older_builder(change, said):
    with pytest.raises(ValueError, match=said):
        compile_preshuffle_gemm_a8(**{"M": 8, **GOOD, **change})


@pytest.mark.parametrize("waves_per_eu", [1, 2, 4])
def test_occupancy_hint(run, arch, waves_per_eu):
    check(run, arch, (20, 64, 256), (32, 64, 128), "bf16", waves_per_eu=waves_per_eu)


@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
def test_infinities_and_every_nan_stay(run, arch, in_dtype):
    problem = Problem(16, 64, 128, in_dtype, arch=arch)
    if in_dtype == "bf16":
        problem.a[1, 3], problem.a[2, 5] = float("inf"), float("nan")
        problem.a[4].view(torch.int16)[7] = 0x7FFF
    else:
        problem.scale_a[1], problem.scale_a[2] = float("inf"), float("nan")
        problem.scale_a.view(torch.int32)[4] = -1  # the NaN with all bits set
    c = problem.output()
    run(build(problem, (32, 64, 128), in_dtype), *problem.arguments(c), writes=[c])
    assert not c[1].isfinite().any()
    assert c[[2, 4]].isnan().all()
    assert c[[0, 3, *range(5, 16)]].isfinite().all()
