# SPDX-License-Identifier: Apache-2.0
"""Products: a layout repeated as another layout says."""

from __future__ import annotations

from ..errors import LayoutError, LayoutTypeError, fail, within
from ..int_tuple import product
from ..layout import Layout, LayoutLike, make
from ..symbolic import SymInt
from ..tile import Tile, tile_modes
from .complement import complement
from .composition import canonical, composition
from .divide import by_mode, join, modes_of, split
from .sizes import cosize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..types import AnyLayout, Tiler

__all__ = [
    "blocked_product",
    "flat_product",
    "logical_product",
    "raked_product",
    "tiled_product",
    "zipped_product",
]


def logical_product(a: AnyLayout, b: Tiler) -> Any:
    """``(A, composition(complement(A, size(A) * cosize(B)), B))``: mode 0 is A, mode 1 moves it about.

    Law: mode 0 is A; mode 1 has the shape of B; together they are injective when A and B are, and reach exactly
    ``[0, size(A) * size(B))`` when A and B are bijections.

    Args:
        a: the block; a composed layout keeps its inner part.
        b: the tiler, a layout, an int N for ``N:1``, or a tuple / `Tile` that acts mode by mode.

    Raises:
        LayoutError: B does not split over the complement of A, see `composition`.
    """
    if not isinstance(a, Layout):
        return _lifted("logical_product", logical_product, a, b)
    if isinstance(b, (tuple, Tile)):
        modes = tile_modes(b)
        if type(modes) is tuple:
            return by_mode("logical_product", logical_product, a, modes)
        return logical_product(a, modes)
    if b is None:
        return a
    first, moved = _product_parts("logical_product", a, b)
    return join([first, moved])


def _product_parts(operation: str, a: Layout, b: Any) -> tuple[Layout, Layout]:
    if isinstance(b, (int, SymInt)):
        b = Layout(b, 1)
    if not isinstance(b, Layout):
        raise fail(operation, "the tiler is no plain layout", a, b, kind=LayoutTypeError)
    return canonical(a), _moved(operation, a, b)


def _moved(operation: str, a: Layout, b: Layout) -> Layout:
    """B, taken through what A leaves free."""
    try:
        result: Layout = composition(complement(a, product(a._shape) * cosize(b)), b)
    except LayoutError as e:
        raise within(e, operation, a, b) from None
    return result


def zipped_product(a: AnyLayout, b: Tiler) -> Any:
    """`logical_product` with blocks and tilers of a tile gathered as in `zipped_divide`."""
    if not isinstance(a, Layout):
        return _lifted("zipped_product", zipped_product, a, b)
    return join(list(_split_product("zipped_product", a, b)))


def _split_product(operation: str, a: Layout, b: Any) -> tuple[Layout, Layout]:
    if b is None:
        return make(1, 0, True), a
    return split(operation, logical_product, a, b)


def tiled_product(a: AnyLayout, b: Tiler) -> Any:
    """`zipped_product` with the modes of the tiler spliced in: ``(A, B'0, B'1, ..)``."""
    if not isinstance(a, Layout):
        return _lifted("tiled_product", tiled_product, a, b)
    first, moved = _split_product("tiled_product", a, b)
    shape, stride = modes_of(moved)
    return make((first._shape, *shape), (first._stride, *stride), first._static and moved._static)


def flat_product(a: AnyLayout, b: Tiler) -> Any:
    """`zipped_product` with both spliced in: ``(A0, A1, .., B'0, B'1, ..)``."""
    if not isinstance(a, Layout):
        return _lifted("flat_product", flat_product, a, b)
    first, moved = _split_product("flat_product", a, b)
    a_shape, a_stride = modes_of(first)
    b_shape, b_stride = modes_of(moved)
    return make(a_shape + b_shape, a_stride + b_stride, first._static and moved._static)


def blocked_product(a: AnyLayout, b: Tiler) -> Any:
    """A block A at every place of B: modes ``((A0,B'0),(A1,B'1),..)``; blocks stay contiguous.

    The operand of smaller rank is padded with ``1:0``.
    """
    return _zipped_modes("blocked_product", blocked_product, a, b, False)


def raked_product(a: AnyLayout, b: Tiler) -> Any:
    """A's elements spread over B's places: modes ``((B'0,A0),(B'1,A1),..)``; blocks are interleaved."""
    return _zipped_modes("raked_product", raked_product, a, b, True)


def _zipped_modes(operation: str, whole: Callable[[Any, Any], Any], a: Any, b: Any, raked: bool) -> Any:
    if not isinstance(a, Layout):
        return _lifted(operation, whole, a, b)
    if isinstance(b, (int, SymInt)):
        b = Layout(b, 1)
    if not isinstance(b, Layout):
        raise fail(operation, "the tiler is no plain layout", a, b, kind=LayoutTypeError)
    if type(a._shape) is not tuple and type(b._shape) is not tuple:
        first, moved = _product_parts(operation, a, b)
        return join([moved, first] if raked else [first, moved])
    n = max(a.rank, b.rank)
    a, b = padded(a, n), padded(b, n)
    moved = _moved(operation, a, b)
    if n == 1:  # composition unwraps one-element tuples
        moved = make((moved._shape,), (moved._stride,), moved._static)
    shape = zip(moved._shape, a._shape) if raked else zip(a._shape, moved._shape)
    stride = zip(moved._stride, a._stride) if raked else zip(a._stride, moved._stride)
    return canonical(make(tuple(shape), tuple(stride), a._static and moved._static))


def padded(a: Layout, n: int) -> Layout:
    """``a`` with modes ``1:0`` appended up to rank ``n``, at least a one-element tuple."""
    shape, stride = modes_of(a)
    extra = n - len(shape)
    return make(shape + (1,) * extra, stride + (0,) * extra, a._static)


def _lifted(operation: str, f: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if type(a) is int:
        return f(Layout(a, 1), b)
    if isinstance(a, LayoutLike):
        return a.lift(lambda layout: f(layout, b))
    raise fail(operation, "the first operand is no layout", a, b, kind=LayoutTypeError)
