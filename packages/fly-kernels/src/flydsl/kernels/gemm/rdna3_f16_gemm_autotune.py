# SPDX-License-Identifier: Apache-2.0
"""Tiles of `rdna3_f16_gemm`: which there are, which one a problem gets, and a search for the best.

The search is fly-autotune's (extra `autotune`); without it there is what `pick_tile` says.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..common.asked_tuner import asked_tuner
from ..common.utils import cdiv
from .rdna3_f16_gemm import create_wmma_gemm_module

if TYPE_CHECKING:
    import torch

__all__ = [
    "TILES",
    "feasible_tiles",
    "persistent_wgs",
    "pick_tile",
    "rdna3_gemm_autotuned",
    "rdna3_gemm_dispatch",
    "tile_opts",
]

Tile = tuple[int, int, int]
"""Rows, columns and K of a step of a workgroup."""

# The grid of waves, and how operands lie in LDS: with pads behind its rows the largest would not fit.
_WAVES: dict[Tile, tuple[int, int]] = {
    (256, 256, 32): (4, 4), (128, 128, 32): (2, 2), (128, 64, 32): (2, 2), (64, 64, 64): (1, 2), (32, 64, 64): (2, 2),
    (32, 32, 64): (2, 2),
}  # fmt: skip
TILES = tuple(_WAVES)
"""The tiles that there are, largest first."""

_UNITS = 96  # compute units of gfx1100
_TYPES = {"torch.float16": "fp16", "torch.bfloat16": "bf16", "torch.float32": "f32"}


def tile_opts(tile: Tile) -> dict[str, Any]:
    """The arguments of `create_wmma_gemm_module` that make a tile of `TILES`; ValueError for another."""
    tile = tuple(tile)  # type: ignore[assignment]
    if tile not in _WAVES:
        raise ValueError(f"there is no tile {'x'.join(map(str, tile))}; use one of {', '.join(map(str, TILES))}")
    waves_m, waves_n = _WAVES[tile]
    rows, columns, depth = tile
    return {
        "reg_m": rows // (16 * waves_m), "reg_n": columns // (16 * waves_n), "reg_k": depth // 16, "waves_m": waves_m,
        "waves_n": waves_n, "lds_layout": "kblock" if rows == columns == 256 else "pad", "sched_hint": True,
    }  # fmt: skip


def feasible_tiles(M: int, N: int, K: int) -> list[Tile]:
    """The tiles that a problem can have, largest first: those of which K is two or more steps.

    Rows and columns need not be multiples of a tile; N is one of 4.
    """
    return [tile for tile in TILES if M > 0 and N % 4 == 0 and K % tile[2] == 0 and 2 * tile[2] <= K]


def pick_tile(M: int, N: int, K: int) -> Tile:
    """The largest tile that gives each of the 96 compute units a workgroup, else the smallest with most workgroups.

    Raises:
        ValueError: there is none.
    """
    feasible = feasible_tiles(M, N, K)
    if not feasible:
        raise ValueError(f"M = {M}, N = {N}, K = {K}: N has to be a multiple of 4, and K two or more steps of 32 or 64")
    groups = {tile: cdiv(M, tile[0]) * cdiv(N, tile[1]) for tile in feasible}
    return next(
        (tile for tile in feasible if groups[tile] >= _UNITS), max(feasible[::-1], key=lambda tile: groups[tile])
    )


def persistent_wgs(M: int, N: int, K: int, tile: Tile | None = None) -> int:
    """How many workgroups should walk through all tiles of C: 0, which is a workgroup for each.

    `create_wmma_gemm_module(persistent_wgs=)` has the other kernel, which the search leaves out: it holds what a tile
    needs besides the sums across tiles, and without `sched_hint` it spills five registers with 128 x 128. Predicted for
    2048 x 2048 x 1024 in bf16 on RX 7900 XTX: 115 us with a workgroup for each tile, 124 with 96 that walk, 136 with
    192.
    """
    del M, N, K, tile
    return 0


def rdna3_gemm_dispatch(
    C: torch.Tensor,
    A: torch.Tensor,
    B_T: torch.Tensor,
    M: int,
    N: int,
    K: int,
    *,
    tile: Tile | None = None,
    stream: object = None,
) -> None:
    """C = A B_T^T by the kernel of a tile, by default that of `pick_tile`.

    Args:
        C: (M, N), f16, bf16 or f32.
        A: (M, K), f16 or bf16.
        B_T: (N, K), as A.
        M, N, K: extents.
        tile: one of `TILES`.
        stream: of the launch.

    Raises:
        RuntimeError, ValueError, ImportError: as `create_wmma_gemm_module`, and for a type or a tile that there is not.
    """
    for name, tensor in (("C", C), ("A", A)):
        if str(tensor.dtype) not in _TYPES:
            raise ValueError(f"{name} is {tensor.dtype}; use one of {', '.join(_TYPES)}")
    chosen = pick_tile(M, N, K) if tile is None else tuple(tile)
    launch = _kernel(M, N, K, _TYPES[str(A.dtype)], _TYPES[str(C.dtype)], chosen)
    launch(C, A, B_T, stream)


@functools.lru_cache(maxsize=256)
def _kernel(M: int, N: int, K: int, in_dtype: str, out_dtype: str, tile: Tile) -> Any:
    return create_wmma_gemm_module(M, N, K, in_dtype, out_dtype, **tile_opts(tile))


def rdna3_gemm_autotuned(C: torch.Tensor, A: torch.Tensor, B_T: torch.Tensor, *, stream: object = None) -> None:
    """C = A B_T^T with the tile of `pick_tile`, unless something better is known.

    `FLYDSL_AUTOTUNE=1` measures all tiles that the problem can have, and what it finds is used from then on; offline
    artifacts (`FLYDSL_AUTOTUNE_CONFIG_DIR`) have the name "rdna3_f16_gemm".

    Raises ImportError where one of these variables asks for fly-autotune and it is not installed, and as
    `rdna3_gemm_dispatch` does.
    """
    (M, K), N = A.shape, B_T.shape[0]
    tuner = asked_tuner(_tuner(), "rdna3_gemm_dispatch(..., tile=…)")
    if tuner is None:
        rdna3_gemm_dispatch(C, A, B_T, M, N, K, stream=stream)
    else:
        tuner(C, A, B_T, M, N, K, stream=stream)


@functools.lru_cache(maxsize=1)
def _tuner() -> Any:
    """`rdna3_gemm_dispatch` under the tuner, or None where fly-autotune is not installed."""
    try:
        from flydsl.autotune import Config, Search, Space, autotune
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("flydsl"):
            return None
        raise

    def the_problem_can_have_it(tile: list[int], M: int, N: int, K: int) -> bool:
        return tuple(tile) in feasible_tiles(M, N, K)

    space = Space("rdna3_f16_gemm", constraints=[the_problem_can_have_it], tile=[list(tile) for tile in TILES])

    def gemm(C: Any, A: Any, B_T: Any, M: int, N: int, K: int, tile: list[int], stream: Any = None) -> None:
        rdna3_gemm_dispatch(C, A, B_T, M, N, K, tile=tuple(tile), stream=stream)  # type: ignore[arg-type]

    return autotune(
        Search(space),
        key=["M", "N", "K"],
        default=lambda C, A, B_T, M, N, K, **_: Config(tile=list(pick_tile(M, N, K))),
        artifact_name="rdna3_f16_gemm",
    )(gemm)
