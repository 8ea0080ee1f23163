# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of the language on Python's exact numbers: what an expression of any dtypes is, lane by lane.

It is written from the documented rules alone (`docs/language/4-types.md`), and shares nothing with the compiler: common
types, wrapping, rounding to each format, rounding divisions, conversions. A lane whose value is not defined (an integer
quotient by zero, a float that an integer does not hold, a run-time shift by the width) is `None`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["FLOATS", "INTEGERS", "Language", "Number", "rounded"]

INTEGERS = {
    f"{kind}{bits}": (bits, kind == "Int") for kind in ("Int", "Uint") for bits in (8, 16, 32, 64)
}  # name -> (bits, signed)


@dataclass(frozen=True)
class Format:
    """A binary float: precision with the hidden bit, exponent of the smallest normal number, largest number."""

    bits: int
    precision: int
    smallest: int
    largest: float
    infinity: bool = True
    negative_zero: bool = True


FLOATS = {
    "Float16": Format(16, 11, -14, 65504.0),
    "BFloat16": Format(16, 8, -126, (2 - 2.0**-7) * 2.0**127),
    "Float32": Format(32, 24, -126, (2 - 2.0**-23) * 2.0**127),
    "Float64": Format(64, 53, -1022, (2 - 2.0**-52) * 2.0**1023),
    "Float8E4M3FN": Format(8, 4, -6, 448.0, infinity=False),
    "Float8E5M2": Format(8, 3, -14, 57344.0),
    "Float8E4M3FNUZ": Format(8, 4, -7, 240.0, infinity=False, negative_zero=False),
    "Float8E5M2FNUZ": Format(8, 3, -15, 57344.0, infinity=False, negative_zero=False),
}


def rounded(name, x):
    """Return a number in a float format, rounded once to nearest, ties to even."""
    form = FLOATS[name]
    if isinstance(x, float):
        if math.isnan(x):
            return math.nan
        if math.isinf(x):
            return x if form.infinity else math.nan
    if x == 0:
        return math.copysign(0.0, x) if form.negative_zero else 0.0
    over, under = abs(x).as_integer_ratio()
    exponent = over.bit_length() - under.bit_length()
    if over << max(-exponent, 0) < under << max(exponent, 0):
        exponent -= 1
    quantum = max(exponent, form.smallest) - form.precision + 1
    whole, rest = divmod(over << max(-quantum, 0), under << max(quantum, 0))
    half = under << max(quantum, 0)
    if 2 * rest > half or (2 * rest == half and whole & 1):
        whole += 1
    if Fraction(whole) * Fraction(2) ** quantum > Fraction(form.largest):
        magnitude = math.inf if form.infinity else math.nan
    else:
        magnitude = math.ldexp(whole, quantum)
    if magnitude == 0 and not form.negative_zero:
        return 0.0
    return -magnitude if x < 0 else magnitude


def wrapped(name, x):
    """Return an integer modulo 2^bits, in the range of an integer type."""
    if name == "Boolean":
        return bool(x)
    bits, signed = INTEGERS[name]
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def bits_of(name):
    """Return the width of a type."""
    return 1 if name == "Boolean" else FLOATS[name].bits if name in FLOATS else INTEGERS[name][0]


def converted(x, source, target):
    """Return a value of one type as one of another."""
    if x is None or source == target:
        return x
    if target in FLOATS:
        return rounded(target, int(x) if source not in FLOATS else x)
    if target == "Boolean":
        return x != 0
    if source not in FLOATS:
        return wrapped(target, int(x))
    if not math.isfinite(x):
        return None
    x = math.trunc(x)
    return x if wrapped(target, x) == x else None


def common(a, b):
    """Return the common type of two."""
    if a == b:
        return a
    if a in FLOATS and b in FLOATS:
        wide = max(bits_of(a), bits_of(b))
        if wide < 16:
            raise ValueError("no common type")
        return "Float32" if bits_of(a) == bits_of(b) else a if bits_of(a) == wide else b
    if a in FLOATS or b in FLOATS:
        real, whole = (a, b) if a in FLOATS else (b, a)
        if bits_of(real) >= bits_of(whole):
            return real
        return "Float32" if bits_of(whole) <= 32 else "Float64"
    if "Boolean" in (a, b):
        return b if a == "Boolean" else a
    (wide_a, signed_a), (wide_b, signed_b) = INTEGERS[a], INTEGERS[b]
    if signed_a == signed_b:
        return a if wide_a >= wide_b else b
    signed, unsigned = (a, b) if signed_a else (b, a)
    return unsigned if bits_of(unsigned) >= bits_of(signed) else signed


def arithmetic(a, b):
    """Return the common type for arithmetic, where Booleans are `Int32`."""
    return common("Int32" if a == "Boolean" else a, "Int32" if b == "Boolean" else b)


def type_of_literal(x):
    """Return the type that a Python number counts as."""
    if isinstance(x, bool):
        return "Boolean"
    if isinstance(x, int):
        return "Int32" if -(1 << 31) <= x < 1 << 31 else "Int64"
    return "Float32"


class Number:
    """Values of one type, one for each lane."""

    def __init__(self, dtype, lanes, static=False, literal=False):
        self.dtype, self.lanes, self.static, self.literal = dtype, lanes, static, literal

    def to(self, target):
        target = getattr(target, "name", target)
        if self.literal and target in FLOATS:  # it keeps all digits until it takes a type
            return Number(target, [rounded(target, x) for x in self.lanes], True)
        return Number(target, [converted(x, self.dtype, target) for x in self.lanes], self.static)

    def select(self, a, b):
        a, b = operand(a), operand(b)
        name = common(a.dtype, b.dtype)
        a, b = a.to(name), b.to(name)
        return spread(name, [self, a, b], lambda c, x, y: x if c else y)

    def __neg__(self):
        if self.dtype == "Boolean":
            raise TypeError("negative of a Boolean")
        return spread(self.dtype, [self], lambda x: finish(self.dtype, -x))

    def __pos__(self):
        return self

    def __abs__(self):
        if self.dtype == "Boolean":
            raise TypeError("absolute value of a Boolean")
        return spread(self.dtype, [self], lambda x: finish(self.dtype, abs(x)))

    def __invert__(self):
        if self.dtype in FLOATS:
            raise TypeError("inverse of a float")
        return spread(
            self.dtype, [self], (lambda x: not x) if self.dtype == "Boolean" else lambda x: wrapped(self.dtype, ~x)
        )


def operand(x):
    """Return a `Number`, made of a literal where it is none."""
    return x if isinstance(x, Number) else Number(type_of_literal(x), [x], True, True)


def spread(dtype, numbers, function):
    """Apply a function lane by lane; a lane that depends on an undefined one is undefined."""
    count = max(len(one.lanes) for one in numbers)
    rows = zip(*(one.lanes * (count // len(one.lanes)) for one in numbers), strict=True)
    lanes = [None if any(x is None for x in row) else function(*row) for row in rows]
    return Number(dtype, lanes, all(one.static for one in numbers))


def finish(name, x):
    return x if x is None else rounded(name, x) if name in FLOATS else wrapped(name, x)


def divided(x, y):
    """Return the quotient of two floats as a float or fraction that is exact up to the last rounding."""
    if y == 0 or not (math.isfinite(x) and math.isfinite(y)):
        if math.isnan(x) or math.isnan(y) or (y == 0 and x == 0) or (math.isinf(x) and math.isinf(y)):
            return math.nan
        sign = math.copysign(1, x) * math.copysign(1, y)
        return sign * (0.0 if math.isinf(y) else math.inf)
    if x == 0:
        return math.copysign(0.0, x) * math.copysign(1, y)
    return Fraction(x) / Fraction(y)


def float_remainder(x, y):
    if math.isinf(x) or y == 0 or math.isnan(x) or math.isnan(y):
        return math.nan
    return math.fmod(x, y)


def float_divmod(name, x, y):
    """Return quotient and remainder as Python and NumPy compute them, each step rounded."""
    if y == 0:
        return rounded(name, divided(x, y)), math.nan
    rest = float_remainder(x, y)
    if math.isnan(rest):
        return math.nan, math.nan
    quotient = rounded(name, divided(rounded(name, x - rest), y))
    if rest:
        if (y < 0) != (rest < 0):
            rest, quotient = rounded(name, rest + y), rounded(name, quotient - 1)
    else:
        rest = finish(name, math.copysign(0.0, y))
    if quotient and math.isfinite(quotient):
        low = math.floor(quotient)
        quotient = rounded(name, low + 1 if quotient - low > 0.5 else low)
    elif not quotient:
        quotient = finish(name, math.copysign(0.0, x) * math.copysign(1, y))
    return quotient, rest


def multiplied(x, y):
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return x * y
    return Fraction(x) * Fraction(y)


def added(x, y):
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return x + y
    exact = Fraction(x) + Fraction(y)
    return exact if exact else 0.0


FLOAT_STEPS = {
    "+": lambda name, x, y: rounded(name, added(x, y)),
    "-": lambda name, x, y: rounded(name, added(x, -y)),
    "*": lambda name, x, y: rounded(name, multiplied(x, y)),
    "/": lambda name, x, y: rounded(name, divided(x, y)),
    "//": lambda name, x, y: float_divmod(name, x, y)[0],
    "%": lambda name, x, y: float_divmod(name, x, y)[1],
    "fmod": lambda name, x, y: rounded(name, float_remainder(x, y)),
}


def undefined_quotient(name, x, y):
    return y == 0 or (y == -1 and INTEGERS[name][1] and x == -(1 << (INTEGERS[name][0] - 1)))


def cut(x):
    """Return a float without its fraction, and with its sign."""
    return math.copysign(math.trunc(x), x) if math.isfinite(x) else x


def truncated(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


INTEGER_STEPS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "truncdiv": truncated,
    "fmod": lambda x, y: x - truncated(x, y) * y,
    "ceildiv": lambda x, y: -(-x // y),
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
    "**": lambda x, y: None if y < 0 else x**y,
}
COMPARISONS = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}


def binary(op, a, b):
    """Return what an operator gives, in the type that it gives."""
    a, b = operand(a), operand(b)
    if op in COMPARISONS:
        name = common(a.dtype, b.dtype)
        return spread("Boolean", [a.to(name), b.to(name)], COMPARISONS[op])
    if op in ("<<", ">>", "&", "|", "^"):
        if a.dtype in FLOATS or b.dtype in FLOATS:
            raise TypeError("bits of a float")
        name = common(a.dtype, b.dtype)
        if op in ("<<", ">>"):
            if name == "Boolean":
                raise TypeError("shift of a Boolean")
            return spread(name, [a.to(name), b.to(name)], lambda x, y: shifted(op, name, x, y, b.static))
        return spread(name, [a.to(name), b.to(name)], lambda x, y: wrapped(name, INTEGER_STEPS[op](x, y)))
    name = common(a.dtype, b.dtype) if op == "**" else arithmetic(a.dtype, b.dtype)
    if op == "/" and name not in FLOATS:
        if INTEGERS.get(a.dtype, (0, True))[1] != INTEGERS.get(b.dtype, (0, True))[1]:
            a, b = a.to(name), b.to(name)
        name = "Float64" if bits_of(name) > 32 else "Float32"
    a, b = a.to(name), b.to(name)
    if name in FLOATS:
        return spread(name, [a, b], lambda x, y: FLOAT_STEPS[op](name, x, y))

    def step(x, y):
        if op in ("//", "%", "truncdiv", "fmod", "ceildiv") and undefined_quotient(name, x, y):
            return None
        result = INTEGER_STEPS[op](x, y)
        return result if result is None else wrapped(name, result)

    return spread(name, [a, b], step)


def shifted(op, name, x, y, static):
    bits = INTEGERS[name][0]
    if y < 0 or (y >= bits and not static):
        return None
    return wrapped(name, x << y if op == "<<" else x >> y)


def extreme(larger, operands):
    numbers = [operand(one) for one in operands]
    name = numbers[0].dtype
    for one in numbers:
        name = arithmetic(name, one.dtype)

    def step(x, y):
        if name in FLOATS:
            if math.isnan(x) or math.isnan(y):
                return math.nan
            if x == y == 0:
                return x if (math.copysign(1, x) < 0) != larger else y
        return max(x, y) if larger else min(x, y)

    result = numbers[0].to(name)
    for one in numbers[1:]:
        result = spread(name, [result, one.to(name)], step)
    return result


class Class:
    """A numeric class of the language: `fx.Int8(x)`."""

    def __init__(self, name):
        self.name = name

    def __call__(self, x):
        if isinstance(x, Number):
            return x.to(self.name)
        if self.name in INTEGERS and isinstance(x, int):
            return Number(self.name, [wrapped(self.name, x)], True)
        return Number(self.name, [converted(x, "Float64" if isinstance(x, float) else "Int64", self.name)], True)


class Language:
    """What `fx` is for expressions."""

    def __init__(self):
        for name in ("Boolean", *INTEGERS, *FLOATS):
            setattr(self, name, Class(name))

    def max(self, *operands):
        return extreme(True, operands)

    def min(self, *operands):
        return extreme(False, operands)

    def ceildiv(self, a, b):
        return binary("ceildiv", a, b)

    def truncdiv(self, a, b):
        if arithmetic(operand(a).dtype, operand(b).dtype) in FLOATS:
            quotient = binary("/", a, b)
            name = quotient.dtype
            return spread(name, [quotient], lambda x: finish(name, cut(x)))
        return binary("truncdiv", a, b)

    def fmod(self, a, b):
        return binary("fmod", a, b)

    def shrui(self, a, b):
        bits = INTEGERS[a.dtype][0]

        def step(x, y):
            return None if not 0 <= y < bits else wrapped(a.dtype, (x & ((1 << bits) - 1)) >> y)

        return spread(a.dtype, [a, operand(b).to(a.dtype)], step)


def _method(op, reflected):
    def method(self, other):
        if not isinstance(other, (Number, int, float)):
            return NotImplemented
        return binary(op, other, self) if reflected else binary(op, self, other)

    return method


_NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow"}
_NAMES |= {"<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor"}
for _op, _name in _NAMES.items():
    setattr(Number, f"__{_name}__", _method(_op, False))
    setattr(Number, f"__r{_name}__", _method(_op, True))
for _op, _name in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}.items():
    setattr(Number, f"__{_name}__", _method(_op, False))
Number.__hash__ = None
