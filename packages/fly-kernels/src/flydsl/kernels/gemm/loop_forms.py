# SPDX-License-Identifier: Apache-2.0
"""Which main loop a GEMM has: the one that the defaults name for its tile, a `staged` one, whose steps and waves are
given, or one of operands with scales of parts of K.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..common.defaults import defaults
from ..common.mma.instructions import PACK_BYTES
from ..common.mma.lds_ways import BUFFERS
from ..common.mma.loop_plan import TiledLoop
from ..common.mma.mx_large_tile_loop import STEP as LARGE_TILE_STEP
from ..common.mma.operand_scales import BLOCK
from ..common.mma.tile_plan import LDS_BYTES
from .arguments import A_BYTES

if TYPE_CHECKING:
    from .tile_spec import TileGemm

__all__ = ["default_loop", "given_loop", "has_listed_form", "large_tile_loop", "large_tile_waves", "scaled_loop"]

_EIGHT_WAVES = 128, 128  # the tile of 8-bit A with scales of parts of K that has eight; with larger ones they spill
_FEW_ROWS = 32  # of a tile whose waves are all along K, by default


def large_tile_waves(tile_m: int, tile_n: int) -> tuple[int, int] | None:
    """The grid of waves of `mx_large_tile_loop` for a tile; None where it cannot have this one.

    As many waves as there are, 2, 4 or 8, of multiples of 64 x 64: their loads of a step of 2 to 16 such blocks of
    results fill whole rows, and two waves of a SIMD have registers for the sums of two blocks each.
    """
    if tile_m % 64 or tile_n % 64 or BUFFERS * (tile_m + tile_n) * LARGE_TILE_STEP // 2 > LDS_BYTES["gfx950"]:
        return None
    down, across = tile_m // 64, tile_n // 64
    grids = [(m, n) for m in (1, 2, 4, 8) for n in (1, 2, 4, 8) if 2 <= m * n <= 8 and down % m == 0 == across % n]
    if not grids or down * across > 16:
        return None
    return max(grids, key=lambda one: (one[0] * one[1], one[0]))


def large_tile_loop(gemm: TileGemm) -> TiledLoop:
    """The geometry of `mx_large_tile_loop`."""
    tile, steps = (gemm.tile_m, gemm.tile_n, LARGE_TILE_STEP), gemm.K // LARGE_TILE_STEP
    waves = large_tile_waves(gemm.tile_m, gemm.tile_n)
    assert waves is not None, f"no waves for a tile of {gemm.tile_m} x {gemm.tile_n}"
    # Its waves are its own, and only the plain epilogue knows how it numbers results.
    assert gemm.waves is None
    assert not any((gemm.atomic, gemm.stochastic, gemm.shuffled_store))
    return TiledLoop(gemm.arch, gemm.in_dtype, tile, steps, waves, scheduled=gemm.fenced, b_mx=gemm.b_mx)


def given_loop(gemm: TileGemm, staged: str) -> TiledLoop:
    """The main loop of a GEMM that says what goes through LDS; ValueError, with the numbers, where it cannot be."""
    waves = gemm.waves or (1, 1)
    tile, steps = (gemm.tile_m, gemm.tile_n, gemm.tile_k), gemm.K // gemm.split_k // gemm.tile_k
    loop = TiledLoop(
        gemm.arch, gemm.in_dtype, tile, steps, waves, scheduled=gemm.fenced, alone=not staged,
        staging=gemm.staging if staged else None, b_bytes=PACK_BYTES // 2 if gemm.shuffled else PACK_BYTES,
    )  # fmt: skip
    if gemm.tile_m % (16 * waves[0]) or gemm.tile_n % (16 * waves[1]):
        raise ValueError(
            f"tile_m = {gemm.tile_m}, tile_n = {gemm.tile_n}: no multiples of 16 for each of {waves} waves"
        )
    depth = max(loop.depth, loop.lane_pack)
    if gemm.tile_k % depth or gemm.K % (gemm.split_k * gemm.tile_k):
        raise ValueError(
            f"tile_k = {gemm.tile_k} has to be a multiple of {depth}, and K = {gemm.K} of split_k * tile_k = "
            f"{gemm.split_k} * {gemm.tile_k}: there is no tail along K"
        )
    chunks = gemm.tile_k // loop.pack
    for rows in tile[:2] if staged else ():
        if loop.threads % chunks or rows * chunks % loop.threads:
            raise ValueError(
                f"a step of {rows} rows x {gemm.tile_k} {gemm.in_dtype} is {rows * chunks} pieces of 16 bytes, which "
                f"{loop.threads} threads do not share evenly: use another tile_k, or more rows a wave"
            )
    return loop


def _listed_form(gemm: TileGemm) -> TiledLoop | None:
    """The main loop that the defaults have for a tile of operands with scales of parts of K; None: none, or too short
    a K."""
    if gemm.waves is not None or gemm.unit_scales:
        return None
    formats = [gemm.in_dtype, gemm.b_mx or "f32"]
    for one in defaults("scaled_loops", gemm.arch):
        if one["tile"] != [gemm.tile_m, gemm.tile_n] or formats not in one["formats"]:
            continue
        if one.get("asked") and not gemm.direct:
            continue
        if one["loop"].get("quadrants") and gemm.groups:
            continue  # whose operands begin and end elsewhere
        along_m, along_n = one["waves"]
        steps, rest = divmod(gemm.K // gemm.split_k, one["step"])
        direct, occupancy = one["loop"].get("direct", False), one["waves_per_eu"]
        if (
            rest
            or steps < (1 if one["loop"].get("quadrants") else 2)
            or gemm.direct > direct
            or gemm.waves_per_eu > occupancy
        ):
            continue
        return TiledLoop(
            gemm.arch, gemm.in_dtype, (gemm.tile_m, gemm.tile_n, one["step"]), steps, (along_m, along_n),
            scheduled=gemm.fenced, scaled=gemm.block_scaled, b_mx=gemm.b_mx, **one["loop"],
        )  # fmt: skip
    return None


def has_listed_form(gemm: TileGemm) -> bool:
    """Whether the defaults have a main loop for a tile of operands with scales of parts of K."""
    return _listed_form(gemm) is not None


def scaled_loop(gemm: TileGemm) -> TiledLoop:
    """The main loop of operands with scales of parts of K: the first of these forms that the tile can have.

    Few rows have all waves along K. Tiles of 128 x 128 with A of 8 bits have eight waves on gfx950, of 256 registers
    each: of four, one would be left on a SIMD, and nothing would hide its scaling and loads. Others share A by way of
    LDS where a step of two blocks fills all threads' loads; else, or where A is to go `direct`, each of the four waves
    along N loads it for itself.
    """
    found = _listed_form(gemm)
    if found is not None:
        return found
    part = gemm.K // gemm.split_k
    forms: list[tuple[tuple[int, int], int, int, bool]] = [
        ((1, 1), 4, 2 * BLOCK * 4, False), ((1, 1), 4, BLOCK * 4, False),
        ((1, 4), 1, 2 * BLOCK, False), ((1, 4), 1, 2 * BLOCK, True), ((1, 4), 1, BLOCK, True),
    ]  # fmt: skip
    eight_bits = gemm.block_scaled or (gemm.b_mx and gemm.in_dtype != "fp4")
    suits = (gemm.tile_m, gemm.tile_n) == _EIGHT_WAVES and not gemm.shuffled_store
    if gemm.arch == "gfx950" and eight_bits and suits:
        forms.insert(2, ((2, 4), 1, 2 * BLOCK, False))
    if gemm.waves is not None:
        alone = gemm.waves != (1, 1)
        forms = [(gemm.waves, gemm.k_waves, steps * BLOCK * gemm.k_waves, False) for steps in (2, 1)]
        forms += [(gemm.waves, gemm.k_waves, steps * BLOCK * gemm.k_waves, alone) for steps in (2, 1)]
    for waves, k_waves, step, alone in forms:
        if gemm.direct and not alone and waves != (1, 1):
            continue
        tile, scaled = (gemm.tile_m, gemm.tile_n, step), gemm.block_scaled
        loop = TiledLoop(
            gemm.arch, gemm.in_dtype, tile, part // step, waves, k_waves, gemm.fenced, scaled, alone, b_mx=gemm.b_mx,
            unit_scales=gemm.unit_scales,
        )  # fmt: skip
        fits = part % step == 0 and gemm.tile_m % (16 * waves[0]) == 0 and gemm.tile_n % (16 * waves[1]) == 0
        if gemm.waves is None and k_waves > 1:
            fits = fits and gemm.tile_m <= _FEW_ROWS and gemm.tile_n <= 2 * _FEW_ROWS and loop.steps > 1
        if gemm.b_mx and k_waves > 1:  # a wave has both blocks of a word of scales
            fits = fits and step == 2 * BLOCK * k_waves
        if not loop.private:
            staged = gemm.tile_m * step * gemm.row_bytes() // gemm.K
            shared = staged % (loop.threads * PACK_BYTES) == 0 and loop.groups > 1 and k_waves == 1
            fits = fits and shared and BUFFERS * staged <= LDS_BYTES[gemm.arch]
        if fits:
            return loop
    raise ValueError(
        f"tile_m = {gemm.tile_m}, tile_n = {gemm.tile_n}, K = {gemm.K} in {gemm.split_k} parts: no waves divide the "
        f"tile, and K, in blocks of {BLOCK}"
    )


def default_loop(gemm: TileGemm) -> TiledLoop | None:
    """The main loop in the form that the defaults have for a tile; None where they have none, or K is too short."""
    size, found = A_BYTES[gemm.in_dtype], _tiled_form(gemm)
    if found is None:
        return None
    step_bytes, waves, k_waves, *more = found
    options: dict[str, Any] = more[0] if more else {}
    part = gemm.K // gemm.split_k * size
    if part % step_bytes or step_bytes % (64 * k_waves):
        return None
    if gemm.tile_m % (16 * waves[0]) or gemm.tile_n % (16 * waves[1]):
        return None
    tile = gemm.tile_m, gemm.tile_n, step_bytes // size
    loop = TiledLoop(gemm.arch, gemm.in_dtype, tile, part // step_bytes, waves, k_waves, gemm.fenced, **options)
    usual = gemm.buffers == BUFFERS and gemm.direct <= loop.direct and gemm.preload == (0, 0)
    # Long steps straight to registers pay where there are some of them: two took up to 1.06 of the predicted time.
    enough = loop.steps >= (4 if loop.private else 2)
    if len(loop.phases) == 1 and not (
        loop.private or loop.quadrants
    ):  # rows in parts, so that what is read next hides behind products
        rows = loop.wave_blocks[0]
        loop = replace(loop, parts=next((one for one in range(2, rows) if rows % one == 0), rows))
    return loop if usual and enough else None


def _tiled_form(gemm: TileGemm) -> tuple[Any, ...] | None:
    """(bytes of K in a step, waves, waves along K, other fields of `TiledLoop`) of the loop that the defaults have.

    Entries that are `given` are for configurations that ask for these waves, the others for those that ask for none.
    Where `direct` loads or an occupancy are asked for, only entries count that have them.
    """
    asked = None if gemm.waves is None else [*gemm.waves, gemm.k_waves]
    for one in defaults("tiled_loops", gemm.arch):
        options = one.get("loop", {})
        fits = one["tile"] == [gemm.tile_m, gemm.tile_n] and gemm.in_dtype in one["types"]
        fits = fits and gemm.direct <= options.get("direct", False)
        fits = fits and gemm.waves_per_eu <= one.get("waves_per_eu", 1)
        if fits and asked == (one["waves"] if one.get("given") else None):
            along_m, along_n, along_k = one["waves"]
            return one["step_bytes"], (along_m, along_n), along_k, options
    return None
