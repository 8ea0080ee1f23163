# SPDX-License-Identifier: Apache-2.0
"""Layouts outside a trace: there the functions of the algebra are those of `flydsl.layout`, on ordinary values.

Inside a trace, host values are accepted wherever a static layout, tile, swizzle or int-tuple is.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from flydsl._mlir import facts as records
from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import build_once, type_of
from flydsl.trace.context import state
from flydsl.trace.wrap import wrap_any

__all__ = ["from_host", "hosted", "is_tracing", "to_host"]


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
    try:
        kind = _type_of_host(value, layout)
    except _Symbolic:
        text = layout.to_dialect(value)
        raise ValueError(
            f"the host layout {text} has symbolic leaves; only static ones can be used in a kernel"
        ) from None
    return value if kind is None else wrap_any(build_once(kind, "fly.static", kind))


class _Symbolic(Exception):
    """A leaf has no value while tracing."""


def _type_of_host(value: Any, layout: Any) -> ir.Type | None:
    """Return the type of a value of `flydsl.layout` (the module `layout`); `None` for what has none."""
    if isinstance(value, layout.Layout):
        return type_of(fly.LayoutType, _tree_of_host(value.shape, layout), _tree_of_host(value.stride, layout))
    if isinstance(value, layout.ComposedLayout):
        inner, outer = _type_of_host(value.inner, layout), _type_of_host(value.outer, layout)
        return type_of(fly.ComposedLayoutType, inner, _tree_of_host(value.offset, layout), outer)
    if isinstance(value, layout.Swizzle):
        return type_of(fly.SwizzleType, value.mask, value.base, value.shift)
    if isinstance(value, layout.CoordSwizzle):
        row, col = tuple(value.row_path), tuple(value.col_path)
        return type_of(fly.CoordSwizzleType, value.mask, value.row_base, row, value.col_base, col)
    if isinstance(value, layout.Tile):
        return type_of(fly.TileType, _tiler_of_host(value.modes, layout))
    return None


def _tree_of_host(tree: Any, layout: Any) -> Any:
    if type(tree) is tuple:
        return tuple([_tree_of_host(item, layout) for item in tree])
    if tree is None or type(tree) is int:
        return tree
    if isinstance(tree, layout.Basis):
        return fly.Basis(_tree_of_host(tree.value, layout), list(tree.path))
    raise _Symbolic


def _tiler_of_host(tiler: Any, layout: Any) -> Any:
    if type(tiler) is tuple:
        return tuple([_tiler_of_host(mode, layout) for mode in tiler])
    return _type_of_host(tiler, layout) if isinstance(tiler, layout.Layout) else _tree_of_host(tiler, layout)


def to_host(facts: object) -> Any:
    """Return what the record of a static layout, swizzle or tile (`flydsl._mlir.facts`) says, as of `flydsl.layout`."""
    import flydsl.layout as host

    if isinstance(facts, records.LayoutFacts):
        return host.Layout(_leaves_to_host(facts.shape), _leaves_to_host(facts.stride))
    if isinstance(facts, records.ComposedLayoutFacts):
        return host.ComposedLayout(to_host(facts.inner), _leaves_to_host(facts.offset), to_host(facts.outer))
    if isinstance(facts, records.SwizzleFacts):
        return host.Swizzle(*facts)
    if isinstance(facts, records.CoordSwizzleFacts):
        return host.CoordSwizzle(*facts)
    if isinstance(facts, records.TileFacts):
        return host.Tile(to_host(facts.tree))
    return tuple([to_host(mode) for mode in facts]) if type(facts) is tuple else facts


def _leaves_to_host(tree: Any) -> Any:
    import flydsl.layout as host

    if type(tree) is tuple:
        return tuple([_leaves_to_host(item) for item in tree])
    if not isinstance(tree, fly.Basis):
        return tree
    value: Any = tree.value
    return host.Basis(value, tuple(tree.modes))


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
