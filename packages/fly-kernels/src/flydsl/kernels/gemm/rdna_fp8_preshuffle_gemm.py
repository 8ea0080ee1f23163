# SPDX-License-Identifier: Apache-2.0
"""C = A B * scale_a * scale_b in fp8 (E4M3FN) with WMMA, for gfx1201 (RDNA 4), B reordered on the host.

Shapes and layouts
    A (M, K) fp8, row-major; B (K, N) fp8 in the order of `preshuffle_b_fp8`; scale_a (M) and scale_b (N) f32; C (M, N)
    bf16. Sums are f32.

Limits
    K is two or more steps of tile_k * k_unroll, N a multiple of 16; M need not be a multiple of anything.

Algorithm and data movement
    Four waves side by side along N. There is no LDS: each wave reads its part of B, 256 bytes together for an
    instruction, and the rows of A, which the waves share through the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..common.arch import float8_of
from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue
from .tile_gemm import build_tile_gemm
from .wmma_gemm import WmmaTile, target_of, wmma_gemm

if TYPE_CHECKING:
    import torch

__all__ = ["compile_fp8_gemm", "fp8_quantize_per_channel", "fp8_quantize_per_token", "preshuffle_b_fp8"]

_WAVES = 4
_STEP = 128  # elements of K that a step has where nobody says otherwise
_MANY_ROWS, _STEP_OF_MANY_ROWS = 64, 64  # rows from which operands of 128 would not fit the registers


def preshuffle_b_fp8(b: torch.Tensor) -> torch.Tensor:
    """B (K, N) of 8-bit elements, in the order in which lanes of gfx1201 want it, as (N, K).

    Seen as (K / 16, 2, 8, N / 16, 16), it becomes (N / 16, K / 16, 2, 16, 8).

    Raises:
        ValueError: no matrix, elements that are not of 8 bits, or an extent that is no multiple of 16.
    """
    if b.dim() != 2 or b.element_size() != 1:
        raise ValueError(f"preshuffle_b_fp8: expected a matrix of 8-bit elements, got {tuple(b.shape)} of {b.dtype}")
    k, n = b.shape
    if k % 16 or n % 16:
        raise ValueError(f"preshuffle_b_fp8: K = {k} and N = {n} have to be multiples of 16")
    return b.reshape(k // 16, 2, 8, n // 16, 16).permute(3, 0, 1, 4, 2).contiguous().reshape(n, k)


def fp8_quantize_per_token(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(x in fp8, scales f32 (M)) of x (M, K); the largest of a row becomes 448, and rows of zeros have 1."""
    return _quantized(x, 1)


def fp8_quantize_per_channel(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(x in fp8, scales f32 (N)) of x (K, N): `fp8_quantize_per_token` by columns."""
    return _quantized(x, 0)


def _quantized(x: torch.Tensor, along: int) -> tuple[torch.Tensor, torch.Tensor]:
    import torch

    if x.dim() != 2:
        raise ValueError(f"expected a matrix, got {tuple(x.shape)}")
    fp8 = float8_of("gfx1201")
    values = x.float()
    largest = values.abs().amax(along, keepdim=True)
    scale = torch.where(largest == 0, torch.ones_like(largest), largest / fp8.largest)
    codes = (values / scale).clamp(-fp8.largest, fp8.largest).to(getattr(torch, fp8.torch_name))
    return codes, scale.squeeze(along)


def compile_fp8_gemm(
    *,
    M: int,
    N: int,
    K: int,
    tile_m: int = 32,
    tile_n: int | None = None,
    tile_k: int = 32,
    k_unroll: int | None = None,
    group_m: int = 8,
) -> Callable[..., None]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        M, N, K: extents.
        tile_m, tile_n: rows and columns of a workgroup's tile, multiples of 16 and of 64; `tile_n` is 128, or 64 where
            N is no multiple of 128.
        tile_k: elements of K, a multiple of 32; `k_unroll` of them are a step of the loop: as many as make up to 128
            elements, 64 from 64 rows on, where K is two or more of such steps.
        group_m: row tiles that are walked together, of which the grid need not be a multiple; 0 keeps the order.

    Returns a `@flyc.jit` function `(C, A, B, scale_a, scale_b, stream)`.

    Raises:
        RuntimeError: the target is not gfx1201 (gfx11 has no 8-bit floats).
        ValueError: a limit is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    arch = target_of("rdna_fp8_preshuffle_gemm", ("gfx1201",))
    for name, value in (("M", M), ("N", N), ("K", K), ("tile_m", tile_m), ("tile_k", tile_k)):
        positive_integer(name, value)
    tile_n = (128 if N % 128 == 0 else 64) if tile_n is None else positive_integer("tile_n", tile_n)
    if tile_m % 16 or tile_n % (16 * _WAVES) or tile_k % 32:
        raise ValueError(
            f"tile_m = {tile_m}, tile_n = {tile_n}, tile_k = {tile_k}: multiples of 16, {16 * _WAVES} and 32 are wanted"
        )
    if N % 16:
        raise ValueError(f"N = {N} is no multiple of 16, the columns that B is reordered by")
    if k_unroll is None:
        step = _STEP if tile_m < _MANY_ROWS else _STEP_OF_MANY_ROWS
        unrolls = [one for one in range(1, max(1, step // tile_k) + 1) if K % (one * tile_k) == 0]
        k_unroll = max((one for one in unrolls if 2 * one * tile_k <= K), default=1)
    positive_integer("k_unroll", k_unroll)
    reg = tile_m // 16, tile_n // (16 * _WAVES), tile_k * k_unroll // 16
    gemm = wmma_gemm(
        arch, (M, N, K), WmmaTile(reg, (1, _WAVES), pads=(0, 0), staged=""), in_dtype="fp8", out_dtype="bf16",
        epilogue=Epilogue(scaled=True), group_m=group_m, shuffled=True,
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, "wmma_fp8_gemm")

    @flyc.jit
    def launch_fp8_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:  # fmt: skip
        multiply(C, A, B, fx.Int32(M), stream, scale_a=scale_a, scale_b=scale_b)

    return launch_fp8_gemm
