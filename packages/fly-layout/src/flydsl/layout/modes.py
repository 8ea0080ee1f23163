# SPDX-License-Identifier: Apache-2.0
"""Operations on modes, of int-tuples and of layouts alike: get, take, select, group, append, replace, slice, zip.

On a layout each acts on shape and stride together; on a composed layout or coordinate tensor, on the outermost plain
layout. A single mode that remains is unwrapped, except by `group`.
"""

from __future__ import annotations

from .errors import LayoutTypeError, fail
from .int_tuple import is_int_tuple
from .layout import Layout, LayoutLike, fixed, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .types import Coord, Nested

__all__ = [
    "append",
    "dice",
    "get",
    "group",
    "prepend",
    "replace",
    "select",
    "slice_",
    "slice_and_offset",
    "take",
    "zip_",
]


def _both(x: Any, f: Callable[[Any], Any]) -> Any:
    """``f`` on an int-tuple, or on the shape and the stride of the plain layout of ``x``."""
    if isinstance(x, LayoutLike):
        return x.lift(lambda a: make(f(a._shape), f(a._stride), a._static))
    return f(x)


def _indexed(x: Any, operation: str, *rest: Any) -> tuple[Any, ...]:
    shape = x.shape if isinstance(x, LayoutLike) else x
    if type(shape) is not tuple:
        raise fail(operation, "the operand is a single leaf, which has no modes to choose from", x, *rest)
    return shape


def get(x: Nested, mode: int | Sequence[int]) -> Any:
    """The sub-mode at a mode or mode path; the empty path gives ``x``.

    Raises:
        LayoutError: the path is longer than the depth at that place, or a mode is out of range.
    """
    path = (mode,) if type(mode) is int else tuple(mode)  # type: ignore[arg-type]
    at = x.shape if isinstance(x, LayoutLike) else x
    for p in path:
        if type(at) is not tuple:
            raise fail("get", f"mode path {list(path)} is longer than the nesting of the operand", x)
        if not 0 <= p < len(at):
            raise fail("get", f"mode {p} of path {list(path)} is out of range, there are {len(at)}", x)
        at = at[p]

    return x._at(path) if isinstance(x, LayoutLike) else at


def take(x: Nested, begin: int, end: int) -> Any:
    """Modes ``begin`` to ``end`` (exclusive; -1 is the rank); exactly one mode is unwrapped.

    Raises:
        LayoutError: the range is empty or out of bounds, or the operand is a leaf.
    """
    n = len(_indexed(x, "take", begin, end))
    stop = n if end == -1 else end
    if not 0 <= begin < stop <= n:
        raise fail("take", f"[{begin}, {stop}) is no range of its {n} modes", x, begin, end)
    return _both(x, lambda t: t[begin] if stop - begin == 1 else t[begin:stop])


def select(x: Nested, indices: Sequence[int]) -> Any:
    """The listed modes in that order, repeats allowed; exactly one is unwrapped.

    Raises:
        LayoutError: the list is empty, a mode is out of range, or the operand is a leaf.
    """
    n = len(_indexed(x, "select", tuple(indices)))
    chosen = tuple(indices)
    if not chosen:
        raise fail("select", "no modes are listed", x, chosen)
    for i in chosen:
        if not 0 <= i < n:
            raise fail("select", f"mode {i} is out of range, there are {n}", x, chosen)
    return _both(x, lambda t: t[chosen[0]] if len(chosen) == 1 else tuple([t[i] for i in chosen]))


def group(x: Nested, begin: int, end: int) -> Any:
    """Wrap modes ``begin`` to ``end`` (exclusive; -1 is the rank) into one mode; a leaf or empty range is unchanged.

    Raises:
        LayoutError: the range is out of bounds.
    """
    shape = x.shape if isinstance(x, LayoutLike) else x
    if type(shape) is not tuple:
        return x
    stop = len(shape) if end == -1 else end
    if not 0 <= begin <= stop <= len(shape):
        raise fail("group", f"[{begin}, {stop}) is no range of its {len(shape)} modes", x, begin, end)
    if begin == stop:
        return x
    return _both(x, lambda t: (*t[:begin], t[begin:stop], *t[stop:]))


def append(x: Nested, elem: Nested, n: int | None = None) -> Any:
    """``x`` with ``elem`` as a new last mode; with ``n``, with copies of ``elem`` up to rank ``n``.

    Raises:
        LayoutTypeError: one operand is a layout and the other is not.
        LayoutError: the rank exceeds ``n``.
    """
    return _extend("append", x, elem, n, lambda t, e: t + e)


def prepend(x: Nested, elem: Nested, n: int | None = None) -> Any:
    """`append` at the front."""
    return _extend("prepend", x, elem, n, lambda t, e: e + t)


def _extend(operation: str, x: Any, elem: Any, n: int | None, join: Callable[[Any, Any], Any]) -> Any:
    if isinstance(x, LayoutLike) != isinstance(elem, Layout):
        raise fail(operation, "tuple and element must be of the same category", x, elem, kind=LayoutTypeError)
    shape = x.shape if isinstance(x, LayoutLike) else x
    have = len(shape) if type(shape) is tuple else 1
    if n is not None and n < have:
        raise fail(operation, f"rank {have} already exceeds n = {n}", x, elem, n)
    count = 1 if n is None else n - have

    def extend(t: Any, e: Any) -> Any:
        return join(t if type(t) is tuple else (t,), (e,) * count)

    if isinstance(x, LayoutLike):
        return x.lift(
            lambda a: make(extend(a._shape, elem._shape), extend(a._stride, elem._stride), a._static and elem._static)
        )
    return extend(x, elem)


def replace(x: Nested, mode: int, elem: Any) -> Any:
    """``x`` with its mode ``mode`` exchanged for ``elem``.

    Raises:
        LayoutError: the mode is out of range or the operand is a leaf.
    """
    n = len(_indexed(x, "replace", mode, elem))
    if not 0 <= mode < n:
        raise fail("replace", f"mode {mode} is out of range, there are {n}", x, mode, elem)
    if isinstance(x, LayoutLike) != isinstance(elem, Layout):
        raise fail("replace", "tuple and element must be of the same category", x, elem, kind=LayoutTypeError)

    def exchanged(t: Any, e: Any) -> Any:
        return (*t[:mode], e, *t[mode + 1 :])

    if isinstance(x, LayoutLike):
        return x.lift(
            lambda a: make(
                exchanged(a._shape, elem._shape), exchanged(a._stride, elem._stride), a._static and elem._static
            )
        )
    return exchanged(x, elem)


def zip_(*operands: Any) -> Any:
    """Mode i of the result is the tuple of the operands' modes i: ``((a,b),(c,d)) -> ((a,c),(b,d))``.

    A single operand is zipped with itself: its modes are the operands. Leaves count as one mode.

    Raises:
        LayoutError: the ranks differ.
    """
    if len(operands) == 1:
        whole = operands[0]
        _indexed(whole, "zip")
        operands = tuple([whole[i] for i in range(len(whole))])
    layouts = [isinstance(o, Layout) for o in operands]
    if any(layouts):
        if not all(layouts):
            raise fail("zip", "layouts and int-tuples do not mix", *operands, kind=LayoutTypeError)
        return make(
            zip_(*[o._shape for o in operands]),
            zip_(*[o._stride for o in operands]),
            all(o._static for o in operands),
        )
    modes = [o if type(o) is tuple else (o,) for o in operands]
    if len({len(m) for m in modes}) != 1:
        raise fail("zip", "the operands have different ranks", *operands)
    return tuple([tuple(parts) for parts in zip(*modes)])


# -- slice and dice --------------------------------------------------------------------------------------------------
def slice_(x: Nested, coord: Coord) -> Any:
    """The parts of ``x`` where ``coord`` is None, collected in one flat tuple (a single part is unwrapped).

    Parts that face an integer are dropped. On a coordinate tensor they move into the base, on a composed layout into
    the offset of the innermost part, on a plain layout they are gone (see `slice_and_offset`).

    Raises:
        LayoutError: nothing is kept, or ``coord`` is not weakly congruent with ``x``.
    """
    if isinstance(x, LayoutLike):
        return x.slice(coord)
    if not is_int_tuple(x):
        raise fail("slice", "the operand is no int-tuple or layout", x, coord, kind=LayoutTypeError)
    return _sliced(x, coord, x)


def slice_and_offset(coord: Coord, layout: Layout) -> tuple[Layout, Any]:
    """The sub-layout that `slice_` keeps, and the index of the coordinates that it fixed."""
    return slice_(layout, coord), fixed(layout, coord)


def _sliced(t: Any, coord: Any, whole: Any) -> Any:
    kept: list[Any] = []
    _collect("slice", t, coord, kept, True, whole)
    if not kept:
        raise fail("slice", "the coordinate keeps nothing", whole, coord)
    return kept[0] if len(kept) == 1 else tuple(kept)


def dice(x: Nested, coord: Coord) -> Any:
    """The complement of `slice_`: the parts where ``coord`` is not None.

    Raises:
        LayoutError: nothing is kept, or ``coord`` is not weakly congruent with ``x``.
        LayoutTypeError: the operand is a composed layout or coordinate tensor.
    """
    if isinstance(x, LayoutLike) and not isinstance(x, Layout):
        raise fail("dice", "the operand is no int-tuple or plain layout", x, coord, kind=LayoutTypeError)

    def diced(t: Any) -> Any:
        kept: list[Any] = []
        _collect("dice", t, coord, kept, False, x)
        if not kept:
            raise fail("dice", "the coordinate keeps nothing", x, coord)
        return kept[0] if len(kept) == 1 else tuple(kept)

    return _both(x, diced)


def _collect(operation: str, t: Any, coord: Any, kept: list[Any], keep_none: bool, whole: Any) -> None:
    if type(coord) is tuple:
        if type(t) is not tuple or len(t) != len(coord):
            raise fail(operation, "the coordinate is not weakly congruent with the operand", whole, coord)
        for part, c in zip(t, coord):
            _collect(operation, part, c, kept, keep_none, whole)
    elif (coord is None) == keep_none:
        kept.append(t)
