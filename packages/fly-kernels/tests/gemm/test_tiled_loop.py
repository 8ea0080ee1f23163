# SPDX-License-Identifier: Apache-2.0
"""The main loop in layouts, on tiles and waves beyond those that the defaults give it, against float64."""

from dataclasses import replace

import pytest
import torch
from references import Problem

from flydsl.kernels.common.mma.loop_plan import TiledLoop
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.common.mma.tile_plan import plan_tile
from flydsl.kernels.gemm import loop_forms, tile_gemm
from flydsl.kernels.gemm.arguments import A_BYTES
from flydsl.kernels.gemm.config import GemmConfig
from flydsl.kernels.gemm.preshuffle_gemm import build_preshuffle_gemm, compile_preshuffle_gemm
from flydsl.kernels.gemm.row_major_gemm import compile_gemm
from flydsl.kernels.gemm.tile_spec import TileGemm


@pytest.fixture
def loops(monkeypatch):
    """`loops(step_bytes, waves, k_waves)`: tiles that can have it get this form; returns the list of those that did."""

    def force(step_bytes, waves=(1, 4), k_waves=1):
        used = []
        monkeypatch.setattr(loop_forms, "_tiled_form", lambda gemm: (step_bytes, waves, k_waves))
        found = tile_gemm.tiled_loop
        monkeypatch.setattr(tile_gemm, "tiled_loop", lambda loop, *rest: (used.append(loop), found(loop, *rest))[1])
        return used

    return force


def some(cases):
    """Rows of `pytest.mark.parametrize` of each case with each type; every other one only with `-m slow`."""
    types = ("bf16", "fp16", "fp8", "int8")
    return [
        pytest.param(*case, in_dtype, marks=[pytest.mark.slow] if (number + place) % 2 else [])
        for number, case in enumerate(cases)
        for place, in_dtype in enumerate(types)
    ]


def check_shuffled(run, arch, shape, tile, in_dtype, out_dtype="bf16", epilogue="none", **options):
    problem = Problem(*shape, in_dtype, out_dtype, arch=arch, epilogue=epilogue, seed=sum(shape))
    kernel = compile_preshuffle_gemm(
        N=problem.N, K=problem.K, tile_m=tile[0], tile_n=tile[1], tile_k=tile[2], in_dtype=in_dtype,
        out_dtype=out_dtype, epilogue=epilogue, **options,
    )  # fmt: skip
    c = problem.output()
    run(kernel, *problem.arguments(c), writes=[c])
    problem.check(c)
    return kernel, problem


def check_launch(run, launch, problem):
    import flydsl.compiler as flyc
    import flydsl.expr as fx

    @flyc.jit
    def gemm(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, M: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        launch(C, A, B, M, fx.Int32(128), stream)

    c = problem.output()
    run(gemm, *problem.arguments(c)[:3], problem.M, writes=[c])
    problem.check(c)


@pytest.mark.parametrize(
    ("tile", "waves", "step_bytes", "in_dtype"),
    some([((64, 64), (1, 4), 128), ((32, 128), (1, 4), 256), ((64, 128), (2, 2), 256), ((128, 64), (4, 1), 128),
          ((64, 64), (1, 2), 128), ((64, 128), (2, 4), 256)]),
)  # fmt: skip
def test_atoms_tiles_waves_and_steps(run, arch, loops, tile, waves, step_bytes, in_dtype):
    rows = tile[0] + 3  # the last tile has three rows
    assert TiledLoop.exists(arch, in_dtype)
    used = loops(step_bytes, waves)
    size = 2 if in_dtype in ("bf16", "fp16") else 1
    K = 5 * step_bytes // size
    check_shuffled(run, arch, (rows, tile[1], K), (*tile, step_bytes // size), in_dtype)
    assert [(one.steps, one.waves) for one in used] == [(5, waves)]


@pytest.mark.parametrize(
    ("tile", "waves", "k_waves", "step_bytes", "in_dtype"),
    some([((32, 64), (1, 2), 2, 256), ((64, 64), (2, 1), 2, 512), ((16, 64), (1, 1), 4, 256),
          ((32, 64), (1, 1), 4, 1024), ((16, 64), (1, 1), 2, 128), ((32, 64), (1, 1), 1, 128)]),
)  # fmt: skip
def test_waves_along_k(run, arch, loops, tile, waves, k_waves, step_bytes, in_dtype):
    rows = tile[0] + 3
    used = loops(step_bytes, waves, k_waves)
    size = 2 if in_dtype in ("bf16", "fp16") else 1
    problem = Problem(rows, tile[1], 4 * step_bytes // size, in_dtype, "bf16", arch=arch, seed=step_bytes)
    config = GemmConfig(*tile, 64 // size)
    kernel = compile_gemm(N=problem.N, K=problem.K, config=config, in_dtype=in_dtype, out_dtype="bf16")
    c, empty = problem.output(), torch.empty(0)
    scales = (problem.scale_a, problem.scale_b) if size == 1 else (empty, empty)
    run(kernel, c, problem.a, problem.b, *scales, problem.bias, problem.bias, empty, problem.M, writes=[c])
    problem.check(c)
    assert [(one.steps, one.k_waves, one.private) for one in used] == [(4, k_waves, waves == (1, 1))]


@pytest.mark.parametrize("steps", [2, 3, 4, 6, 7])
def test_any_number_of_steps(run, arch, loops, steps):
    used = loops(128)
    check_shuffled(run, arch, (37, 64, 64 * steps), (64, 64, 64), "bf16", "fp16")
    assert [one.steps for one in used] == [steps]


@pytest.mark.parametrize(
    ("why", "shape", "tile"),
    [("one step", (16, 64, 64), (64, 64, 64)), ("half a step", (16, 64, 96), (64, 64, 32))],
)  # fmt: skip
def test_a_form_that_k_is_too_short_for_gives_way_to_the_plan(run, arch, loops, why, shape, tile):
    used = loops(128)
    check_shuffled(run, arch, shape, tile, "bf16")
    planned = plan_tile(arch, "bf16", 2, K=shape[2], tile_m=64, tile_n=64).stage_bytes // 2
    assert [(one.tile[2], one.steps) for one in used] == [(planned, shape[2] // planned)], why


@pytest.mark.parametrize("options", [{}, {"lds_stage": 1}, {"use_async_copy": True}])
def test_rows_that_threads_do_not_share_evenly(run, arch, loops, options):
    if "use_async_copy" in options and arch != "gfx950":
        pytest.skip("its loads to LDS have 4 bytes")
    used = loops(128)
    problem = Problem(50, 64, 320, "bf16", arch=arch)
    config = GemmConfig(48, 64, 32, waves=(1, 4), **options)
    kernel, c = compile_gemm(N=64, K=320, config=config, in_dtype="bf16", out_dtype="bf16"), problem.output()
    empty = torch.empty(0)
    run(kernel, c, problem.a, problem.b, empty, empty, problem.bias, problem.bias, empty, problem.M, writes=[c])
    problem.check(c)
    assert [one.staged_rows % one.rows_at_once for one in used] == [0]


@pytest.mark.parametrize("in_dtype", ["bf16", "fp8", "int8"])
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("direct", [False, True])
def test_buffers_and_parts_of_the_rows(run, arch, in_dtype, stages, direct):
    """A step of one block of K goes in parts of the rows; K has steps enough for each buffer, and a rest."""
    if (direct and arch != "gfx950") or (stages > 2 and not direct):
        pytest.skip("no such pipeline")
    size = 2 if in_dtype == "bf16" else 1
    config = GemmConfig(64, 64, 64 // size, waves=(2, 2), lds_stage=stages, use_async_copy=direct)
    problem = Problem(70, 68, 64 * 9 // size, in_dtype, "f32", arch=arch, seed=stages)
    kernel = compile_gemm(N=problem.N, K=problem.K, config=config, in_dtype=in_dtype, out_dtype="f32")
    c, empty = problem.output(), torch.empty(0)
    scales = (problem.scale_a, problem.scale_b) if problem.scaled else (empty, empty)
    run(kernel, c, problem.a, problem.b, *scales, empty, empty, empty, problem.M, writes=[c])
    problem.check(c)


def test_results_by_way_of_lds_of_waves_along_m(run, arch, loops):
    used = loops(128, (2, 2))
    problem = Problem(70, 128, 512, "bf16", arch=arch)
    launch = build_preshuffle_gemm(
        N=128, K=512, tile_m=64, tile_n=128, tile_k=128, in_dtype="bf16", out_dtype="bf16", shuffled_store=True
    )
    check_launch(run, launch, problem)
    assert [one.waves for one in used] == [(2, 2)]


@pytest.mark.parametrize("epilogue", ["bias", "bias_gelu"])
@pytest.mark.parametrize("waves", [(1, 4), (2, 2)])
def test_epilogues_know_whose_rows_and_columns_they_have(run, arch, loops, waves, epilogue):
    used = loops(128, waves)
    check_shuffled(run, arch, (70, 128, 512), (64, 128, 128), "int8", "fp16", epilogue)
    assert len(used) == 1


def test_unscheduled(run, arch, loops):
    used = loops(128)
    check_shuffled(run, arch, (66, 128, 512), (64, 128, 128), "bf16", enable_scheduler=False)
    assert [one.scheduled for one in used] == [False]


@pytest.mark.parametrize("split_k", [1, 2])
@pytest.mark.parametrize("N", [68, 192])
def test_row_major_ragged_and_split(run, arch, loops, N, split_k):
    used = loops(128)
    problem = Problem(70, N, 512, "bf16", "f32", arch=arch, seed=N)
    config = GemmConfig(64, 128, 64, split_k)
    kernel = compile_gemm(N=N, K=512, config=config, in_dtype="bf16", out_dtype="f32")
    c, empty = problem.output(), torch.empty(0)
    workspace = torch.empty(split_k * 70, N) if split_k > 1 else empty
    writes = [c, workspace] if split_k > 1 else [c]
    run(kernel, c, problem.a, problem.b, empty, empty, problem.bias, problem.bias, workspace, 70, writes=writes)
    problem.check(c)
    assert [one.steps for one in used] == [8 // split_k]


def test_rows_apart(run, arch, loops):
    used = loops(128)
    problem = Problem(33, 128, 256, "bf16", arch=arch)
    kernel = compile_gemm(N=128, K=256, config=GemmConfig(64, 128, 64), in_dtype="bf16", out_dtype="bf16")
    wide_a, wide_b = (torch.full((one.shape[0], 264), float("nan"), dtype=one.dtype) for one in (problem.a, problem.b))
    wide_a[:, :256], wide_b[:, :256] = problem.a, problem.b
    c, empty = problem.output(), torch.empty(0)
    extras = (empty, empty, problem.bias, problem.bias, empty)
    run(kernel, c, wide_a[:, :256], wide_b[:, :256], *extras, problem.M, writes=[c])
    problem.check(c)
    assert len(used) == 1


@pytest.mark.parametrize("N", [68, 128])
def test_ragged_columns_of_waves_along_k(run, arch, loops, N):
    used = loops(256, (1, 1), 4)
    problem = Problem(21, N, 512, "bf16", "f32", arch=arch, seed=N)
    kernel = compile_gemm(N=N, K=512, config=GemmConfig(16, 64, 32), in_dtype="bf16", out_dtype="f32")
    c, empty = problem.output(), torch.empty(0)
    run(kernel, c, problem.a, problem.b, empty, empty, problem.bias, problem.bias, empty, 21, writes=[c])
    problem.check(c)
    assert [one.private for one in used] == [True]


@pytest.mark.parametrize("form", [(128, (1, 4), 1), (256, (1, 1), 4)])
def test_results_by_way_of_lds(run, arch, loops, form):
    used = loops(*form)
    problem = Problem(70, 128, 512, "bf16", arch=arch)
    launch = build_preshuffle_gemm(
        N=128, K=512, tile_m=64, tile_n=128, tile_k=128, in_dtype="bf16", out_dtype="bf16", shuffled_store=True
    )
    check_launch(run, launch, problem)
    assert len(used) == 1


@pytest.mark.parametrize("step_bytes", [128, 256])
def test_no_bank_conflicts_and_full_lines(run, counters, arch, loops, step_bytes):
    loops(step_bytes)
    kernel, problem = check_shuffled(run, arch, (64, 256, 1024), (64, 256, 128), "bf16")
    total = counters(kernel, *problem.arguments(problem.output()))["total"]
    assert total["lds_conflict_cycles"] == 0
    operands = (problem.a.numel() + problem.b.numel()) * 2
    assert operands <= total["bytes_loaded"] <= operands + 1024  # kernel arguments
    assert total["bytes_stored"] == 64 * 256 * 2


def test_waves_that_a_configuration_gives(run, arch, monkeypatch):
    """Where the defaults have a form for them; others of the same tile have that of their plan."""
    found = [one for one in loop_forms.defaults("tiled_loops", arch) if one.get("given")]
    assert found
    used = []
    loop = tile_gemm.tiled_loop
    monkeypatch.setattr(tile_gemm, "tiled_loop", lambda of, *rest: (used.append(of), loop(of, *rest))[1])
    for one in found:
        for waves, taken in ((tuple(one["waves"][:2]), True), ((1, 1), False)):
            used.clear()
            rows, columns = one["tile"]
            sums = 4 * (rows // (16 * waves[0])) * (columns // (16 * waves[1]))
            if sums > 192:  # no kernel has room for these
                continue
            problem = Problem(rows + 3, columns + 4, 1024, one["types"][-1], "f32", arch=arch, seed=rows)
            config = GemmConfig(rows, columns, 64, waves=waves)
            kernel = compile_gemm(N=problem.N, K=problem.K, config=config, in_dtype=one["types"][-1], out_dtype="f32")
            c, empty = problem.output(), torch.empty(0)
            scales = (problem.scale_a, problem.scale_b) if problem.scaled else (empty, empty)
            run(kernel, c, problem.a, problem.b, *scales, empty, empty, empty, problem.M, writes=[c])
            problem.check(c)
            assert [of.waves for of in used] == [waves]
            size = A_BYTES[one["types"][-1]]
            assert (used[0].tile[2] * size == one["step_bytes"]) >= taken


def test_two_waves_of_a_simd_have_forms_of_their_own(run, arch):
    """A tile's first entry that has two workgroups of four waves; the same tile, not asked to, has one of eight."""
    if arch != "gfx950":
        pytest.skip("its loads to LDS have 4 bytes")
    gemm = TileGemm(
        arch=arch, N=256, K=512, in_dtype="fp8", out_dtype="bf16", tile_m=128, tile_n=256, tile_k=128,
        epilogue=Epilogue(scaled=True), shuffled=True, direct=True, waves_per_eu=2,
    )  # fmt: skip
    assert gemm.tiled.direct
    assert gemm.tiled.parts == 4
    assert replace(gemm, waves_per_eu=1).tiled.quadrants
    check_shuffled(run, arch, (130, 256, 640), (128, 256, 128), "fp8", use_async_copy=True, waves_per_eu=2)


def test_tiles_of_the_defaults_have_it(arch):
    tiles = loop_forms.defaults("tiled_loops", arch)
    assert tiles
    in_quadrants = [one["tile"] for one in tiles if one.get("loop", {}).get("quadrants")]
    for one in tiles:
        second = one["tile"] in in_quadrants and not one.get("loop", {}).get("quadrants")  # for what the first cannot
        for in_dtype in one["types"]:
            gemm = TileGemm(
                arch=arch, N=one["tile"][1], K=4096, in_dtype=in_dtype, out_dtype="bf16", tile_m=one["tile"][0],
                tile_n=one["tile"][1], tile_k=64, epilogue=Epilogue(), shuffled=True,
                direct=second, waves_per_eu=one.get("waves_per_eu", 1) if second else 1,
                **({"waves": tuple(one["waves"][:2]), "k_waves": one["waves"][2]} if one.get("given") else {}),
            )  # fmt: skip
            loop = gemm.tiled
            assert loop.tile == (*one["tile"], one["step_bytes"] // A_BYTES[in_dtype])
            assert [*loop.waves, loop.k_waves] == one["waves"]
            assert gemm.plan.threads == loop.threads
