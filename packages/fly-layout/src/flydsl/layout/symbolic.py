# SPDX-License-Identifier: Apache-2.0
"""Integers that are not known yet: dynamic leaves of int-tuples.

A `SymInt` is either a leaf or an expression over leaves. A leaf is *named* (``sym("M", div=8)``), so that layouts
built from it can be specialised afterwards, or *anonymous* (``dyn()``, the ``?`` of the textual form), which records
only a bit width and a divisibility. An expression with an anonymous operand is anonymous itself.

Widths and divisibilities follow the leaf arithmetic of the ``fly`` dialect: the width of a result is the larger one,
the divisibility is the gcd for ``+ - % min max``, the product for ``*`` and 1 for the divisions.
"""

from __future__ import annotations

from math import gcd

from .errors import LayoutError, LayoutTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Scalar: TypeAlias = "int | SymInt"

__all__ = [
    "SymInt",
    "ceil_div_leaf",
    "div_leaf",
    "dyn",
    "is_scalar",
    "max_leaf",
    "min_leaf",
    "mod_leaf",
    "shape_div_leaf",
    "specialize_leaf",
    "sym",
]


def trunc_div(a: int, b: int) -> int:
    """Quotient rounded toward zero, as the dialect and C++ divide."""
    q = abs(a) // abs(b)
    return q if (a >= 0) == (b >= 0) else -q


def trunc_mod(a: int, b: int) -> int:
    """Remainder of `trunc_div`; it has the sign of ``a``."""
    r = abs(a) % abs(b)
    return r if a >= 0 else -r


def static_ceil_div(a: int, b: int) -> int:
    """``(a + b - 1) / b`` with a truncating division, the dialect's definition (so ``-7, 2 -> -3``)."""
    return trunc_div(a + b - 1, b)


def _exact_div(a: int, b: int) -> int:
    if b == 0 or a % b:
        raise LayoutError(f"specialize: {b} does not divide {a}, which the symbolic operation assumed")
    return a // b


def _step(d: int, s: int) -> int:
    """Rest stride after a mode of extent ``s``, the walk of composition; ``s`` divides ``d`` or ``d < s``."""
    if s <= 0 or (d % s and d > s):
        raise LayoutError(f"specialize: composition assumed that {s} divides the stride {d} or exceeds it")
    return -(-d // s)


def _take(extent: int, d: int, rest: int) -> int:
    """Elements that ``rest`` of stride ``d`` take of a mode, the walk of composition."""
    if d <= 0 or extent <= 0:
        raise LayoutError(f"specialize: composition assumed a positive extent and stride, not {extent} and {d}")
    if rest > 1:
        _step(d, extent)
    n = -(-extent // d)
    if n < rest and extent % d and d < extent:
        raise LayoutError(f"specialize: composition assumed that the stride {d} divides the extent {extent}")
    return min(n, rest)


def _below(x: int, most: int, extent: int) -> int:
    """``x``, under the condition that what modes of B reach together stays inside a mode of A."""
    if most >= extent:
        raise LayoutError(f"specialize: composition assumed that the modes together reach {most} < {extent}")
    return x


def _gap(d: int, last: int) -> int:
    """Extent of the gap below a mode of stride ``d`` when the modes before it end at ``last``."""
    if last <= 0 or d < last:
        raise LayoutError(f"specialize: complement assumed that modes do not overlap, but stride {d} is below {last}")
    return d // last


def _shape_div(a: int, b: int) -> int:
    if b == 0 or (a % b and (a == 0 or b % a)):
        raise LayoutError(f"neither of {a} and {b} divides the other")
    return static_ceil_div(a, b)


def swizzle_source(bits: int, base: int, shift: int) -> int:
    """The bits that a `Swizzle` reads, as a mask."""
    if bits < 0 or base < 0 or (bits and base + shift < 0):
        raise LayoutError(f"Swizzle({bits}, {base}, {shift}): bits, base and base + shift must not be negative")
    return ((1 << bits) - 1) << (base + shift) if bits else 0


def _swizzle(x: int, bits: int, base: int, shift: int) -> int:
    read = x & swizzle_source(bits, base, shift)
    return x ^ (read >> shift if shift >= 0 else read << -shift)


_EVALUATE: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": trunc_div,
    "mod": trunc_mod,
    "min": min,
    "max": max,
    "ceil_div": static_ceil_div,
    "shape_div": _shape_div,
    "exact_div": _exact_div,
    "step": _step,
    "take": _take,
    "below": _below,
    "gap": _gap,
    "swizzle": _swizzle,
    "coord_swizzle": lambda col, row, bits, row_base, base: col ^ (((row >> row_base) & ((1 << bits) - 1)) << base),
    "lt": lambda a, b: int(a < b),
    "eq": lambda a, b: int(a == b),
    "and": lambda a, b: int(bool(a) and bool(b)),
}
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "//", "mod": "%"}  # in Python, for repr
_OPERATORS = _INFIX | {"div": "/"}  # in the textual form


class SymInt:
    """An integer known only later. Immutable; made by `sym`, `dyn` and by arithmetic on those.

    Two named expressions are equal when they are written alike, two anonymous ones when width and divisibility
    agree. ``bool()`` and ordering raise: the value is not known.
    """

    __slots__ = ("_args", "_div", "_op", "_width")
    _op: str
    _args: tuple[object, ...]
    _width: int
    _div: int

    def __init__(self, op: str, args: tuple[object, ...], width: int, div: int) -> None:
        self._op = op
        self._args = args
        self._width = width
        self._div = div

    # -- parts ---------------------------------------------------------------------------------------------------
    @property
    def op(self) -> str:
        """``"sym"`` for a named leaf, ``"dyn"`` for an anonymous one, else the operation."""
        return self._op

    @property
    def args(self) -> tuple[object, ...]:
        """Operands of the operation; ``(name, extent)`` of a named leaf."""
        return self._args

    @property
    def width(self) -> int:
        """Bits of the run-time value, 32 or 64."""
        return self._width

    @property
    def div(self) -> int:
        """A known divisor of the value; 1 and non-positive values mean that nothing is known."""
        return self._div

    @property
    def name(self) -> str | None:
        """Name of a named leaf, else None."""
        return str(self._args[0]) if self._op == "sym" else None

    @property
    def extent(self) -> int | None:
        """The value of a named leaf if it was given with the name, else None."""
        if self._op != "sym":
            return None
        value = self._args[1]
        return value if isinstance(value, int) else None

    def names(self) -> frozenset[str]:
        """Names of the leaves that the value depends on."""
        if self._op == "sym":
            return frozenset((str(self._args[0]),))
        found: frozenset[str] = frozenset()
        for a in self._args:
            if isinstance(a, SymInt):
                found |= a.names()
        return found

    def specialize(self, values: Mapping[str, int]) -> int | SymInt:
        """The expression with the named leaves replaced by ``values``; an int once no leaf is left.

        Raises:
            LayoutError: a value breaks the divisibility or extent of its leaf, or a condition that an operation
                assumed about it (such as an exact division in a composition).
        """
        if self._op == "dyn":
            return self
        if self._op == "sym":
            name, extent = str(self._args[0]), self.extent
            value = values.get(name, extent)
            if value is None:
                return self
            if extent is not None and value != extent:
                raise LayoutError(f"specialize: {name} = {value}, but its extent is known to be {extent}")
            if self._div > 1 and value % self._div:
                raise LayoutError(f"specialize: {name} = {value} is not a multiple of {self._div}")
            return value
        return apply(self._op, *[a.specialize(values) if isinstance(a, SymInt) else a for a in self._args])

    # -- arithmetic ----------------------------------------------------------------------------------------------
    def __add__(self, other: Scalar) -> Scalar:
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        return self if type(other) is int and other == 0 else apply("add", self, other)

    def __radd__(self, other: int) -> Scalar:
        return self if other == 0 else apply("add", other, self)

    def __sub__(self, other: Scalar) -> Scalar:
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        return self if type(other) is int and other == 0 else apply("sub", self, other)

    def __rsub__(self, other: int) -> Scalar:
        return apply("sub", other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        if type(other) is int and other in (0, 1):
            return self if other else 0
        return apply("mul", self, other)

    def __rmul__(self, other: int) -> Scalar:
        if other in (0, 1):
            return self if other else 0
        return apply("mul", other, self)

    def __floordiv__(self, other: Scalar) -> Scalar:
        """Truncating quotient, as the dialect divides."""
        return div_leaf(self, other)

    def __rfloordiv__(self, other: int) -> Scalar:
        return div_leaf(other, self)

    def __mod__(self, other: Scalar) -> Scalar:
        """Truncating remainder."""
        return mod_leaf(self, other)

    def __rmod__(self, other: int) -> Scalar:
        return mod_leaf(other, self)

    def __neg__(self) -> Scalar:
        return apply("sub", 0, self)

    def __bool__(self) -> bool:
        raise LayoutError(f"the value of {self} is not known; specialize it first")

    def __index__(self) -> int:
        raise LayoutTypeError(f"the value of {self} is not known; specialize it first")

    # -- identity ------------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, SymInt)
            and self._op == other._op
            and self._width == other._width
            and self._div == other._div
            and self._args == other._args
        )

    def __hash__(self) -> int:
        return hash((self._op, self._args, self._width, self._div))

    def __reduce__(self) -> tuple[type[SymInt], tuple[str, tuple[object, ...], int, int]]:
        return (SymInt, (self._op, self._args, self._width, self._div))

    def __repr__(self) -> str:
        attributes = (", width=64" if self._width == 64 else "") + (f", div={self._div}" if self._div != 1 else "")
        if self._op == "dyn":
            return f"dyn({attributes[2:]})"
        if self._op == "sym":
            extent = f", extent={self.extent}" if self.extent is not None else ""
            return f"sym({self._args[0]!r}{attributes}{extent})"
        if self._op in _INFIX:
            return f"({self._args[0]!r} {_INFIX[self._op]} {self._args[1]!r})"
        return f"sym_apply({self._op!r}, {', '.join(map(repr, self._args))})"

    def _text(self, names: bool) -> str:
        width = ["i64"] if self._width == 64 else []
        divisor = [f"div={self._div}"] if self._div != 1 else []
        if not names or self._op == "dyn":
            attributes = " ".join(width + divisor)
            return "?{" + attributes + "}" if attributes else "?"
        if self._op == "sym":
            extent = [f"extent={self.extent}"] if self.extent is not None else []
            attributes = " ".join(width + divisor + extent)
            return f"{self.name}{{{attributes}}}" if attributes else str(self.name)
        return "{" + _expression(self) + "}"

    def __str__(self) -> str:
        return self._text(True)


def _expression(x: object) -> str:
    """The text of an operand, without braces; negative integers are parenthesised."""
    if not isinstance(x, SymInt):
        return f"({x})" if isinstance(x, int) and x < 0 else str(x)
    if x.op == "sym":
        return str(x)
    if x.op in _OPERATORS:
        return _OPERATORS[x.op].join([_factor(a) for a in x.args])
    return f"{x.op}({','.join([_expression(a) for a in x.args])})"


def _factor(x: object) -> str:
    text = _expression(x)
    return f"({text})" if isinstance(x, SymInt) and x.op in _OPERATORS else text


def sym(name: str, *, div: int = 1, width: int = 32, extent: int | None = None) -> SymInt:
    """A named symbolic integer.

    Args:
        name: an identifier other than ``o`` and ``E<digits>``, which the textual form uses.
        div: a known divisor.
        width: 32 or 64 bits at run time.
        extent: the value, if it is known and only the name is to be kept.
    """
    if not (isinstance(name, str) and name.isidentifier()) or name == "o" or (name[0] == "E" and name[1:].isdigit()):
        raise LayoutError(f"sym({name!r}): a name is an identifier other than 'o' and 'E<digits>'")
    if extent is not None and div > 1 and extent % div:
        raise LayoutError(f"sym({name!r}): extent {extent} is not a multiple of div {div}")
    return SymInt("sym", (name, extent), _width(width), div)


def dyn(*, width: int = 32, div: int = 1) -> SymInt:
    """An anonymous dynamic integer, the ``?`` of the textual form."""
    return SymInt("dyn", (), _width(width), div)


def _width(width: int) -> int:
    if width not in (32, 64):
        raise LayoutError(f"width {width}: a dynamic integer has 32 or 64 bits")
    return width


def _known_divisor(x: object) -> int:
    return x._div if isinstance(x, SymInt) else int(x)  # type: ignore[call-overload]


def apply(op: str, *args: object) -> int | SymInt:
    """``op`` on scalars: evaluated when all are ints, else a `SymInt` with its width and divisibility."""
    operands = [a for a in args if isinstance(a, SymInt)]
    if not operands:
        try:
            return _EVALUATE[op](*args)
        except ZeroDivisionError:
            raise LayoutError(f"{args[0]} cannot be divided by zero") from None
    div: int
    if op in ("lt", "eq", "and"):
        width, div = 32, 1
    else:
        width = max(a._width for a in operands)
        if op == "mul":
            div = _known_divisor(args[0]) * _known_divisor(args[1])
        elif op == "sub" and args[0] == 0:
            div = _known_divisor(args[1])
        elif op in ("add", "sub", "mod", "min", "max"):
            div = gcd(_known_divisor(args[0]), _known_divisor(args[1]))
        elif op == "below":
            div = _known_divisor(args[0])
        elif op == "take":
            extent, d, rest = args
            known = type(extent) is int and type(d) is int and d > 0
            div = gcd(-(-extent // d), _known_divisor(rest)) if known else 1  # type: ignore[operator]
        elif op == "swizzle":
            div = gcd(operands[0]._div, 1 << int(args[2]))  # type: ignore[call-overload]
        elif op == "coord_swizzle":
            div = gcd(_known_divisor(args[0]), 1 << int(args[4]))  # type: ignore[call-overload]
        else:
            div = 1
    if any(a._op == "dyn" for a in operands):
        return SymInt("dyn", (), width, div)
    return SymInt(op, args, width, div)


sym_apply = apply


def is_scalar(x: object) -> bool:
    """True for an int or a `SymInt`."""
    return type(x) is int or isinstance(x, (int, SymInt))


def div_leaf(a: Scalar, b: Scalar) -> Scalar:
    """Truncating ``a / b``; ``0 / x`` is 0."""
    if type(a) is int and (type(b) is int or a == 0):
        return apply("div", a, b) if type(b) is int else 0
    return apply("div", a, b)


def mod_leaf(a: Scalar, b: Scalar) -> Scalar:
    """Truncating remainder; ``x % 1`` and ``0 % x`` are 0."""
    if type(b) is int and b == 1:
        return 0
    if type(a) is int and a == 0 and type(b) is not int:
        return 0
    return apply("mod", a, b)


def min_leaf(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one."""
    return apply("min", a, b)


def max_leaf(a: Scalar, b: Scalar) -> Scalar:
    """The larger one."""
    return apply("max", a, b)


def ceil_div_leaf(a: Scalar, b: Scalar) -> Scalar:
    """``(a + b - 1) / b``; a left operand of 0 or 1 is returned as it is."""
    if type(a) is int and type(b) is not int and a in (0, 1):
        return a
    return apply("ceil_div", a, b)


def shape_div_leaf(a: Scalar, b: Scalar) -> Scalar:
    """``ceil_div`` where one static operand has to divide the other."""
    if type(a) is int and type(b) is not int and a in (0, 1):
        return a
    return apply("shape_div", a, b)


def exact_div_leaf(a: Scalar, b: Scalar) -> Scalar:
    """``a / b`` without a remainder: checked at once if both are static, else when the result is specialised."""
    if type(b) is int and b == 1:
        return a
    return apply("exact_div", a, b)


def specialize_leaf(x: Scalar, values: Mapping[str, int]) -> Scalar:
    """``x`` with named leaves replaced."""
    return x.specialize(values) if isinstance(x, SymInt) else x
