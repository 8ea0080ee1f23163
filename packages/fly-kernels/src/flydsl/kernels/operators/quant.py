# SPDX-License-Identifier: Apache-2.0
"""per_tensor_quant, per_token_quant, per_block_quant, per_block2d_quant and mx_quant."""

from __future__ import annotations

import torch
from torch import Tensor

from ..common.arch import architecture
from ..quant.mx_quant_kernel import GROUP, per_1x32_mx_quant
from ..quant.per_block2d_quant_kernel import BLOCK, build_per_block2d_quant_module
from ..quant.per_block_quant_kernel import build_per_block_quant_module
from ..quant.per_tensor_quant_kernel import build_per_tensor_quant_module
from ..quant.per_token_quant_kernel import build_per_token_quant_module
from .launching import built, dtype_name, empty, numbers_of_rows, rows, stream_of
from .registration import operator

_per_token = built(build_per_token_quant_module)
_per_block = built(build_per_block_quant_module)
_per_block2d = built(build_per_block2d_quant_module)
_per_tensor = built(build_per_tensor_quant_module)


def _dtype(quant_dtype: str) -> torch.dtype:
    if quant_dtype == "fp8":
        return getattr(torch, architecture().fp8.torch_name)
    if quant_dtype in ("int8", "i8"):
        return torch.int8
    raise ValueError(f"quant_dtype {quant_dtype!r} is not supported; use 'fp8' or 'int8'")


@operator("per_token_quant")
def _per_token_quant(x: Tensor, quant_dtype: str) -> tuple[Tensor, Tensor]:
    dtype, matrix = dtype_name("per_token_quant", x), rows(x)
    q, scale = empty(x, dtype=_dtype(quant_dtype)), numbers_of_rows(x, of_nothing=1.0)
    if x.numel():
        launch = _per_token(x.shape[-1], dtype, quant_dtype)
        launch(matrix, rows(q), scale.view(-1), matrix.shape[0], stream_of(x))
    return q, scale


@_per_token_quant.register_fake
def _(x: Tensor, quant_dtype: str) -> tuple[Tensor, Tensor]:
    return empty(x, dtype=_dtype(quant_dtype)), numbers_of_rows(x, of_nothing=1.0)


@operator("per_block_quant")
def _per_block_quant(x: Tensor, quant_dtype: str, block: int) -> tuple[Tensor, Tensor]:
    dtype, matrix = dtype_name("per_block_quant", x), rows(x)
    q = empty(x, dtype=_dtype(quant_dtype))
    scale = empty(x, *x.shape[:-1], -(-x.shape[-1] // block), dtype=torch.float32)
    if x.numel():
        launch = _per_block(x.shape[-1], dtype, quant_dtype, block)
        launch(matrix, rows(q), rows(scale), matrix.shape[0], stream_of(x))
    return q, scale


@_per_block_quant.register_fake
def _(x: Tensor, quant_dtype: str, block: int) -> tuple[Tensor, Tensor]:
    scale = empty(x, *x.shape[:-1], -(-x.shape[-1] // block), dtype=torch.float32)
    return empty(x, dtype=_dtype(quant_dtype)), scale


@operator("per_block2d_quant")
def _per_block2d_quant(x: Tensor, quant_dtype: str) -> tuple[Tensor, Tensor]:
    dtype = dtype_name("per_block2d_quant", x)
    q, scale = _empty_of_blocks(x, quant_dtype)
    if x.numel():
        launch = _per_block2d(x.shape[-1], dtype, quant_dtype)
        launch(rows(x), q, scale, x.shape[0], stream_of(x))
    return q, scale


@_per_block2d_quant.register_fake
def _(x: Tensor, quant_dtype: str) -> tuple[Tensor, Tensor]:
    return _empty_of_blocks(x, quant_dtype)


def _empty_of_blocks(x: Tensor, quant_dtype: str) -> tuple[Tensor, Tensor]:
    if x.dim() != 2:
        raise ValueError(f"per_block2d_quant: expected a matrix, got {tuple(x.shape)}")
    blocks = [-(-extent // BLOCK) for extent in x.shape]
    return empty(x, dtype=_dtype(quant_dtype)), empty(x, *blocks, dtype=torch.float32)


@operator("per_tensor_quant")
def _per_tensor_quant(x: Tensor, quant_dtype: str) -> tuple[Tensor, Tensor]:
    dtype, matrix = dtype_name("per_tensor_quant", x), rows(x)
    q = empty(x, dtype=_dtype(quant_dtype))
    if not x.numel():
        return q, torch.ones(1, dtype=torch.float32, device=x.device)
    scale, workspace = empty(x, 1, dtype=torch.float32), empty(x, matrix.shape[0], dtype=torch.float32)
    launch = _per_tensor(x.shape[-1], dtype, quant_dtype)
    launch(matrix, rows(q), scale, workspace, matrix.shape[0], stream_of(x))
    return q, scale


@_per_tensor_quant.register_fake
def _(x: Tensor, quant_dtype: str) -> tuple[Tensor, Tensor]:
    return empty(x, dtype=_dtype(quant_dtype)), empty(x, 1, dtype=torch.float32)


@operator("per_tensor_quant_static")
def _per_tensor_quant_static(x: Tensor, scale: Tensor, quant_dtype: str) -> Tensor:
    dtype, matrix = dtype_name("per_tensor_quant", x), rows(x)
    q = empty(x, dtype=_dtype(quant_dtype))
    if x.numel():
        launch = _per_tensor(x.shape[-1], dtype, quant_dtype, static_scale=True)
        launch(matrix, rows(q), scale.reshape(1), matrix.shape[0], stream_of(x))
    return q


@_per_tensor_quant_static.register_fake
def _(x: Tensor, scale: Tensor, quant_dtype: str) -> Tensor:
    return empty(x, dtype=_dtype(quant_dtype))


@operator("mx_quant")
def _mx_quant(x: Tensor, quant_mode: str, rounding: str) -> tuple[Tensor, Tensor]:
    return per_1x32_mx_quant(x, quant_mode, rounding=rounding)


@_mx_quant.register_fake
def _(x: Tensor, quant_mode: str, rounding: str) -> tuple[Tensor, Tensor]:
    groups = x.shape[-1] // GROUP
    scale = empty(x, *x.shape[:-1], groups, dtype=torch.uint8)
    if quant_mode == "fp4":
        return empty(x, *x.shape[:-1], groups * GROUP // 2, dtype=torch.uint8), scale
    return empty(x, dtype=torch.float8_e4m3fn), scale


def mx_quant(x: Tensor, quant_mode: str = "fp4", rounding: str = "up_floored") -> tuple[Tensor, Tensor]:
    """(q, scale): MXFP4 (two a byte) or MXFP8 (E4M3FN) with a byte of E8M0 for each 32 of a row; gfx950.

    `rounding` of the exponent is "up_floored", "up" or "nearest", see `flydsl.kernels.quant.mx_quant_kernel`.
    """
    q, scale = _mx_quant(x, quant_mode, rounding)
    return q, scale


def per_token_quant(x: Tensor, quant_dtype: str = "fp8") -> tuple[Tensor, Tensor]:
    """(q, scale): one f32 scale for each row (the last dimension), x ≈ q · scale.

    `quant_dtype`: "fp8" (E4M3, the architecture's: FNUZ on gfx942, OCP on gfx950) or "int8".
    """
    q, scale = _per_token_quant(x, quant_dtype)
    return q, scale


def per_block_quant(x: Tensor, quant_dtype: str = "fp8", block: int = 128) -> tuple[Tensor, Tensor]:
    """(q, scale): one f32 scale for each `block` neighbours of a row of N; scale has ceil(N / block) of them a row."""
    q, scale = _per_block_quant(x, quant_dtype, block)
    return q, scale


def per_block2d_quant(x: Tensor, quant_dtype: str = "fp8") -> tuple[Tensor, Tensor]:
    """(q, scale): one f32 scale for each 128 x 128 of a matrix (M, N); scale is (ceil(M / 128), ceil(N / 128)).

    N is a multiple of 8 (of 4 for float32): what weights of `gemm(..., block=128)` are.
    """
    q, scale = _per_block2d_quant(x, quant_dtype)
    return q, scale


def per_tensor_quant(x: Tensor, quant_dtype: str = "fp8", scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """(q, scale): one f32 scale (1,) for all of x, the largest magnitude over the type's largest number (0: 1).

    With a `scale` of one f32 it is that one, and what is beyond the range becomes the type's largest number.
    """
    if scale is not None:
        if scale.numel() != 1 or scale.dtype != torch.float32 or scale.device != x.device:
            raise ValueError(
                f"per_tensor_quant: scale: expected one torch.float32 on {x.device}, got {tuple(scale.shape)} of "
                f"{scale.dtype} on {scale.device}"
            )
        return _per_tensor_quant_static(x, scale, quant_dtype), scale
    q, found = _per_tensor_quant(x, quant_dtype)
    return q, found
