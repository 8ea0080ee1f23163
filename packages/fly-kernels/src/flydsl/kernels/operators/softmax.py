# SPDX-License-Identifier: Apache-2.0
"""softmax(x, dim)."""

from __future__ import annotations

import torch
from torch import Tensor

from ..norm.softmax_bwd_kernel import build_softmax_bwd_module
from ..norm.softmax_kernel import build_softmax_module
from .launching import built, check_same, dtype_name, empty, rows, stream_of
from .registration import operator

_forward = built(build_softmax_module)
_backward = built(build_softmax_bwd_module)


@operator("softmax")
def _softmax(x: Tensor) -> Tensor:
    dtype, y = dtype_name("softmax", x), empty(x)
    if x.numel():
        matrix = rows(x)
        _forward(x.shape[-1], dtype)(matrix, rows(y), matrix.shape[0], stream_of(x))
    return y


@_softmax.register_fake
def _(x: Tensor) -> Tensor:
    return empty(x)


@operator("softmax_backward")
def _softmax_backward(dy: Tensor, y: Tensor) -> Tensor:
    check_same("softmax_backward", y=y, dy=dy)
    dtype, dx = dtype_name("softmax_backward", y), empty(y)
    if y.numel():
        matrix = rows(y)
        _backward(y.shape[-1], dtype)(rows(dy), matrix, rows(dx), matrix.shape[0], stream_of(y))
    return dx


@_softmax_backward.register_fake
def _(dy: Tensor, y: Tensor) -> Tensor:
    return empty(y)


def _save(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(output)


def _differentiate(ctx, dy):  # type: ignore[no-untyped-def]
    (y,) = ctx.saved_tensors
    return _softmax_backward(dy, y)


_softmax.register_autograd(_differentiate, setup_context=_save)


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """exp(x - max) / sum(exp(x - max)) along `dim`; f32, f16 or bf16, arithmetic in f32. Differentiable.

    The last dimension is where the kernel works; another one is transposed to it, which copies.
    """
    if dim in (-1, x.dim() - 1):
        result: Tensor = _softmax(x)
        return result
    return torch.movedim(_softmax(torch.movedim(x, dim, -1)), -1, dim)
