# SPDX-License-Identifier: Apache-2.0
"""Raw builders of the `arith` dialect: they return SSA values. Names that are not here are the dialect's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir.dialects import arith as _dialect
from flydsl.trace.build import build, int_attribute
from flydsl.trace.diagnostics import where_text
from flydsl.trace.fastmath import FastMath, FastMathFlags, fastmath, flags_attribute

from ..values.arith_value import _pair, element_class
from ..values.numeric.base import Numeric, as_numeric
from ..values.numeric.cast import RoundingMode, cast_value, like
from ..values.numeric.cast import constant as _constant
from ..values.numeric.meta import NumericMeta, class_of_ir_type
from ..values.numeric.types import Boolean, Index
from ..values.vector import Vector
from .math import ceildiv, max, maxnumf, min, minnumf

if TYPE_CHECKING:
    from flydsl.trace.fastmath import FastMath

    from ..values.accepted import TypeLike, ValueLike

CmpFPredicate = _dialect.CmpFPredicate
CmpIPredicate = _dialect.CmpIPredicate

__all__ = [
    "CmpFPredicate",
    "CmpIPredicate",
    "FastMathFlags",
    "RoundingMode",
    "addf",
    "addi",
    "andi",
    "ceildiv",
    "cmpf",
    "cmpi",
    "constant",
    "constant_vector",
    "divf",
    "fastmath",
    "index",
    "index_cast",
    "int_to_fp",
    "max",
    "maximumf",
    "maxnumf",
    "min",
    "minimumf",
    "minnumf",
    "mulf",
    "muli",
    "ori",
    "select",
    "shli",
    "shrsi",
    "shrui",
    "sitofp",
    "subf",
    "subi",
    "trunc_f",
    "unwrap",
    "xori",
]


def _type(kind: Any) -> ir.Type:
    return kind.ir_type if isinstance(kind, NumericMeta) else kind


def _of_shape(source: ir.Type, kind: Any) -> ir.Type:
    """Return `kind` for elements of `source`; a vector type as it is."""
    kind = _type(kind)
    return kind if isinstance(kind, ir.VectorType) else like(source, kind)


def constant(value: Any, type: TypeLike | None = None, index: bool = False) -> ir.Value:
    """Return a number as an SSA constant of an MLIR type or numeric class; without one i32, i64, f32 or i1."""
    if index:
        return _constant(value, Index)
    if type is None:
        return as_numeric(value).ir_value()
    kind = _type(type)
    if isinstance(kind, ir.VectorType):
        return _constant(value, class_of_ir_type(kind.element_type), kind)
    return _constant(value, class_of_ir_type(kind))


def index(value: int) -> ir.Value:
    """Return a number as an index constant."""
    return _constant(value, Index)


def constant_vector(value: ValueLike, vec_type: ir.Type) -> ir.Value:
    """Return a splat constant of a vector type (deprecated; use `fx.full`)."""
    return constant(value, vec_type)


def unwrap(value: ValueLike, type: TypeLike | None = None, index: bool = False) -> ir.Value:
    """Return the raw SSA value; Python numbers become constants of `type`."""
    if isinstance(value, (bool, int, float)):
        return constant(value, type, index)
    if isinstance(value, Vector):
        return value.value
    raw = value if isinstance(value, ir.Value) else as_numeric(value).ir_value()
    if index and not isinstance(raw.type, ir.IndexType):
        return cast_value(raw, element_class(raw), Index)
    return raw


_to_raw = unwrap


def index_cast(type: TypeLike, value: ValueLike) -> ir.Value:
    """Convert between index and an integer type, or return a value of that type (deprecated; use `.to`)."""
    raw, kind = unwrap(value), _type(type)
    return raw if raw.type == kind else build("arith.index_cast", (raw,), kind)


def select(condition: ValueLike, true_value: ValueLike, false_value: ValueLike) -> Any:
    """Return `true_value` where the condition is true, else `false_value`; raw for raw operands."""
    if any(isinstance(x, (Numeric, Vector)) for x in (true_value, false_value)):
        if isinstance(condition, Vector):
            return condition.select(true_value, false_value)
        return as_numeric(condition).select(true_value, false_value)
    a, b = _pair(true_value, false_value)
    return build("arith.select", (unwrap(condition), a, b), a.type)


def sitofp(type: TypeLike, value: ValueLike) -> ir.Value:
    """Convert a signed integer to a float type, or a vector to a vector type or elements of a float type."""
    raw = unwrap(value)
    return build("arith.sitofp", (raw,), _of_shape(raw.type, type))


def int_to_fp(value: ValueLike, type: TypeLike | bool, signed: TypeLike | bool = True) -> ir.Value:
    """Convert an integer to a float type, as signed or unsigned; `(value, signed, type)` is accepted too."""
    if isinstance(type, bool):
        type, signed = signed, type
    raw = unwrap(value)
    return build("arith.sitofp" if signed else "arith.uitofp", (raw,), _of_shape(raw.type, type))


def trunc_f(type: TypeLike, value: ValueLike) -> ir.Value:
    """Narrow a float to a float type, or a vector to a vector type or elements of a float type."""
    raw = unwrap(value)
    return build("arith.truncf", (raw,), _of_shape(raw.type, type))


def _predicate(predicate: Any) -> Any:
    return int_attribute(int(getattr(predicate, "value", predicate)), 64)


def _compare(op: str, predicate: Any, a: Any, b: Any, extra: dict[str, Any]) -> ir.Value:
    x, y = _pair(_raw(a), _raw(b))
    if isinstance(predicate, str):
        names = {one.name.lower(): one for one in (CmpIPredicate if op == "arith.cmpi" else CmpFPredicate)}
        if predicate.lower() not in names:
            raise ValueError(f"{op}: there is no predicate '{predicate}'; they are {', '.join(names)}" + where_text())
        predicate = names[predicate.lower()]
    return build(op, (x, y), like(x.type, Boolean.ir_type), {"predicate": _predicate(predicate), **extra})


def cmpi(predicate: Any, a: ValueLike, b: ValueLike) -> ir.Value:
    """Compare integers by a `CmpIPredicate` (or its name or number); a raw 1-bit value."""
    return _compare("arith.cmpi", predicate, a, b, {})


def cmpf(predicate: Any, a: ValueLike, b: ValueLike, fastmath: FastMath = None) -> ir.Value:
    """Compare floats by a `CmpFPredicate` (or its name or number); a raw 1-bit value."""
    return _compare("arith.cmpf", predicate, a, b, flags_attribute(fastmath) or {})


def _raw(value: Any) -> Any:
    return value.value if isinstance(value, Vector) else value


def _binary(name: str, floating: bool) -> Any:
    op = "arith." + name

    def function(a: Any, b: Any, *, fastmath: FastMath = None) -> ir.Value:
        x, y = _pair(_raw(a), _raw(b))
        return build(op, (x, y), x.type, flags_attribute(fastmath) if floating else None)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Build `{op}` on two operands of one type; a Python number takes the type of the other."
    return function


addf = _binary("addf", True)
subf = _binary("subf", True)
mulf = _binary("mulf", True)
divf = _binary("divf", True)
maximumf = _binary("maximumf", True)
minimumf = _binary("minimumf", True)
addi = _binary("addi", False)
subi = _binary("subi", False)
muli = _binary("muli", False)
andi = _binary("andi", False)
ori = _binary("ori", False)
xori = _binary("xori", False)
shli = _binary("shli", False)
shrsi = _binary("shrsi", False)
shrui = _binary("shrui", False)
