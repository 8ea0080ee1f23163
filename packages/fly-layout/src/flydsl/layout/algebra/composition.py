# SPDX-License-Identifier: Apache-2.0
"""Composition: ``R(c) = A(B(c))``, as a layout.

Each leaf ``s:d`` of B walks over the coalesced modes of A. It takes ``m`` elements of the mode at hand and goes on with
``s / m`` elements and the rest of its stride; the last mode of A takes all that is left, as it is unbounded.
"""

from __future__ import annotations

from ..basis import Basis, basis_get
from ..errors import LayoutError, LayoutTypeError, fail
from ..int_tuple import flatten
from ..layout import Layout, LayoutLike, make
from ..swizzle import CoordSwizzle, Swizzle
from ..symbolic import apply, ceil_div_leaf, exact_div_leaf
from ..tile import Tile, tile_modes
from .coalesce import merged, merged_symbolic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["composition"]


def composition(a: Any, b: Any) -> Any:
    """``a`` after ``b``.

    Law: ``composition(A, B)(c) == A(B(c))`` for all coordinates c of B, and the result has the profile of B (refined,
    where a leaf of B spans several modes of A). Leaves of extent 1 get stride 0 and one-element tuples are unwrapped.

    Args:
        a: a layout, composed layout (its outer layout is composed), coordinate tensor or swizzle.
        b: a layout (possibly composed, or with basis strides that pick modes of ``a``), or a tile: an int N for
            ``N:1``, None for "as it is", or a tuple / `Tile` of those and of layouts that act mode by mode.

    Raises:
        LayoutError: a leaf of B does not split evenly over the modes of A, so that no layout is the composition. The
            message says which mode of B fails at which mode of A.
    """
    if type(a) is Layout:
        if type(b) is Layout:
            return _compose(a, b)
        return _compose_other(a, b)
    if isinstance(a, (Swizzle, CoordSwizzle)):
        from ..composed import ComposedLayout

        if isinstance(b, (Layout, ComposedLayout)):
            return ComposedLayout(a, 0 if isinstance(a, Swizzle) else _zero_coordinate(b), b)
        raise fail("composition", "a swizzle composes with a layout on its right", a, b, kind=LayoutTypeError)
    if isinstance(a, LayoutLike):
        return a.lift(lambda layout: composition(layout, b))
    raise fail("composition", "the left operand is no layout", a, b, kind=LayoutTypeError)


def _zero_coordinate(b: LayoutLike) -> Any:
    from .sizes import coprofile

    return coprofile(b)


def _compose_other(a: Layout, b: Any) -> Any:
    from ..composed import ComposedLayout

    if b is None:
        return a
    if isinstance(b, int):
        return _compose(a, Layout(b, 1))
    if isinstance(b, (tuple, Tile)):
        modes = tile_modes(b)
        return _by_tile(a, modes) if type(modes) is tuple else composition(a, modes)
    if isinstance(b, ComposedLayout):
        return ComposedLayout(a, 0, b)
    raise fail("composition", "the right operand is no layout or tile", a, b, kind=LayoutTypeError)


def _by_tile(a: Layout, modes: tuple[Any, ...]) -> Layout:
    shape, stride, static = a._shape, a._stride, a._static
    if type(shape) is not tuple:
        shape, stride = (shape,), (stride,)
    if len(modes) > len(shape):
        raise fail("composition", f"the tile has {len(modes)} modes, the layout {len(shape)}", a, Tile(modes))
    parts = [composition(make(s, d, static), m) for s, d, m in zip(shape, stride, modes)]
    n = len(parts)
    if not all(isinstance(p, Layout) for p in parts):
        raise fail("composition", "a tile mode is no plain layout", a, Tile(modes), kind=LayoutTypeError)
    return canonical(
        make(
            tuple([p._shape for p in parts]) + shape[n:],
            tuple([p._stride for p in parts]) + stride[n:],
            static and all(p._static for p in parts),
        )
    )


# -- layout by layout ------------------------------------------------------------------------------------------------
def _compose(a: Layout, b: Layout) -> Layout:
    if a._static and b._static:
        shape, stride = a._shape, a._stride
        if type(shape) is int:
            modes_s: Any = (shape,)
            modes_d: Any = (stride,)
        else:
            fs, fd = flatten(shape), flatten(stride)
            if fs[-1] == 1:
                fs = (*fs[:-1], 2)  # so that indices past the end of A still follow its last stride
            modes_s, modes_d = merged(fs, fd)
        try:
            return make(*_walk_all(modes_s, modes_d, b._shape, b._stride), True)
        except _Uneven as e:
            raise _explain(e, a, b) from None
    return _compose_symbolic(a, b)


class _Uneven(Exception):
    """A leaf of B, the mode of coalesced A at which it fails, and why."""


def _walk_all(modes_s: Any, modes_d: Any, shape: Any, stride: Any) -> tuple[Any, Any]:
    if type(shape) is not tuple:
        return _walk(modes_s, modes_d, shape, stride)
    if len(shape) == 1:
        return _walk_all(modes_s, modes_d, shape[0], stride[0])
    out_s = []
    out_d = []
    for s, d in zip(shape, stride):
        rs, rd = _walk(modes_s, modes_d, s, d) if type(s) is int else _walk_all(modes_s, modes_d, s, d)
        out_s.append(rs)
        out_d.append(rd)
    return tuple(out_s), tuple(out_d)


def _walk(modes_s: Any, modes_d: Any, s: int, d: int) -> tuple[Any, Any]:
    """One static leaf of B over the coalesced modes of A, whose extents (but the last) are static."""
    if d == 0 or s <= 1:
        return s, 0
    last = len(modes_s) - 1
    if last == 0:
        return s, d * modes_d[0]
    out_s: list[int] = []
    out_d: list[Any] = []
    rest = s
    sign = 1
    if d < 0:
        d, sign = -d, -1
    for i in range(last):
        extent = modes_s[i]
        if d >= extent:
            if extent == 0 or d % extent:
                raise _Uneven(s, sign * d, i, extent, f"{extent} does not divide the stride {d}")
            d //= extent
            continue
        take = -(-extent // d)
        if rest <= take:
            out_s.append(rest)
            out_d.append(sign * d * modes_d[i])
            rest = 1
            break
        if extent % d:
            raise _Uneven(s, sign * d, i, extent, f"the stride {d} does not divide {extent}")
        if rest % take:
            raise _Uneven(s, sign * d, i, extent, f"{take} does not divide the {rest} elements that are left")
        out_s.append(take)
        out_d.append(sign * d * modes_d[i])
        rest //= take
        d = 1
    if rest != 1:
        out_s.append(rest)
        out_d.append(sign * d * modes_d[last])
    if len(out_s) == 1:
        return out_s[0], out_d[0]
    return tuple(out_s), tuple(out_d)


def _explain(e: _Uneven, a: Layout, b: Layout) -> LayoutError:
    s, d, mode, extent, reason = e.args
    paths = [p for p, leaf in _leaves(b._shape, b._stride) if leaf[0] == s and _divides_down(d, leaf[1])]
    where = f"mode {paths[0]} of B" if paths else "B"
    return fail("composition", f"{where} does not split over mode {mode} of coalesced A (extent {extent}): {reason}", a, b)


def _divides_down(rest: int, stride: Any) -> bool:
    return type(stride) is int and abs(rest) <= abs(stride)


def _leaves(shape: Any, stride: Any, path: tuple[int, ...] = ()) -> list[tuple[list[int], tuple[Any, Any]]]:
    if type(shape) is not tuple:
        return [(list(path), (shape, stride))]
    found = []
    for i, (s, d) in enumerate(zip(shape, stride)):
        found += _leaves(s, d, (*path, i))
    return found


# -- symbolic and basis operands -------------------------------------------------------------------------------------
def _compose_symbolic(a: Layout, b: Layout) -> Layout:
    """The general form: conditions on symbolic values are assumed, and checked when the result is specialised."""
    coalesced: dict[tuple[int, ...], tuple[list[Any], list[Any]]] = {}

    def modes_at(path: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
        if path not in coalesced:
            shape = basis_get(path, a._shape, "composition")
            stride = basis_get(path, a._stride, "composition")
            fs, fd = flatten(shape), flatten(stride)
            if type(shape) is tuple and type(fs[-1]) is int and fs[-1] == 1:
                fs = (*fs[:-1], 2)
            coalesced[path] = merged_symbolic(fs, fd) if type(shape) is tuple else ([shape], [stride])
        return coalesced[path]

    def leaf(s: Any, d: Any) -> tuple[Any, Any]:
        if isinstance(d, Basis):
            if type(a._shape) is not tuple:
                raise fail("composition", f"stride {d} of B picks a mode of A, which is a leaf", a, b)
            modes, d = modes_at(d.path), d.value
        else:
            modes = modes_at(())
        if type(d) is int and d == 0:
            return s, 0
        return _walk_symbolic(modes[0], modes[1], s, d, a, b)

    def tree(s: Any, d: Any) -> tuple[Any, Any]:
        if type(s) is not tuple:
            return leaf(s, d)
        parts = [tree(x, y) for x, y in zip(s, d)]
        return tuple([p[0] for p in parts]), tuple([p[1] for p in parts])

    shape, stride = tree(b._shape, b._stride)
    static = all(type(x) is int for x in flatten(shape)) and all(type(x) is int for x in flatten(stride))
    return canonical(make(shape, stride, static))


def _walk_symbolic(modes_s: Any, modes_d: Any, s: Any, d: Any, a: Layout, b: Layout) -> tuple[Any, Any]:
    if type(s) is int and type(d) is int and all(type(x) is int for x in modes_s[:-1]):
        try:
            return _walk(modes_s, modes_d, s, d)
        except _Uneven as e:
            raise _explain(e, a, b) from None
    if len(modes_s) == 1:
        return s, modes_d[0] * d
    out_s: list[Any] = []
    out_d: list[Any] = []
    rest = s
    sign = -1 if type(d) is int and d < 0 else 1
    d = d * sign
    for extent, stride in zip(modes_s[:-1], modes_d[:-1]):
        if not (_is(ceil_div_leaf(extent, d), 1) or _is(rest, 1)):
            take = apply("take", extent, d, rest)
            out_s.append(take)
            out_d.append(stride * (d * sign))
            rest = exact_div_leaf(rest, take)
        d = d if _is(d, 1) else apply("step", d, extent)
    if not out_s or not _is(rest, 1):
        out_s.append(rest)
        out_d.append(modes_d[-1] * (d * sign))
    return (out_s[0], out_d[0]) if len(out_s) == 1 else (tuple(out_s), tuple(out_d))


def _is(x: Any, value: int) -> bool:
    return type(x) is int and x == value


# -- canonical form --------------------------------------------------------------------------------------------------
def canonical(layout: Layout) -> Layout:
    """The layout with stride 0 for leaves of static extent 1 and with one-element tuples unwrapped."""
    shape, stride = _canonical(layout._shape, layout._stride)
    return make(shape, stride, layout._static)


def _canonical(shape: Any, stride: Any) -> tuple[Any, Any]:
    if type(shape) is not tuple:
        return (1, 0) if type(shape) is int and shape == 1 else (shape, stride)
    if len(shape) == 1:
        return _canonical(shape[0], stride[0])
    out_s = []
    out_d = []
    for s, d in zip(shape, stride):
        if type(s) is tuple:
            s, d = _canonical(s, d)
        elif type(s) is int and s == 1:
            d = 0
        out_s.append(s)
        out_d.append(d)
    return tuple(out_s), tuple(out_d)
