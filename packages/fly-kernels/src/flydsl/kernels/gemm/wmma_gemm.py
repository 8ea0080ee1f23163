# SPDX-License-Identifier: Apache-2.0
"""What the GEMM builders for WMMA (RDNA: gfx1100, gfx1201) share: the tile in blocks of 16, and its refusals.

The main loop is `common/mma/staged_loop.py` (both operands through LDS) or, with nothing staged, the private form of
`common/mma/tiled_loop.py`; everything around it is `tile_gemm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.checks import positive_integer
from ..common.defaults import defaults
from ..common.mma.instructions import matrix_atom
from ..common.mma.mfma_epilogues import Epilogue
from ..common.mma.staging import Staging
from .arguments import A_BYTES
from .tile_spec import TileGemm

__all__ = ["WmmaTile", "on_wmma", "target_of", "wmma_gemm"]

_LDS_LAYOUTS = ("pad", "kblock")


@dataclass(frozen=True)
class WmmaTile:
    """The tile of a workgroup: `reg` blocks of 16 a wave along M and N and of the instruction's K a step, by `waves`.

    Attributes:
        reg: (reg_m, reg_n, reg_k).
        waves: their grid, (waves_m, waves_n).
        pads: elements behind each row of A and of B in LDS, whole 16-byte pieces.
        lds_layout: "pad", or "kblock": pieces of 16 bytes of all rows side by side, without pads.
        scheduled: interleave memory accesses with matrix instructions; else the compiler orders them.
        staged: "AB", or nothing goes through LDS.
    """

    reg: tuple[int, int, int]
    waves: tuple[int, int]
    pads: tuple[int, int] = (8, 8)
    lds_layout: str = "pad"
    scheduled: bool = True
    staged: str = "AB"

    def check(self, in_dtype: str) -> None:
        """ValueError for numbers that no kernel is made of."""
        names = ("reg_m", "reg_n", "reg_k", "waves_m", "waves_n")
        for name, value in zip(names, (*self.reg, *self.waves), strict=True):
            positive_integer(name, value)
        count = self.waves[0] * self.waves[1]
        if count not in (1, 2, 4, 8, 16):
            raise ValueError(f"waves_m * waves_n = {count}: a workgroup has 1, 2, 4, 8 or 16 waves")
        if self.lds_layout not in _LDS_LAYOUTS:
            raise ValueError(f"lds_layout {self.lds_layout!r} is not supported; use one of {', '.join(_LDS_LAYOUTS)}")
        for name, pad in zip(("a_k_pad", "b_k_pad"), self.pads, strict=True):
            if isinstance(pad, bool) or not isinstance(pad, int) or pad < 0 or pad * A_BYTES[in_dtype] % 16:
                raise ValueError(
                    f"{name} = {pad!r} {in_dtype}: rows in LDS begin at multiples of 16 bytes, so a pad is a multiple "
                    f"of {16 // A_BYTES[in_dtype]} elements"
                )


def target_of(what: str, chips: Sequence[str]) -> str:
    """The target; RuntimeError, with what the builder is written for, where it is none of `chips`."""
    arch = get_rocm_arch().split(":")[0]
    if arch not in chips:
        raise RuntimeError(f"{what} is written for {' and '.join(chips)}; the target is {arch}")
    return arch


def wmma_gemm(
    arch: str,
    extents: tuple[int, int, int],
    tile: WmmaTile,
    *,
    in_dtype: str,
    out_dtype: str,
    epilogue: Epilogue,
    group_m: int,
    shuffled: bool = False,
    stagger: int = 0,
    apart: dict[str, int | None] | None = None,
    split_k: int = 1,
    stochastic: bool = False,
    persistent: int = 0,
) -> TileGemm:
    """The GEMM of `extents` (M, N, K) with a tile.

    `stagger`: each tile begins so many steps of K behind its neighbours' first. `apart`: elements from row to row of
    "A", "B" and "C", if given. `split_k`: parts of K, which add themselves to a C of exact integers.
    `stochastic`, `persistent`: see `TileGemm`.

    Raises:
        ValueError: a type that the chip has no instruction for, or numbers that do not fit, with the numbers.
    """
    atom = matrix_atom(arch, in_dtype)
    if atom is None:
        raise ValueError(f"{arch} has no matrix instruction for operands of type {in_dtype!r}")
    tile.check(in_dtype)
    for name, value in zip("MNK", extents, strict=True):
        positive_integer(name, value)
    for name, value in (("group_m", group_m), ("stagger", stagger), ("persistent_wgs", persistent)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{name} is a number from 0 on, got {value!r}")
    _, n, k = extents
    tile_k = tile.reg[2] * atom.depth
    rows = {name: value for name, value in (apart or {}).items() if value is not None}
    for name, value in rows.items():
        least = n if name == "C" else k
        aligned = 4 if name == "C" else atom.pack
        if isinstance(value, bool) or not isinstance(value, int) or value < least or value % aligned:
            raise ValueError(f"ld{name.lower()} = {value!r}: {least} or more elements, a multiple of {aligned}")
    if n % 4:
        raise ValueError(f"N = {n} is no multiple of 4")
    positive_integer("split_k", split_k)
    if k % (split_k * tile_k) or k < 2 * split_k * tile_k:
        parts = f" in each of {split_k} parts" if split_k > 1 else ""
        raise ValueError(
            f"K = {k} has to be 2 or more steps of reg_k * {atom.depth} = {tile_k}{parts}: there is no tail along K"
        )
    gemm = TileGemm(
        arch=arch, N=n, K=k, in_dtype=in_dtype, out_dtype=out_dtype, tile_m=16 * tile.reg[0] * tile.waves[0],
        tile_n=16 * tile.reg[1] * tile.waves[1], tile_k=tile_k, epilogue=epilogue, shuffled=shuffled,
        waves=tile.waves, fenced=tile.scheduled, group_m=group_m, staged=tile.staged,
        staging=Staging(tile.pads, tile.lds_layout == "kblock"), stagger=stagger,
        rows_apart=tuple(sorted(rows.items())), split_k=split_k, atomic=split_k > 1, stochastic=stochastic,
        persistent=persistent,
    )  # fmt: skip
    gemm.plan.check()
    return gemm


_STEP_BYTES = 64  # of K of a row: what `GemmConfig` wants K to be a multiple of
_GRIDS = ((2, 2), (1, 4), (1, 2), (2, 1), (1, 1))


def on_wmma(gemm: TileGemm) -> TileGemm:
    """A GEMM for chips of waves of 64 lanes, with the main loop of WMMA.

    Where no `waves` are given it has the form that `wmma_loops` of the defaults have for the tile, with steps as long
    as K permits; else both operands go through LDS in steps of 64 bytes, and the waves are the first usual grid, of
    up to four, that divides the tile's blocks and shares the loads of a step evenly.

    Raises:
        ValueError: a type that the chip has no instruction for, or waves that do not fit, with the numbers.
    """
    atom = matrix_atom(gemm.arch, gemm.in_dtype)
    if atom is None:
        raise ValueError(f"{gemm.arch} has no matrix instruction for operands of type {gemm.in_dtype!r}")
    size = A_BYTES[gemm.in_dtype]
    part = gemm.K * size // gemm.split_k

    def of(staged: str, waves: tuple[int, int] | None, step: int) -> TileGemm:
        pads = (atom.pack, atom.pack) if staged else (0, 0)
        return replace(gemm, staged=staged, staging=Staging(pads), tile_k=step // size, waves=waves)

    forms = [(str(one["staged"]), tuple(one["waves"]), step) for one in _listed(gemm) for step in _steps(one, part)]
    forms += [("AB", grid, _STEP_BYTES) for grid in _GRIDS]
    if gemm.waves is not None:
        forms = [("AB", gemm.waves, _STEP_BYTES)]
    for form in forms:
        found = of(*form)
        try:
            found.plan.check()
        except ValueError:
            if gemm.waves is not None:
                raise
            continue
        return found
    raise ValueError(
        f"tile_m = {gemm.tile_m}, tile_n = {gemm.tile_n}: no grid of up to four waves of 32 lanes has room for the "
        f"sums and shares the rows evenly on {gemm.arch}; use a smaller tile, or give the waves"
    )


def _listed(gemm: TileGemm) -> list[dict[str, Any]]:
    """The forms of the main loop that the defaults have for a tile and type."""
    here = [one for one in defaults("wmma_loops", gemm.arch) if one["tile"] == [gemm.tile_m, gemm.tile_n]]
    return [one for one in here if A_BYTES[gemm.in_dtype] in one["element_bytes"]]


def _steps(form: dict[str, Any], part: int) -> list[int]:
    """Bytes of K in a step, longest first, of which the K of a workgroup has two or more."""
    steps = [form["step_bytes"] >> shift for shift in range(3)]
    return [one for one in steps if one >= _STEP_BYTES and part % one == 0 and part >= 2 * one]
