# SPDX-License-Identifier: Apache-2.0
"""Complement: a layout of the indices that another one skips."""

from __future__ import annotations

from ..basis import Basis
from ..errors import LayoutTypeError, fail
from ..int_tuple import flatten
from ..layout import Layout, flat_of, make
from ..symbolic import SymInt, apply, ceil_div_leaf, div_leaf, is_scalar
from .coalesce import coalesce, filter_zeros, pack
from .sizes import cosize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..symbolic import Scalar
    from ..types import AnyLayout

__all__ = ["complement"]


def complement(a: AnyLayout | int, codomain: Scalar | None = None) -> Any:
    """A layout R that, together with ``a``, covers ``[0, codomain)``.

    Laws: *disjoint*, no index but 0 is in both images, and every ``a(i) + R(j)`` is different; *ordered*, R's strides
    ascend; *complete*, the sums reach all of ``[0, codomain)`` when each stride of ``a`` is a multiple of the
    preceding ``extent * stride`` (rounded up past it when the last one does not divide the codomain).

    Args:
        a: a layout (modes of stride 0 count once), an int N for ``N:1``, or a composed layout (its outer is taken).
        codomain: an integer; by default the cosize of ``a``.

    Raises:
        LayoutError: modes of ``a`` overlap, so that nothing can be disjoint from it; or there are several modes and
            not all strides are static and positive.
        LayoutTypeError: the codomain is no integer, or ``a`` has basis strides.
    """
    if isinstance(a, int):
        a = Layout(a, 1)
    if not isinstance(a, Layout):
        return a.lift(lambda layout: complement(layout, codomain))
    if codomain is not None and type(codomain) is not int and not is_scalar(codomain):
        raise fail("complement", "the codomain is an integer", a, codomain, kind=LayoutTypeError)
    if a._static and (codomain is None or type(codomain) is int):
        return _static(a, codomain)
    return _symbolic(a, codomain)


def _static(a: Layout, codomain: int | None) -> Layout:
    flat_s, flat_d = flat_of(a)
    modes = [
        (d, s) for d, s in zip(flat_d, flat_s) if s != 1 and d
    ]  # sorting pairs sorts by stride; extents decide only between overlapping modes
    if not modes:
        return make(1 if codomain is None else codomain, 1, True)
    modes.sort()
    out_s: list[int] = []
    out_d: list[int] = []
    last = 1
    for d, s in modes:
        if d < last or not s:
            raise _overlap(a, codomain, d, last, s)
        gap = d // last
        if gap != 1:
            _push(out_s, out_d, gap, last)
        last = d * s
    rest = 1 if codomain is None else -(-codomain // last)
    if rest != 1:
        _push(out_s, out_d, rest, last)
    if not out_s:
        return make(1, 0, True)
    return pack(out_s, out_d, True)


def _push(out_s: list[int], out_d: list[int], s: int, d: int) -> None:
    if out_s and out_s[-1] * out_d[-1] == d:
        out_s[-1] *= s
    else:
        out_s.append(s)
        out_d.append(d)


def _overlap(a: Layout, codomain: Any, d: int, last: int, extent: Any) -> Exception:
    condition = f"stride {d} is below {last}, where the preceding mode ends, so modes overlap"
    if d < 0:
        condition = f"stride {d} is negative"
    elif type(extent) is int and extent == 0:
        condition = "a mode has extent 0, so there is nothing to be disjoint from"
    return fail("complement", condition, a, *(() if codomain is None else (codomain,)))


def _symbolic(a: Layout, codomain: Any) -> Layout:
    given = () if codomain is None else (codomain,)
    filtered = coalesce(filter_zeros(a))
    if any(isinstance(d, Basis) for d in flatten(filtered._stride)):
        raise fail("complement", "basis strides have no integer complement", a, *given, kind=LayoutTypeError)
    if codomain is None:
        codomain = cosize(filtered)
    shape, stride = flatten(filtered._shape), flatten(filtered._stride)
    if len(shape) == 1 and type(stride[0]) is int and stride[0] == 0:
        return make(codomain, 1, type(codomain) is int)
    if len(shape) > 1 and any(isinstance(d, SymInt) for d in stride):
        raise fail("complement", "with several modes every stride has to be static", a, *given)
    out_s: list[Any] = []
    out_d: list[Any] = []
    last: Any = 1
    for s, d in sorted(zip(shape, stride), key=lambda mode: mode[1] if type(mode[1]) is int else 0):
        if type(d) is int and type(last) is int and d < last:
            raise _overlap(a, codomain, d, last, s)
        out_s.append(div_leaf(d, last) if type(last) is int else apply("gap", d, last))
        out_d.append(last)
        last = s * d
    out_s.append(ceil_div_leaf(codomain, last))
    out_d.append(last)
    static = all(type(x) is int for x in (*out_s, *out_d))
    result: Layout = coalesce(make(tuple(out_s), tuple(out_d), static))
    return result
