# SPDX-License-Identifier: Apache-2.0
"""Layouts outside a trace: there the functions of the algebra are those of `flydsl.layout`, on ordinary values.

Inside a trace, host values are accepted wherever a static layout, tile, swizzle or int-tuple is.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build_once, parse_type
from flydsl.trace.context import state
from flydsl.trace.wrap import wrap_any

__all__ = ["from_host", "hosted", "is_tracing"]


def is_tracing() -> bool:
    """Tell whether there is an MLIR context to build operations in."""
    if state.trace is not None:
        return True
    try:
        return ir.Context.current is not None
    except (ValueError, RuntimeError):
        return False


def from_host(value: Any) -> Any:
    """Return a value of `flydsl.layout` as a traced static one; anything else as it is.

    Raises:
        ValueError: the host value has symbolic (dynamic) leaves.
    """
    layout = sys.modules.get("flydsl.layout")
    if layout is None or not type(value).__module__.startswith("flydsl.layout"):
        return value
    text = layout.to_dialect(value)
    if "?" in text:
        raise ValueError(f"the host layout {text} has symbolic leaves; only static ones can be used in a kernel")
    kinds = {"Layout": "layout", "ComposedLayout": "composed_layout", "Swizzle": "swizzle", "Tile": "tile"}
    kind = {**kinds, "CoordSwizzle": "coord_swizzle"}.get(type(value).__name__)
    if kind is None:
        return value
    spelled = f"!fly.{kind}<{text}>"
    return wrap_any(build_once(spelled, "fly.static", parse_type(spelled)))


def _own(name: str, args: Any, kwargs: Any) -> Any:
    """Functions that `flydsl.layout` has no need of: there int-tuples are Python tuples."""
    if name in ("make_shape", "make_stride", "make_coord", "make_int_tuple") and not kwargs:
        return args[0] if len(args) == 1 else tuple(args)
    if name in ("get_shape", "get_stride", "composed_get_inner", "composed_get_offset", "composed_get_outer"):
        return getattr(args[0], name.removeprefix("composed_").removeprefix("get_"))
    if name == "make_swizzle":
        import flydsl.layout

        return flydsl.layout.Swizzle(*args)
    if name == "make_composed_layout":
        import flydsl.layout

        inner, offset, outer = args if len(args) == 3 else (args[0], 0, args[1])
        return flydsl.layout.ComposedLayout(inner, offset, outer)
    raise RuntimeError(f"fx.{name} can only be used while a @flyc.jit or @flyc.kernel function is being traced")


def hosted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, with `flydsl.layout`'s function of that name in its place outside a trace."""
    name = function.__name__

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if state.trace is not None or is_tracing():
            return function(*args, **kwargs)
        import flydsl.layout

        host = getattr(flydsl.layout, name, None)
        return _own(name, args, kwargs) if host is None else host(*args, **kwargs)

    return call
