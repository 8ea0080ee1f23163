# SPDX-License-Identifier: Apache-2.0
"""Free functions: evaluation, and the constructors and extractors that the language has."""

from __future__ import annotations

from .algebra.sizes import coprofile
from .basis import Basis
from .composed import ComposedLayout, CoordTensor
from .coordinates import evaluate, flat_coord, idx2crd_shape, linear_coord
from .errors import LayoutTypeError, fail
from .int_tuple import congruent, flatten, is_int_tuple, prefix_product
from .layout import Layout, LayoutLike
from .swizzle import CoordSwizzle, Swizzle
from .symbolic import SymInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .types import AnyLayout, Coord, IntTuple, Shape, Stride

__all__ = [
    "composed_get_inner",
    "composed_get_offset",
    "composed_get_outer",
    "crd2idx",
    "get_1d_coord",
    "get_flat_coord",
    "get_leaves",
    "get_scalar",
    "get_shape",
    "get_stride",
    "idx2crd",
    "make_coord",
    "make_int_tuple",
    "make_shape",
    "make_stride",
    "make_view",
]


def crd2idx(coord: Coord, layout: AnyLayout | Swizzle | CoordSwizzle | Shape, stride: Stride | None = None) -> Any:
    """The index of a coordinate (with basis strides: a coordinate of the co-domain). None counts as 0.

    Args:
        coord: linear, per mode, or nested like the shape.
        layout: a layout, composed layout, coordinate tensor or swizzle; or a bare shape.
        stride: the strides of a bare shape, by default compact column-major.

    Raises:
        LayoutError: a coordinate tuple faces a shape of another rank.
    """
    if isinstance(layout, Layout):
        return evaluate(coord, layout._shape, layout._stride)
    if isinstance(layout, LayoutLike):
        return layout(_zeros_for_none(coord))
    if isinstance(layout, (Swizzle, CoordSwizzle)):
        return layout(coord)
    return evaluate(coord, layout, prefix_product(layout) if stride is None else stride)


def _zeros_for_none(coord: Any) -> Any:
    if type(coord) is tuple:
        return tuple([_zeros_for_none(c) for c in coord])
    return 0 if coord is None else coord


def _parts(operation: str, index: Any, layout: Any, stride: Any) -> tuple[Any, Any]:
    if isinstance(layout, Layout):
        return layout._shape, layout._stride
    if isinstance(layout, LayoutLike):
        raise fail(operation, "only plain layouts give coordinates back", index, layout, kind=LayoutTypeError)
    return layout, prefix_product(layout) if stride is None else stride


def idx2crd(index: Coord, layout: AnyLayout | Shape, stride: Stride | None = None) -> Any:
    """The coordinate of an index: for each leaf by itself ``(index div stride) mod extent``, 0 for extent 1.

    Law: it inverts `crd2idx` where the layout is compact (a bijection onto ``[0, size)``).

    Raises:
        LayoutError: a stride is 0 where the extent is not 1.
    """
    shape, strides = _parts("idx2crd", index, layout, stride)
    return idx2crd_shape(index, shape, strides)


def get_flat_coord(index: Coord, layout: AnyLayout | Shape) -> Any:
    """`idx2crd` with every mode of the shape made one linear coordinate."""
    shape, strides = _parts("get_flat_coord", index, layout, None)
    return flat_coord(index, shape, strides)


def get_1d_coord(index: Coord, layout: AnyLayout | Shape) -> Any:
    """`idx2crd` as one linear coordinate of the whole shape."""
    shape, strides = _parts("get_1d_coord", index, layout, None)
    return linear_coord(index, shape, strides)


def get_leaves(t: IntTuple, dynamic_only: bool = False) -> tuple[Any, ...]:
    """All leaves of an int-tuple, depth first; or only the symbolic ones."""
    leaves = [x.value if isinstance(x, Basis) else x for x in flatten(t)]
    return tuple([x for x in leaves if isinstance(x, SymInt)] if dynamic_only else leaves)


def get_scalar(t: IntTuple) -> Any:
    """The only leaf of an int-tuple; a basis element gives its value.

    Raises:
        LayoutError: there is more than one leaf.
    """
    leaves = get_leaves(t)
    if len(leaves) != 1:
        raise fail("get_scalar", "expected a single leaf", t)
    return leaves[0]


def make_int_tuple(x: Any) -> Any:
    """An int-tuple as it is, after a check of its leaves.

    Raises:
        LayoutTypeError: something in it is no integer, symbolic integer, basis element, None or non-empty tuple.
    """
    if not is_int_tuple(x):
        raise fail(
            "make_int_tuple",
            "not an int-tuple (nested tuples of integers; lists are not tuples)",
            x,
            kind=LayoutTypeError,
        )
    return x


def make_shape(*modes: Any) -> Any:
    """The int-tuple of these modes: ``make_shape(9, (4, 8))`` is ``(9, (4, 8))``."""
    return make_int_tuple(modes)


def make_stride(*modes: Any) -> Any:
    """`make_shape` for strides."""
    return make_int_tuple(modes)


def make_coord(*modes: Any) -> Any:
    """`make_shape` for coordinates; None stands for all of a mode."""
    return make_int_tuple(modes)


def get_shape(layout: LayoutLike) -> Any:
    """The shape of a layout, composed layout or coordinate tensor."""
    return layout.shape


def get_stride(layout: AnyLayout) -> Any:
    """The strides of a plain layout (also that of a coordinate tensor).

    Raises:
        LayoutTypeError: a composed layout has no strides.
    """
    inside = layout.layout if isinstance(layout, CoordTensor) else layout
    if not isinstance(inside, Layout):
        raise fail("get_stride", "only plain layouts have strides", layout, kind=LayoutTypeError)
    return inside._stride


def make_view(base: Coord, layout: AnyLayout) -> CoordTensor:
    """A `CoordTensor`, after checking that the base fits the co-domain of the layout.

    Raises:
        LayoutError: the layout has basis strides and the base is not congruent with its co-domain.
    """
    tensor = CoordTensor(base, layout)
    if isinstance(layout, Layout):
        profile = coprofile(layout)
        if not congruent(base, profile):
            raise fail("make_view", "the base is not congruent with the co-domain of the layout", base, layout)
    return tensor


def composed_get_inner(layout: AnyLayout) -> Any:
    """The inner function of a composed layout."""
    return _composed("composed_get_inner", layout).inner


def composed_get_offset(layout: AnyLayout) -> Any:
    """The offset of a composed layout."""
    return _composed("composed_get_offset", layout).offset


def composed_get_outer(layout: AnyLayout) -> Any:
    """The outer layout of a composed layout."""
    return _composed("composed_get_outer", layout).outer


def _composed(operation: str, layout: Any) -> Any:
    if not isinstance(layout, ComposedLayout):
        raise fail(operation, "the operand is no composed layout", layout, kind=LayoutTypeError)
    return layout
