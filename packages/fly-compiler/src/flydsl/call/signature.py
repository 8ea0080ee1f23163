# SPDX-License-Identifier: Apache-2.0
"""Annotations of traced functions, resolved."""

from __future__ import annotations

import sys
import types
import typing
import warnings
from types import FunctionType
from typing import Any

from flydsl.expr.values.numeric import NumericMeta

__all__ = ["MAKE_OPTIONAL", "resolve_annotations", "split_optional"]


def resolve_annotations(function: FunctionType) -> dict[str, Any]:
    """Return the annotations of a function with texts (`from __future__ import annotations`) resolved.

    An annotation that cannot be resolved is left out, with a warning: its parameter takes what it is given.
    """
    found: dict[str, Any] = {}
    namespace: dict[str, Any] | None = None
    for name, annotation in function.__annotations__.items():
        if isinstance(annotation, str):
            if namespace is None:
                closure = dict(zip(function.__code__.co_freevars, _cell_values(function), strict=True))
                namespace = {**_caller_locals(), **closure}
            try:
                annotation = eval(annotation, function.__globals__, namespace)
            except Exception as error:
                warnings.warn(
                    f"the annotation {annotation!r} of parameter '{name}' of '{function.__qualname__}' cannot be "
                    f"resolved ({error}); the parameter takes what it is given",
                    stacklevel=2,
                )
                continue
        found[name] = annotation
    return found


MAKE_OPTIONAL = (
    "A parameter that may be absent says so: annotate it `fx.Tensor | None`, or give it the default None; it is "
    "Python's None while tracing"
)


def split_optional(annotation: Any) -> tuple[Any, bool]:
    """Return `T` and true for `Optional[T]` and `T | None`, any other annotation and false as it is.

    `fx.Int32 | int` is `fx.Int32`: the Python number is what a caller may pass, for type checkers.
    """
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        given = typing.get_args(annotation)
        parts = [one for one in given if one is not type(None)]
        scalars = [one for one in parts if not any(one is number for number in (int, float, bool))]
        if len(scalars) == 1 and isinstance(scalars[0], NumericMeta):
            parts = scalars
        if len(parts) == 1 < len(given):
            return parts[0], type(None) in given
    return annotation, False


def _caller_locals() -> dict[str, Any]:
    """Return the local variables around the decorated function: texts name them without capturing them."""
    frame = sys._getframe(1)
    ours = ("flydsl.call", "flydsl.compiler", "functools")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(ours):
        frame = frame.f_back
    return frame.f_locals


def _cell_values(function: FunctionType) -> list[Any]:
    values = []
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            values.append(typing.Any)
    return values
