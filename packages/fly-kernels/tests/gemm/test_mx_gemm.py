# SPDX-License-Identifier: Apache-2.0
"""GEMMs of operands with E8M0 scales, by their public names, against float64 of what the bits mean."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from mx_references import MxProblem

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.defaults import defaults
from flydsl.kernels.common.mma.loop_plan import TiledLoop
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.gemm import loop_forms
from flydsl.kernels.gemm.fp4_gemm_4wave import compile_fp4_gemm_4w
from flydsl.kernels.gemm.mxfp4_preshuffle import launch_gemm
from flydsl.kernels.gemm.mxfp8_gemm_interface import gemm_mxfp8
from flydsl.kernels.gemm.tile_spec import TileGemm
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8, compile_preshuffle_gemm_w4

TILE = {"tile_m": 16, "tile_n": 64, "tile_k": 128}


@pytest.fixture
def scaled(arch):
    if arch != "gfx950":
        pytest.skip("scaled matrix instructions are gfx950's")


def tile_of(*numbers):
    return dict(zip(("tile_m", "tile_n", "tile_k"), numbers, strict=True))


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(
    ("in_dtype", "shape", "tile", "options"),
    [
        ("fp4", (17, 128, 2048), (16, 64, 256), {}),  # all waves along K
        ("fp4", (70, 128, 512), (64, 128, 256), {"use_cshuffle_epilog": True}),  # A by way of LDS
        ("fp4", (5, 64, 128), (16, 64, 128), {}),  # half a word of scales
        ("fp4", (50, 64, 384), (32, 64, 128), {"use_async_copy": True}),  # three halves
        ("fp4", (150, 256, 768), (128, 256, 256), {"use_async_copy": True, "waves_per_eu": 2}),  # both straight to LDS
        ("fp4", (70, 64, 512), (64, 64, 128), {"use_async_copy": True, "out_dtype": "fp16"}),
        ("fp6", (70, 128, 512), (64, 128, 256), {"out_dtype": "fp16"}),
        ("fp6", (20, 64, 256), (16, 64, 256), {}),
        ("fp6", (140, 128, 512), (128, 128, 256), {}),  # eight waves
        ("a8w4", (40, 256, 512), (32, 256, 256), {"enable_scheduler": False}),
        ("a8w4", (130, 128, 512), (128, 128, 256), {"xcd_swizzle": 2}),
    ],
)
def test_by_the_flat_names(run, in_dtype, shape, tile, options):
    M, N, K = shape
    problem = MxProblem(*shape, "fp8" if in_dtype == "a8w4" else in_dtype, "fp4", options.get("out_dtype", "bf16"))
    launch = compile_preshuffle_gemm_a8(M=M, N=N, K=K, **tile_of(*tile), in_dtype=in_dtype, **options)
    c = problem.output()
    run(launch, c, *problem.tensors(), M, N, writes=[c])
    problem.check(c)


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(
    ("kinds", "waves", "loop"),
    [
        (("fp4", "fp4"), (1, 4), {"direct": True, "parts": 2}),
        (("fp4", "fp4"), (2, 2), {"direct": True, "parts": 2, "buffers": 4}),
        (("fp4", "fp4"), (1, 4), {"parts": 4}),
        (("fp6", "fp4"), (2, 2), {"direct": True, "parts": 2}),
        (("fp6", "fp4"), (1, 4), {"parts": 2, "scheduled": False}),
        (("fp8", "fp4"), (1, 4), {"direct": True, "parts": 4}),
    ],
)
@pytest.mark.parametrize("steps", [2, 5])
def test_rows_in_parts(run, monkeypatch, kinds, waves, loop, steps):
    """The loop goes part by part and column by column, with two sets of scales."""
    M, N, K = 70, 256, 256 * steps
    form = TiledLoop("gfx950", kinds[0], (64, 128, 256), steps, waves, b_mx=kinds[1], **loop)
    monkeypatch.setattr(loop_forms, "_listed_form", lambda gemm: form)
    problem = MxProblem(M, N, K, *kinds, seed=steps)
    launch = compile_preshuffle_gemm_a8(
        M=M, N=N, K=K, **tile_of(64, 128, 256), in_dtype={"fp8": "a8w4"}.get(kinds[0], kinds[0])
    )
    c = problem.output()
    run(launch, c, *problem.tensors(), M, N, writes=[c])
    problem.check(c)


@pytest.mark.usefixtures("scaled")
def test_tiles_of_the_defaults():
    """Each is taken, at the occupancy that it has room for and no more."""
    found = defaults("scaled_loops", "gfx950")
    assert found
    for one in found:
        (tile_m, tile_n), most, direct = one["tile"], one["waves_per_eu"], one["loop"].get("direct", False)
        for a, b in (kinds for kinds in one["formats"] if kinds[1] != "f32"):
            gemm = TileGemm(
                arch="gfx950", N=tile_n, K=1024, in_dtype=a, out_dtype="bf16", tile_m=tile_m, tile_n=tile_n, tile_k=256,
                epilogue=Epilogue(), shuffled=True, b_mx=b, waves_per_eu=most, direct=direct,
            )  # fmt: skip
            wanted = {name: one["loop"][name] for name in ("parts", "direct") if name in one["loop"]}
            assert {name: getattr(gemm.tiled, name) for name in wanted} == wanted
            assert gemm.plan.threads == 64 * one["waves"][0] * one["waves"][1]
            assert replace(gemm, waves_per_eu=most + 1).tiled != gemm.tiled


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(
    ("in_dtype", "tile", "K"),
    [("fp6", (128, 256, 128), 640), ("a8w4", (128, 256, 128), 640), ("fp6", (64, 256, 256), 768),
     ("fp4", (64, 256, 256), 1536)],
)  # fmt: skip
def test_a_form_that_asks_for_an_occupancy_has_the_registers_for_it(counters, in_dtype, tile, K):
    """Of 256 columns, ragged, with K of an odd number of steps."""
    M, N = tile[0] + 2, 256
    kind = {"a8w4": "fp8"}.get(in_dtype, in_dtype)
    found = defaults("scaled_loops", "gfx950")
    (form,) = [one for one in found if [kind, "fp4"] in one["formats"] and one["tile"] == [*tile[:2]]]
    assert K % form["step"] == 0
    assert K // form["step"] % 2 == 1
    problem, c = MxProblem(M, N, K, kind, "fp4"), torch.full((M, N), float("nan"), dtype=torch.bfloat16)
    launch = compile_preshuffle_gemm_a8(M=M, N=N, K=K, **tile_of(*tile), in_dtype=in_dtype)
    profile = counters(launch, c, *problem.tensors(), M, N)
    problem.check(c)
    assert profile["registers"]["vgpr"] <= 512 // form["loop"]["occupancy"]
    assert profile["registers"]["vgpr_spills"] == profile["scratch_bytes"] == 0


@pytest.mark.usefixtures("scaled")
def test_other_rows_of_the_same_kernel(run):
    launch = compile_preshuffle_gemm_a8(M=1, N=64, K=256, **TILE, in_dtype="fp4")
    for rows in (33, 1, 0, 16, 47):
        problem = MxProblem(rows, 64, 256, "fp4", "fp4", seed=rows)
        c = problem.output()
        run(launch, c, *(one.view(-1) for one in problem.tensors()), rows, 64, writes=[c], seeds=(0, 7919))
        if rows:
            problem.check(c)


@pytest.mark.usefixtures("scaled")
def test_each_scale_is_that_of_its_32(run):
    """One element, and one scale, of each 32 of K and each row at a time: which byte of which word is it?"""
    launch = compile_preshuffle_gemm_a8(M=1, N=64, K=512, **tile_of(64, 64, 256), in_dtype="fp4")
    problem = MxProblem(64, 64, 512, "fp4", "fp4")
    problem.a[:], problem.b[:] = 0x22, 0x22  # 1.0
    rows, blocks = np.indices(problem.scale_a.shape)
    problem.scale_a[:] = 120 + (5 * rows + 3 * blocks + rows // 16) % 13
    problem.scale_b[:] = 120 + (7 * rows + 5 * blocks + rows // 16) % 11
    c = problem.output()
    run(launch, c, *problem.tensors(), 64, 64, writes=[c])
    problem.check(c)


@pytest.mark.usefixtures("scaled")
def test_extreme_scales_and_elements(run):
    launch = compile_preshuffle_gemm_a8(M=1, N=64, K=256, **TILE, in_dtype="a8w4")
    problem = MxProblem(16, 64, 256, "fp8", "fp4")
    problem.scale_a[1, 3] = 255  # NaN
    problem.scale_a[2] = 0  # 2^-127: all but nothing
    problem.scale_a[3] = 254  # 2^127: overflows
    problem.a[3], problem.b[:, 0] = 0x38, 0x22
    problem.a[4, 7] = 0x7F  # NaN
    problem.a[5] = 0x80  # -0
    c = problem.output()
    run(launch, c, *problem.tensors(), 16, 64, writes=[c])
    expected, _ = problem.exact()
    assert c[[1, 4]].isnan().all()
    assert (c[2].double().abs() <= np.abs(expected[2]).max() + 2.0**-126).all()
    assert c[5].eq(0).all()
    assert not c[3].isnan().any()
    big = torch.from_numpy(np.abs(expected[3]) > 2.0**128)
    assert big.any()
    assert c[3][big].isinf().all()
    assert c[6:].isfinite().all()


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(("epilogue", "columns"), [("none", 0), ("bias", 128)])
def test_w4(run, epilogue, columns):
    problem = MxProblem(40, 128, 512, "fp6", "fp4", "fp16")
    launch = compile_preshuffle_gemm_w4(
        N=columns, K=512, **tile_of(32, 64, 256), a_dtype="fp6", out_dtype="fp16", epilogue=epilogue
    )
    c = problem.output()
    bias = torch.randn(128).half() if epilogue == "bias" else torch.empty(0, dtype=torch.float16)
    run(launch, c, *problem.tensors(), bias, 40, 128, writes=[c])
    problem.check(c, bias.double().numpy() if epilogue == "bias" else 0.0)


@pytest.mark.usefixtures("scaled")
def test_fp4_of_256_rows_and_columns(run):
    launch = compile_fp4_gemm_4w(K=512)
    for shape in ((130, 260, 512), (257, 61, 512)):
        problem = MxProblem(*shape, "fp4", "fp4")
        c = problem.output()
        a, b, *scales = problem.tensors(shuffled=False)
        run(launch, a, b, c, *scales, shape[0], shape[1], writes=[c], seeds=(0, 7919))
        problem.check(c)
    for depth in (256, 768, 1024):  # one step, an odd number of them, and some in the loop
        problem = MxProblem(70, 196, depth, "fp4", "fp4", seed=depth)
        c = problem.output()
        a, b, *scales = problem.tensors(shuffled=False)
        run(compile_fp4_gemm_4w(K=depth), a, b, c, *scales, 70, 196, writes=[c], seeds=(0, 7919))
        problem.check(c)
    with pytest.raises(ValueError, match="argument 'c_n': the kernel was built for 64, got 260"):
        compile_fp4_gemm_4w(K=1024, MN=(257, 64))(a, b, c, *scales, 257, 260)


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(("kinds", "shape"), [(("fp8", "bf8"), (9, 70, 256)), (("bf8", "fp8"), (33, 1, 384))])
def test_mxfp8(kinds, shape):
    types = {"fp8": torch.float8_e4m3fn, "bf8": torch.float8_e5m2}
    problem = MxProblem(*shape, *kinds, "fp16")
    a, b = (torch.from_numpy(one).view(types[kind]) for one, kind in zip((problem.a, problem.b), kinds, strict=True))
    scales = torch.from_numpy(problem.scale_a), torch.from_numpy(problem.scale_b)
    problem.check(gemm_mxfp8(a, scales[0], b, scales[1], out_dtype=torch.float16))
    with pytest.raises(NotImplementedError, match="only a b\\^T"):
        gemm_mxfp8(a, scales[0], b, scales[1], trans_b=False)
    with pytest.raises(ValueError, match="b_scale: expected"):
        gemm_mxfp8(a, scales[0], b, scales[1][:, :-1])
    with pytest.raises(ValueError, match="K = 128 is no multiple of 128, or less than 256"):
        gemm_mxfp8(a[:, :128], scales[0][:, :4], b[:, :128], scales[1][:, :4])


def pointers(*tensors):
    kinds = {torch.bfloat16: fx.BFloat16, torch.uint8: fx.Uint8}
    return [flyc.from_c_void_p(kinds[one.dtype], one.data_ptr(), assumed_align=16) for one in tensors]


@pytest.mark.usefixtures("scaled")
def test_launch_by_pointers():
    problem = MxProblem(40, 128, 512, "fp8", "fp8")
    c, operands = problem.output().fill_(float("nan")), problem.tensors()
    launch_gemm(*pointers(c, *operands), 40, 128, None, 128, 512, 32, 64, 256, "fp8", "bf16", "fp8")
    problem.check(c)


@pytest.mark.usefixtures("scaled")
def test_a_batch_in_the_order_of_the_caller():
    """A and C as (M, batch, ...): rows of one matrix are a batch apart."""
    problems = [MxProblem(20, 64, 256, "fp4", "fp4", seed=seed) for seed in range(2)]
    made = [one.tensors() for one in problems]
    a = torch.stack([one[0] for one in made], 1).contiguous()
    b, scale_a, scale_b = (torch.stack([one[index] for one in made]).contiguous() for index in (1, 2, 3))
    c = torch.full((20, 2, 64), float("nan"), dtype=torch.bfloat16)
    launch_gemm(
        *pointers(c, a, b, scale_a, scale_b), 20, 64, None, 64, 256, 16, 64, 256, "fp4", "bf16", "fp4", 2,
        2 * 128, 128, 8, 32 * 8, 2 * 64, 64, 0, 0,
    )  # fmt: skip
    for index, problem in enumerate(problems):
        problem.check(c[:, index])


NUMBERS = {"M": 1, "N": 128, "K": 512, "tile_m": 32, "tile_n": 64, "tile_k": 256, "in_dtype": "fp4"}


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tile_k": 64}, "tile_k = 64 is no multiple of 128"),
        ({"K": 320}, "K = 320 is no multiple of tile_k = 256"),
        ({"tile_m": 48}, "tile_m = 48 is neither 16 nor a multiple of 32"),
        ({"N": 100}, "N = 100 is no multiple of 64 = tile_n"),
        ({"split_k": 2}, "split_k = 2: in_dtype 'fp4' is not cut along K"),
        ({"lds_stage": 1}, "has E8M0 scales, lds_stage = 2"),
        ({"scale_mode": "blockscale"}, "has E8M0 scales"),
        ({"out_dtype": "f32"}, "out_dtype 'f32' is not supported"),
        ({"in_dtype": "fp5"}, "in_dtype 'fp5' is not supported"),
    ],
)
def test_refusals(change, said):
    with pytest.raises(ValueError, match=said):
        compile_preshuffle_gemm_a8(**(NUMBERS | change))


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"a_dtype": "fp8"}, NotImplementedError, "in_dtype='a8w4'"),
        ({"tile_k": 384}, ValueError, "tile_k = 384 is neither 128 nor"),
        ({"use_cshuffle_epilog": True, "epilogue": "bias"}, ValueError, "choose one"),
        ({"dsrd_preload": -1}, ValueError, "dsrd_preload is a non-negative int"),
    ],
)
def test_refusals_of_w4(change, error, said):
    with pytest.raises(error, match=said):
        compile_preshuffle_gemm_w4(**({"K": 768, "tile_m": 32, "tile_n": 64, "tile_k": 256} | change))


@pytest.mark.usefixtures("scaled")
@pytest.mark.parametrize(
    ("index", "change", "said"),
    [
        (1, lambda a: a[:, :64], "argument 'A': expected 20 or more rows of 128, got 20 of 64"),
        (3, lambda s: s.view(-1)[:-1], "argument 'scale_a': expected 256 or more elements, got 255"),
        (4, lambda s: s.float(), "argument 'scale_b': expected Int8 or Uint8 or Int32 or Uint32, got Float32"),
    ],
)
def test_arguments_that_do_not_fit(index, change, said):
    problem = MxProblem(20, 64, 256, "fp4", "fp4")
    arguments = [problem.output(), *problem.tensors()]
    arguments[index] = change(arguments[index])
    with pytest.raises((ValueError, TypeError), match=said):
        compile_preshuffle_gemm_a8(M=1, N=64, K=256, **TILE, in_dtype="fp4")(*arguments, 20, 64)


def test_other_targets_are_told_what_they_have(arch):
    if arch != "gfx942":
        pytest.skip("gfx950 has the instructions")
    said = "needs gfx950; the target is gfx942: it has no matrix instruction with block scales. It has fp8 with a scale"
    with pytest.raises(ValueError, match=said):
        compile_preshuffle_gemm_a8(**NUMBERS)
    for build in (
        lambda: compile_preshuffle_gemm_w4(K=256, **TILE),
        lambda: compile_fp4_gemm_4w(K=256),
        lambda: gemm_mxfp8(*[torch.zeros(1, 256)] * 4),
    ):
        with pytest.raises(RuntimeError, match=said):
            build()
