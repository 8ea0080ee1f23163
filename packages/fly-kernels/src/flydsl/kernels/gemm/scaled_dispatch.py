# SPDX-License-Identifier: Apache-2.0
"""From torch tensors to a GEMM with scales of parts of K: checks with names, a tile for the shape, one compilation."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import float8_of
from ..common.language import flyc, fx
from ..common.mma.instructions import matrix_product
from ..common.mma.mfma_epilogues import Epilogue
from ..common.mma.operand_scales import BLOCK
from .mx_gemm import check_mx_target
from .scale_words_kernel import scale_words
from .scaled_tiles import scaled_tile
from .tile_gemm import build_tile_gemm
from .tile_spec import TileGemm

if TYPE_CHECKING:
    import torch

__all__ = ["check_scaled", "multiply_scaled"]

_MX = {"torch.uint8": "fp4", "torch.float8_e4m3fn": "fp8", "torch.float8_e5m2": "bf8"}
_OUTPUTS = {"torch.bfloat16": "bf16", "torch.float16": "fp16"}
GROUP = 32  # of K, with one scale of E8M0


def check_scaled(
    a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor, block: int, out_dtype: torch.dtype
) -> tuple[int, int, int]:
    """(M, N, K) of a product with scales of parts of K; see `flydsl.kernels.gemm`.

    Raises ValueError, by the name of the argument, for a shape, type or device that does not fit the others.
    """
    if block not in (GROUP, BLOCK):
        raise ValueError(f"gemm: block is {BLOCK} (f32 scales) or {GROUP} (E8M0 scales), got {block}")
    if a.dim() != 2 or b.dim() != 2:
        raise ValueError(f"gemm: expected a (M, K) and b (N, K), got {tuple(a.shape)} and {tuple(b.shape)}")
    if str(out_dtype) not in _OUTPUTS:
        raise ValueError(f"gemm: with block = {block} out_dtype is one of {', '.join(_OUTPUTS)}, not {out_dtype}")
    extents = []
    for name, tensor in (("a", a), ("b", b)):
        kind = str(tensor.dtype)
        if block == BLOCK:
            arch = get_rocm_arch().split(":")[0]
            matrix_product(arch, "fp8", 1)  # refuses other architectures
            wanted = f"torch.{float8_of(arch).torch_name}"
            if kind != wanted:
                raise ValueError(f"gemm: block = {BLOCK} takes {wanted} on {arch}, {name} is {tensor.dtype}")
        elif kind not in _MX:
            raise ValueError(f"gemm: block = {GROUP} takes {', '.join(_MX)} (pairs of fp4), {name} is {tensor.dtype}")
        extents.append(tensor.shape[1] * (2 if kind == "torch.uint8" else 1))
    (M, N), K = (a.shape[0], b.shape[0]), extents[0]
    if extents[0] != extents[1] or K % BLOCK or K == 0:
        raise ValueError(f"gemm: a and b must have one K, a multiple of {BLOCK}, got {extents[0]} and {extents[1]}")
    shapes = ((M, K // block), (N if block == GROUP else -(-N // BLOCK), K // block))
    for name, scale, shape in (("a_scale", a_scale, shapes[0]), ("b_scale", b_scale, shapes[1])):
        fits = scale.element_size() == 1 if block == GROUP else str(scale.dtype) == "torch.float32"
        if tuple(scale.shape) != shape or not fits:
            of = "bytes" if block == GROUP else "torch.float32"
            raise ValueError(f"gemm: {name}: expected {shape} of {of}, got {tuple(scale.shape)} of {scale.dtype}")
    for name, tensor in (("b", b), ("a_scale", a_scale), ("b_scale", b_scale)):
        if tensor.device != a.device:
            raise ValueError(f"gemm: {name} is on {tensor.device}, a on {a.device}")
    if block == GROUP:
        check_mx_target(f"gemm with block = {GROUP}")
    return int(M), int(N), int(K)


def multiply_scaled(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    *,
    a_scale: torch.Tensor,
    b_scale: torch.Tensor,
    block: int,
    shuffled: bool = False,
    stream: int | None = None,
) -> torch.Tensor:
    """Write C (M, N) = a b^T with scales to `out` and return it; arguments as `flydsl.kernels.gemm` has them.

    Scales are brought into the kernel's order first, 1/32 of the operands' bytes. Raises as `check_scaled` does.
    """
    import torch

    M, N, K = check_scaled(a, b, a_scale, b_scale, block, out.dtype)
    if shuffled and N % 16:
        raise ValueError(f"gemm: shuffled weights have a multiple of 16 rows, not {N}")
    if M == 0 or N == 0:
        return out
    formats = (_MX[str(a.dtype)], _MX[str(b.dtype)]) if block == GROUP else ("fp8", "")
    arch = get_rocm_arch().split(":")[0]
    tile = scaled_tile(arch, M, N, K, (formats[0], formats[1] or "f32"))
    launch = _built(arch, N, K, tile, formats, _OUTPUTS[str(out.dtype)], shuffled)
    if block == GROUP:
        scales = list(scale_words(a_scale, b_scale, K, stream))
        operands = [one.contiguous().view(torch.uint8) for one in (a, b)]
    else:
        scales = [a_scale.t().contiguous().view(-1), b_scale.contiguous().view(-1)]
        operands = [a.contiguous(), b.contiguous()]
    launch(out.view(-1) if out.is_contiguous() else out, *operands, *scales, M, stream)
    return out


@lru_cache(maxsize=256)
def _built(
    arch: str, N: int, K: int, tile: tuple[int, int], formats: tuple[str, ...], output: str, shuffled: bool
) -> Callable[..., None]:
    """One launcher for all numbers of rows."""
    multiply = build_tile_gemm(
        TileGemm(
            arch=arch, N=N, K=K, in_dtype=formats[0], out_dtype=output, tile_m=tile[0], tile_n=tile[1], tile_k=BLOCK,
            epilogue=Epilogue(), shuffled=shuffled, block_scaled=not formats[1], b_mx=formats[1],
        ),
        "scaled_gemm",
    )  # fmt: skip

    @flyc.jit
    def scaled_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        M: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        multiply(C, A, B, M, stream, scale_a=scale_a, scale_b=scale_b)

    built: Callable[..., None] = scaled_gemm
    return built
