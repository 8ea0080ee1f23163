# SPDX-License-Identifier: Apache-2.0
"""Int-tuples: an integer, or a tuple of int-tuples; their profile and the relations between profiles.

Leaves are ints, `SymInt`s, in strides also `Basis` elements, and in coordinates ``None``. Lists are refused, so that
a nested structure has one spelling. The functions here are in terms of leaves and nesting only; arithmetic is in
`tuple_arith`, and operations on modes (which work on layouts too) in `modes`.
"""

from __future__ import annotations

from .basis import Basis, accumulate
from .errors import LayoutError, LayoutTypeError, fail
from .symbolic import SymInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .types import IntTuple


__all__ = [
    "compatible",
    "congruent",
    "depth_of",
    "elem_scale",
    "flatten",
    "has_none",
    "inner_product",
    "is_int_tuple",
    "is_static",
    "prefix_product",
    "product",
    "profile",
    "rank_of",
    "size_of",
    "specialize_tuple",
    "suffix_product",
    "transform_leaves",
    "tuple_max",
    "unflatten",
    "weakly_congruent",
]


MAX_DEPTH = 64  # levels of nesting; deeper tuples are refused


def too_deep(what: str) -> LayoutError:
    """The error for a tuple that is nested deeper than `MAX_DEPTH`."""
    return LayoutError(f"{what}: nested deeper than {MAX_DEPTH} levels")


# -- structure -----------------------------------------------------------------------------------------------------
def flatten(t: IntTuple) -> tuple[Any, ...]:
    """The leaves, depth first, always as a flat tuple (a leaf gives a one-element tuple)."""
    if type(t) is not tuple:
        return (t,)
    for x in t:
        if type(x) is tuple:
            break
    else:
        return t
    out: list[Any] = []
    try:
        _flatten_into(t, out)
    except RecursionError:
        raise too_deep("flatten") from None
    return tuple(out)


def _flatten_into(t: tuple[Any, ...], out: list[Any]) -> None:
    for x in t:
        if type(x) is tuple:
            _flatten_into(x, out)
        else:
            out.append(x)


def unflatten(leaves: tuple[Any, ...], target_profile: IntTuple) -> Any:
    """Arrange ``leaves`` in the nesting of ``target_profile`` (whose leaf values do not matter).

    Raises:
        LayoutError: the number of leaves differs.
    """
    n = len(flatten(target_profile))
    if len(leaves) != n:
        raise fail("unflatten", f"{len(leaves)} leaves for a profile of {n}", leaves, target_profile)
    it = iter(leaves)

    def build(p: Any) -> Any:
        return tuple([build(x) for x in p]) if type(p) is tuple else next(it)

    return build(target_profile)


def profile(t: IntTuple) -> Any:
    """The nesting of ``t`` with every leaf replaced by 0."""
    return transform_leaves(lambda _: 0, t)


def rank_of(t: IntTuple) -> int:
    """Number of modes of an int-tuple; a leaf has rank 1."""
    return len(t) if type(t) is tuple else 1


def depth_of(t: IntTuple) -> int:
    """Nesting depth of an int-tuple; a leaf has depth 0."""
    if type(t) is not tuple:
        return 0
    return 1 + max(map(depth_of, t))


def product(t: IntTuple) -> Any:
    """Product of all leaves."""
    if type(t) is not tuple:
        return t
    result: Any = 1
    for x in t:
        result = result * (product(x) if type(x) is tuple else x)
    return result


size_of = product


def transform_leaves(f: Callable[..., Any], *trees: Any) -> Any:
    """``f`` on the leaves of congruent int-tuples."""
    first = trees[0]
    if type(first) is tuple:
        return tuple([transform_leaves(f, *parts) for parts in zip(*trees)])
    return f(*trees)


def has_none(t: IntTuple) -> bool:
    """True when a leaf is None."""
    if type(t) is tuple:
        for x in t:  # noqa: SIM110 - this is on the path of every call of a layout, and any() costs a generator
            if x is None or (type(x) is tuple and has_none(x)):
                return True
        return False
    return t is None


def is_static(t: IntTuple) -> bool:
    """True when no leaf (nor the value of a basis leaf) is symbolic."""
    return not any(isinstance(x, SymInt) or (isinstance(x, Basis) and isinstance(x.value, SymInt)) for x in flatten(t))


def is_int_tuple(t: IntTuple) -> bool:
    """True for an int, SymInt, Basis or None and for non-empty tuples of those."""
    if type(t) is tuple:
        return bool(t) and all(map(is_int_tuple, t))
    return t is None or isinstance(t, (int, SymInt, Basis))


def specialize_tuple(t: IntTuple, values: Mapping[str, int]) -> Any:
    """``t`` with named symbolic integers replaced."""
    if type(t) is tuple:
        return tuple([specialize_tuple(x, values) for x in t])
    return t.specialize(values) if isinstance(t, (SymInt, Basis)) else t


# -- relations -----------------------------------------------------------------------------------------------------
def congruent(a: IntTuple, b: IntTuple) -> bool:
    """True when ``a`` and ``b`` have the same nesting."""
    if type(a) is tuple:
        return type(b) is tuple and len(a) == len(b) and all(map(congruent, a, b))
    return type(b) is not tuple


def weakly_congruent(a: IntTuple, b: IntTuple) -> bool:
    """True when the nesting of ``a`` is a prefix of that of ``b``: a leaf of ``a`` may face any sub-tree of ``b``."""
    if type(a) is tuple:
        return type(b) is tuple and len(a) == len(b) and all(map(weakly_congruent, a, b))
    return True


def compatible(a: IntTuple, b: IntTuple) -> bool:
    """True when every coordinate of shape ``a`` is one of shape ``b``: weakly congruent, and equal sizes at leaves."""
    if type(a) is tuple:
        return type(b) is tuple and len(a) == len(b) and all(map(compatible, a, b))
    return bool(a == product(b))


# -- sums and scans ------------------------------------------------------------------------------------------------
def inner_product(a: Any, b: Any) -> Any:
    """Sum of the products of corresponding leaves; with basis leaves a coordinate.

    Raises:
        LayoutError: the operands are not congruent.
    """
    if type(a) is tuple and type(b) is tuple and len(a) == len(b):
        result: Any = 0
        for x, y in zip(a, b):
            result = accumulate(result, inner_product(x, y))
        return result
    if type(a) is tuple or type(b) is tuple:
        raise fail("inner_product", "the operands are not congruent", a, b)
    return a * b


def elem_scale(a: IntTuple, b: IntTuple) -> Any:
    """``a`` times ``b``, leaf by leaf; a leaf of ``a`` is scaled by the product of what it faces in ``b``."""
    if type(a) is tuple:
        if type(b) is not tuple or len(a) != len(b):
            raise fail("elem_scale", "the first operand is not weakly congruent with the second", a, b)
        return tuple([elem_scale(x, y) for x, y in zip(a, b)])
    return a * product(b)


def prefix_product(t: IntTuple, init: IntTuple = 1) -> Any:
    """Exclusive prefix products in depth-first order: the compact column-major strides of the shape ``t``.

    A tuple ``init`` restarts each mode with its own value.
    """
    if type(t) is not tuple:
        if type(init) is tuple:
            raise fail("prefix_product", "the start value is a tuple where the int-tuple is a leaf", t, init)
        return init
    if type(init) is tuple:
        if len(t) != len(init):
            raise fail("prefix_product", "the start value has another rank", t, init)
        return tuple([prefix_product(x, i) for x, i in zip(t, init)])
    return _scan(t, init)[0]


def _scan(t: tuple[Any, ...], start: Any) -> tuple[Any, Any]:
    out = []
    for x in t:
        if type(x) is tuple:
            strides, start = _scan(x, start)
            out.append(strides)
        else:
            out.append(start)
            start = start * x
    return tuple(out), start


def suffix_product(t: IntTuple, init: IntTuple = 1) -> Any:
    """Exclusive suffix products: the compact row-major (lexicographic) strides of the shape ``t``."""
    if type(t) is not tuple:
        return init
    return _scan_back(t, init)[0]


def _scan_back(t: tuple[Any, ...], start: Any) -> tuple[Any, Any]:
    out = []
    for x in reversed(t):
        if type(x) is tuple:
            strides, start = _scan_back(x, start)
            out.append(strides)
        else:
            out.append(start)
            start = start * x
    return tuple(reversed(out)), start


def tuple_max(t: IntTuple) -> int:
    """The largest leaf of a static int-tuple."""
    leaves = flatten(t)
    if not all(isinstance(x, int) for x in leaves):
        raise fail("tuple_max", "every leaf has to be a static integer", t, kind=LayoutTypeError)
    return int(max(leaves))
