# SPDX-License-Identifier: Apache-2.0
"""Divides: a layout split into tiles and the rest."""

from __future__ import annotations

from ..errors import LayoutError, LayoutTypeError, fail, within
from ..int_tuple import product
from ..layout import Layout, LayoutLike, make
from ..symbolic import SymInt
from ..tile import Tile, tile_modes
from .complement import complement
from .composition import composition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..types import AnyLayout, Tiler

__all__ = ["flat_divide", "logical_divide", "tiled_divide", "zipped_divide"]


def logical_divide(a: AnyLayout, divisor: Tiler) -> Any:
    """``composition(A, (D, complement(D, size(A))))``: mode 0 is the tile, mode 1 the arrangement of tiles.

    Law: the result has the elements of A, each once, rearranged (rounded up when D does not divide A: then the tail
    lies outside A). With a tile (tuple) each mode is divided by its own tiler:
    ``((t0,r0),(t1,r1),x2,...)``; None and missing modes are left alone.

    Args:
        a: layout, composed layout or coordinate tensor.
        divisor: a layout, an int N for ``N:1``, or a tuple / `Tile`.

    Raises:
        LayoutError: the tiler does not split over the modes of A, see `composition`.
    """
    if not isinstance(a, Layout):
        if isinstance(a, LayoutLike):
            return a.lift(lambda layout: logical_divide(layout, divisor))
        raise fail("logical_divide", "the first operand is no layout", a, divisor, kind=LayoutTypeError)
    if isinstance(divisor, (tuple, Tile)):
        modes = tile_modes(divisor)
        if type(modes) is tuple:
            return by_mode("logical_divide", logical_divide, a, modes)
        return logical_divide(a, modes)
    if divisor is None:
        return a
    d = _as_divisor("logical_divide", a, divisor)
    try:
        rest = complement(d, product(a._shape))
        return composition(a, make((d._shape, rest._shape), (d._stride, rest._stride), d._static and rest._static))
    except LayoutError as e:
        raise within(e, "logical_divide", a, divisor) from None


def _as_divisor(operation: str, a: Any, d: Any) -> Layout:
    if isinstance(d, Layout):
        return d
    if isinstance(d, (int, SymInt)):
        return Layout(d, 1)
    raise fail(operation, "the divisor is no layout, integer or tile", a, d, kind=LayoutTypeError)


def modes_of(a: Layout) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Shape and stride as tuples; a leaf counts as one mode."""
    if type(a._shape) is tuple:
        return a._shape, a._stride
    return (a._shape,), (a._stride,)


def join(parts: list[Layout]) -> Layout:
    """The layout whose modes are ``parts``."""
    static = True
    for p in parts:
        static = static and p._static
    return make(tuple([p._shape for p in parts]), tuple([p._stride for p in parts]), static)


def by_mode(operation: str, f: Callable[[Any, Any], Layout], a: Layout, modes: tuple[Any, ...]) -> Layout:
    shape, stride = modes_of(a)
    if len(modes) > len(shape):
        raise fail(operation, f"the tile has {len(modes)} modes, the layout {len(shape)}", a, Tile(modes))
    static = a._static
    parts = [make(s, d, static) for s, d in zip(shape, stride)]
    for i, m in enumerate(modes):
        if m is not None:
            parts[i] = f(parts[i], m)
    return join(parts)


def split(operation: str, f: Callable[[Any, Any], Layout], a: Layout, divisor: Tiler) -> tuple[Layout, Layout]:
    """Tile and rest, zipped along the structure of a tile: ``((t0,t1,..),(r0,r1,..,x2,..))``."""
    modes = tile_modes(divisor)
    if type(modes) is tuple:
        shape, stride = modes_of(a)
        if len(modes) > len(shape):
            raise fail(operation, f"the tile has {len(modes)} modes, the layout {len(shape)}", a, Tile(modes))
        tiles = []
        rests = []
        for i, (s, d) in enumerate(zip(shape, stride)):
            mode = make(s, d, a._static)
            if i >= len(modes):
                rests.append(mode)
            elif modes[i] is None:
                tiles.append(make(1, 0, True))
                rests.append(mode)
            else:
                t, r = split(operation, f, mode, modes[i])
                tiles.append(t)
                rests.append(r)
        return join(tiles), join(rests)
    result = f(a, modes)
    return (
        make(result._shape[0], result._stride[0], result._static),
        make(result._shape[1], result._stride[1], result._static),
    )


def _split_divide(operation: str, a: Layout, divisor: Any) -> tuple[Layout, Layout]:
    if divisor is None or (isinstance(divisor, Tile) and divisor.modes is None):
        return make(1, 0, True), a
    try:
        return split(operation, logical_divide, a, divisor)
    except LayoutError as e:
        shown = Tile(divisor) if type(divisor) is tuple else divisor
        raise within(e, operation, a, shown) from None


def zipped_divide(a: AnyLayout, divisor: Tiler) -> Any:
    """`logical_divide` with all tile modes in mode 0 and all rests in mode 1: ``((t0,t1,..),(r0,r1,..,x2,..))``.

    With a layout divisor it is `logical_divide`. Zipping follows the nesting of the tile; a None mode has ``1:0`` in
    the tile and all of it in the rest.
    """
    if not isinstance(a, Layout):
        return _lifted("zipped_divide", zipped_divide, a, divisor)
    tile, rest = _split_divide("zipped_divide", a, divisor)
    return join([tile, rest])


def tiled_divide(a: AnyLayout, divisor: Tiler) -> Any:
    """`zipped_divide` with the rest's modes spliced in: ``((t0,t1,..), r0, r1, .., x2, ..)``."""
    if not isinstance(a, Layout):
        return _lifted("tiled_divide", tiled_divide, a, divisor)
    tile, rest = _split_divide("tiled_divide", a, divisor)
    shape, stride = modes_of(rest)
    return make((tile._shape, *shape), (tile._stride, *stride), tile._static and rest._static)


def flat_divide(a: AnyLayout, divisor: Tiler) -> Any:
    """`zipped_divide` with both spliced in: ``(t0, t1, .., r0, r1, .., x2, ..)``."""
    if not isinstance(a, Layout):
        return _lifted("flat_divide", flat_divide, a, divisor)
    tile, rest = _split_divide("flat_divide", a, divisor)
    t_shape, t_stride = modes_of(tile)
    r_shape, r_stride = modes_of(rest)
    return make(t_shape + r_shape, t_stride + r_stride, tile._static and rest._static)


def _lifted(operation: str, f: Callable[[Any, Any], Any], a: Any, divisor: Any) -> Any:
    if isinstance(a, LayoutLike):
        return a.lift(lambda layout: f(layout, divisor))
    raise fail(operation, "the first operand is no layout", a, divisor, kind=LayoutTypeError)
