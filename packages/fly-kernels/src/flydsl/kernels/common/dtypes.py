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
    if not isinstance(dtype, str) or dtype not in _FLOATS:
        raise ValueError(f"dtype {dtype!r} is not supported; use one of {', '.join(_FLOATS)}")
    return getattr(fx, _FLOATS[dtype])


def row_and_weight_types(dtype: str, weight_dtype: str | None) -> tuple[Any, Any]:
    """The language's types of rows of `dtype` and of a weight, which is of the rows' type (None) or "f32".

    Raises ValueError for an unknown name, and for a weight of another type.
    """
    weight_dtype = dtype if weight_dtype is None else weight_dtype
    types = float_type(dtype), float_type(weight_dtype)
    if weight_dtype not in (dtype, "f32"):
        raise ValueError(
            f"weight_dtype_str {weight_dtype!r} is neither the activations' {dtype!r} nor 'f32'; convert the weight"
        )
    return types


def rows_builder(build: Callable[..., Any]) -> Callable[..., Any]:
    """Let `build(N, dtype_str, …)` also be called as `build(M, N, dtype_str, …)`, as older code does; M is ignored.

    The number of rows is an argument of the launch.
    """

    @functools.wraps(build)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        second, third = (*args, None, None, None)[1:3]
        # The second is N, also where it is a string by mistake: the dtype comes after it.
        if len(args) > 1 and (not isinstance(second, str) or (second not in _FLOATS and third in _FLOATS)):
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
