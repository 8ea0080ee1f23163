# SPDX-License-Identifier: Apache-2.0
"""The names that kernels give to element types, and the refusal of others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .language import fx

_FLOATS = {"f32": "Float32", "f16": "Float16", "bf16": "BFloat16"}


def float_type(dtype: str) -> Any:
    """The language's type for "f32", "f16" or "bf16".

    Raises ValueError for any other name.
    """
    if dtype not in _FLOATS:
        raise ValueError(f"dtype {dtype!r} is not supported; use one of {', '.join(_FLOATS)}")
    return getattr(fx, _FLOATS[dtype])


def row_and_weight_types(dtype: str, weight_dtype: str | None) -> tuple[Any, Any]:
    """The language's types of rows of `dtype` and of a weight, which is of the rows' type (None) or "f32".

    Raises ValueError for an unknown name, and for a weight of another type.
    """
    weight_dtype = weight_dtype or dtype
    types = float_type(dtype), float_type(weight_dtype)
    if weight_dtype not in (dtype, "f32"):
        raise ValueError(
            f"weight_dtype_str {weight_dtype!r} is neither the activations' {dtype!r} nor 'f32'; convert the weight"
        )
    return types


def expect(name: str, tensor: Any, element: Any, rank: int) -> None:
    """Refuse, while tracing, a tensor that a kernel is not written for, by the name of the argument.

    A pointer (`flyc.from_c_void_p`) stands for a contiguous tensor and is checked for its type only. Raises TypeError
    for another element type or something that is neither, and ValueError for another rank.
    """
    if not isinstance(tensor, (fx.Tensor, fx.Pointer)):
        raise TypeError(f"argument {name!r}: expected a tensor or a pointer, got {type(tensor).__name__}")
    if tensor.element_type is not element:
        raise TypeError(f"argument {name!r}: expected {element.__name__}, got {tensor.element_type.__name__}")
    if isinstance(tensor, fx.Tensor) and fx.rank(tensor) != rank:
        raise ValueError(f"argument {name!r}: expected rank {rank}, got rank {fx.rank(tensor)}")


def expect_rows(name: str, tensor: Any, element: Any, columns: int) -> None:
    """`expect` for an (M, `columns`) argument whose rows have unit stride.

    To be called in a host function. Raises ValueError for another stride (copy the tensor with `.contiguous()`) while
    tracing, and for another number of columns then or, where it is known at run time only, when the function is called.
    """
    expect(name, tensor, element, rank=2)
    if isinstance(tensor, fx.Tensor):
        _expect_extent(name, tensor.shape[1].unpack(), columns, "columns")
        if columns > 1:
            _expect_neighbours(name, tensor.stride[1].unpack(), "the elements of a row", "the last dimension")


def expect_row(name: str, tensor: Any, element: Any, count: int | None = None) -> None:
    """`expect` for a one-dimensional argument of unit stride.

    To be called in a host function. Raises ValueError for another stride (copy the tensor with `.contiguous()`), and
    for another number of elements than `count`, as `expect_rows` does.
    """
    expect(name, tensor, element, rank=1)
    if isinstance(tensor, fx.Tensor):
        if count is not None:
            _expect_extent(name, tensor.shape[0].unpack(), count, "elements")
        _expect_neighbours(name, tensor.stride[0].unpack(), "the elements", "its dimension")


def _expect_extent(name: str, found: Any, wanted: int, what: str) -> None:
    if not isinstance(found, int):
        fx.host_assert(found == wanted, f"argument '{name}': expected {{}} {what}, got {{}}", wanted, found)
    elif found != wanted:
        raise ValueError(f"argument {name!r}: expected {wanted} {what}, got {found}")


def _expect_neighbours(name: str, stride: Any, what: str, where: str) -> None:
    if stride != 1:
        raise ValueError(
            f"argument {name!r}: {what} must be neighbours (unit stride in {where}); copy it with .contiguous()"
        )


def rows_builder(build: Callable[..., Any]) -> Callable[..., Any]:
    """Let `build(N, dtype_str, …)` also be called as `build(M, N, dtype_str, …)`, as older code does; M is ignored.

    The number of rows is an argument of the launch.
    """

    @functools.wraps(build)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        if len(args) > 1 and not isinstance(args[1], str):
            args = args[1:]
        elif "N" in keywords:
            keywords.pop("M", None)
            args = args[1:]
        return build(*args, **keywords)

    return wrapper


def quantised_type(dtype: str) -> Any:
    """The language's type for "i8" or "int8", what the norms quantise to.

    Raises ValueError for any other name.
    """
    if dtype not in ("i8", "int8"):
        raise ValueError(f"quant_dtype_str {dtype!r} is not supported; use 'i8' or 'int8'")
    return fx.Int8
