# SPDX-License-Identifier: Apache-2.0
"""Norms whose output is int8 with one scale per row, alone and behind a residual addition."""

from __future__ import annotations

import torch
from torch import Tensor

from ..norm import layernorm_kernel, rmsnorm_kernel
from ..norm.forward import EPS
from .launching import (
    DTYPES,
    DtypeError,
    built,
    check_same,
    check_weight,
    dtype_name,
    empty,
    numbers_of_rows,
    rows,
    stream_of,
)
from .registration import operator

_BUILDERS = {
    (centred, residual, smooth): built(
        getattr(
            layernorm_kernel if centred else rmsnorm_kernel,
            f"build_{'fused_add_' if residual else ''}{'layernorm' if centred else 'rmsnorm'}_"
            f"{'smooth' if smooth else 'dynamic'}quant_module",
        )
    )
    for centred in (False, True)
    for residual in (False, True)
    for smooth in (False, True)
}


def _launch(
    x: Tensor,
    residual: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    xscale: Tensor | None,
    eps: float,
    outputs: list[Tensor],
) -> None:
    what = "layernorm_quant" if bias is not None else "rmsnorm_quant"
    dtype, matrix = dtype_name(what, x), rows(x)
    weights = {"weight": weight, "bias": bias, "xscale": xscale}
    given = {name: one for name, one in weights.items() if one is not None}
    for name, one in given.items():
        check_weight(what, name, one, x)
        if one.dtype != weight.dtype:
            raise DtypeError(f"{what}: weight is {weight.dtype} and {name} is {one.dtype}; they need one dtype")
    inputs = [matrix]
    if residual is not None:
        check_same(what, x=x, residual=residual)
        inputs.append(rows(residual))
    if x.numel():
        build = _BUILDERS[bias is not None, residual is not None, xscale is not None]
        launch = build(x.shape[-1], dtype, "i8", eps, DTYPES[weight.dtype])
        *others, scale = outputs
        tensors = [*inputs, *(one.contiguous() for one in given.values()), *map(rows, others), scale.view(-1)]
        launch(*tensors, matrix.shape[0], stream_of(x))


@operator("norm_quant")
def _norm_quant(
    x: Tensor, weight: Tensor, bias: Tensor | None, xscale: Tensor | None, eps: float
) -> tuple[Tensor, Tensor]:
    q, scale = empty(x, dtype=torch.int8), numbers_of_rows(x, of_nothing=1.0)
    _launch(x, None, weight, bias, xscale, eps, [q, scale])
    return q, scale


@_norm_quant.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor | None, xscale: Tensor | None, eps: float) -> tuple[Tensor, Tensor]:
    return empty(x, dtype=torch.int8), numbers_of_rows(x, of_nothing=1.0)


@operator("fused_add_norm_quant")
def _fused_add_norm_quant(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor | None, xscale: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    q, added, scale = empty(x, dtype=torch.int8), empty(x), numbers_of_rows(x, of_nothing=1.0)
    _launch(x, residual, weight, bias, xscale, eps, [q, added, scale])
    return q, added, scale


@_fused_add_norm_quant.register_fake
def _(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor | None, xscale: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    return empty(x, dtype=torch.int8), empty(x), numbers_of_rows(x, of_nothing=1.0)


def rmsnorm_quant(x: Tensor, weight: Tensor, xscale: Tensor | None = None, eps: float = EPS) -> tuple[Tensor, Tensor]:
    """(q, scale): rmsnorm(x) · xscale as int8, cut off towards zero, with scale = max |y| / 127 (1 where that is 0).

    x is (..., N) of f32, f16 or bf16; weight and xscale (N,) have one dtype, x's or f32. q has x's shape, scale its
    leading dimensions (f32). Not differentiable.
    """
    q, scale = _norm_quant(x, weight, None, xscale, eps)
    return q, scale


def layernorm_quant(
    x: Tensor, weight: Tensor, bias: Tensor, xscale: Tensor | None = None, eps: float = EPS
) -> tuple[Tensor, Tensor]:
    """(q, scale) of layernorm(x) · xscale; see `rmsnorm_quant`."""
    q, scale = _norm_quant(x, weight, bias, xscale, eps)
    return q, scale


def fused_add_rmsnorm_quant(
    x: Tensor, residual: Tensor, weight: Tensor, xscale: Tensor | None = None, eps: float = EPS
) -> tuple[Tensor, Tensor, Tensor]:
    """(q, x + residual, scale): the sum is rounded to x's dtype, and `rmsnorm_quant` is of what was rounded."""
    q, added, scale = _fused_add_norm_quant(x, residual, weight, None, xscale, eps)
    return q, added, scale


def fused_add_layernorm_quant(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, xscale: Tensor | None = None, eps: float = EPS
) -> tuple[Tensor, Tensor, Tensor]:
    """(q, x + residual, scale) of `layernorm_quant`; see `fused_add_rmsnorm_quant`."""
    q, added, scale = _fused_add_norm_quant(x, residual, weight, bias, xscale, eps)
    return q, added, scale
