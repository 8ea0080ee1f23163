# SPDX-License-Identifier: Apache-2.0
"""Composition: ``R(c) = A(B(c))``, as a layout.

Each leaf ``s:d`` of B walks over the coalesced modes of A. It takes ``m`` elements of the mode at hand and goes on with
``s / m`` elements and the rest of its stride; the last mode of A takes all that is left, as it is unbounded.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from operator import mul

from ..basis import Basis, basis_get
from ..composed import ComposedLayout
from ..errors import LayoutError, LayoutTypeError, fail
from ..int_tuple import flatten
from ..layout import Layout, LayoutLike, flat_of, make
from ..swizzle import CoordSwizzle, Swizzle
from ..symbolic import SymInt, apply, ceil_div_leaf, exact_div_leaf
from ..tile import Tile, tile_modes
from .coalesce import merged, merged_symbolic
from .sizes import coprofile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout, Tiler

__all__ = ["composition"]


def composition(a: AnyLayout | Swizzle | CoordSwizzle, b: Tiler) -> Any:
    """``a`` after ``b``.

    Law: ``composition(A, B)(c) == A(B(c))`` for all coordinates c of B, and the result has the profile of B (refined,
    where a leaf of B spans several modes of A). Leaves of extent 1 get stride 0 and one-element tuples are unwrapped.
    Past the end of A its last mode goes on; if that has extent 1 and no layout is the composition for it, the mode
    before it does.

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
        if isinstance(b, (Layout, ComposedLayout)):
            return ComposedLayout(a, 0 if isinstance(a, Swizzle) else coprofile(b), b)
        raise fail("composition", "a swizzle composes with a layout on its right", a, b, kind=LayoutTypeError)
    if isinstance(a, LayoutLike):
        return a.lift(lambda layout: composition(layout, b))
    raise fail("composition", "the left operand is no layout", a, b, kind=LayoutTypeError)


def _compose_other(a: Layout, b: Any) -> Any:
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
    """Past its end A goes on with the stride of its last mode, also of a last mode of extent 1.

    Where that leaves no composition, the mode before it goes on: modes of extent 1 do not decide whether there is one.
    """
    if not (a._static and b._static):
        try:
            return _compose_symbolic(a, b)
        except LayoutError:
            if not any(_is(s, 1) for s in flatten(a._shape)):
                raise
        return _compose_symbolic(a, b, past_units=False)
    if type(a._shape) is int:
        return _compose_static((a._shape,), (a._stride,), a, b)
    fs, fd = flat_of(a)
    if fs[-1] == 1:
        try:
            return _compose_static(*merged((*fs[:-1], 2), fd), a, b)
        except LayoutError:
            pass
    return _compose_static(*merged(fs, fd), a, b)


def _compose_static(modes_s: Any, modes_d: Any, a: Layout, b: Layout) -> Layout:
    """``modes_s:modes_d`` is A, coalesced; its last mode is taken as unbounded."""
    reach = None if type(b._shape) is int or len(modes_s) == 1 else [0] * (2 * len(modes_s))
    ends = None
    if len(modes_s) > _FEW_MODES:
        ends = list(accumulate(modes_s[:-1], mul))
    try:
        result = make(*_compose_modes(modes_s, modes_d, b._shape, b._stride, reach, ends), True)
    except _Uneven as e:
        raise _explain(e, a, b) from None
    if reach:
        _require_no_carry(reach, modes_s, a, b)
    return result


_FEW_MODES = 16  # that are cheaper walked over than searched


class _Uneven(Exception):
    """A leaf of B, the mode of coalesced A at which it fails, and why."""


def _require_no_carry(reach: list[Any], modes_s: Any, a: Layout, b: Layout) -> None:
    """Raise if the modes of B, each of which splits evenly, together run over the end of a mode of A.

    ``reach`` has the largest digit per mode of A, first from positive strides of B, then from negative ones.
    """
    n = len(modes_s)
    if any(reach[:n]) and any(reach[n:]):
        raise fail("composition", "strides of B have both signs, and A has more than one mode", a, b)
    for i in range(n - 1):
        most = reach[i] or reach[n + i]
        if most >= modes_s[i]:
            condition = f"modes of B together reach {most} in mode {i} of coalesced A, whose extent is {modes_s[i]}"
            raise fail("composition", condition, a, b)


def _compose_modes(
    modes_s: Any, modes_d: Any, shape: Any, stride: Any, reach: list[Any] | None, ends: list[int] | None
) -> tuple[Any, Any]:
    if type(shape) is not tuple:
        return _compose_leaf(modes_s, modes_d, shape, stride, reach, ends)
    if len(shape) == 1:
        return _compose_modes(modes_s, modes_d, shape[0], stride[0], reach, ends)
    out_s = []
    out_d = []
    for s, d in zip(shape, stride):
        if type(s) is int:
            rs, rd = _compose_leaf(modes_s, modes_d, s, d, reach, ends)
        else:
            rs, rd = _compose_modes(modes_s, modes_d, s, d, reach, ends)
        out_s.append(rs)
        out_d.append(rd)
    return tuple(out_s), tuple(out_d)


def _compose_leaf(
    modes_s: Any, modes_d: Any, s: int, d: int, reach: list[Any] | None = None, ends: list[int] | None = None
) -> tuple[Any, Any]:
    """One static leaf of B over the coalesced modes of A, whose extents (but the last) are static.

    ``ends`` are the products of the extents up to each mode (but the last); with it, the modes that one step of the
    leaf jumps over are found by bisection.
    """
    if d == 0 or s <= 1:
        return s, 0
    last = len(modes_s) - 1
    if last == 0:
        return s, d * modes_d[0]
    out_s: list[int] = []
    out_d: list[Any] = []
    rest, step, sign, place = s, d, 1, 0
    if d < 0:
        step, sign, place = -d, -1, last + 1
    first = 0
    if ends:
        over = bisect_right(ends, step)
        if over and ends[over - 1] and step % ends[over - 1] == 0:
            first, step = over, step // ends[over - 1]
    for i in range(first, last):
        extent = modes_s[i]
        if step >= extent:
            if extent == 0 or step % extent:
                raise _Uneven(s, d, i, extent, f"{extent} does not divide the stride {step}")
            step //= extent
            continue
        take = -(-extent // step)
        if rest <= take:
            take = rest
        elif extent % step:
            raise _Uneven(s, d, i, extent, f"the stride {step} does not divide {extent}")
        elif rest % take:
            raise _Uneven(s, d, i, extent, f"{take} does not divide the {rest} elements that are left")
        out_s.append(take)
        out_d.append(sign * step * modes_d[i])
        if reach:
            reach[place + i] += (take - 1) * step
        rest //= take
        if rest == 1:
            break
        step = 1
    if rest != 1:
        out_s.append(rest)
        out_d.append(sign * step * modes_d[last])
        if reach:
            reach[place + last] += (rest - 1) * step
    if len(out_s) == 1:
        return out_s[0], out_d[0]
    return tuple(out_s), tuple(out_d)


def _explain(e: _Uneven, a: Layout, b: Layout) -> LayoutError:
    s, d, mode, extent, reason = e.args
    path = next((p for p, leaf in _leaves(b._shape, b._stride) if leaf == (s, d)), [])
    where = f"mode {path} of B ({s}:{d})" if path else "B"
    condition = f"{where} does not split over mode {mode} of coalesced A (extent {extent}): {reason}"
    return fail("composition", condition, a, b)


def _leaves(shape: Any, stride: Any, path: tuple[int, ...] = ()) -> list[tuple[list[int], tuple[Any, Any]]]:
    if type(shape) is not tuple:
        return [(list(path), (shape, stride.value if isinstance(stride, Basis) else stride))]
    found = []
    for i, (s, d) in enumerate(zip(shape, stride)):
        found += _leaves(s, d, (*path, i))
    return found


# -- symbolic and basis operands -------------------------------------------------------------------------------------
class _Target:
    """A (or the mode of A that a basis stride picks), coalesced, and how far B reaches into each of its modes."""

    def __init__(self, shape: Any, stride: Any, past_units: bool) -> None:
        fs, fd = flatten(shape), flatten(stride)
        if past_units and type(shape) is tuple and _is(fs[-1], 1):
            fs = (*fs[:-1], 2)
        self.extents, self.strides = merged_symbolic(fs, fd) if type(shape) is tuple else ([shape], [stride])
        self.reach: list[Any] = [0] * (2 * len(self.extents))
        self.static = all(type(x) is int for x in self.extents[:-1])


def _compose_symbolic(a: Layout, b: Layout, past_units: bool = True) -> Layout:
    """The general form: conditions on symbolic values are assumed, and checked when the result is specialised.

    ``past_units``: past the end a last mode of extent 1 says how to go on.
    """
    targets: dict[tuple[int, ...], _Target] = {}

    def leaf(s: Any, d: Any) -> tuple[Any, Any]:
        path: tuple[int, ...] = ()
        if isinstance(d, Basis):
            if type(a._shape) is not tuple:
                raise fail("composition", f"stride {d} of B picks a mode of A, which is a leaf", a, b)
            path, d = d.path, d.value
        if path not in targets:
            part = (basis_get(path, a._shape, "composition"), basis_get(path, a._stride, "composition"))
            targets[path] = _Target(*part, past_units)
        if _is(d, 0):
            return s, 0
        target = targets[path]
        if type(s) is int and type(d) is int and target.static:
            try:
                return _compose_leaf(target.extents, target.strides, s, d, target.reach)
            except _Uneven as e:
                raise _explain(e, a, b) from None
        return _compose_leaf_symbolic(target, s, d)

    def tree(s: Any, d: Any) -> tuple[Any, Any]:
        if type(s) is not tuple:
            return leaf(s, d)
        parts = [tree(x, y) for x, y in zip(s, d)]
        return tuple([p[0] for p in parts]), tuple([p[1] for p in parts])

    shape, stride = tree(b._shape, b._stride)
    if type(b._shape) is tuple:
        for target in targets.values():
            shape = _assume_no_carry(target, shape, a, b)
    static = all(type(x) is int for x in flatten(shape)) and all(type(x) is int for x in flatten(stride))
    return canonical(make(shape, stride, static))


def _assume_no_carry(target: _Target, shape: Any, a: Layout, b: Layout) -> Any:
    """Check `_require_no_carry` where it is decided; else tie it to a named symbolic extent of the result."""
    n = len(target.extents)
    if n > 1 and target.static and all(type(r) is int for r in target.reach):
        _require_no_carry(target.reach, target.extents, a, b)
        return shape
    for i in range(n - 1):
        most, extent = target.reach[i], target.extents[i]
        if not _is(most, 0) and not (type(most) is int and type(extent) is int):
            shape = _attach(shape, most, extent)[0]
    return shape


def _attach(shape: Any, most: Any, extent: Any) -> tuple[Any, bool]:
    if type(shape) is tuple:
        for i, s in enumerate(shape):
            changed, done = _attach(s, most, extent)
            if done:
                return (*shape[:i], changed, *shape[i + 1 :]), True
        return shape, False
    if isinstance(shape, SymInt):
        return apply("below", shape, most, extent), True
    return shape, False


def _compose_leaf_symbolic(target: _Target, s: Any, d: Any) -> tuple[Any, Any]:
    extents, strides, reach = target.extents, target.strides, target.reach
    if len(extents) == 1:
        return s, strides[0] * d
    out_s: list[Any] = []
    out_d: list[Any] = []
    rest = s
    sign = -1 if type(d) is int and d < 0 else 1
    step = d * sign
    for i, (extent, stride) in enumerate(zip(extents[:-1], strides)):
        if not (_is(ceil_div_leaf(extent, step), 1) or _is(rest, 1)):
            take = apply("take", extent, step, rest)
            out_s.append(take)
            out_d.append(stride * (step * sign))
            reach[i] = reach[i] + (take - 1) * step
            rest = exact_div_leaf(rest, take)
        step = step if _is(step, 1) else apply("step", step, extent)
    if not out_s or not _is(rest, 1):
        out_s.append(rest)
        out_d.append(strides[-1] * (step * sign))
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
