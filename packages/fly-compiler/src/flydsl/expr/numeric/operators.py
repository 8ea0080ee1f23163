# SPDX-License-Identifier: Apache-2.0
"""The operators: one table that says how each folds, and which MLIR op it is for signed, unsigned and float operands.

Scalars, vectors and raw SSA values share it; they differ only in how operands are brought to the common type.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flydsl._mlir import ir

from .._build import attribute, build
from ..fastmath import flags_attribute
from .cast import constant, like
from .meta import NumericMeta
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
]


@dataclass(frozen=True, eq=False)
class BinaryOp:
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
        from .types import Float32, Float64

        cls = arithmetic_type(a, b)
        return cls if cls.is_float else (Float64 if cls.width > 32 else Float32)
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
    if op.kind == "cmp":
        from .types import Boolean

        return Boolean
    return cls


def emit_binary(op: BinaryOp, a: ir.Value, b: ir.Value, cls: NumericMeta, fastmath: Any = None) -> ir.Value:
    """Emit `op` on two SSA values of `cls` (scalars, or vectors of one shape)."""
    if cls.is_float:
        if op.kind == "cmp":
            attributes = dict(flags_attribute(fastmath) or {}, predicate=attribute(f"{op.floating} : i64"))
            return build("arith.cmpf", (a, b), like(a.type, _i1()), attributes)
        value = build(op.floating, (a, b), a.type, flags_attribute(fastmath))
        return build("math.floor", (value,), value.type, flags_attribute(fastmath)) if op is FLOORDIV else value
    signed = cls.signed and cls.width > 1
    if op.kind == "cmp":
        predicate = op.signed if signed else op.unsigned
        return build("arith.cmpi", (a, b), like(a.type, _i1()), {"predicate": attribute(f"{predicate} : i64")})
    return build(op.signed if signed else op.unsigned, (a, b), a.type)


def _i1() -> ir.Type:
    """Return the type i1."""
    from .types import Boolean

    return Boolean.ir_type


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


def emit_absolute(value: ir.Value, cls: NumericMeta, fastmath: Any = None) -> ir.Value:
    """Emit the absolute value; unsigned integers are their own, `TypeError` for `Boolean`."""
    if cls.is_float:
        return build("math.absf", (value,), value.type, flags_attribute(fastmath))
    if cls.width == 1:
        raise TypeError("abs() is not defined for Boolean")
    return build("math.absi", (value,), value.type) if cls.signed else value
