# SPDX-License-Identifier: Apache-2.0
"""The main loop in quadrants against float64: on tiles of the defaults and others, and what it refuses."""

import itertools
from dataclasses import replace

import pytest
import torch
from references import Problem

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.mma import quadrant_loop
from flydsl.kernels.common.mma.loop_plan import TiledLoop
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm import loop_forms, tile_gemm
from flydsl.kernels.gemm.config import GemmConfig, default_config
from flydsl.kernels.gemm.preshuffle_gemm import build_preshuffle_gemm
from flydsl.kernels.gemm.row_major_gemm import compile_gemm
from flydsl.kernels.gemm.tile_spec import TileGemm
from flydsl.runtime import DeviceError, LaunchError


@pytest.fixture(autouse=True)
def only_where_loads_are_wide(arch):
    if arch != "gfx950":
        pytest.skip("its loads to LDS have 4 bytes")


@pytest.fixture
def used(monkeypatch):
    """The loops that ran in quadrants."""
    loops, found = [], tile_gemm.quadrant_sums
    monkeypatch.setattr(
        tile_gemm, "quadrant_sums", lambda gemm, loop, *rest: (loops.append(loop), found(gemm, loop, *rest))[1]
    )
    return loops


def check_launcher(run, launch, problem, b, *names, **options):
    """A launcher that a host function calls; `names` are those of the scales and the bias that it takes."""

    @flyc.jit
    def gemm(C, A, B, scale_a, scale_b, bias, M: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        given = {"scale_a": scale_a, "scale_b": scale_b, "bias": bias}
        launch(C, A, B, M, stream, **{one: given[one] for one in names})

    c = problem.output()
    run(
        gemm, c, problem.a, b, problem.scale_a, problem.scale_b, problem.bias, problem.M, writes=[c], **options
    )  # fmt: skip
    problem.check(c)


def check(run, arch, tile, shape, in_dtype, out_dtype="bf16", *, shuffled=False, split_k=1, **options):
    problem = Problem(*shape, in_dtype, out_dtype, arch=arch, seed=sum(shape))
    depth = 64 if in_dtype in ("bf16", "fp16") else 128
    config = GemmConfig(*tile, depth, split_k=split_k, **options)
    kernel = compile_gemm(
        N=problem.N, K=problem.K, config=config, in_dtype=in_dtype, out_dtype=out_dtype,
        shuffled=shuffled,
    )  # fmt: skip
    c, empty = problem.output(), torch.empty(0)
    scales = (problem.scale_a, problem.scale_b) if problem.scaled else (empty, empty)
    workspace = torch.empty(split_k * problem.M * problem.N) if split_k > 1 else empty
    b = shuffle_weight(problem.b) if shuffled else problem.b
    run(
        kernel,
        c,
        problem.a,
        b,
        *scales,
        empty,
        empty,
        workspace,
        problem.M,
        writes=[c, workspace] if split_k > 1 else [c],
    )
    problem.check(c)


@pytest.mark.parametrize("in_dtype", ["bf16", "fp16", "fp8", "int8"])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("tile", [(256, 256), (128, 256), (256, 128)])
def test_tiles_of_the_defaults(run, arch, used, tile, shuffled, in_dtype):
    """Rows and columns that no tile divides; two, three or five steps."""
    steps = {"bf16": 2, "fp16": 3, "fp8": 5, "int8": 3}[in_dtype]
    k = 128 * steps // (2 if in_dtype in ("bf16", "fp16") else 1)
    check(run, arch, tile, (tile[0] + 13, 272 if shuffled else 268, k), in_dtype, shuffled=shuffled)
    assert [one.tile[:2] for one in used] == [tile]


@pytest.mark.parametrize(("tile", "waves"), [((64, 128), (1, 2)), ((128, 64), (2, 1)), ((64, 256), (1, 4))])
@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
def test_other_waves(run, arch, used, monkeypatch, tile, waves, in_dtype):
    options = {"direct": True, "quadrants": True}
    monkeypatch.setattr(loop_forms, "_tiled_form", lambda gemm: (128, waves, 1, options))
    check(run, arch, tile, (70, 76, 256 if in_dtype == "bf16" else 640), in_dtype, "f32")
    assert [one.waves for one in used] == [waves]


def test_parts_of_k(run, arch, used):
    check(run, arch, (128, 256), (140, 260, 512), "bf16", split_k=2)
    assert len(used) == 1


def test_loads_past_the_registers_are_what_it_has(run, arch, used):
    check(run, arch, (128, 256), (130, 256, 384), "fp8", use_async_copy=True)
    assert len(used) == 1


@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
@pytest.mark.parametrize("tile", [(256, 256), (128, 256), (256, 128)])
def test_results_by_way_of_lds(run, arch, used, tile, in_dtype):
    """Two tiles of columns, and rows that none divides."""
    depth = 64 if in_dtype == "bf16" else 128
    problem = Problem(tile[0] + 13, 512, 2 * depth, in_dtype, arch=arch, seed=tile[0], epilogue="bias")
    launch = build_preshuffle_gemm(
        N=512, K=problem.K, tile_m=tile[0], tile_n=tile[1], tile_k=depth, in_dtype=in_dtype, out_dtype="bf16",
        epilogue="bias", shuffled_store=True,
    )  # fmt: skip

    def launched(C, A, B, M, stream, **extras):
        launch(C, A, B, M, fx.Int32(512), stream, **extras)

    names = ("scale_a", "scale_b", "bias") if in_dtype == "fp8" else ("bias",)
    check_launcher(run, launched, problem, shuffle_weight(problem.b), *names)
    assert [one.tile[:2] for one in used] == [tile]


@pytest.mark.parametrize("n", [256, 268])
def test_atomic_results(run, arch, used, n):
    problem = Problem(141, n, 512, "bf16", "bf16", arch=arch)
    gemm = TileGemm(
        arch="gfx950", N=n, K=512, in_dtype="bf16", out_dtype="bf16", tile_m=128, tile_n=256, tile_k=64,
        epilogue=Epilogue(), shuffled=False, split_k=2, atomic=True,
    )  # fmt: skip
    # Each part is rounded, and what it is added to.
    magnitude = problem.a.double().abs() @ problem.b.double().abs().t()
    problem.error = problem.error + 3 * (magnitude + problem.expected.abs()) * 2.0**-8
    check_launcher(run, tile_gemm.build_tile_gemm(gemm, "gemm_nt"), problem, problem.b, same_bits=False)
    assert len(used) == 1


@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
@pytest.mark.parametrize("tile", [(256, 256), (128, 256), (256, 128)])
def test_groups_have_it(run, arch, used, tile, in_dtype):
    """Groups without rows, of less than a tile, a whole one and more; rows of no group; columns no tile divides."""
    size = tile[0]
    ends = [3, 3, 3 + size, 3 + size, 2 * size + 40, 2 * size + 41, 2 * size + 41]
    rows, n, k = ends[-1] + 7, tile[1] + 12, 192 if in_dtype == "bf16" else 256
    dtype = torch.bfloat16 if in_dtype == "bf16" else torch.float8_e4m3fn
    generator = torch.Generator().manual_seed(size)
    a, b = (torch.randn(*shape, k, generator=generator).to(dtype) for shape in ((rows,), (len(ends) - 1, n)))
    scale_a, scale_b = (torch.rand(*shape, generator=generator) + 0.5 for shape in ((rows,), (len(ends) - 1, n)))
    offsets, scaled = torch.tensor(ends), in_dtype == "fp8"
    gemm = TileGemm(
        arch=arch, N=n, K=k, in_dtype=in_dtype, out_dtype="f32", tile_m=tile[0], tile_n=tile[1], tile_k=64,
        epilogue=Epilogue(scaled=scaled), shuffled=False, groups=len(ends) - 1, xcd_swizzle=size // 128 - 1,
    )  # fmt: skip
    launch = tile_gemm.build_tile_gemm(gemm, "grouped")

    @flyc.jit
    def grouped(C, A, B, scale_a, scale_b, group_offs, M: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        launch(C, A, B, M, stream, scale_a=scale_a, scale_b=scale_b, group_offs=group_offs)

    c = torch.empty(rows, n)
    given = b.view(-1, k), scale_a, scale_b.view(-1), offsets
    run(grouped, c, a, *given, rows, writes=[c])
    assert [one.tile[:2] for one in used] == [tile]
    assert c[: ends[0]].isnan().all()
    assert c[ends[-1] :].isnan().all()
    for group, (begin, end) in enumerate(itertools.pairwise(ends)):
        factor = scale_a[begin:end, None].double() * scale_b[group].double() if scaled else torch.ones(1).double()
        expected = a[begin:end].double() @ b[group].double().t() * factor
        magnitude = a[begin:end].double().abs() @ b[group].double().abs().t() * factor
        assert ((c[begin:end].double() - expected).abs() <= magnitude * (k + 4) * 2.0**-24 + 2.0**-24).all()


def test_one_step_is_too_short(run, arch, used):
    check(run, arch, (128, 256), (40, 64, 64), "bf16")
    assert used == []


@pytest.mark.parametrize(
    "change",
    [
        {"tile": (96, 256, 64)}, {"tile": (128, 128, 64)}, {"tile": (128, 256, 128)}, {"direct": False}, {"buffers": 3},
        {"k_waves": 2}, {"arch": "gfx942"}, {"tile": (64, 64, 64), "waves": (1, 1)},
    ],
)  # fmt: skip
def test_what_it_cannot_be_is_refused(change):
    good = TiledLoop("gfx950", "bf16", (128, 256, 64), 4, (2, 4), direct=True, quadrants=True)
    with pytest.raises(ValueError, match=r"the loop in quadrants is for gfx950, .* steps of 128 bytes"):
        replace(good, **change)


@pytest.mark.parametrize("wait", ["loads", "reads"])
def test_a_wait_that_is_missing_is_found(arch, monkeypatch, wait):
    """The sanitizers see each: a load that is waited for too late, and a read that may still be under way."""
    rocdl = quadrant_loop.fx.rocdl

    def without(*places):
        if wait == "loads":
            rocdl.s_waitcnt(lgkmcnt=0)
        else:
            rocdl.wait_for_copies(*places)
        rocdl.s_barrier()

    monkeypatch.setattr(rocdl, "barrier_after_copies", without)
    problem = Problem(256, 256, 512, "bf16", "bf16", arch=arch, seed=4)
    kernel = compile_gemm(N=256, K=512, config=GemmConfig(256, 256, 64), in_dtype="bf16", out_dtype="bf16")
    empty = torch.empty(0)
    with pytest.raises((DeviceError, LaunchError), match=r"outstanding at a barrier|race"):
        kernel(problem.output(), problem.a, problem.b, empty, empty, empty, empty, empty, 256)


@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((4096, 4096, 4096), (256, 256)),  # as many tiles as compute units
        ((5120, 5120, 8320), (256, 256)),  # both leave as many idle in their last round
        ((4352, 4096, 4096), (128, 256)),  # 272 of the large ones would take two rounds
        ((4096, 4096, 192), (128, 256)),  # no whole steps of 128 bytes, with int8
        ((2048, 4096, 4096), (128, 256)),  # too few of the large ones; 256 x 128 is no better, see `config._one_round`
        ((1536, 4096, 4096), (256, 128)),  # which loads more from L2, and less from beyond it
    ],
)
def test_large_products_have_it_by_default(shape, tile):
    config = default_config("gfx950", "int8", *shape)
    assert (config.tile_m, config.tile_n) == tile
