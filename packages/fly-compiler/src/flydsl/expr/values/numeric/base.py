# SPDX-License-Identifier: Apache-2.0
"""`Numeric`: a scalar of the language, known while tracing (static) or an SSA value (dynamic)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from flydsl._mlir import ir
from flydsl.trace.build import build
from flydsl.trace.fastmath import FastMath, flags_attribute
from flydsl.trace.wrap import register_makers

from .. import above
from .cast import Literal, RoundingMode, bitcast_value, cast_number, cast_value, constant, held_number
from .literals import check_literal
from .meta import NumericMeta, class_of_ir_type, classes
from .operator_methods import Operators
from .operators import (
    POW,
    SHL,
    BinaryOp,
    agreed,
    emit_absolute,
    emit_binary,
    emit_invert,
    emit_negative,
    operand_type,
    result_type,
    single_op,
)
from .promote import common_type

__all__ = ["Numeric", "as_numeric", "scalar_binary", "select", "wrap"]

_Value = ir.Value


class Numeric(Operators, metaclass=NumericMeta):
    """Base of all scalar types. `T(value)` takes a Python number, another scalar or an SSA value.

    `value` is the Python number of a static scalar, the SSA value of a dynamic one. Integers wrap modulo 2^width;
    a float becomes an integer by truncation toward zero.

    Raises:
        ValueError: the value is of a kind that has no numeric meaning (a string, a numpy scalar, NaN into an integer).
        OverflowError: infinity into an integer type.
    """

    __slots__ = ("value",)

    value: Any

    def __init__(self, value: Any = 0) -> None:
        kind = type(value)
        if kind is int or kind is float or kind is bool or kind is Literal:
            self.value = cast_number(value, type(self))
        elif isinstance(value, Numeric):
            self.value = _convert(value, type(self))
        elif isinstance(value, _Value):
            self.value = _adopt(value, type(self))
        else:
            scalar = getattr(value, "__dsl_scalar__", None)
            if scalar is None:
                raise ValueError(
                    f"{type(self).__name__}(...) takes a Python number, a scalar of the language or an SSA value, "
                    f"not {type(value).__module__}.{type(value).__qualname__}: {value!r}"
                )
            self.value = _convert(as_numeric(scalar()), type(self))

    # -- facts ---------------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> NumericMeta:
        """The class of this scalar."""
        return type(self)

    @property
    def type(self) -> ir.Type:
        """The MLIR type."""
        return type(self).ir_type

    def is_static(self) -> bool:
        """Tell whether the value is known while tracing."""
        return not isinstance(self.value, _Value)

    def ir_value(self) -> ir.Value:
        """Return the SSA value; a static scalar becomes a constant."""
        value = self.value
        return value if isinstance(value, _Value) else constant(value, type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    def __str__(self) -> str:
        return "?"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.is_static():
            return format(self.value, spec)
        raise TypeError(
            f"a run-time '{type(self).__name__}' cannot be formatted with '{spec}': Python makes the text while "
            'tracing; print the value when the kernel runs, fx.printf("{}", value)'
        )

    def __hash__(self) -> int:
        return hash((type(self), self.value))

    def __deepcopy__(self, memo: dict[int, object]) -> Numeric:
        return self  # as for Python's numbers, which do not change either

    def _python(self, what: str) -> Any:
        if isinstance(self.value, _Value):
            name = type(self).__name__
            if what == "bool":
                raise RuntimeError(
                    f"cannot evaluate dynamic '{name}' as Python bool during tracing; use it in an 'if', 'while' or "
                    "conditional expression of a function under @flyc.kernel or @flyc.jit, or x.select(a, b)"
                )
            raise RuntimeError(
                f"dynamic '{name}' has no Python {what} representation; its value is only known when the kernel runs"
            )
        return self.value

    def __bool__(self) -> bool:
        return bool(self._python("bool"))

    def __int__(self) -> int:
        return int(self._python("integer"))

    def __index__(self) -> int:
        value = self._python("integer")
        if isinstance(value, float):
            raise TypeError(f"'{type(self).__name__}' cannot be used as an integer")
        return int(value)

    def __float__(self) -> float:
        return float(self._python("float"))

    # -- conversions ---------------------------------------------------------------------------------------------------

    @overload
    def to(self, dtype: NumericMeta, rounding_mode: Any = None) -> Numeric: ...

    @overload
    def to(self, dtype: Any, rounding_mode: Any = None) -> Any: ...

    def to(self, dtype: Any, rounding_mode: Any = None) -> Any:
        """Convert to another numeric class, or a static scalar to Python's `int`, `float` or `bool`.

        Args:
            dtype: the destination.
            rounding_mode: an `fx.arith.RoundingMode`, for a dynamic float to float conversion; widening ignores it.

        Raises:
            ValueError: a dynamic scalar to a Python type; a rounding mode for a static scalar.
            TypeError: a rounding mode where no float is converted to a float.
        """
        if dtype is int or dtype is float or dtype is bool:
            if not self.is_static():
                raise ValueError(f"a dynamic '{type(self).__name__}' cannot be converted to Python's {dtype.__name__}")
            return dtype(self.value)
        if not isinstance(dtype, NumericMeta):
            dtype = _class_of(dtype)
        if dtype is type(self):
            return self
        if rounding_mode is None:
            return dtype(self)
        if not (type(self).is_float and dtype.is_float):
            raise TypeError(f"rounding_mode applies to float to float, not {type(self).__name__} to {dtype.__name__}")
        if self.is_static():
            raise ValueError("rounding_mode applies to dynamic values; this one is known while tracing")
        return wrap(dtype, cast_value(self.value, type(self), dtype, RoundingMode[rounding_mode.name]))

    def bitcast(self, dtype: Any) -> Numeric:
        """Reinterpret the bits as `dtype`, which must be as wide; `ValueError` otherwise."""
        dtype = _class_of(dtype)
        if dtype.width != type(self).width:
            raise ValueError(
                f"bitcast from {type(self).__name__} ({type(self).width} bits) to {dtype.__name__} "
                f"({dtype.width} bits): the widths must match"
            )
        return wrap(dtype, bitcast_value(self.ir_value(), dtype.ir_type))

    def select(self, true_value: Any, false_value: Any) -> Any:
        """Return `true_value` where this scalar is true (not zero), else `false_value`, in their common type."""
        return select(self, true_value, false_value)

    # -- operators -----------------------------------------------------------------------------------------------------

    def __neg__(self) -> Any:
        cls = type(self)
        if self.is_static() and cls.width > 1:
            return cls(-self.value)
        return wrap(cls, emit_negative(self.ir_value() if cls.width > 1 else self.value, cls))

    def __abs__(self) -> Any:
        cls = type(self)
        if cls.width == 1:
            raise TypeError("abs() is not defined for Boolean")
        return cls(abs(self.value)) if self.is_static() else wrap(cls, emit_absolute(self.value, cls))

    def __invert__(self) -> Any:
        cls = type(self)
        if cls.is_float:
            raise TypeError(f"'~' needs an integer, got {cls.__name__}")
        if self.is_static():
            return cls(not self.value if cls.width == 1 else ~self.value)
        return wrap(cls, emit_invert(self.value, cls))

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __dsl_bool__(self) -> Any:
        """Return the truth of this scalar as a `Boolean`: itself, or `self != 0`."""
        return self if type(self).width == 1 else self != wrap(type(self), type(self).zero)

    def __dsl_not__(self) -> Any:
        """Return the logical negation as a `Boolean`."""
        return ~self.__dsl_bool__()

    def __dsl_and__(self, other: Any) -> Any:
        """Return the logical conjunction as a `Boolean`; both sides have been evaluated."""
        return self.__dsl_bool__() & as_numeric(other).__dsl_bool__()

    def __dsl_or__(self, other: Any) -> Any:
        """Return the logical disjunction as a `Boolean`; both sides have been evaluated."""
        return self.__dsl_bool__() | as_numeric(other).__dsl_bool__()

    def __ir_value_count__(self) -> int:
        return 1

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [self.ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[ir.Value], exemplar: Any = None) -> Any:
        return wrap(cls, values[0])

    def __get_ir_types__(self) -> list[ir.Type]:
        return [type(self).ir_type]

    def __cache_signature__(self) -> Any:
        return type(self)

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return _storable_bytes(cls)

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return _storable_bytes(cls)

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        return _recast(ptr, cls).load()

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        _recast(ptr, cls).store(value if isinstance(value, cls) else cls(value))


def _recast(ptr: Any, cls: Any) -> Any:
    return ptr if ptr.dtype is cls else above.recast_iter(cls, ptr)


def _storable_bytes(cls: NumericMeta) -> int:
    width = getattr(cls, "width", 0)
    if width < 8:
        raise TypeError(
            f"'{cls.__name__}' cannot be stored by itself: it is narrower than a byte; use a vector or fx.Array of them"
        )
    return width // 8


def wrap(cls: Any, value: Any) -> Numeric:
    """Return a scalar of `cls` around an SSA value of its type, or a number in its range; nothing is checked."""
    result: Numeric = object.__new__(cls)
    result.value = value
    return result


def as_numeric(value: Any) -> Numeric:
    """Return `value` as a scalar: bool is `Boolean`, int `Int32` (`Int64` beyond it), float `Float32`.

    SSA values take the class of their MLIR type (signed integers).

    Raises:
        OverflowError: an integer that 64 bits cannot hold.
        TypeError: there is no scalar of that kind of value.
    """
    if isinstance(value, Numeric):
        return value
    kind = type(value)
    if kind is bool:
        return wrap(classes.Boolean, value)
    if kind is int:
        if -(1 << 31) <= value < 1 << 31:
            return wrap(classes.Int32, value)
        if not -(1 << 63) <= value < 1 << 64:
            raise OverflowError(f"{value} does not fit 64 bits; a type says what is meant, for example fx.Int128(...)")
        wide: Numeric = classes.Int64(value)
        return wide
    if kind is float:
        return wrap(classes.Float32, Literal(value))
    if isinstance(value, _Value):
        return wrap(_value_class(value), value)
    scalar = getattr(value, "__dsl_scalar__", None)
    if scalar is not None:
        return as_numeric(scalar())
    if isinstance(value, int):  # a member of an IntEnum
        return as_numeric(int(value))
    raise TypeError(f"expected a number or a scalar of the language, got '{kind.__name__}': {value!r}")


def _value_class(value: ir.Value) -> NumericMeta:
    return getattr(value, "signedness_class", None) or class_of_ir_type(value.type)


def _class_of(dtype: Any) -> NumericMeta:
    if isinstance(dtype, NumericMeta):
        return dtype
    if isinstance(dtype, ir.Type):
        return class_of_ir_type(dtype)
    raise TypeError(f"expected a numeric type of the language such as fx.Float32, got {dtype!r}")


def _convert(source: Numeric, cls: NumericMeta) -> Any:
    value = source.value
    if not isinstance(value, _Value):
        return cast_number(held_number(value, type(source)), cls)
    return cast_value(value, type(source), cls)


def _adopt(value: ir.Value, cls: NumericMeta) -> ir.Value:
    if value.type == cls.ir_type:
        return value
    source = _value_class(value)
    if getattr(value, "signedness_class", None) is None and not source.is_float:
        if cls.is_float:
            raise ValueError(
                f"{cls.__name__}(...) of a raw '{value.type}' value: it is not known whether the integer is signed; "
                "wrap it first, for example fx.Int32(value)"
            )
        if cls.signed is False and source.signed and cls.mnemonic != "index":  # the destination says how to extend
            return cast_value(value, _unsigned(source), cls)
    return cast_value(value, source, cls)


def _unsigned(cls: NumericMeta) -> NumericMeta:
    found: NumericMeta = getattr(classes, f"Uint{cls.width}", cls)
    return found


def _operand(value: Any) -> Any:
    """Return `value` as a scalar, or `None` when the other operand's class has to handle it."""
    if isinstance(value, Numeric):
        return value
    kind = type(value)
    if kind is int or kind is float or kind is bool:
        return as_numeric(value)
    if isinstance(value, _Value):
        return None if isinstance(value.type, ir.VectorType) else as_numeric(value)
    if isinstance(value, int):  # members of an IntEnum and the like
        return as_numeric(int(value))
    return as_numeric(value) if hasattr(value, "__dsl_scalar__") else None


_shortcuts: dict[tuple[BinaryOp, type, type], tuple[NumericMeta, NumericMeta, str | None] | None] = {}


def _shortcut(op: BinaryOp, left: Any, right: Any) -> tuple[NumericMeta, NumericMeta, str | None] | None:
    """Return the class of both operands, that of the result, and the MLIR op if one is all there is to emit.

    Args:
        op: the operator.
        left: the Python class of the left operand.
        right: that of the right one.

    Returns:
        `None` unless both operands are of one numeric class, or one is a Python number, and keep it.
    """
    literal = left if left is int or left is float else right if right is int or right is float else None
    cls = right if literal is left else left
    if type(cls) is not NumericMeta or (literal is None and left is not right):
        return None
    other = cls if literal is None else classes.Int32 if literal is int else classes.Float32
    floating = cls.is_float or other.is_float
    found = None
    if op is not POW and not (floating and op.kind in ("bit", "shift")) and operand_type(op, cls, other) is cls:
        found = (cls, result_type(op, cls), single_op(op, cls))
    _shortcuts[op, left, right] = found
    return found


def _written(operand: Any, cls: NumericMeta) -> ir.Value | None:
    """Return a scalar of `cls` that is known, or a Python number, as a constant; `None` where it may not fit."""
    if type(operand) is int:
        return constant(float(operand) if cls.is_float else operand, cls) if 0 <= operand < 1 << 31 else None
    number = operand if type(operand) is float else held_number(operand.value, cls)
    return constant(cast_number(number, cls), cls)


def scalar_binary(op: BinaryOp, left: Any, right: Any, fastmath: FastMath = None) -> Any:
    """Apply `op` to two scalars: fold static ones with Python's meaning, else emit it in the common type."""
    key = (op, type(left), type(right))
    shortcut = _shortcuts[key] if key in _shortcuts else _shortcut(*key)
    if shortcut is not None:  # most are: of one type, which they keep, and literals beside them
        kept, result, name = shortcut
        va: Any = left.value if type(left) is kept else None
        vb: Any = right.value if type(right) is kept else None
        if isinstance(va, _Value):
            vb = vb if isinstance(vb, _Value) else _written(right, kept)
        elif isinstance(vb, _Value):
            va = _written(left, kept)
        else:
            vb = None  # both are known
        if va is not None and vb is not None:
            if name is None:
                return wrap(result, emit_binary(op, va, vb, kept, fastmath))
            return wrap(result, build(name, (va, vb), None, flags_attribute(fastmath) if kept.is_float else None))
    a, b = _operand(left), _operand(right)
    if a is None or b is None:
        return NotImplemented
    if type(right) is int:
        check_literal(op, right, a.dtype)
    elif type(left) is int:
        check_literal(op, left, b.dtype)
    a, b = agreed(op, a, b)
    ca: NumericMeta = a.dtype
    cb: NumericMeta = b.dtype
    cls = operand_type(op, ca, cb)
    va, vb = a.value, b.value
    if not isinstance(va, _Value) and not isinstance(vb, _Value):
        return _fold(op, held_number(va, ca), held_number(vb, cb), cls)
    if op is POW and ca.is_float and not cb.is_float:
        base = constant(va, cls) if not isinstance(va, _Value) else cast_value(va, ca, cls)
        return wrap(cls, build("math.fpowi", (base, b.ir_value()), base.type))
    va = cast_value(va, ca, cls) if isinstance(va, _Value) else constant(cast_number(held_number(va, ca), cls), cls)
    vb = cast_value(vb, cb, cls) if isinstance(vb, _Value) else constant(cast_number(held_number(vb, cb), cls), cls)
    return wrap(result_type(op, cls), emit_binary(op, va, vb, cls, fastmath))


def _fold(op: BinaryOp, a: Any, b: Any, cls: NumericMeta) -> Any:
    a, b = held_number(cast_number(a, cls), cls), held_number(cast_number(b, cls), cls)
    if op.kind == "cmp":
        return wrap(classes.Boolean, bool(op.fold(a, b)))
    if cls.is_integer and op in (POW, SHL) and b >= cls.width:  # Python would compute every bit
        return cls(pow(a, b, 1 << cls.width) if op is POW else 0)
    return cls(op.fold(a, b))


def select(condition: Any, true_value: Any, false_value: Any) -> Any:
    """Return `true_value` where `condition` is true (not zero), else `false_value`, in their common type."""
    cond = as_numeric(condition).__dsl_bool__()
    if hasattr(true_value, "__dsl_vector__") or hasattr(false_value, "__dsl_vector__"):
        return above.select_lanes(cond, true_value, false_value)
    a, b = as_numeric(true_value), as_numeric(false_value)
    cls = common_type(a.dtype, b.dtype)
    a, b = a.to(cls), b.to(cls)
    if cond.is_static():
        return a if cond.value else b
    return wrap(cls, build("arith.select", (cond.value, a.ir_value(), b.ir_value()), cls.ir_type))


Numeric._apply = staticmethod(scalar_binary)
register_makers(scalar=as_numeric)
