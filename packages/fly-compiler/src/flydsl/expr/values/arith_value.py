# SPDX-License-Identifier: Apache-2.0
"""`ArithValue`: what MLIR's Python bindings return for scalar and vector results, with operators.

Raw SSA values do not know signedness; integers count as signed unless `with_signedness(False)` says otherwise. A
Python literal takes the type of the value it meets. With a scalar of the language the result is one too.
"""

from __future__ import annotations

import enum
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._mlir import register_value_caster
from flydsl.trace.build import build
from flydsl.trace.fastmath import FastMath, flags_attribute

from . import above
from .numeric.base import Numeric, _class_of, as_numeric, scalar_binary
from .numeric.cast import bitcast_value, cast_value, constant, like
from .numeric.literals import check_raw_literal
from .numeric.meta import NumericMeta, class_of_ir_type, classes
from .numeric.operator_methods import with_operators
from .numeric.operators import (
    ADD,
    BinaryOp,
    emit_absolute,
    emit_binary,
    emit_invert,
    emit_negative,
    operand_type,
)

__all__ = ["ArithValue"]

_VectorType = ir.VectorType

_OF_VECTORS = frozenset(
    ("broadcast_to", "dtype", "element_type", "numel", "reduce", "reshape", "shape", "shuffle", "signed", "store")
)
"""What raw vectors have as `Vector`s do, beside operators, conversions and elements."""


def element_class(value: ir.Value) -> NumericMeta:
    """Return the numeric class of a raw scalar, or of the lanes of a raw vector."""
    known: NumericMeta | None = getattr(value, "signedness_class", None)
    if known is not None:
        return known
    kind = value.type
    return class_of_ir_type(kind.element_type if isinstance(kind, _VectorType) else kind)


@with_operators
class ArithValue(ir.Value):
    """A raw SSA scalar or vector of a builtin type.

    It has no constructor of its own: MLIR's bindings call it where a Python exception, which any line of Python may
    raise when the user presses Ctrl-C, would end the process.
    """

    signedness_class: NumericMeta | None = None

    def __repr__(self) -> str:
        owner = self.owner
        made_by = "block_arg" if isinstance(owner, ir.Block) else f"op={owner.name}"
        return f"ArithValue(type={self.type}, {made_by})"

    def with_signedness(self, signed: bool) -> ArithValue:
        """Return the same SSA value, with operators that take it as signed or unsigned."""
        base = class_of_ir_type(self.type.element_type if isinstance(self.type, _VectorType) else self.type)
        if base.is_float or base.width in (1, 4):
            return self
        result = ArithValue(self)
        result.signedness_class = base if signed else getattr(classes, f"Uint{base.width}")
        return result

    # -- conversions with the names of MLIR ops ------------------------------------------------------------------------

    def _cast(self, op: str, target: Any, attributes: dict[str, Any] | None = None) -> ir.Value:
        element = target.ir_type if isinstance(target, NumericMeta) else target
        result = element if isinstance(element, _VectorType) else like(self.type, element)
        return build(op, (self,), result, attributes)

    def extf(self, target: Any, *, fastmath: FastMath = None) -> ir.Value:
        """Widen a float."""
        return self._cast("arith.extf", target, flags_attribute(fastmath))

    def truncf(self, target: Any, *, fastmath: FastMath = None) -> ir.Value:
        """Narrow a float."""
        return self._cast("arith.truncf", target, flags_attribute(fastmath))

    def extui(self, target: Any) -> ir.Value:
        """Widen an integer with zeros."""
        return self._cast("arith.extui", target)

    def extsi(self, target: Any) -> ir.Value:
        """Widen an integer with its sign."""
        return self._cast("arith.extsi", target)

    def trunci(self, target: Any) -> ir.Value:
        """Narrow an integer."""
        return self._cast("arith.trunci", target)

    def index_cast(self, target: Any) -> ir.Value:
        """Convert between index and an integer type."""
        return self._cast("arith.index_cast", target)

    def bitcast(self, target: Any) -> ir.Value:
        """Reinterpret the bits; a vector type as target may change the number of lanes."""
        element = target.ir_type if isinstance(target, NumericMeta) else target
        if isinstance(element, _VectorType):
            return build("vector.bitcast", (self,), element)
        if isinstance(self.type, _VectorType) and class_of_ir_type(element).width != element_class(self).width:
            moved: ir.Value = self._vector().bitcast(class_of_ir_type(element)).value
            return moved
        return bitcast_value(self, element)

    def __getitem__(self, index: Any) -> Any:
        return self._vector()[index]

    def __len__(self) -> int:
        return len(self._vector())

    def __iter__(self) -> Any:
        return iter(self._vector())

    def _vector(self) -> Any:
        if not isinstance(self.type, _VectorType):
            raise TypeError(f"a value of type {self.type} is no vector, and has no elements")
        return above.Vector(self)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_VECTORS and isinstance(self.type, _VectorType):
            return getattr(self._vector(), name)
        raise AttributeError(f"a raw value of type {self.type} has no attribute '{name}'")

    @property
    def result(self) -> ir.Value:
        """This value; an op has its result under that name."""
        return self

    def to(self, target: Any) -> ir.Value:
        """Convert to a numeric class or MLIR scalar type, taking integers as signed."""
        return cast_value(self, element_class(self), _class_of(target))

    def ir_value(self) -> ir.Value:
        """Return this value."""
        return self

    def select(self, true_value: Any, false_value: Any) -> ir.Value:
        """Return `true_value` where this condition is true, else `false_value`."""
        a, b = _pair(true_value, false_value)
        return build("arith.select", (self, a, b), a.type)

    # -- operators -----------------------------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return int(ir.Value.__hash__(self))

    def __deepcopy__(self, memo: dict[int, object]) -> ArithValue:
        return self  # as for Python's numbers, which do not change either

    def __neg__(self) -> Any:
        return emit_negative(self, element_class(self))

    def __abs__(self) -> Any:
        return emit_absolute(self, element_class(self))

    def __invert__(self) -> Any:
        return emit_invert(self, element_class(self))

    def __bool__(self) -> bool:
        raise RuntimeError(
            f"cannot evaluate dynamic '{self.type}' as Python bool during tracing; use it in an 'if', 'while' or "
            "conditional expression of a function under @flyc.kernel or @flyc.jit, or value.select(a, b)"
        )

    def __index__(self) -> int:
        raise RuntimeError(f"dynamic '{self.type}' has no Python integer representation")

    __int__ = __index__

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __dsl_bool__(self) -> Any:
        return as_numeric(self).__dsl_bool__()

    def __dsl_not__(self) -> Any:
        return as_numeric(self).__dsl_not__()

    def __dsl_and__(self, other: Any) -> Any:
        return as_numeric(self).__dsl_and__(other)

    def __dsl_or__(self, other: Any) -> Any:
        return as_numeric(self).__dsl_or__(other)

    def __ir_value_count__(self) -> int:
        return 1

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [self]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Any:
        return values[0]


def _literal(value: Any, model: ir.Value, op: BinaryOp = ADD) -> ir.Value | None:
    """Return a Python number as a constant of the type of `model`; `None` for a float beside an integer.

    Raises:
        OverflowError: an integer that the type cannot hold, or whose value `op` would not see.
    """
    cls = element_class(model)
    if isinstance(value, float) and not cls.is_float:
        return None
    if type(value) is int and not cls.is_float:
        check_raw_literal(op, value, cls)
    return constant(value, cls, model.type)


def _pair(a: Any, b: Any) -> tuple[ir.Value, ir.Value]:
    """Bring two operands to one raw type: literals follow the other operand, scalars are broadcast to vectors."""
    if isinstance(a, Numeric):
        a = a.ir_value()
    if isinstance(b, Numeric):
        b = b.ir_value()
    if not isinstance(a, ir.Value):
        a, b = (as_numeric(a).ir_value(), b) if not isinstance(b, ir.Value) else (_literal(a, b), b)
    if not isinstance(b, ir.Value):
        b = _literal(b, a)
    if a is None or b is None:
        raise TypeError("a float literal cannot take an integer type; convert the value first")
    return _broadcast(a, b)


def _broadcast(a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    ta: Any = a.type
    tb: Any = b.type
    va, vb = isinstance(ta, _VectorType), isinstance(tb, _VectorType)
    if va and not vb:
        b = build("vector.broadcast", (b,), ir.VectorType.get(ta.shape, tb))
    elif vb and not va:
        a = build("vector.broadcast", (a,), ir.VectorType.get(tb.shape, ta))
    return a, b


def raw_binary(op: BinaryOp, left: Any, right: Any, fastmath: FastMath = None) -> Any:
    """Apply `op` to operands of which at least one is a raw SSA value."""
    if hasattr(left, "__dsl_vector__") or hasattr(right, "__dsl_vector__"):
        return NotImplemented
    if isinstance(left, Numeric) or isinstance(right, Numeric):
        other = right if isinstance(left, Numeric) else left
        if not (isinstance(other, ir.Value) and isinstance(other.type, _VectorType)):
            return scalar_binary(op, left, right, fastmath)
        if isinstance(left, Numeric):
            left = left.ir_value()
        else:
            right = right.ir_value()
    a, b = left, right
    if isinstance(a, enum.IntEnum):
        a = int(a)
    if isinstance(b, enum.IntEnum):
        b = int(b)
    if not isinstance(a, ir.Value):
        if type(a) not in (int, float, bool):
            return NotImplemented
        a = _literal(a, b, op)
    if not isinstance(b, ir.Value):
        if type(b) not in (int, float, bool):
            return NotImplemented
        b = _literal(b, a, op)
    if a is None or b is None:  # a float literal with an integer: as the scalars of the language do
        if isinstance((left if a is not None else right).type, _VectorType):
            raise TypeError(f"'{op.symbol}' of an integer vector and a float literal; convert the vector first")
        return scalar_binary(op, left, right, fastmath).ir_value()
    ca, cb = element_class(a), element_class(b)
    cls = ca if ca is cb and op.kind != "div" and not (op.kind in ("bit", "shift") and ca.is_float) else None
    if cls is None:
        cls = operand_type(op, ca, cb)
        a, b = cast_value(a, ca, cls), cast_value(b, cb, cls)
    a, b = _broadcast(a, b)
    result = emit_binary(op, a, b, cls, fastmath)
    if op.kind != "cmp" and cls.signed is False and isinstance(result, ArithValue):
        result.signedness_class = cls
    return result


ArithValue._apply = staticmethod(raw_binary)


def _register() -> None:
    for kind in (
        ir.IntegerType,
        ir.IndexType,
        ir.F16Type,
        ir.BF16Type,
        ir.F32Type,
        ir.F64Type,
        ir.VectorType,
        ir.Float8E5M2Type,
        ir.Float8E5M2FNUZType,
        ir.Float8E4M3FNType,
        ir.Float8E4M3FNUZType,
        ir.Float8E4M3B11FNUZType,
        ir.Float8E4M3Type,
        ir.Float8E8M0FNUType,
        ir.Float6E2M3FNType,
        ir.Float6E3M2FNType,
        ir.Float4E2M1FNType,
    ):
        register_value_caster(kind.static_typeid, replace=True)(ArithValue)


_register()
