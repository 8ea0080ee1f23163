# SPDX-License-Identifier: Apache-2.0
"""Sums, means, maxima and their places over the last dimension. f32, f16 or bf16; arithmetic in f32.

Sums, means and maxima are differentiable.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..elementwise.argmax_kernel import build_argmax_module
from ..elementwise.row_reduce_kernel import build_row_reduce_module
from .launching import built, dtype_name, rows, stream_of
from .registration import operator

_reduce_kernel = built(build_row_reduce_module)
_argmax_kernel = built(build_argmax_module)


@operator("row_reduce")
def _row_reduce(x: Tensor, operation: str) -> Tensor:
    dtype, matrix = dtype_name(operation, x), rows(x)
    if x.shape[-1] == 0:
        if operation == "max":
            raise ValueError("max: rows of no elements have none")
        return x.new_full(x.shape[:-1], math.nan if operation == "mean" else 0.0)
    y = x.new_empty(x.shape[:-1])
    if x.numel():
        launch = _reduce_kernel(x.shape[-1], dtype, operation)
        launch(matrix, y.view(-1), matrix.shape[0], stream_of(x))
    return y


@_row_reduce.register_fake
def _(x: Tensor, operation: str) -> Tensor:
    return x.new_empty(x.shape[:-1])


def _save(ctx, inputs, output):  # type: ignore[no-untyped-def]
    x, ctx.operation = inputs
    ctx.shape = x.shape
    if ctx.operation == "max":
        ctx.save_for_backward(x, output)


def _differentiate(ctx, dy):  # type: ignore[no-untyped-def]
    spread = dy.unsqueeze(-1).expand(ctx.shape)
    if ctx.operation == "mean":
        spread = spread / ctx.shape[-1]
    elif ctx.operation == "max":  # of equal ones each has its part, as in torch.amax
        x, y = ctx.saved_tensors
        largest = (x == y.unsqueeze(-1)).to(dy.dtype)
        spread = spread * (largest / largest.sum(-1, keepdim=True))
    return spread, None


_row_reduce.register_autograd(_differentiate, setup_context=_save)


@operator("argmax")
def _argmax(x: Tensor) -> Tensor:
    dtype, matrix = dtype_name("argmax", x), rows(x)
    if x.shape[-1] == 0:
        raise ValueError("argmax: rows of no elements")
    index = x.new_empty(x.shape[:-1], dtype=torch.int64)
    if x.numel():
        _argmax_kernel(x.shape[-1], dtype)(matrix, index.view(-1), matrix.shape[0], stream_of(x))
    return index


@_argmax.register_fake
def _(x: Tensor) -> Tensor:
    return x.new_empty(x.shape[:-1], dtype=torch.int64)


def row_sum(x: Tensor) -> Tensor:
    """The sum over the last dimension, in x's dtype."""
    result: Tensor = _row_reduce(x, "sum")
    return result


def mean(x: Tensor) -> Tensor:
    """The mean over the last dimension, in x's dtype."""
    result: Tensor = _row_reduce(x, "mean")
    return result


def row_max(x: Tensor) -> Tensor:
    """The maximum over the last dimension, which ignores NaN."""
    result: Tensor = _row_reduce(x, "max")
    return result


def argmax(x: Tensor) -> Tensor:
    """The index (int64) of the first largest element of the last dimension; NaN is ignored."""
    result: Tensor = _argmax(x)
    return result
