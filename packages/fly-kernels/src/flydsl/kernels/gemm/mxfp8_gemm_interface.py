# SPDX-License-Identifier: Apache-2.0
"""MXFP8 GEMM of torch tensors with plain scales; `mx_gemm` has the contract of the kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl.runtime.device import get_rocm_arch

from ..common.language import flyc, fx
from .mx_gemm import build_mx_gemm, check_mx_target
from .scale_words_kernel import scale_words
from .scaled_tiles import scaled_tile

if TYPE_CHECKING:
    import torch

__all__ = ["gemm_mxfp8"]

_FORMATS = {"torch.float8_e4m3fn": "fp8", "torch.float8_e5m2": "bf8"}
_OUTPUTS = {"torch.bfloat16": "bf16", "torch.float16": "fp16"}


def gemm_mxfp8(
    a: torch.Tensor,
    a_scale: torch.Tensor,
    b: torch.Tensor,
    b_scale: torch.Tensor,
    *,
    trans_a: bool = False,
    trans_b: bool = True,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return C (M, N) = a b^T with E8M0 scales.

    Args:
        a: (M, K) float8_e4m3fn or float8_e5m2, row-major; M any, K a multiple of 128 and 256 or more.
        a_scale: (M, K / 32) of bytes.
        b: (N, K), as a; its type may be the other one.
        b_scale: (N, K / 32) of bytes.
        trans_a, trans_b: False and True; nothing else is there.
        out_dtype: bfloat16 (where left out) or float16.

    One launch brings the scales of both into the kernel's order, 1/32 of the operands' bytes, in memory of torch's; a
    second is the product. A kernel is compiled once for N, K and types.

    Raises:
        NotImplementedError: another `trans_a` or `trans_b`.
        RuntimeError: the target is not gfx950.
        ValueError: a shape, type or device that does not fit, by the name of the argument.
    """
    import torch

    if trans_a or not trans_b:
        raise NotImplementedError(
            f"gemm_mxfp8: trans_a = {trans_a}, trans_b = {trans_b}: only a b^T of row-major a and b is there; "
            "pass a.t().contiguous() and quantise along K"
        )
    check_mx_target("gemm_mxfp8")
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[1]:
        raise ValueError(f"gemm_mxfp8: expected a (M, K) and b (N, K), got {tuple(a.shape)} and {tuple(b.shape)}")
    (M, K), N = a.shape, b.shape[0]
    if K % 128 or K < 256:
        raise ValueError(f"gemm_mxfp8: K = {K} is no multiple of 128, or less than 256")
    kind = torch.bfloat16 if out_dtype is None else out_dtype
    if str(kind) not in _OUTPUTS:
        raise ValueError(f"gemm_mxfp8: out_dtype {kind} is not supported; use one of {', '.join(_OUTPUTS)}")
    for name, tensor, scale, rows in (("a", a, a_scale, M), ("b", b, b_scale, N)):
        if str(tensor.dtype) not in _FORMATS:
            raise ValueError(f"gemm_mxfp8: {name} is {tensor.dtype}; use one of {', '.join(_FORMATS)}")
        if tuple(scale.shape) != (rows, K // 32) or scale.element_size() != 1:
            got = f"{tuple(scale.shape)} of {scale.dtype}"
            raise ValueError(f"gemm_mxfp8: {name}_scale: expected {(rows, K // 32)} of bytes, got {got}")
        if tensor.device != a.device or scale.device != a.device:
            raise ValueError(f"gemm_mxfp8: {name} and {name}_scale are not on {a.device}, as a is")
        if not tensor.is_contiguous() or tensor.data_ptr() % 16:
            raise ValueError(f"gemm_mxfp8: {name} must be contiguous and begin at a multiple of 16 bytes")
    out = a.new_empty((M, N), dtype=kind)
    if M and N:
        arch, formats = get_rocm_arch().split(":")[0], (_FORMATS[str(a.dtype)], _FORMATS[str(b.dtype)])
        launch = _built(arch, N, K, scaled_tile(arch, M, N, K, formats), *formats, _OUTPUTS[str(kind)])
        stream = torch.cuda.current_stream(a.device).cuda_stream if a.is_cuda else None
        scales = scale_words(a_scale, b_scale, K, stream)
        launch(out.view(-1), a.view(torch.uint8), b.view(torch.uint8), *scales, M, stream)
    return out


@lru_cache(maxsize=256)
def _built(arch: str, N: int, K: int, tile: tuple[int, int], a: str, b: str, output: str) -> Any:
    """One launcher for all numbers of rows; `arch` only distinguishes."""
    gemm = build_mx_gemm(
        "gemm_mxfp8", N=N, K=K, tile_m=tile[0], tile_n=tile[1], tile_k=128, a_format=a, b_format=b,
        out_dtype=output, shuffled=False,
    )  # fmt: skip

    @flyc.jit
    def mxfp8_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        M: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        gemm(C, A, B, M, fx.Int32(N), stream, scale_a=scale_a, scale_b=scale_b)

    return mxfp8_gemm
