# SPDX-License-Identifier: Apache-2.0
"""Annotations that make a parameter a compile-time one."""

from __future__ import annotations

from typing import Any

from flydsl.expr.values.typing import ConstexprMarker, Type

__all__ = ["is_compile_time", "is_constexpr", "is_static_type"]


def is_constexpr(annotation: Any) -> bool:
    """Tell whether an annotation is `Constexpr` or `Constexpr[T]`."""
    return isinstance(annotation, type) and issubclass(annotation, ConstexprMarker)


def is_static_type(annotation: Any) -> bool:
    """Tell whether an annotation is `Type` or `Type[T]`: the argument is a class."""
    return annotation is Type or annotation is type


def is_compile_time(annotation: Any) -> bool:
    """Tell whether the argument is a Python value while tracing."""
    return is_constexpr(annotation) or is_static_type(annotation)
