# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparisons on int-tuples.

The binary operations work mode by mode; surplus modes of either operand are copied as they are, and a leaf that faces
a tuple pairs with the tuple's first mode (only as the right operand). Divisions truncate toward zero.
"""

from __future__ import annotations

from .basis import Basis, accumulate
from .errors import LayoutError, LayoutTypeError, fail
from .int_tuple import product
from .symbolic import SymInt, apply, ceil_div_leaf, div_leaf, is_scalar, mod_leaf, shape_div_leaf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .types import IntTuple

__all__ = [
    "ceil_div",
    "colex_less",
    "elem_less",
    "equal",
    "int_tuple_add",
    "int_tuple_div",
    "int_tuple_mod",
    "int_tuple_mul",
    "int_tuple_product",
    "int_tuple_product_each",
    "int_tuple_product_like",
    "int_tuple_sub",
    "lex_less",
    "product_each",
    "product_like",
    "shape_div",
]


def _modewise(operation: str, f: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if type(a) is tuple:
        if type(b) is not tuple:
            return (_modewise(operation, f, a[0], b), *a[1:])
        common = tuple([_modewise(operation, f, x, y) for x, y in zip(a, b)])
        return common + a[len(b) :] + b[len(a) :]
    if type(b) is tuple:
        raise fail(operation, "a leaf on the left faces a tuple", a, b, kind=LayoutTypeError)
    a = 0 if a is None else a
    b = 0 if b is None else b
    try:
        return f(a, b)
    except LayoutError as e:
        raise fail(operation, str(e), a, b) from None


def _integers(operation: str, f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def checked(a: Any, b: Any) -> Any:
        if not (is_scalar(a) and is_scalar(b)):
            raise LayoutTypeError("both leaves have to be integers")
        return f(a, b)

    return lambda a, b: _modewise(operation, checked, a, b)


def int_tuple_add(a: Any, b: Any) -> Any:
    """Sum; a basis operand is expanded to the coordinate tuple that it stands for."""
    if type(a) is tuple and type(b) is tuple:
        common = tuple([int_tuple_add(x, y) for x, y in zip(a, b)])
        return common + a[len(b) :] + b[len(a) :]
    if isinstance(a, Basis) or isinstance(b, Basis) or type(a) is tuple or type(b) is tuple:
        return accumulate(a, b)
    return (0 if a is None else a) + (0 if b is None else b)


def int_tuple_sub(a: IntTuple, b: IntTuple) -> Any:
    """Difference; surplus modes of the right operand are copied, not negated."""
    return _integers("int_tuple_sub", lambda x, y: x - y)(a, b)


def int_tuple_mul(a: IntTuple, b: IntTuple) -> Any:
    """Product; an integer times a basis element scales its value."""

    def mul(x: Any, y: Any) -> Any:
        if isinstance(x, Basis) and isinstance(y, Basis):
            raise LayoutTypeError("two basis elements have no product")
        return x * y

    return _modewise("int_tuple_mul", mul, a, b)


def int_tuple_div(a: IntTuple, b: IntTuple) -> Any:
    """Truncating quotient."""
    return _integers("int_tuple_div", div_leaf)(a, b)


def int_tuple_mod(a: IntTuple, b: IntTuple) -> Any:
    """Remainder of the truncating quotient."""
    return _integers("int_tuple_mod", mod_leaf)(a, b)


int_tuple_product = product


def product_each(t: IntTuple) -> Any:
    """One product per mode; a leaf stays a leaf."""
    return tuple([product(x) for x in t]) if type(t) is tuple else t


def product_like(t: IntTuple, guide: IntTuple) -> Any:
    """Products of what faces the leaves of ``guide``; modes beyond its rank are dropped.

    Raises:
        LayoutError: ``guide`` is nested where ``t`` has a leaf, or has more modes.
    """
    if type(guide) is not tuple:
        return product(t)
    if type(t) is not tuple or len(t) < len(guide):
        raise fail("int_tuple_product_like", "the guide has more structure than the int-tuple", t, guide)
    return tuple([product_like(x, g) for x, g in zip(t, guide)])


int_tuple_product_each = product_each
int_tuple_product_like = product_like


# -- divisions of shapes -----------------------------------------------------------------------------------------------
def ceil_div(a: IntTuple, b: IntTuple) -> Any:
    """``ceil(a / b)``: leaf by leaf, by the product of a tuple facing a leaf, or, for a leaf divisor of a tuple,
    with the leading modes consuming it. Surplus modes of ``a`` are kept. A basis element divides by its value."""
    return _divide("ceil_div", ceil_div_leaf, a, b)


def shape_div(a: IntTuple, b: IntTuple) -> Any:
    """`ceil_div` in which at each leaf one operand has to divide the other.

    Raises:
        LayoutError: at some leaf neither divides the other.
    """
    if type(b) is int and b > 0 and type(a) is tuple:
        out: list[Any] = []
        if _consume(a, b, out):
            return tuple(out)
    try:
        return _divide("shape_div", shape_div_leaf, a, b)
    except LayoutError as e:
        raise fail("shape_div", str(e), a, b) from None


def _consume(t: tuple[Any, ...], b: int, out: list[Any]) -> int:
    """Divide static extents by ``b``, leading ones first; what is left of ``b``, or 0 if this is no simple case."""
    for x in t:
        if type(x) is int and x > 0:
            if not x % b:
                out.append(x // b)
                b = 1
            elif not b % x:
                out.append(1)
                b //= x
            else:
                return 0
        elif type(x) is tuple:
            inner: list[Any] = []
            b = _consume(x, b, inner)
            if not b:
                return 0
            out.append(tuple(inner))
        else:
            return 0
    return b


def _divide(operation: str, f: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if type(a) is not tuple:
        b = product(b)
        if isinstance(a, Basis) and is_scalar(b):
            return Basis(f(a.value, b), a.path)
        if not (is_scalar(a) and is_scalar(b)):
            raise fail(operation, "both leaves have to be integers", a, b, kind=LayoutTypeError)
        return f(a, b)
    if type(b) is tuple:
        return tuple([_divide(operation, f, x, y) for x, y in zip(a, b)]) + a[len(b) :]
    out = []
    for x in a:
        out.append(_divide(operation, f, x, b))
        b = f(b, product(x))
    return tuple(out)


# -- comparisons -----------------------------------------------------------------------------------------------------
def elem_less(a: IntTuple, b: IntTuple) -> Any:
    """True when every leaf of ``a`` is less than its partner in ``b``.

    A higher rank of ``a`` makes it false, surplus modes of ``b`` are ignored, and a leaf compares with the first mode
    of a tuple. When symbolic leaves decide, the result is a symbolic 0 / 1.
    """
    return _as_bool(_elem_less(a, b))


def _elem_less(a: Any, b: Any) -> Any:
    if type(a) is tuple:
        if type(b) is not tuple:
            return _elem_less(a[0], b) if len(a) == 1 else 0
        if len(a) > len(b):
            return 0
        return _all([_elem_less(x, y) for x, y in zip(a, b)])
    if type(b) is tuple:
        return _elem_less(a, b[0])
    a, b = 0 if a is None else a, 0 if b is None else b
    if not (is_scalar(a) and is_scalar(b)):
        raise fail("elem_less", "both leaves have to be integers", a, b, kind=LayoutTypeError)
    return apply("lt", a, b)


def equal(a: IntTuple, b: IntTuple) -> Any:
    """Structural equality; an int never equals a basis element. Symbolic leaves give a symbolic 0 / 1."""
    return _as_bool(_equal(a, b))


def _equal(a: Any, b: Any) -> Any:
    if type(a) is tuple or type(b) is tuple:
        if type(a) is not tuple or type(b) is not tuple or len(a) != len(b):
            return 0
        return _all([_equal(x, y) for x, y in zip(a, b)])
    if isinstance(a, Basis) or isinstance(b, Basis):
        if not (isinstance(a, Basis) and isinstance(b, Basis)) or a.path != b.path:
            return 0
        a, b = a.value, b.value
    if a is None or b is None:
        return int(a is b)
    if isinstance(a, SymInt) and isinstance(b, SymInt) and a.name is not None and a == b:
        return 1
    return apply("eq", a, b)


def _all(parts: list[Any]) -> Any:
    if any(type(p) is int and p == 0 for p in parts):
        return 0
    result: Any = 1
    for p in parts:
        if type(p) is not int:
            result = p if type(result) is int else apply("and", result, p)
    return result


def _as_bool(x: Any) -> Any:
    return bool(x) if type(x) is int else x


def lex_less(a: IntTuple, b: IntTuple) -> bool:
    """Lexicographic order of static int-tuples, first mode first; a proper prefix is less.

    Raises:
        LayoutTypeError: a leaf is symbolic, or leaf and tuple face each other.
    """
    if type(a) is tuple and type(b) is tuple:
        for x, y in zip(a, b):
            if lex_less(x, y):
                return True
            if lex_less(y, x):
                return False
        return len(a) < len(b)
    if type(a) is int and type(b) is int:
        return a < b
    raise fail("lex_less", "leaves have to be static integers that face each other", a, b, kind=LayoutTypeError)


def colex_less(a: IntTuple, b: IntTuple) -> bool:
    """`lex_less` with the last mode first: the order in which column-major coordinates count up."""
    if type(a) is tuple and type(b) is tuple:
        for x, y in zip(reversed(a), reversed(b)):
            if colex_less(x, y):
                return True
            if colex_less(y, x):
                return False
        return len(a) < len(b)
    return lex_less(a, b)
