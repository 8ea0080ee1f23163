# SPDX-License-Identifier: Apache-2.0
"""The names that kernels give to element types, and the refusal of others."""

from __future__ import annotations

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


def expect(name: str, tensor: Any, element: Any, rank: int) -> None:
    """Refuse, while tracing, a tensor that a kernel is not written for, by the name of the argument.

    Raises TypeError for another element type and ValueError for another rank.
    """
    if tensor.element_type is not element:
        raise TypeError(f"argument {name!r}: expected {element.__name__}, got {tensor.element_type.__name__}")
    if fx.rank(tensor) != rank:
        raise ValueError(f"argument {name!r}: expected rank {rank}, got rank {fx.rank(tensor)}")
