# SPDX-License-Identifier: Apache-2.0
"""layernorm and fused_add_layernorm, with their forward and backward halves by themselves."""

from __future__ import annotations

import torch
from torch import Tensor

from ..norm.forward import EPS
from ..norm.layernorm_bwd_kernel import build_fused_add_layernorm_bwd_module, build_layernorm_bwd_module
from ..norm.layernorm_kernel import build_fused_add_layernorm_module, build_layernorm_module
from .launching import (
    DTYPES,
    DtypeError,
    built,
    check_matrices,
    check_row_numbers,
    check_same,
    check_weight,
    dtype_name,
    empty,
    numbers_of_rows,
    rows,
    stream_of,
)
from .registration import operator

_forward = built(build_layernorm_module)
_fused_forward = built(build_fused_add_layernorm_module)
_backward = built(build_layernorm_bwd_module)
_fused_backward = built(build_fused_add_layernorm_bwd_module)


def _check(operator: str, x: Tensor, weight: Tensor, bias: Tensor) -> None:
    check_weight(operator, "weight", weight, x)
    check_weight(operator, "bias", bias, x)
    if weight.dtype != bias.dtype:
        raise DtypeError(f"{operator}: weight is {weight.dtype} and bias is {bias.dtype}; they need one dtype")


@operator("layernorm")
def _layernorm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    _check("layernorm", x, weight, bias)
    dtype, matrix = dtype_name("layernorm", x), rows(x)
    y = empty(x)
    mean, rstd = numbers_of_rows(x), numbers_of_rows(x)
    if x.numel():
        launch = _forward(x.shape[-1], dtype, True, eps, weight_dtype_str=DTYPES[weight.dtype])
        tensors = [matrix, weight.contiguous(), bias.contiguous(), rows(y), mean.view(-1), rstd.view(-1)]
        launch(*tensors, matrix.shape[0], stream_of(x))
    return y, mean, rstd


@_layernorm.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    mean, rstd = numbers_of_rows(x), numbers_of_rows(x)
    return empty(x), mean, rstd


@operator("fused_add_layernorm")
def _fused_add_layernorm(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    check_same("fused_add_layernorm", x=x, residual=residual)
    _check("fused_add_layernorm", x, weight, bias)
    dtype, matrix = dtype_name("fused_add_layernorm", x), rows(x)
    y, added = empty(x), empty(x)
    mean, rstd = numbers_of_rows(x), numbers_of_rows(x)
    if x.numel():
        launch = _fused_forward(x.shape[-1], dtype, True, eps, DTYPES[weight.dtype])
        weights = [weight.contiguous(), bias.contiguous()]
        tensors = [matrix, rows(residual), *weights, rows(y), rows(added), mean.view(-1), rstd.view(-1)]
        launch(*tensors, matrix.shape[0], stream_of(x))
    return y, added, mean, rstd


@_fused_add_layernorm.register_fake
def _(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return empty(x), empty(x), numbers_of_rows(x), numbers_of_rows(x)


@operator("layernorm_backward")
def _layernorm_backward(
    x: Tensor, weight: Tensor, dy: Tensor, mean: Tensor, rstd: Tensor, dadded: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """`dadded`: the gradient to add to dx, where x is the sum with a residual."""
    others = {} if dadded is None else {"dresidual_out": dadded}
    check_same("layernorm_bwd", x=x, dy=dy, **others)
    check_weight("layernorm_bwd", "weight", weight, x)
    dtype, matrix, columns = dtype_name("layernorm_bwd", x), rows(x), x.shape[-1]
    dx = empty(x)
    dweight, dbias = (torch.zeros(columns, dtype=torch.float32, device=x.device) for _ in range(2))
    if x.numel():
        launch = (_backward if dadded is None else _fused_backward)(columns, dtype, DTYPES[weight.dtype])
        gradients = [rows(dy)] if dadded is None else [rows(dy), rows(dadded)]
        stats = [mean.reshape(-1), rstd.reshape(-1)]
        tensors = [matrix, weight.contiguous(), *gradients, *stats, rows(dx), dweight, dbias]
        launch(*tensors, matrix.shape[0], stream_of(x))
    if weight.dtype == torch.float32:
        return dx, dweight, dbias
    return dx, dweight.to(weight.dtype), dbias.to(weight.dtype)


@_layernorm_backward.register_fake
def _(
    x: Tensor, weight: Tensor, dy: Tensor, mean: Tensor, rstd: Tensor, dadded: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    return empty(x), empty(weight), empty(weight)


def _save(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0], inputs[1], output[1], output[2])
    ctx.set_materialize_grads(True)


def _differentiate(ctx, dy, _dmean, _drstd):  # type: ignore[no-untyped-def]
    x, weight, mean, rstd = ctx.saved_tensors
    return (*_layernorm_backward(x, weight, dy, mean, rstd, None), None)


_layernorm.register_autograd(_differentiate, setup_context=_save)


def _fused_save(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[2], *output[1:])
    ctx.set_materialize_grads(True)


def _fused_differentiate(ctx, dy, dadded, _dmean, _drstd):  # type: ignore[no-untyped-def]
    weight, added, mean, rstd = ctx.saved_tensors
    dx, dweight, dbias = _layernorm_backward(added, weight, dy, mean, rstd, dadded)
    return dx, dx.clone(), dweight, dbias, None


_fused_add_layernorm.register_autograd(_fused_differentiate, setup_context=_fused_save)


def layernorm_fwd(
    x: Tensor, weight: Tensor, bias: Tensor, eps: float = EPS, store_stats: bool = False
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """(y, mean, rstd) of a contiguous (M, N): the last two, f32 of every row, are None unless asked for.

    Raises ValueError for x of another rank or order in memory, and for weights that are not one row of x.
    """
    check_matrices("layernorm_fwd", x=x)
    y, mean, rstd = _layernorm(x, weight, bias, eps)
    return (y, mean, rstd) if store_stats else (y, None, None)


def layernorm_bwd(
    x: Tensor, weight: Tensor, dout: Tensor, mean: Tensor, rstd: Tensor, eps: float = EPS
) -> tuple[Tensor, Tensor, Tensor]:
    """(dx, dweight, dbias), the last two in the weight's dtype and added up atomically in f32.

    x and dout are contiguous (M, N). `mean` and `rstd` are the forward's, so `eps` is not used again. Raises as
    `layernorm_fwd` does.
    """
    check_matrices("layernorm_bwd", x=x, dout=dout)
    check_row_numbers("layernorm_bwd", x, mean=mean, rstd=rstd)
    dx, dweight, dbias = _layernorm_backward(x, weight, dout, mean, rstd, None)
    return dx, dweight, dbias


def layernorm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = EPS) -> Tensor:
    """(x - mean) / sqrt(var + eps) · weight + bias over the last dimension; f32, f16 or bf16. Differentiable.

    Weight and bias have x's dtype or f32. All arithmetic is in f32.
    """
    y: Tensor = _layernorm(x, weight, bias, eps)[0]
    return y


def fused_add_layernorm_fwd(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float = EPS, store_stats: bool = False
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """(y, x + residual, mean, rstd) of contiguous (M, N); the last two are None unless asked for."""
    check_matrices("fused_add_layernorm_fwd", x=x, residual=residual)
    y, added, mean, rstd = _fused_add_layernorm(x, residual, weight, bias, eps)
    return (y, added, mean, rstd) if store_stats else (y, added, None, None)


def fused_add_layernorm_bwd(
    added: Tensor,
    weight: Tensor,
    dout: Tensor,
    dresidual_out: Tensor,
    mean: Tensor,
    rstd: Tensor,
    eps: float = EPS,
) -> tuple[Tensor, Tensor, Tensor]:
    """(the gradient of x, which is also the residual's; dweight; dbias). `dresidual_out` is the gradient of the sum."""
    check_matrices("fused_add_layernorm_bwd", added=added, dout=dout, dresidual_out=dresidual_out)
    check_row_numbers("fused_add_layernorm_bwd", added, mean=mean, rstd=rstd)
    dx, dweight, dbias = _layernorm_backward(added, weight, dout, mean, rstd, dresidual_out)
    return dx, dweight, dbias


def fused_add_layernorm(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float = EPS, prenorm: bool = True
) -> Tensor | tuple[Tensor, Tensor]:
    """layernorm(x + residual), and with `prenorm` also the sum, rounded to x's dtype. Differentiable."""
    y, added, _, _ = _fused_add_layernorm(x, residual, weight, bias, eps)
    return (y, added) if prenorm else y
