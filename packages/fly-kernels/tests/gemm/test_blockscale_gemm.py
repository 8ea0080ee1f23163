# SPDX-License-Identifier: Apache-2.0
"""fp8 GEMMs with a scale for 128 of K of a row, and for 128 x 128 of the weights, against float64."""

from dataclasses import replace

import pytest
import torch
from references import FLOATS, HALF_ULP

from flydsl.kernels import gemm
from flydsl.kernels.common.arch import float8_of
from flydsl.kernels.common.defaults import defaults
from flydsl.kernels.common.mma.loop_plan import TiledLoop
from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm import loop_forms
from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.tile_spec import TileGemm
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8, flydsl_preshuffle_gemm_a8

BLOCK = 128


class BlockScaled:
    """Random operands, their product in float64, and the error that roundings of f32 can make of it."""

    def __init__(self, M, N, K, out_dtype, arch, seed=0):
        generator = torch.Generator().manual_seed(seed)
        kind = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
        self.M, self.N, self.K, self.out_dtype = M, N, K, out_dtype
        self.a, self.b = (torch.randn(rows, K, generator=generator).to(kind) for rows in (M, N))
        # Over many powers of two: a scale of the wrong block shows.
        self.scale_a = torch.exp2(torch.randn(K // BLOCK, M, generator=generator) * 2)
        self.scale_b = torch.exp2(torch.randn(-(-N // BLOCK), K // BLOCK, generator=generator) * 2)

    def dequantised(self):
        a = self.a.double() * self.scale_a.double().t().repeat_interleave(BLOCK, 1)
        b = self.b.double() * self.scale_b.double().repeat_interleave(BLOCK, 0)[: self.N].repeat_interleave(BLOCK, 1)
        return a, b

    def output(self):
        return torch.empty(self.M, self.N, dtype=FLOATS[self.out_dtype])

    def arguments(self, c):
        return c, self.a, shuffle_weight(self.b), self.scale_a.view(-1), self.scale_b.view(-1), self.M, self.N

    def check(self, c):
        a, b = self.dequantised()
        expected, magnitude = a @ b.t(), a.abs() @ b.abs().t()
        # 128 products, their scale, and one sum for each block, all rounded to f32.
        error = magnitude * (BLOCK + 3 + self.K // BLOCK) * 2.0**-24 + expected.abs() * HALF_ULP[self.out_dtype]
        excess = ((c.double() - expected).abs() - error - 2.0**-24).nan_to_num(nan=float("inf"))
        assert excess.max() <= 0, f"worst element {excess.argmax().item()} of {tuple(c.shape)} is off by {excess.max()}"


def build(N, K, tiles, **options):
    tile_m, tile_n, tile_k = tiles
    return compile_blockscale_preshuffle_gemm(
        M=1, N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, **options
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "tiles", "out_dtype", "options"),
    [
        ((17, 128, 1024), (16, 64, 128), "bf16", {}),  # all waves along K
        ((7, 64, 128), (16, 64, 128), "fp16", {}),  # one block of K
        ((33, 192, 512), (32, 64, 256), "bf16", {"use_cshuffle_epilog": True}),
        ((65, 256, 768), (64, 128, 256), "fp16", {}),  # A by way of LDS
        ((70, 256, 384), (64, 256, 128), "bf16", {"waves_per_eu": 1}),  # two scales of B in a tile
        ((40, 128, 512), (32, 128, 128), "bf16", {"use_async_copy": True}),
        ((130, 128, 256), (128, 128, 128), "fp16", {"use_cshuffle_epilog": True}),
        ((130, 256, 768), (128, 128, 128), "bf16", {}),  # rows in parts
        ((70, 128, 1280), (128, 128, 128), "fp16", {"waves_per_eu": 2}),
        ((130, 256, 512), (128, 256, 128), "bf16", {}),
    ],
)
def test_against_float64(run, arch, shape, tiles, out_dtype, options):
    problem = BlockScaled(*shape, out_dtype, arch)
    c = problem.output()
    run(build(*shape[1:], tiles, out_dtype=out_dtype, **options), *problem.arguments(c), writes=[c])
    problem.check(c)


def test_tiles_of_the_defaults(arch):
    """Each goes in parts, at the occupancy that it has room for and no more."""
    found = [one for one in defaults("scaled_loops", arch) if ["fp8", "f32"] in one["formats"]]
    assert found
    for one in found:
        gemm = TileGemm(
            arch=arch, N=256, K=1024, in_dtype="fp8", out_dtype="bf16", tile_m=one["tile"][0], tile_n=one["tile"][1],
            tile_k=128, epilogue=Epilogue(), shuffled=True, block_scaled=True, waves_per_eu=one["waves_per_eu"],
        )  # fmt: skip
        assert gemm.tiled.parts == one["loop"].get("parts", 1)
        assert gemm.tiled.tile == (*one["tile"], one["step"])
        assert replace(gemm, waves_per_eu=one["waves_per_eu"] + 1).tiled != gemm.tiled


def test_large_tiles_leave_room_for_two_waves(counters, arch):
    if arch != "gfx950":
        pytest.skip("gfx942 has no form for this tile")
    problem = BlockScaled(130, 256, 640, "bf16", arch)
    c = problem.output()
    profile = counters(build(256, 640, (128, 256, 128)), *problem.arguments(c))
    problem.check(c)
    assert profile["registers"]["vgpr"] <= 256
    assert profile["registers"]["vgpr_spills"] == profile["scratch_bytes"] == 0


@pytest.mark.parametrize("tile", [(128, 256), (256, 128)])
def test_large_tiles_spill_nothing(counters, arch, tile):
    problem = BlockScaled(tile[0] + 2, 256, 640, "bf16", arch)
    c = problem.output()
    profile = counters(build(256, 640, (*tile, 128)), *problem.arguments(c))
    problem.check(c)
    assert profile["registers"]["vgpr_spills"] == profile["scratch_bytes"] == 0


@pytest.mark.parametrize(
    ("waves", "step", "parts"),
    [((1, 4), 256, 2), ((1, 4), 128, 4), ((2, 2), 128, 2), ((2, 2), 256, 1)],  # by rows of lanes, and by lanes
)
def test_rows_in_parts(run, arch, monkeypatch, waves, step, parts):
    """Columns share scales by two, four or not at all; products of one part still wait while the next begins."""
    M, N, K = 70, 512, 768
    options = {"direct": True} if arch == "gfx950" and parts > 1 else {}
    form = TiledLoop(arch, "fp8", (64, 256, step), K // step, waves, scaled=True, parts=parts, **options)
    monkeypatch.setattr(loop_forms, "_listed_form", lambda gemm: form)
    problem = BlockScaled(M, N, K, "bf16", arch)
    c = problem.output()
    run(build(N, K, (64, 256, 128)), *problem.arguments(c), writes=[c])
    problem.check(c)


def test_columns_that_are_no_multiple_of_a_block_and_other_rows_of_the_same_kernel(run, arch):
    launch = build(2112, 256, (16, 64, 128))
    for rows in (1, 33, 16, 0, 7):
        problem = BlockScaled(rows, 2112, 256, "bf16", arch, seed=rows)
        c = problem.output()
        run(launch, *problem.arguments(c), writes=[c], seeds=(0, 7919))
        if rows:
            problem.check(c)


def test_values_that_are_no_numbers_stay_in_their_row(run, arch):
    problem = BlockScaled(20, 64, 512, "bf16", arch)
    fnuz = arch == "gfx942"
    bits = problem.a.view(torch.uint8)
    bits[3, 200] = 0x80 if fnuz else 0x7F  # NaN
    bits[5] = 0 if fnuz else 0x80  # -0 is a zero; FNUZ has one zero only
    problem.scale_a[1, 8] = float("nan")
    problem.scale_a[2, 9] = float("inf")
    problem.scale_a[:, 11] = 0
    c = problem.output()
    run(build(64, 512, (16, 64, 128)), *problem.arguments(c), writes=[c])
    assert c[[3, 8]].isnan().all()
    assert c[[5, 11]].eq(0).all()
    assert not c[9].isfinite().any()
    rest = [row for row in range(20) if row not in (3, 5, 8, 9, 11)]
    assert c[rest].isfinite().all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"K": 320}, "K = 320 is no multiple of tile_k = 128"),
        ({"tile_k": 64}, "tile_k = 64 is no multiple of scale_block_k = 128"),
        ({"tile_n": 192, "N": 192}, "tile_n = 192 is neither 64 nor a multiple of 128"),
        ({"N": 100}, "N = 100 is no multiple of tile_n = 64"),
        ({"tile_m": 24}, "tile_m = 24 is no multiple of 16"),
        ({"scale_block_k": 64}, "scale_block_k = 64: scales are of 128"),
        ({"out_dtype": "f32"}, "out_dtype 'f32' is not supported"),
        ({"waves_per_eu": 9}, "waves_per_eu is a number of waves up to 8"),
        ({"M": 0}, "M must be a positive"),
        ({"tile_m": 512, "tile_n": 512, "N": 512}, "registers"),
    ],
)
def test_refusals(change, said):
    numbers = {"M": 1, "N": 128, "K": 256, "tile_m": 16, "tile_n": 64, "tile_k": 128}
    with pytest.raises(ValueError, match=said):
        compile_blockscale_preshuffle_gemm(**(numbers | change))


@pytest.mark.parametrize(
    ("index", "change", "said"),
    [
        (3, lambda s: s[:-1], "argument 'scale_a': expected 40 elements, got 39"),
        (4, lambda s: torch.cat([s, s]), "argument 'scale_b': expected 2 elements, got 4"),
        (6, lambda n: 128, "argument 'N': the kernel was built for 64, got 128"),
        (5, lambda m: 21, "argument 'C': expected 21 or more rows of 64, got 20 of 64"),
    ],
)
def test_arguments_that_do_not_fit(arch, index, change, said):
    problem = BlockScaled(20, 64, 256, "bf16", arch)
    arguments = list(problem.arguments(problem.output()))
    arguments[index] = change(arguments[index])
    with pytest.raises(ValueError, match=said):
        build(64, 256, (16, 64, 128))(*arguments)


@pytest.mark.parametrize(("shape", "split_k"), [((20, 192, 1024), 2), ((9, 128, 384), 3)])
def test_parts_of_k(run, arch, shape, split_k):
    problem = BlockScaled(*shape, "bf16", arch)
    launch = compile_preshuffle_gemm_a8(
        M=shape[0], N=shape[1], K=shape[2], tile_m=16, tile_n=64, tile_k=128, split_k=split_k,
        scale_mode="blockscale",
    )  # fmt: skip
    c = problem.output()
    workspace = torch.empty(split_k * shape[0] * shape[1])
    semaphores = torch.zeros(64, dtype=torch.int32)
    *operands, m, n = problem.arguments(c)
    run(launch, *operands, workspace, semaphores, m, n, writes=[c, workspace])  # which also says that those stay zero
    problem.check(c)


def test_by_the_name_of_serving_code(arch):
    for mode, split_k in (("blockscale", 1), ("blockscale", 2), ("epilogue", 2)):
        problem = BlockScaled(20, 128, 512, "bf16", arch)
        if mode == "epilogue":
            problem.scale_a, problem.scale_b = torch.rand(20) + 0.5, torch.rand(128) + 0.5
        out = problem.output()
        got = flydsl_preshuffle_gemm_a8(
            problem.a, shuffle_weight(problem.b), problem.scale_a, problem.scale_b, out, 32, 64, 128,
            split_k=split_k, scale_mode=mode,
        )  # fmt: skip
        assert got is out
        if mode == "blockscale":
            problem.check(out)
        else:
            exact = problem.a.double() @ problem.b.double().t() * problem.scale_a[:, None] * problem.scale_b
            assert (out.double() - exact).abs().max() <= exact.abs().max() * 2.0**-8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scale_mode": "blocks"}, "scale_mode 'blocks' is not supported; use one of epilogue, blockscale"),
        ({"scale_mode": "blockscale", "in_dtype": "int8"}, "is for in_dtype 'fp8', not for 'int8'"),
        ({"scale_mode": "blockscale", "lds_stage": 1}, "has lds_stage = 2 and no preload"),
        ({"split_k": 3}, "split_k"),
        ({"split_k": 0}, "split_k must be a positive"),
    ],
)
def test_modes_that_there_are_not(change, said):
    numbers = {"M": 1, "N": 128, "K": 512, "tile_m": 32, "tile_n": 64, "tile_k": 128}
    with pytest.raises(ValueError, match=said):
        compile_preshuffle_gemm_a8(**(numbers | change))


def test_few_rows_whose_waves_along_k_have_several_blocks_each(arch):
    """On gfx942 a block of 128 is several packs: K of 1024 and more gives each of four waves two such blocks."""
    torch.manual_seed(0)
    m, n, k = 16, 128, 2048
    kind = getattr(torch, float8_of(arch).torch_name)
    a, b = (torch.randn(rows, k).to(kind) for rows in (m, n))
    scale_a, scale_b = torch.rand(m, k // 128) + 0.5, torch.rand(n // 128, k // 128) + 0.5
    result = gemm(a, b, a_scale=scale_a, b_scale=scale_b, block=128)
    left = a.double() * scale_a.double().repeat_interleave(128, 1)
    right = b.double() * scale_b.double().repeat_interleave(128, 0).repeat_interleave(128, 1)
    expected = left @ right.T
    assert ((result.double() - expected).abs() / (expected.abs() + expected.abs().mean())).max() < 2**-8
