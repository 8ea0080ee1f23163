# SPDX-License-Identifier: Apache-2.0
"""The loop of large tiles with scales of parts of K against float64: all formats and lengths, and its waits."""

import sys
from dataclasses import replace

import pytest
import torch
from mx_references import MxProblem

import flydsl.kernels as fk
from flydsl.kernels.common.mma import scaled_quadrant_loop
from flydsl.kernels.common.mma.loop_plan import TiledLoop
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.fp4_gemm_4wave import compile_fp4_gemm_4w
from flydsl.kernels.gemm.mxfp8_gemm_interface import gemm_mxfp8
from flydsl.kernels.gemm.scaled_dispatch import multiply_scaled
from flydsl.kernels.gemm.scaled_tiles import scaled_tile
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8
from flydsl.runtime import DeviceError, LaunchError

TILE = {"tile_m": 256, "tile_n": 256, "tile_k": 128}
TYPES = {"fp8": torch.float8_e4m3fn, "bf8": torch.float8_e5m2}


@pytest.fixture(autouse=True)
def only_where_loads_are_wide(arch):
    if arch != "gfx950":
        pytest.skip("its loads to LDS have 4 bytes")


@pytest.fixture
def used(monkeypatch):
    """The loops that ran."""
    loops, run = [], scaled_quadrant_loop.ScaledQuadrantLoop.run
    monkeypatch.setattr(
        scaled_quadrant_loop.ScaledQuadrantLoop,
        "run",
        lambda self, *rest: (loops.append(self.loop), run(self, *rest))[1],
    )
    return loops


class BlockScaled:
    """fp8 with f32 scales, of 128 of K, and of 128 columns."""

    def __init__(self, M, N, K):
        generator = torch.Generator().manual_seed(M + N + K)
        self.a, self.b = (torch.randn(rows, K, generator=generator).to(TYPES["fp8"]) for rows in (M, N))
        self.scale_a = torch.rand(K // 128, M, generator=generator) + 0.25
        self.scale_b = torch.rand(-(-N // 128), K // 128, generator=generator) + 0.25

    def tensors(self):
        return self.a, shuffle_weight(self.b), self.scale_a.view(-1), self.scale_b.view(-1)

    def check(self, c):
        a = self.a.double() * self.scale_a.t().double().repeat_interleave(128, 1)
        b = self.b.double() * self.scale_b.double().repeat_interleave(128, 0)[: len(self.b)].repeat_interleave(128, 1)
        exact, magnitude = a @ b.t(), a.abs() @ b.abs().t()
        assert ((c.double() - exact).abs() <= exact.abs() * 2.0**-8 + magnitude * a.shape[1] * 2.0**-24).all()


@pytest.mark.parametrize("steps", [1, 3, 6])
@pytest.mark.parametrize("in_dtype", ["fp4", "fp6", "a8w4"])
def test_weights_in_4_bits(run, used, in_dtype, steps):
    """Rows that no tile divides; from one step to some in the run-time loop, words of scales half used."""
    K = steps * (256 if in_dtype == "fp4" else 128)
    problem = MxProblem(261, 256, K, {"a8w4": "fp8"}.get(in_dtype, in_dtype), "fp4", seed=K)
    launch = compile_preshuffle_gemm_a8(M=1, N=256, K=K, **TILE, in_dtype=in_dtype)
    c = problem.output()
    run(launch, c, *problem.tensors(), 261, 256, writes=[c])
    problem.check(c)
    assert {one.waves for one in used} == {(2, 4)}


@pytest.mark.parametrize("steps", [1, 2, 3, 6])
@pytest.mark.parametrize("split_k", [1, 2])
def test_f32_scales(run, used, split_k, steps):
    M, N, K = 261, 256, 128 * steps * split_k
    problem, c = BlockScaled(M, N, K), torch.empty(M, N, dtype=torch.bfloat16)
    launch = compile_preshuffle_gemm_a8(M=1, N=N, K=K, **TILE, scale_mode="blockscale", split_k=split_k)
    if split_k == 1:
        run(launch, c, *problem.tensors(), M, N, writes=[c])
    else:
        workspace, semaphores = torch.empty(split_k * M * N), torch.zeros(4, dtype=torch.int32)
        run(launch, c, *problem.tensors(), workspace, semaphores, M, N, writes=[c, workspace])
    problem.check(c)
    assert used


@pytest.mark.parametrize("in_dtype", ["fp4", "a8w4", "fp8"])
def test_results_by_way_of_lds(run, used, in_dtype):
    """Two tiles of columns; of instructions of 32 rows, and of 16."""
    M, N, K = 261, 512, 512
    if in_dtype == "fp8":
        problem, c = BlockScaled(M, N, K), torch.empty(M, N, dtype=torch.bfloat16)
        launch = compile_preshuffle_gemm_a8(M=1, N=N, K=K, **TILE, scale_mode="blockscale", use_cshuffle_epilog=True)
    else:
        problem = MxProblem(M, N, K, {"a8w4": "fp8"}.get(in_dtype, in_dtype), "fp4", seed=K)
        launch = compile_preshuffle_gemm_a8(M=1, N=N, K=K, **TILE, in_dtype=in_dtype, use_cshuffle_epilog=True)
        c = problem.output()
    run(launch, c, *problem.tensors(), M, N, writes=[c])
    problem.check(c)
    assert used


def test_columns_that_no_tile_divides(monkeypatch, used):
    """As N = 2112: the last tile has a half without columns, and the last block of scales 64 of them."""
    monkeypatch.setattr(sys.modules[multiply_scaled.__module__], "scaled_tile", lambda *_: (256, 256))
    problem = BlockScaled(70, 320, 384)
    scales = {"a_scale": problem.scale_a.t().contiguous(), "b_scale": problem.scale_b}
    problem.check(fk.gemm(problem.a, problem.b, **scales, block=128))
    assert used


@pytest.mark.parametrize(("a", "b"), [("fp8", "bf8"), ("bf8", "fp8")])
def test_row_major_operands_of_8_bits(monkeypatch, used, a, b):
    monkeypatch.setattr(sys.modules[gemm_mxfp8.__module__], "scaled_tile", lambda *_: (256, 256))
    problem = MxProblem(70, 300, 640, a, b)
    operands = [torch.from_numpy(one).view(TYPES[kind]) for one, kind in ((problem.a, a), (problem.b, b))]
    scales = [torch.from_numpy(one) for one in (problem.scale_a, problem.scale_b)]
    problem.check(gemm_mxfp8(operands[0], scales[0], operands[1], scales[1]))
    assert used


def test_extreme_scales_and_elements(run):
    problem = MxProblem(70, 256, 512, "fp8", "fp4")
    problem.scale_a[1, 3], problem.scale_a[2], problem.scale_a[35] = 255, 0, 254  # NaN, 2^-127, 2^127
    problem.a[35], problem.b[:, 0] = 0x38, 0x22
    problem.a[40, 7], problem.a[41] = 0x7F, 0x80  # NaN, -0
    c, (expected, _) = problem.output(), problem.exact()
    launch = compile_preshuffle_gemm_a8(M=1, N=256, K=512, **TILE, in_dtype="a8w4")
    run(launch, c, *problem.tensors(), 70, 256, writes=[c])
    others = [row for row in range(70) if row not in (1, 2, 35, 40)]
    assert c[[1, 40]].isnan().all()
    assert (c[2].double().abs() <= abs(expected[2]).max() + 2.0**-126).all()
    big = torch.from_numpy(abs(expected[35]) > 2.0**128)
    assert big.any()
    assert c[35][big].isinf().all()
    assert c[41].eq(0).all()
    assert c[others].isfinite().all()


@pytest.mark.parametrize("wait", ["loads", "reads"])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_wait_that_is_missing_is_found(monkeypatch, wait, scaled):
    """The sanitizers see each: a load that is waited for too late, and a read that may still be under way."""
    rocdl = scaled_quadrant_loop.fx.rocdl

    def without(*places):
        if wait == "loads":
            rocdl.s_waitcnt(lgkmcnt=0)
        else:
            rocdl.wait_for_copies(*places)
        rocdl.s_barrier()

    monkeypatch.setattr(rocdl, "barrier_after_copies", without)
    c = torch.empty(256, 256, dtype=torch.bfloat16)
    if scaled:
        launch = compile_blockscale_preshuffle_gemm(M=1, N=256, K=768, **TILE)
        arguments = c, *BlockScaled(256, 256, 768).tensors()
    else:
        launch = compile_fp4_gemm_4w(K=1536)
        a, b, *scales = MxProblem(256, 256, 1536, "fp4", "fp4").tensors(shuffled=False)
        arguments = a, b, c, *scales
    with pytest.raises((DeviceError, LaunchError), match=r"outstanding at a barrier|race"):
        launch(*arguments, 256, 256)


@pytest.mark.parametrize("kind", ["fp4", "fp8", "f32", "f32 row-major"])
def test_it_has_registers_for_all(counters, monkeypatch, kind):
    c = torch.empty(300, 256, dtype=torch.bfloat16)
    if kind == "f32 row-major":
        monkeypatch.setattr(sys.modules[multiply_scaled.__module__], "scaled_tile", lambda *_: (256, 256))
        problem = BlockScaled(300, 256, 768)
        scales = {"a_scale": problem.scale_a.t().contiguous(), "b_scale": problem.scale_b}
        profile = counters(lambda: fk.gemm(problem.a, problem.b, **scales, block=128))
        assert profile["registers"]["vgpr_spills"] == profile["scratch_bytes"] == 0
        return
    if kind == "f32":
        launch = compile_blockscale_preshuffle_gemm(M=1, N=256, K=768, **TILE)
        arguments = c, *BlockScaled(300, 256, 768).tensors()
    else:
        launch = compile_preshuffle_gemm_a8(M=1, N=256, K=1536, **TILE, in_dtype={"fp8": "a8w4"}.get(kind, kind))
        arguments = c, *MxProblem(300, 256, 1536, kind, "fp4").tensors()
    profile = counters(launch, *arguments, 300, 256)
    assert profile["registers"]["vgpr_spills"] == profile["scratch_bytes"] == 0


def test_what_it_cannot_be_is_refused():
    good = TiledLoop("gfx950", "fp8", (256, 256, 128), 4, (2, 4), b_mx="fp4", direct=True, quadrants=True)
    for change in ({"tile": (256, 256, 256)}, {"waves": (4, 2)}, {"dtype": "fp4"}, {"tile": (128, 256, 128)}):
        with pytest.raises(ValueError, match="the loop in quadrants is for gfx950"):
            replace(good, **change)


@pytest.mark.parametrize(
    ("shape", "formats", "tile"),
    [
        ((4096, 4096, 7168), ("fp8", "f32"), (256, 256)),
        ((4096, 4096, 7168), ("fp4", "fp4"), (256, 256)),
        ((4096, 4096, 7168 + 128), ("fp4", "fp4"), (128, 128)),  # half a step
        ((4096, 4096, 7168), ("fp4", "fp8"), (128, 128)),  # rows of B would be twice as long as those of A
        ((2048, 4096, 7168), ("fp8", "fp8"), (128, 128)),  # too few of them
        ((512, 65536, 7168), ("fp8", "fp8"), (256, 256)),
        ((16, 65536, 7168), ("fp8", "f32"), (16, 64)),
    ],
)
def test_large_products_have_it_by_default(shape, formats, tile):
    assert scaled_tile("gfx950", *shape, formats) == tile
    assert scaled_tile("gfx942", *shape, formats) != (256, 256)
