# SPDX-License-Identifier: Apache-2.0
"""layernorm, with its forward and backward halves by themselves."""

from __future__ import annotations

import torch
from torch import Tensor

from ..norm.forward import EPS
from ..norm.layernorm_bwd_kernel import build_layernorm_bwd_module
from ..norm.layernorm_kernel import build_layernorm_module
from .launching import DTYPES, built, check_same, check_weight, dtype_name, empty, rows, stream_of

_forward = built(build_layernorm_module)
_backward = built(build_layernorm_bwd_module)


def _check(operator: str, x: Tensor, weight: Tensor, bias: Tensor) -> None:
    check_weight(operator, "weight", weight, x)
    check_weight(operator, "bias", bias, x)
    if weight.dtype != bias.dtype:
        raise TypeError(f"{operator}: weight is {weight.dtype} and bias is {bias.dtype}; they need one dtype")


@torch.library.custom_op("flydsl::layernorm", mutates_args=())
def _layernorm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    _check("layernorm", x, weight, bias)
    dtype, matrix = dtype_name("layernorm", x), rows(x)
    y = empty(x)
    mean, rstd = (empty(x, *(x.shape[:-1] or (1,)), dtype=torch.float32) for _ in range(2))
    if x.numel():
        launch = _forward(x.shape[-1], dtype, True, eps, weight_dtype_str=DTYPES[weight.dtype])
        tensors = [matrix, weight.contiguous(), bias.contiguous(), rows(y), mean.view(-1), rstd.view(-1)]
        launch(*tensors, matrix.shape[0], stream_of(x))
    return y, mean, rstd


@_layernorm.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    mean, rstd = (empty(x, *(x.shape[:-1] or (1,)), dtype=torch.float32) for _ in range(2))
    return empty(x), mean, rstd


@torch.library.custom_op("flydsl::layernorm_backward", mutates_args=())
def _layernorm_backward(
    x: Tensor, weight: Tensor, dy: Tensor, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    check_same("layernorm_bwd", x=x, dy=dy)
    check_weight("layernorm_bwd", "weight", weight, x)
    dtype, matrix, columns = dtype_name("layernorm_bwd", x), rows(x), x.shape[-1]
    dx = empty(x)
    dweight, dbias = (torch.zeros(columns, dtype=torch.float32, device=x.device) for _ in range(2))
    if x.numel():
        launch = _backward(columns, dtype, DTYPES[weight.dtype])
        tensors = [matrix, weight.contiguous(), rows(dy), mean.reshape(-1), rstd.reshape(-1), rows(dx), dweight, dbias]
        launch(*tensors, matrix.shape[0], stream_of(x))
    if weight.dtype == torch.float32:
        return dx, dweight, dbias
    return dx, dweight.to(weight.dtype), dbias.to(weight.dtype)


@_layernorm_backward.register_fake
def _(x: Tensor, weight: Tensor, dy: Tensor, mean: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return empty(x), empty(weight), empty(weight)


def _save(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0], inputs[1], output[1], output[2])
    ctx.set_materialize_grads(True)


def _differentiate(ctx, dy, _dmean, _drstd):  # type: ignore[no-untyped-def]
    x, weight, mean, rstd = ctx.saved_tensors
    return (*_layernorm_backward(x, weight, dy, mean, rstd), None)


_layernorm.register_autograd(_differentiate, setup_context=_save)


def layernorm_fwd(
    x: Tensor, weight: Tensor, bias: Tensor, eps: float = EPS, store_stats: bool = False
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """(y, mean, rstd): the last two, f32 of every row, are None unless asked for."""
    y, mean, rstd = _layernorm(x, weight, bias, eps)
    return (y, mean, rstd) if store_stats else (y, None, None)


def layernorm_bwd(
    x: Tensor, weight: Tensor, dout: Tensor, mean: Tensor, rstd: Tensor, eps: float = EPS
) -> tuple[Tensor, Tensor, Tensor]:
    """(dx, dweight, dbias), the last two in the weight's dtype and added up atomically in f32.

    `mean` and `rstd` are the forward's, so `eps` is not used again.
    """
    dx, dweight, dbias = _layernorm_backward(x, weight, dout, mean, rstd)
    return dx, dweight, dbias


def layernorm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = EPS) -> Tensor:
    """(x - mean) / sqrt(var + eps) · weight + bias over the last dimension; f32, f16 or bf16. Differentiable.

    Weight and bias have x's dtype or f32. All arithmetic is in f32.
    """
    y: Tensor = _layernorm(x, weight, bias, eps)[0]
    return y
