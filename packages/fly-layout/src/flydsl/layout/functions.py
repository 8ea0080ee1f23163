# SPDX-License-Identifier: Apache-2.0
"""Evaluation as free functions: coordinates to indices and back."""

from __future__ import annotations

from .coordinates import evaluate, idx2crd_shape
from .errors import LayoutTypeError, fail
from .int_tuple import flatten, prefix_product
from .layout import Layout, LayoutLike
from .swizzle import CoordSwizzle, Swizzle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["crd2idx", "get_1d_coord", "get_flat_coord", "get_leaves", "get_scalar", "idx2crd"]


def crd2idx(coord: Any, layout: Any, stride: Any = None) -> Any:
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
        return layout(_zeros_for_none(coord))  # type: ignore[operator]
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


def idx2crd(index: Any, layout: Any, stride: Any = None) -> Any:
    """The coordinate of an index: for each leaf by itself ``(index div stride) mod extent``, 0 for extent 1.

    Law: it inverts `crd2idx` where the layout is compact (a bijection onto ``[0, size)``).

    Raises:
        LayoutError: a stride is 0 where the extent is not 1.
    """
    shape, strides = _parts("idx2crd", index, layout, stride)
    return idx2crd_shape(index, shape, strides)


def get_flat_coord(index: Any, layout: Any) -> Any:
    """`idx2crd` with every mode of the shape made one linear coordinate."""
    shape, strides = _parts("get_flat_coord", index, layout, None)
    coord = idx2crd_shape(index, shape, strides)
    if type(shape) is not tuple:
        return coord
    return tuple([evaluate(c, s, prefix_product(s)) for c, s in zip(coord, shape)])


def get_1d_coord(index: Any, layout: Any) -> Any:
    """`idx2crd` as one linear coordinate of the whole shape."""
    shape, strides = _parts("get_1d_coord", index, layout, None)
    return evaluate(idx2crd_shape(index, shape, strides), shape, prefix_product(shape))


def get_leaves(t: Any, dynamic_only: bool = False) -> tuple[Any, ...]:
    """All leaves of an int-tuple, depth first; or only the symbolic ones."""
    from .basis import Basis
    from .symbolic import SymInt

    leaves = [x.value if isinstance(x, Basis) else x for x in flatten(t)]
    return tuple([x for x in leaves if isinstance(x, SymInt)] if dynamic_only else leaves)


def get_scalar(t: Any) -> Any:
    """The only leaf of an int-tuple; a basis element gives its value.

    Raises:
        LayoutError: there is more than one leaf.
    """
    leaves = get_leaves(t)
    if len(leaves) != 1:
        raise fail("get_scalar", "expected a single leaf", t)
    return leaves[0]
