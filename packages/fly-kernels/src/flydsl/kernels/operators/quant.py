# SPDX-License-Identifier: Apache-2.0
"""per_token_quant, per_block_quant and mx_quant."""

from __future__ import annotations

import torch
from torch import Tensor

from ..common.arch import architecture
from ..quant.mx_quant_kernel import GROUP, per_1x32_mx_quant
from ..quant.per_block_quant_kernel import build_per_block_quant_module
from ..quant.per_token_quant_kernel import build_per_token_quant_module
from .launching import built, dtype_name, empty, numbers_of_rows, rows, stream_of

_per_token = built(build_per_token_quant_module)
_per_block = built(build_per_block_quant_module)


def _dtype(quant_dtype: str) -> torch.dtype:
    if quant_dtype == "fp8":
        return getattr(torch, architecture().fp8.torch_name)
    if quant_dtype in ("int8", "i8"):
        return torch.int8
    raise ValueError(f"quant_dtype {quant_dtype!r} is not supported; use 'fp8' or 'int8'")


@torch.library.custom_op("flydsl::per_token_quant", mutates_args=())
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


@torch.library.custom_op("flydsl::per_block_quant", mutates_args=())
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


@torch.library.custom_op("flydsl::mx_quant", mutates_args=())
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
