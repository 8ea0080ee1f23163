# SPDX-License-Identifier: Apache-2.0
"""The launch of MX GEMMs with shuffled B by pointers, for one matrix or a batch; `mx_gemm` has the contract."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.language import flyc, fx
from ..common.lazy_jit import LazyJit
from ..common.mma.operand_scales import MX_FORMATS
from ..common.utils import cdiv
from .mx_gemm import build_mx_gemm

__all__ = ["launch_gemm"]


@lru_cache(maxsize=256)
def _built(arch: str, *items: tuple[str, Any]) -> Any:
    """One kernel for all numbers of rows; `arch` only distinguishes."""
    return build_mx_gemm("mxfp4_preshuffle.launch_gemm", **dict(items))


def _launch(
    C: Any,
    A: Any,
    B: Any,
    scale_a: Any,
    scale_b: Any,
    m: Any,
    n: Any,
    stream: Any,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    a_dtype: str,
    out_dtype: str,
    b_dtype: str,
    batch: int,
    strides: tuple[int, ...],
    waves_per_eu: int,
    xcd_swizzle: int,
) -> None:
    for name, kind, known in (("a_dtype", a_dtype, ("fp4", "fp6", "fp8")), ("b_dtype", b_dtype, ("fp4", "fp8"))):
        if kind not in known:
            raise ValueError(f"launch_gemm: {name} {kind!r} is not supported; use one of {', '.join(known)}")
    if batch < 1:
        raise ValueError(f"launch_gemm: batch is a positive int, got {batch!r}")
    given = [one >= 0 for one in strides]
    if any(given) and not all(given):
        raise ValueError(f"launch_gemm: strides of A, its scales and C are all given or all negative, got {strides}")
    options: dict[str, Any] = {
        "N": N, "K": K, "tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "a_format": a_dtype,
        "b_format": b_dtype, "out_dtype": out_dtype, "waves_per_eu": waves_per_eu if waves_per_eu > 0 else None,
        "xcd_swizzle": xcd_swizzle,
    }  # fmt: skip
    multiply = _built(get_rocm_arch().split(":")[0], *options.items())
    a_bytes, b_bytes = (K * MX_FORMATS[one].bits // 8 for one in (a_dtype, b_dtype))
    columns = 8 * cdiv(K, 256)  # of padded scales
    rows = fx.Int64(m)
    kind = getattr(fx, {"bf16": "BFloat16", "fp16": "Float16"}[out_dtype])
    C, A, B = (fx.recast_iter(one, pointer) for one, pointer in ((kind, C), (fx.Uint8, A), (fx.Uint8, B)))
    scale_a, scale_b = fx.recast_iter(fx.Uint8, scale_a), fx.recast_iter(fx.Uint8, scale_b)
    apart: tuple[Any, ...] = a_bytes, rows * a_bytes, columns, cdiv(rows, 32) * (32 * columns), N, rows * N
    if all(given):
        apart = strides
        if strides[2] != columns:
            raise ValueError(
                f"launch_gemm: sca_row_stride is {columns}, the scales of a row as shuffle_scale pads them, got "
                f"{strides[2]}: blocks of 32 rows lie in one piece"
            )
    for one in range(batch):
        a, c = A + apart[1] * one, C + apart[5] * one
        if apart[0] != a_bytes or apart[4] != N:
            a = fx.make_view(a, fx.make_layout((m, a_bytes), (apart[0], 1)))
            c = fx.make_view(c, fx.make_layout((m, N), (apart[4], 1)))
        b, b_scales = B + N * b_bytes * one, scale_b + cdiv(N, 32) * 32 * columns * one
        multiply(c, a, b, m, n, stream, scale_a=scale_a + apart[3] * one, scale_b=b_scales)


def _jit() -> Any:
    @flyc.jit
    def launch_gemm(
        C: fx.Pointer,
        A: fx.Pointer,
        B: fx.Pointer,
        scale_a: fx.Pointer,
        scale_b: fx.Pointer,
        m: fx.Int32,
        n: fx.Int32,
        stream: fx.Stream,
        N: fx.Constexpr[int],
        K: fx.Constexpr[int],
        tile_m: fx.Constexpr[int],
        tile_n: fx.Constexpr[int],
        tile_k: fx.Constexpr[int],
        a_dtype: fx.Constexpr[str] = "fp4",
        out_dtype: fx.Constexpr[str] = "bf16",
        b_dtype: fx.Constexpr[str] = "fp4",
        batch: fx.Constexpr[int] = 1,
        a_row_stride: fx.Constexpr[int] = -1,
        a_batch_stride: fx.Constexpr[int] = -1,
        sca_row_stride: fx.Constexpr[int] = -1,
        sca_batch_stride: fx.Constexpr[int] = -1,
        c_row_stride: fx.Constexpr[int] = -1,
        c_batch_stride: fx.Constexpr[int] = -1,
        waves_per_eu: fx.Constexpr[int] = 0,
        xcd_swizzle: fx.Constexpr[int] = 0,
    ) -> None:
        strides = a_row_stride, a_batch_stride, sca_row_stride, sca_batch_stride, c_row_stride, c_batch_stride
        _launch(
            C, A, B, scale_a, scale_b, m, n, stream, N, K, tile_m, tile_n, tile_k, a_dtype, out_dtype, b_dtype, batch,
            strides, waves_per_eu, xcd_swizzle,
        )  # fmt: skip

    return launch_gemm


launch_gemm: Any = LazyJit(_jit)
"""Launch C = A B^T for each of `batch` matrices:

`(C, A, B, scale_a, scale_b : pointers, m, n, stream, N, K, tile_m, tile_n, tile_k, a_dtype="fp4", out_dtype="bf16",
b_dtype="fp4", batch=1, a_row_stride=-1, a_batch_stride=-1, sca_row_stride=-1, sca_batch_stride=-1, c_row_stride=-1,
c_batch_stride=-1, waves_per_eu=0, xcd_swizzle=0)`; from N on constants.

`a_dtype` is "fp4", "fp6" or "fp8", `b_dtype` "fp4" or "fp8", `out_dtype` "bf16" or "fp16". B has `batch` times (N, K),
shuffled, and its scales. Negative strides stand for contiguous (batch, m, ...) of A, its scales and C; else all are
given, those of A and its scales in bytes, those of C in elements. Blocks of 32 rows of scales lie in one piece. Each
matrix of a batch is a launch of the same kernel.

Raises RuntimeError where the target is not gfx950, ValueError for limits of `mx_gemm` that are not kept.
"""
