# SPDX-License-Identifier: Apache-2.0
"""The operators: one table that says how each folds, and which MLIR op it is for signed, unsigned and float operands.

Scalars, vectors and raw SSA values share it; they differ only in how operands are brought to the common type.

`//` and `%` mean what they mean in Python, whether the operands are known while tracing or not: the quotient is rounded
down, the remainder has the sign of the divisor, and a == (a // b) * b + a % b. C's truncating forms are `fx.truncdiv`
and `fx.fmod`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from flydsl._mlir import ir
from flydsl.trace.build import build, int_attribute
from flydsl.trace.fastmath import FastMath, flags_attribute

from .cast import constant, like
from .meta import NumericMeta, classes
from .promote import arithmetic_type, common_type

__all__ = [
    "ADD",
    "AND",
    "BINARY",
    "EQ",
    "FLOORDIV",
    "GE",
    "GT",
    "LE",
    "LT",
    "MOD",
    "MUL",
    "NE",
    "OR",
    "POW",
    "SHL",
    "SHR",
    "SUB",
    "TRUEDIV",
    "XOR",
    "BinaryOp",
    "agreed",
    "emit_absolute",
    "emit_binary",
    "emit_invert",
    "emit_negative",
    "operand_type",
    "result_type",
    "single_op",
]


class BinaryOp(NamedTuple):
    """One binary operator.

    `kind` is `arith`, `div`, `bit`, `shift`, `cmp` or `pow`; `fold` its meaning on Python numbers. For comparisons the
    op fields hold predicate numbers.
    """

    symbol: str
    kind: str
    fold: Callable[[Any, Any], Any]
    signed: Any
    unsigned: Any
    floating: Any


ADD = BinaryOp("+", "arith", operator.add, "arith.addi", "arith.addi", "arith.addf")
SUB = BinaryOp("-", "arith", operator.sub, "arith.subi", "arith.subi", "arith.subf")
MUL = BinaryOp("*", "arith", operator.mul, "arith.muli", "arith.muli", "arith.mulf")
FLOORDIV = BinaryOp("//", "arith", operator.floordiv, "arith.floordivsi", "arith.divui", "arith.divf")
MOD = BinaryOp("%", "arith", operator.mod, "arith.remsi", "arith.remui", "arith.remf")
TRUEDIV = BinaryOp("/", "div", operator.truediv, None, None, "arith.divf")
POW = BinaryOp("**", "pow", operator.pow, "math.ipowi", "math.ipowi", "math.powf")
SHL = BinaryOp("<<", "shift", operator.lshift, "arith.shli", "arith.shli", None)
SHR = BinaryOp(">>", "shift", operator.rshift, "arith.shrsi", "arith.shrui", None)
AND = BinaryOp("&", "bit", operator.and_, "arith.andi", "arith.andi", None)
OR = BinaryOp("|", "bit", operator.or_, "arith.ori", "arith.ori", None)
XOR = BinaryOp("^", "bit", operator.xor, "arith.xori", "arith.xori", None)
# arith.CmpIPredicate (signed, unsigned) and arith.CmpFPredicate: ordered, except that != is true of NaN.
EQ = BinaryOp("==", "cmp", operator.eq, 0, 0, 1)
NE = BinaryOp("!=", "cmp", operator.ne, 1, 1, 13)
LT = BinaryOp("<", "cmp", operator.lt, 2, 6, 4)
LE = BinaryOp("<=", "cmp", operator.le, 3, 7, 5)
GT = BinaryOp(">", "cmp", operator.gt, 4, 8, 2)
GE = BinaryOp(">=", "cmp", operator.ge, 5, 9, 3)

BINARY = {
    op.symbol: op for op in (ADD, SUB, MUL, FLOORDIV, MOD, TRUEDIV, POW, SHL, SHR, AND, OR, XOR, EQ, NE, LT, LE, GT, GE)
}


def operand_type(op: BinaryOp, a: NumericMeta, b: NumericMeta) -> NumericMeta:
    """Return the type that both operands are converted to.

    Raises:
        TypeError: a bitwise or shift operator with a float.
        ValueError: the operands have no common type.
    """
    kind = op.kind
    if kind == "arith":
        return arithmetic_type(a, b)
    if kind == "div":
        cls = arithmetic_type(a, b)
        return cls if cls.is_float else (classes.Float64 if cls.width > 32 else classes.Float32)
    if kind in ("bit", "shift") and (a.is_float or b.is_float):
        raise TypeError(f"'{op.symbol}' needs integers, got {a.__name__} and {b.__name__}")
    return common_type(a, b)


def agreed(op: BinaryOp, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the operands of `/` in their common integer type, when they are integers that differ in signedness.

    A negative number divided by an unsigned one is a large number, as with every other operator of the two.
    """
    if op.kind != "div" or a.dtype.is_float or b.dtype.is_float or a.dtype.signed == b.dtype.signed:
        return a, b
    cls = arithmetic_type(a.dtype, b.dtype)
    return a.to(cls), b.to(cls)


def result_type(op: BinaryOp, cls: NumericMeta) -> NumericMeta:
    """Return the type of the result of `op` on two `cls`."""
    return classes.Boolean if op.kind == "cmp" else cls


def single_op(op: BinaryOp, cls: NumericMeta) -> str | None:
    """Return the MLIR op that is all of `op` on two `cls`, whatever they are; `None` where that depends, or is more."""
    if op.kind not in ("arith", "bit", "div") or op is FLOORDIV or op is MOD:
        return None
    name: str | None = op.floating if cls.is_float else op.unsigned  # of each of these the same as for signed ones
    return name


def emit_binary(op: BinaryOp, a: ir.Value, b: ir.Value, cls: NumericMeta, fastmath: FastMath = None) -> ir.Value:
    """Emit `op` on two SSA values of `cls` (scalars, or vectors of one shape).

    Raises:
        ZeroDivisionError: `//` or `%` of integers by a constant zero.
        ValueError: a shift by a negative constant.
    """
    if op.kind == "cmp":
        return _compare(op, a, b, cls, fastmath)
    if cls.is_float:
        if op is FLOORDIV:
            return _float_floordiv(a, b, cls, fastmath)
        value = build(op.floating, (a, b), None, flags_attribute(fastmath))
        return _float_modulo(value, b, cls, fastmath) if op is MOD else value
    single = single_op(op, cls)
    if single is not None:
        return build(single, (a, b), None)
    signed = cls.signed and cls.width > 1
    right = _known(b, cls)
    if right == 0 and op in (FLOORDIV, MOD):
        raise ZeroDivisionError(f"'{op.symbol}' of an integer by zero")
    if op.kind == "shift" and right is not None and not 0 <= right < cls.width:
        if right < 0:
            raise ValueError(f"negative shift count: {right}")
        if op is SHL or not signed:
            return constant(0, cls, a.type)
        b = constant(cls.width - 1, cls, b.type)  # the machine's shifts take the amount modulo the width
    value = build(op.signed if signed else op.unsigned, (a, b), None)
    return _modulo(value, b, cls) if signed and op is MOD else value


def _compare(op: BinaryOp, a: ir.Value, b: ir.Value, cls: NumericMeta, fastmath: FastMath = None) -> ir.Value:
    if cls.is_float:
        attributes = dict(flags_attribute(fastmath) or {}, predicate=int_attribute(op.floating, 64))
        return build("arith.cmpf", (a, b), like(a.type, _i1()), attributes)
    predicate = op.signed if cls.signed and cls.width > 1 else op.unsigned
    return build("arith.cmpi", (a, b), like(a.type, _i1()), {"predicate": int_attribute(predicate, 64)})


def _modulo(remainder: ir.Value, divisor: ir.Value, cls: NumericMeta) -> ir.Value:
    """Return the remainder of the division that rounds down, from that of the one that truncates.

    Of a divisor of known sign one comparison is left, which LLVM folds where it knows the sign of the dividend, and to
    a mask where the divisor is a power of two.
    """
    zero = constant(0, cls, remainder.type)
    known = _known(divisor, cls)
    if known is not None:
        wrong = _compare(LT if known > 0 else GT, remainder, zero, cls)
    else:
        differ = _compare(LT, build("arith.xori", (remainder, divisor), remainder.type), zero, cls)
        wrong = build("arith.andi", (_compare(NE, remainder, zero, cls), differ), differ.type)
    moved = build("arith.addi", (remainder, divisor), remainder.type)
    return build("arith.select", (wrong, moved, remainder), remainder.type)


def _known(value: ir.Value, cls: NumericMeta) -> int | None:
    """Return an integer constant, or that of a vector of one constant; `None` where it is not known."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant" or not 1 < cls.width <= 64:
        return None  # the bindings read no attribute of more than 64 bits
    held = owner.attributes["value"]
    if isinstance(held, ir.DenseIntElementsAttr):
        if not held.is_splat:
            return None
        held = held.get_splat_value()
    number: int = ir.IntegerAttr(held).value
    return number if cls.signed else number & ((1 << cls.width) - 1)


def _float_modulo(remainder: ir.Value, divisor: ir.Value, cls: NumericMeta, fastmath: FastMath) -> ir.Value:
    """Return the remainder with the sign of the divisor, from that with the sign of the dividend; as Python does."""
    flags = flags_attribute(fastmath)
    moved = build("arith.addf", (remainder, divisor), remainder.type, flags)
    wrong = _signs_differ(remainder, divisor, cls, fastmath)
    value = build("arith.select", (wrong, moved, remainder), remainder.type)
    return build("math.copysign", (value, divisor), value.type, flags)


def _float_floordiv(a: ir.Value, b: ir.Value, cls: NumericMeta, fastmath: FastMath) -> ir.Value:
    """Return the largest integer that is not above the exact quotient; the rounded quotient may be one too large."""
    flags = flags_attribute(fastmath)
    zero, one, half = (constant(number, cls, a.type) for number in (0.0, 1.0, 0.5))
    remainder = build("arith.remf", (a, b), a.type, flags)
    exact = build("arith.divf", (build("arith.subf", (a, remainder), a.type, flags), b), a.type, flags)
    lower = build("arith.subf", (exact, one), a.type, flags)
    exact = build("arith.select", (_signs_differ(remainder, b, cls, fastmath), lower, exact), a.type)
    value = build("math.floor", (exact,), a.type, flags)
    above = _compare(GT, build("arith.subf", (exact, value), a.type, flags), half, cls, fastmath)
    value = build("arith.select", (above, build("arith.addf", (value, one), a.type, flags), value), a.type)
    # A quotient of zero has the sign of the exact one.
    signs = build("arith.mulf", [build("math.copysign", (one, x), a.type, flags) for x in (a, b)], a.type, flags)
    signed_zero = build("math.copysign", (zero, signs), a.type, flags)
    value = build("arith.select", (_compare(EQ, value, zero, cls, fastmath), signed_zero, value), a.type)
    by_zero = _compare(EQ, b, zero, cls, fastmath)
    return build("arith.select", (by_zero, build("arith.divf", (a, b), a.type, flags), value), a.type)


def _signs_differ(remainder: ir.Value, divisor: ir.Value, cls: NumericMeta, fastmath: FastMath) -> ir.Value:
    """Whether a remainder is not zero and of another sign than the divisor."""
    zero = constant(0.0, cls, remainder.type)
    negative = [_compare(LT, one, zero, cls, fastmath) for one in (remainder, divisor)]
    differ = build("arith.xori", negative, negative[0].type)
    return build("arith.andi", (_compare(NE, remainder, zero, cls, fastmath), differ), differ.type)


def _i1() -> ir.Type:
    """Return the type i1."""
    return classes.Boolean.ir_type


def emit_negative(value: ir.Value, cls: NumericMeta) -> ir.Value:
    """Emit `-value`; `TypeError` for `Boolean`."""
    if cls.is_float:
        return build("arith.negf", (value,), value.type, flags_attribute())
    if cls.width == 1:
        raise TypeError("unary '-' is not defined for Boolean; convert it first, for example x.to(fx.Int32)")
    return build("arith.subi", (constant(0, cls, value.type), value), value.type)


def emit_invert(value: ir.Value, cls: NumericMeta) -> ir.Value:
    """Emit `~value`; `TypeError` for floats."""
    if cls.is_float:
        raise TypeError(f"'~' needs an integer, got {cls.__name__}")
    return build("arith.xori", (value, constant(-1, cls, value.type)), value.type)


def emit_absolute(value: ir.Value, cls: NumericMeta, fastmath: FastMath = None) -> ir.Value:
    """Emit the absolute value; unsigned integers are their own, `TypeError` for `Boolean`."""
    if cls.is_float:
        return build("math.absf", (value,), value.type, flags_attribute(fastmath))
    if cls.width == 1:
        raise TypeError("abs() is not defined for Boolean")
    return build("math.absi", (value,), value.type) if cls.signed else value
