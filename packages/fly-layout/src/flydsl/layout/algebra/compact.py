# SPDX-License-Identifier: Apache-2.0
"""Construction of layouts: from parts, compact in a given order, like another one."""

from __future__ import annotations

from ..basis import Basis
from ..errors import LayoutError, LayoutTypeError, fail, within
from ..int_tuple import flatten, prefix_product, product, suffix_product, transform_leaves
from ..layout import Layout, LayoutLike
from ..symbolic import SymInt, ceil_div_leaf
from .divide import join
from .product import blocked_product, padded, tiled_product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout, IntTuple, Shape, Stride

__all__ = [
    "make_fragment_layout_like",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "tile_to_shape",
]


def make_layout(*parts: Any, stride: Stride | str | None = None) -> Layout:
    """A layout from a shape and a stride, or from layouts that become its modes.

    ``make_layout(shape)`` is compact column-major; ``make_layout(shape, stride)`` is as written, where ``stride`` may
    also be ``"left"`` (column-major) or ``"right"`` (row-major); ``make_layout(l0, l1, ..)`` concatenates layouts.
    """
    if parts and all(isinstance(p, Layout) for p in parts):
        if stride is not None:
            raise fail("make_layout", "layouts bring their own strides", *parts, kind=LayoutTypeError)
        return join(list(parts))
    if len(parts) == 2 and stride is None:
        shape, stride = parts
    elif len(parts) == 1:
        shape = parts[0]
    else:
        raise fail("make_layout", "expected shape and stride, or layouts", *parts, kind=LayoutTypeError)
    if isinstance(shape, LayoutLike) or isinstance(stride, LayoutLike):
        raise fail("make_layout", "layouts and int-tuples do not mix", *parts, kind=LayoutTypeError)
    if isinstance(stride, str):
        if stride not in ("left", "right"):
            raise fail("make_layout", f"the order {stride!r} is neither 'left' nor 'right'", shape)
        return Layout(shape, suffix_product(shape) if stride == "right" else None)
    return Layout(shape, stride)


def make_identity_layout(shape: Shape) -> Layout:
    """The layout that maps a coordinate to itself: stride ``1E p`` at path p; a leaf shape gets stride 1."""

    def strides(s: Any, path: tuple[int, ...]) -> Any:
        if type(s) is tuple:
            return tuple([strides(x, (*path, i)) for i, x in enumerate(s)])
        return Basis(1, path) if path else 1

    return Layout(shape, strides(shape, ()))


def make_ordered_layout(shape: Shape, order: IntTuple) -> Layout:
    """Compact strides that ascend in the order of the values in ``order``.

    ``order`` is weakly congruent with ``shape``; a sub-shape that faces one value is column-major inside. Static
    values go by value and before symbolic ones; equal and symbolic ones go by position, so the result is always
    compact. A leaf order gives the column-major layout.

    Raises:
        LayoutError: ``order`` is not weakly congruent with ``shape``.
    """
    if len(flatten(order)) == 1:
        return Layout(shape)
    return Layout(shape, ordered_strides("make_ordered_layout", shape, shape, order))


def ordered_strides(operation: str, shape: Shape, counted: Any, order: IntTuple) -> Any:
    """Strides of ``shape`` in ``order``, where the extents that count are those of ``counted``."""
    entries: list[tuple[Any, int, Any]] = []

    def collect(s: Any, o: Any) -> None:
        if type(o) is tuple:
            if type(s) is not tuple or len(s) != len(o):
                raise fail(operation, "the order is not weakly congruent with the shape", shape, order)
            for x, y in zip(s, o):
                collect(x, y)
        else:
            value = o.value if isinstance(o, Basis) else o
            key = (1, 0) if isinstance(value, SymInt) else (0, value or 0)
            entries.append((key, len(entries), s))

    collect(counted, order)
    starts: dict[int, Any] = {}
    start: Any = 1
    for _, place, s in sorted(entries, key=lambda e: (e[0], e[1])):
        starts[place] = start
        start = start * product(s)
    places = iter(range(len(entries)))

    def build(s: Any, o: Any) -> Any:
        if type(o) is tuple:
            return tuple([build(x, y) for x, y in zip(s, o)])
        return prefix_product(s, starts[next(places)])

    return build(counted, order)


def _without_zeros(shape: Any, stride: Any) -> Any:
    """The shape with the extents of stride-0 leaves replaced by 1."""
    return transform_leaves(lambda s, d: 1 if type(d) is int and d == 0 else s, shape, stride)


def make_layout_like(a: AnyLayout) -> Layout:
    """The shape of ``a`` with compact strides in the order of its strides; modes of stride 0 count as extent 1."""
    layout = a.plain() if isinstance(a, LayoutLike) else None
    if layout is None:
        raise fail("make_layout_like", "the operand is no layout", a, kind=LayoutTypeError)
    if type(layout._shape) is not tuple:
        return Layout(layout._shape, 1)
    if len(flatten(layout._stride)) == 1:
        return Layout(layout._shape)
    counted = _without_zeros(layout._shape, layout._stride)
    return Layout(layout._shape, ordered_strides("make_layout_like", layout._shape, counted, layout._stride))


def make_fragment_layout_like(a: AnyLayout) -> Layout:
    """The register layout for a partition: mode 0 (the values of one atom) contiguous, then the rest in its order.

    Stride-0 leaves of mode 0 stay 0 (those values share a register) and count as extent 1.

    Raises:
        LayoutError: the shape is not static.
    """
    layout = a.plain() if isinstance(a, LayoutLike) else None
    if layout is None:
        raise fail("make_fragment_layout_like", "the operand is no layout", a, kind=LayoutTypeError)
    shape = layout._shape
    if not all(type(s) is int for s in flatten(shape)):
        raise fail("make_fragment_layout_like", "expected a static shape", a)
    return fragment_of(layout)


def fragment_of(layout: Layout) -> Layout:
    """`make_fragment_layout_like` without its condition."""
    shape, stride = layout._shape, layout._stride
    if type(shape) is not tuple or len(shape) == 1:
        return Layout(shape)
    first = _fragment_mode(shape[0], stride[0])
    rest_shape, rest_stride = shape[1:], stride[1:]
    if len(rest_shape) == 1:
        rest_shape, rest_stride = rest_shape[0], rest_stride[0]
    result: Layout = tiled_product(first, make_ordered_layout(rest_shape, rest_stride))
    return result


def _fragment_mode(shape: Any, stride: Any) -> Layout:
    compact = prefix_product(_without_zeros(shape, stride))
    zero = transform_leaves(lambda s, d, c: 0 if type(d) is int and d == 0 and s != 1 else c, shape, stride, compact)
    return Layout(shape, zero)


def tile_to_shape(block: AnyLayout | Shape, target_shape: Shape, order: IntTuple) -> Any:
    """``block`` repeated over ``target_shape``, the copies in the given order: modes ``(block_i, repeats_i)``.

    Law: ``blocked_product(block, make_ordered_layout(ceil(target / block), order))``; a target that the block does
    not divide is rounded up.

    Raises:
        LayoutError: the target has fewer modes than the block.
    """
    if not isinstance(block, LayoutLike):
        raise fail("tile_to_shape", "the block is no layout", block, target_shape, order, kind=LayoutTypeError)
    target = target_shape if type(target_shape) is tuple else (target_shape,)
    if block.rank > len(target):
        raise fail("tile_to_shape", "the block has more modes than the target shape", block, target_shape, order)

    def tiled(a: Layout) -> Layout:
        extents = padded(a, len(target))._shape
        repeats = tuple([ceil_div_leaf(product(t), product(s)) for t, s in zip(target, extents)])
        try:
            result: Layout = blocked_product(padded(a, len(target)), make_ordered_layout(repeats, order))
        except LayoutError as e:
            raise within(e, "tile_to_shape", a, target_shape, order) from None
        return result

    return block.lift(tiled)
