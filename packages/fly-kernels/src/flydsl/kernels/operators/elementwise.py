# SPDX-License-Identifier: Apache-2.0
"""Activations, gated activations and arithmetic, element by element. f32, f16 or bf16; arithmetic in f32.

All are differentiable.
"""

from __future__ import annotations

from torch import Tensor

from ..elementwise.gated_kernel import build_gated_bwd_module, build_gated_module
from ..elementwise.pointwise_kernel import build_binary_module, build_unary_bwd_module, build_unary_module
from .launching import built, check_same, dtype_name, empty, rows, stream_of
from .registration import operator

_MOST_ELEMENTS = 2**31 - 2**15  # a launch counts in 32 bits, and rounds up to whole workgroups

_unary_kernel = built(build_unary_module)
_unary_bwd_kernel = built(build_unary_bwd_module)
_binary_kernel = built(build_binary_module)
_gated_kernel = built(build_gated_module)
_gated_bwd_kernel = built(build_gated_bwd_module)


def _check_count(function: str, x: Tensor) -> None:
    if x.numel() > _MOST_ELEMENTS:
        raise ValueError(
            f"{function}: {x.numel()} elements; a launch takes {_MOST_ELEMENTS} at most, so split the tensor"
        )


@operator("unary")
def _unary(x: Tensor, function: str) -> Tensor:
    dtype, y = dtype_name(function, x), empty(x)
    _check_count(function, x)
    if x.numel():
        _unary_kernel(function, dtype)(x.contiguous().view(-1), y.view(-1), x.numel(), stream_of(x))
    return y


@_unary.register_fake
def _(x: Tensor, function: str) -> Tensor:
    return empty(x)


@operator("unary_backward")
def _unary_backward(dy: Tensor, x: Tensor, function: str) -> Tensor:
    check_same(f"{function}_bwd", x=x, dy=dy)
    dtype, dx = dtype_name(function, x), empty(x)
    _check_count(function, x)
    if x.numel():
        flat = [one.contiguous().view(-1) for one in (dy, x)]
        _unary_bwd_kernel(function, dtype)(*flat, dx.view(-1), x.numel(), stream_of(x))
    return dx


@_unary_backward.register_fake
def _(dy: Tensor, x: Tensor, function: str) -> Tensor:
    return empty(x)


def _save_input(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0])
    ctx.function = inputs[1]


def _differentiate_unary(ctx, dy):  # type: ignore[no-untyped-def]
    return _unary_backward(dy, ctx.saved_tensors[0], ctx.function), None


_unary.register_autograd(_differentiate_unary, setup_context=_save_input)


@operator("binary")
def _binary(x: Tensor, y: Tensor, function: str) -> Tensor:
    check_same(function, x=x, y=y)
    dtype, z = dtype_name(function, x), empty(x)
    _check_count(function, x)
    if x.numel():
        flat = [one.contiguous().view(-1) for one in (x, y)]
        _binary_kernel(function, dtype)(*flat, z.view(-1), x.numel(), stream_of(x))
    return z


@_binary.register_fake
def _(x: Tensor, y: Tensor, function: str) -> Tensor:
    return empty(x)


def _save_inputs(ctx, inputs, output):  # type: ignore[no-untyped-def]
    *tensors, ctx.function = inputs
    ctx.save_for_backward(*tensors)


def _differentiate_binary(ctx, dz):  # type: ignore[no-untyped-def]
    x, y = ctx.saved_tensors
    if ctx.function == "add":
        return dz, dz, None
    if ctx.function == "mul":
        return _binary(dz, y, "mul"), _binary(dz, x, "mul"), None
    share = (x > y).to(dz.dtype) + 0.5 * (x == y).to(dz.dtype)  # of two equal ones each has half, as in torch
    return dz * share, dz * (1 - share), None


_binary.register_autograd(_differentiate_binary, setup_context=_save_inputs)


@operator("gated")
def _gated(x: Tensor, activation: str) -> Tensor:
    if x.dim() == 0 or x.shape[-1] % 2:
        raise ValueError(f"the last dimension holds gate and up, so it is even; got {tuple(x.shape)}")
    columns = x.shape[-1] // 2
    dtype, y = dtype_name(activation, x), empty(x, *x.shape[:-1], columns)
    if x.numel():
        matrix = rows(x)
        _gated_kernel(columns, dtype, activation)(matrix, rows(y), matrix.shape[0], stream_of(x))
    return y


@_gated.register_fake
def _(x: Tensor, activation: str) -> Tensor:
    return empty(x, *x.shape[:-1], x.shape[-1] // 2)


@operator("gated_backward")
def _gated_backward(dy: Tensor, x: Tensor, activation: str) -> Tensor:
    columns = x.shape[-1] // 2
    dtype, dx = dtype_name(activation, x), empty(x)
    if x.numel():
        matrix = rows(x)
        _gated_bwd_kernel(columns, dtype, activation)(rows(dy), matrix, rows(dx), matrix.shape[0], stream_of(x))
    return dx


@_gated_backward.register_fake
def _(dy: Tensor, x: Tensor, activation: str) -> Tensor:
    return empty(x)


def _differentiate_gated(ctx, dy):  # type: ignore[no-untyped-def]
    return _gated_backward(dy, ctx.saved_tensors[0], ctx.function), None


_gated.register_autograd(_differentiate_gated, setup_context=_save_input)


def _unary_function(name: str, says: str):  # type: ignore[no-untyped-def]
    def apply(x: Tensor) -> Tensor:
        result: Tensor = _unary(x, name)
        return result

    apply.__doc__ = f"{says}, element by element."
    return apply


absolute = _unary_function("abs", "|x|")
exp = _unary_function("exp", "e to the power of x")
log = _unary_function("log", "The natural logarithm of x")
relu = _unary_function("relu", "max(x, 0)")
rsqrt = _unary_function("rsqrt", "1 / sqrt(x)")
sigmoid = _unary_function("sigmoid", "1 / (1 + exp(-x))")
silu = _unary_function("silu", "x · sigmoid(x)")
softplus = _unary_function("softplus", "log(1 + exp(x))")
sqrt = _unary_function("sqrt", "The square root of x")
tanh = _unary_function("tanh", "tanh(x)")


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x · Φ(x) (`approximate="none"`), or its approximation by tanh ("tanh"), as torch.nn.functional.gelu."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate is 'none' or 'tanh', not {approximate!r}")
    result: Tensor = _unary(x, "gelu" if approximate == "none" else "gelu_tanh")
    return result


def _binary_function(name: str, says: str):  # type: ignore[no-untyped-def]
    def apply(x: Tensor, y: Tensor) -> Tensor:
        result: Tensor = _binary(x, y, name)
        return result

    apply.__doc__ = f"{says}, element by element; x and y have one shape and dtype."
    return apply


add = _binary_function("add", "x + y")
multiply = _binary_function("mul", "x · y")
maximum = _binary_function("max", "the larger of x and y (NaN if one is)")


def swiglu(x: Tensor) -> Tensor:
    """silu(gate) · up, where the last dimension of x holds gate, then up."""
    result: Tensor = _gated(x, "silu")
    return result


def geglu(x: Tensor) -> Tensor:
    """gelu(gate) · up, where the last dimension of x holds gate, then up."""
    result: Tensor = _gated(x, "gelu")
    return result
