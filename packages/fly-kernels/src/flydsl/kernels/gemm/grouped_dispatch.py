# SPDX-License-Identifier: Apache-2.0
"""From torch tensors to a GEMM of groups of rows with weights of their own: checks with names, a tile, one compilation.

Where groups begin and end is read by the kernel (`group_tiles`), never by the host: the grid is what any division of
the rows may need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import float8_of
from ..common.defaults import defaults
from ..common.language import flyc, fx
from ..common.mma.instructions import matrix_product
from ..common.mma.loop_plan import QUADRANT_STEP_BYTES
from ..common.mma.mfma_epilogues import Epilogue
from ..common.mma.operand_scales import BLOCK
from .tile_gemm import build_tile_gemm
from .tile_spec import TileGemm

if TYPE_CHECKING:
    import torch

__all__ = ["check_grouped", "grouped_tile", "multiply_grouped"]

_HALVES = {"torch.float16": "fp16", "torch.bfloat16": "bf16"}
_FP8 = {"torch.float8_e4m3fn": "fp8", "torch.float8_e5m2": "bf8"}  # of the matrix instruction of two formats
_OUTPUTS = {"torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.float32": "f32"}
_MOST_MIXED = 128 * 128  # elements of a tile whose matrix instruction is that of two formats
_DEPTH = 64  # bytes of K that a kernel without block scales takes at a time


def _kinds(what: str, a: torch.Tensor, b: torch.Tensor) -> tuple[str, str]:
    """The formats of a and b; ValueError for types that the target does not multiply."""
    arch = get_rocm_arch().split(":")[0]
    matrix_product(arch, "fp8", 1)  # refuses other architectures
    kinds = str(a.dtype), str(b.dtype)
    if kinds[0] in _HALVES and kinds[1] == kinds[0]:
        return _HALVES[kinds[0]], _HALVES[kinds[0]]
    if arch == "gfx950" and all(one in _FP8 for one in kinds):
        return _FP8[kinds[0]], _FP8[kinds[1]]
    own = f"torch.{float8_of(arch).torch_name}"
    if kinds == (own, own):
        return "fp8", "fp8"
    eight = "float8_e4m3fn and float8_e5m2 in any mix" if arch == "gfx950" else f"two of {own}"
    raise ValueError(f"{what}: {arch} multiplies two of float16 or bfloat16, or {eight}, not {kinds[0]} and {kinds[1]}")


def check_grouped(
    what: str,
    a: torch.Tensor,
    b: torch.Tensor,
    group_offs: torch.Tensor,
    scale_a: torch.Tensor | None,
    scale_b: torch.Tensor | None,
    out_dtype: torch.dtype,
) -> tuple[int, int, int, int]:
    """(M, N, K, groups) of a grouped product; see `flydsl.kernels.grouped_gemm`.

    Raises ValueError, by the name of the argument, for a shape, type or device that does not fit the others.
    """
    if a.dim() != 2 or b.dim() != 3 or a.shape[1] != b.shape[2]:
        raise ValueError(f"{what}: expected a (M, K) and b (groups, N, K), got {tuple(a.shape)} and {tuple(b.shape)}")
    kinds = _kinds(what, a, b)
    (M, K), (groups, N) = a.shape, b.shape[:2]
    if groups == 0 or K == 0:
        raise ValueError(f"{what}: expected groups and K of 1 or more, got b {tuple(b.shape)}")
    if str(out_dtype) not in _OUTPUTS:
        raise ValueError(f"{what}: out_dtype is one of {', '.join(_OUTPUTS)}, not {out_dtype}")
    if tuple(group_offs.shape) != (groups + 1,) or str(group_offs.dtype) != "torch.int64":
        got = f"{tuple(group_offs.shape)} of {group_offs.dtype}"
        raise ValueError(f"{what}: group_offs: expected ({groups + 1},) of torch.int64, got {got}")
    scales = (("scale_a", scale_a, (M,)), ("scale_b", scale_b, (groups, N)))
    if kinds[0] in _HALVES.values():
        if scale_a is not None or scale_b is not None:
            raise ValueError(f"{what}: scales are for 8-bit types, not for {a.dtype}")
    else:
        if scale_a is None or scale_b is None:
            raise ValueError(f"{what}: {a.dtype} needs both scales")
        one = scale_a.numel() == 1 and scale_b.numel() == 1
        for name, scale, shape in scales:
            assert scale is not None
            if str(scale.dtype) != "torch.float32" or (tuple(scale.shape) != shape and not one):
                got = f"{tuple(scale.shape)} of {scale.dtype}"
                wanted = f"{shape} of torch.float32, or one number for both"
                raise ValueError(f"{what}: {name}: expected {wanted}, got {got}")
    for name, tensor in (("b", b), ("group_offs", group_offs), ("scale_a", scale_a), ("scale_b", scale_b)):
        if tensor is not None and tensor.device != a.device:
            raise ValueError(f"{what}: {name} is on {tensor.device}, a on {a.device}")
    return int(M), int(N), int(K), int(groups)


def multiply_grouped(
    what: str,
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    group_offs: torch.Tensor,
    scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None,
    stream: int | None = None,
) -> torch.Tensor:
    """Write row by row a b[group of the row]^T, times scales, to `out` (M, N), contiguous, and return it.

    K that is no multiple of 64 bytes (of 128 where a or b is E5M2) costs a copy of a and b with zeros behind their
    rows. Raises as `check_grouped` does.
    """
    import torch

    M, N, K, groups = check_grouped(what, a, b, group_offs, scale_a, scale_b, out.dtype)
    if M == 0 or N == 0:
        return out
    arch, kinds = get_rocm_arch().split(":")[0], _kinds(what, a, b)
    eight = a.element_size() == 1
    mixed = eight and arch == "gfx950" and (K % BLOCK == 0 or "bf8" in kinds)
    depth = BLOCK if mixed else _DEPTH // a.element_size()
    missing = -K % depth
    if eight:
        a, b = a.view(torch.uint8), b.view(torch.uint8)
    if missing:
        a, b = (torch.nn.functional.pad(one, (0, missing)) for one in (a, b))
    tile, order = grouped_tile(arch, kinds, M, K + missing, groups)
    plain = not mixed or math.prod(tile) > _MOST_MIXED
    one_scale = scale_a is not None and scale_b is not None and scale_a.numel() == scale_b.numel() == 1
    launch = _built(
        arch, N, K + missing, groups, tile, order, (kinds[0], "") if plain else kinds, _OUTPUTS[str(out.dtype)], eight,
        one_scale,
    )  # fmt: skip
    none = out.new_empty(0, dtype=torch.float32)
    scales = [none if one is None else one for one in (scale_a, scale_b)]
    arguments = [out.view(-1), a.contiguous(), b.contiguous().view(groups * N, -1)]
    arguments += [one.contiguous().view(-1) for one in (*scales, group_offs)]
    launch(*arguments, M, stream)
    return out


def grouped_tile(arch: str, kinds: tuple[str, str], M: int, K: int, groups: int) -> tuple[tuple[int, int], int]:
    """The tile of a grouped product, and the column tiles that the workgroups of a die share (`xcd_swizzle`).

    "tiles" in the table are the mean rows of a group up to which one is used, the tile, and that number: for few rows
    the time is that of reading B. Tiles above 128 x 128 are for operands of one type, no E5M2, and K of two steps of
    128 bytes or more; else the largest of the others takes their place.
    """
    large = kinds[0] == kinds[1] != "bf8"
    k_bytes = K * (2 if kinds[0] in _HALVES.values() else 1)
    large = large and k_bytes % QUADRANT_STEP_BYTES == 0 and k_bytes > QUADRANT_STEP_BYTES
    chosen = None
    for rows, (tile_m, tile_n), order in defaults("grouped_gemm", arch)["tiles"]:
        if large or tile_m * tile_n <= _MOST_MIXED:
            chosen = (tile_m, tile_n), order
            if rows is None or rows * groups >= M:
                break
    assert chosen is not None, f"no tile for groups on {arch}"
    return chosen


@lru_cache(maxsize=256)
def _built(
    arch: str,
    N: int,
    K: int,
    groups: int,
    tile: tuple[int, int],
    order: int,
    kinds: tuple[str, str],
    output: str,
    scaled: bool,
    one_scale: bool,
) -> Callable[..., None]:
    """One launcher for all numbers of rows."""
    size = 2 if kinds[0] in _HALVES.values() else 1
    multiply = build_tile_gemm(
        TileGemm(
            arch=arch, N=N, K=K, in_dtype=kinds[0], out_dtype=output, tile_m=tile[0], tile_n=tile[1],
            tile_k=BLOCK if kinds[1] else _DEPTH // size, epilogue=Epilogue(scaled=scaled), shuffled=False,
            b_mx=kinds[1], unit_scales=bool(kinds[1]), one_scale=one_scale, groups=groups,
            xcd_swizzle=order,
        ),
        "grouped_gemm",
    )  # fmt: skip

    @flyc.jit
    def grouped_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        group_offs: fx.Tensor,
        M: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        multiply(C, A, B, M, stream, scale_a=scale_a, scale_b=scale_b, group_offs=group_offs)

    built: Callable[..., None] = grouped_gemm
    return built
