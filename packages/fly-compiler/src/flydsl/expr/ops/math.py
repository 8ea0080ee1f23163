# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions of scalars, vectors and raw SSA values.

Every function takes `fastmath=` (a specification as of `fx.fastmath`). The result has the class and shape of the
operand: a scalar of the language for a scalar, a `Vector` for a `Vector`, a raw SSA value for a raw one or for a
Python number (taken as f32).
"""

from __future__ import annotations

import math as _python_math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from flydsl._mlir import ir
from flydsl.trace.build import build, build_op
from flydsl.trace.fastmath import FastMath, flags_attribute

from ..values.above import attach
from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.cast import cast_value, constant, like
from ..values.numeric.literals import refuse_literal
from ..values.numeric.meta import NumericMeta
from ..values.numeric.operator_methods import attach_math
from ..values.numeric.promote import arithmetic_type
from ..values.numeric.types import Boolean, Float32, Index, Int32
from ..values.vector import Vector, _as_vector_operand, _joint_shape, _lanes, _make
from ..values.vector_shape import flatten

if TYPE_CHECKING:
    from flydsl.trace.fastmath import FastMath

    from ..values.accepted import ValueLike

__all__ = [
    "absf",
    "absi",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "ceildiv",
    "clampf",
    "copysign",
    "cos",
    "cosh",
    "ctlz",
    "ctpop",
    "cttz",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fma",
    "fmod",
    "fpowi",
    "ipowi",
    "isfinite",
    "isinf",
    "isnan",
    "isnormal",
    "log",
    "log1p",
    "log2",
    "log10",
    "max",
    "maximumf",
    "maxnumf",
    "min",
    "minimumf",
    "minnumf",
    "powf",
    "round",
    "roundeven",
    "rsqrt",
    "shrui",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "truncdiv",
]


def _open(name: str, value: Any, floating: bool) -> tuple[ir.Value, Callable[[ir.Value], Any], NumericMeta]:
    """Return the SSA value of an operand, what wraps a result like it, and its numeric class.

    Raises:
        TypeError: an integer where a float is needed, or the other way round.
    """
    wrapper: Callable[[Any], Any]
    if isinstance(value, Vector):
        cls, shape = value.dtype, value.shape
        opened, wrapper = value.value, lambda result: _make(result, shape, cls)
    elif isinstance(value, Numeric):
        cls = value.dtype
        opened, wrapper = value.ir_value(), lambda result: wrap(cls, result)
    elif isinstance(value, ir.Value):
        from ..values.arith_value import element_class

        cls, opened, wrapper = element_class(value), value, lambda result: result
    elif type(value) in (int, float, bool):
        cls = Float32 if floating else Int32
        opened, wrapper = constant(value, cls), lambda result: result
    elif hasattr(value, "__dsl_scalar__"):
        return _open(name, as_numeric(value), floating)
    else:
        raise TypeError(f"{name} takes a scalar, a vector or an SSA value, not '{type(value).__name__}'")
    if cls.is_float is not floating:
        want = "a float" if floating else "an integer"
        hint = ", for example x.to(fx.Float32)" if floating else ""
        raise TypeError(f"{name} takes {want}, got {cls.__name__}; convert it first{hint}")
    return opened, wrapper, cls


_Operand = TypeVar("_Operand", bound=Numeric | Vector)


class _Unary(Protocol):
    """A function of one operand, whose result has the operand's class."""

    @overload
    def __call__(self, x: _Operand, *, fastmath: FastMath = None) -> _Operand: ...
    @overload
    def __call__(self, x: Any, *, fastmath: FastMath = None) -> Any: ...


class _Predicate(Protocol):
    """A question about one operand, whose answer is a Boolean, or a vector of them."""

    @overload
    def __call__(self, x: Numeric, *, fastmath: FastMath = None) -> Boolean: ...
    @overload
    def __call__(self, x: Vector, *, fastmath: FastMath = None) -> Vector: ...
    @overload
    def __call__(self, x: Any, *, fastmath: FastMath = None) -> Any: ...


class _Several(Protocol):
    """A function of several operands; scalars give a scalar, and a vector first gives a vector."""

    @overload
    def __call__(self, x: Vector, /, *operands: Any, fastmath: FastMath = None) -> Vector: ...
    @overload
    def __call__(self, x: Numeric, /, *operands: Numeric | float, fastmath: FastMath = None) -> Numeric: ...
    @overload
    def __call__(self, *operands: Any, fastmath: FastMath = None) -> Any: ...


def _unary(name: str, doc: str, mnemonic: str | None = None, floating: bool = True) -> _Unary:
    op = "math." + (mnemonic or name)

    def function(x: Any, *, fastmath: FastMath = None) -> Any:
        cls = type(x)
        flags = flags_attribute(fastmath) if floating else None
        if type(cls) is NumericMeta and cls.is_float is floating:
            return wrap(cls, build(op, (x.ir_value(),), None, flags))
        value, wrapper, _ = _open(name, x, floating)
        return wrapper(build(op, (value,), None, flags))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


absf = _unary("absf", "Return the absolute value of a float.")
ceil = _unary("ceil", "Return the smallest integral float not below x.")
floor = _unary("floor", "Return the largest integral float not above x.")
trunc = _unary("trunc", "Return x rounded toward zero.")
round = _unary("round", "Return x rounded to the nearest integral float, halves away from zero.")
roundeven = _unary("roundeven", "Return x rounded to the nearest integral float, halves to even.")
exp = _unary("exp", "Return e to the power of x.")
exp2 = _unary("exp2", "Return 2 to the power of x.")
expm1 = _unary("expm1", "Return exp(x) - 1, accurate near 0.")
log = _unary("log", "Return the natural logarithm.")
log2 = _unary("log2", "Return the logarithm to base 2.")
log10 = _unary("log10", "Return the logarithm to base 10.")
log1p = _unary("log1p", "Return log(1 + x), accurate near 0.")
sqrt = _unary("sqrt", "Return the square root, correctly rounded without fast-math.")
rsqrt = _unary("rsqrt", "Return the reciprocal square root.")
cbrt = _unary("cbrt", "Return the cube root.")
sin = _unary("sin", "Return the sine of x radians.")
cos = _unary("cos", "Return the cosine of x radians.")
tan = _unary("tan", "Return the tangent of x radians.")
asin = _unary("asin", "Return the arc sine in radians.")
acos = _unary("acos", "Return the arc cosine in radians.")
atan = _unary("atan", "Return the arc tangent in radians.")
sinh = _unary("sinh", "Return the hyperbolic sine.")
cosh = _unary("cosh", "Return the hyperbolic cosine.")
tanh = _unary("tanh", "Return the hyperbolic tangent.")
asinh = _unary("asinh", "Return the inverse hyperbolic sine.")
acosh = _unary("acosh", "Return the inverse hyperbolic cosine.")
atanh = _unary("atanh", "Return the inverse hyperbolic tangent.")
erf = _unary("erf", "Return the error function.")
erfc = _unary("erfc", "Return the complementary error function, 1 - erf(x).")
absi = _unary("absi", "Return the absolute value of a signed integer.", floating=False)
ctlz = _unary("ctlz", "Return the number of leading zero bits.", floating=False)
cttz = _unary("cttz", "Return the number of trailing zero bits.", floating=False)
ctpop = _unary("ctpop", "Return the number of one bits.", floating=False)


def sincos(x: Any, *, fastmath: FastMath = None) -> tuple[Any, Any]:
    """Return sine and cosine of x radians."""
    value, wrapper, _ = _open("sincos", x, True)
    results = build_op("math.sincos", (value,), (value.type, value.type), flags_attribute(fastmath)).results
    return wrapper(results[0]), wrapper(results[1])


def _predicate(name: str, doc: str) -> _Predicate:
    op = "math." + name

    def function(x: Any, *, fastmath: FastMath = None) -> Any:
        value, _, _ = _open(name, x, True)
        result = build(op, (value,), like(value.type, Boolean.ir_type), flags_attribute(fastmath))
        if isinstance(x, Vector):
            return _make(result, x.shape, Boolean)
        return wrap(Boolean, result) if isinstance(x, Numeric) else result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


isnan = _predicate("isnan", "Tell whether x is NaN.")
isinf = _predicate("isinf", "Tell whether x is an infinity.")
isfinite = _predicate("isfinite", "Tell whether x is neither NaN nor an infinity.")
isnormal = _predicate("isnormal", "Tell whether x is neither zero, subnormal, infinite nor NaN.")


# -- functions of several operands -------------------------------------------------------------------------------------


def _is_raw(value: Any) -> bool:
    return isinstance(value, ir.Value) or type(value) in (int, float, bool)


def _join(
    name: str, values: tuple[Any, ...], floating: bool | None
) -> tuple[list[ir.Value], Callable[[ir.Value], Any], NumericMeta]:
    """Bring operands to one type and shape; results are raw only when all operands are."""
    if any(isinstance(v, ir.Value) for v in values) and all(_is_raw(v) for v in values):
        return _join_raw(name, values, floating)
    operands = [_as_vector_operand(v) for v in values]
    if any(o is None for o in operands):
        bad = next(v for v, o in zip(values, operands, strict=True) if o is None)
        raise TypeError(f"{name} takes scalars, vectors and SSA values, not '{type(bad).__name__}'")
    cls = operands[0].dtype
    for other in operands[1:]:
        cls = arithmetic_type(cls, other.dtype)
    if floating is not None and cls.is_float is not floating:
        raise TypeError(f"{name} takes {'floats' if floating else 'integers'}, got {cls.__name__}")
    vectors = [o for o in operands if isinstance(o, Vector)]
    if not vectors:
        raw = all(type(v) in (int, float, bool) for v in values)
        ssa = [o.to(cls).ir_value() for o in operands]
        return ssa, (lambda result: result) if raw else (lambda result: wrap(cls, result)), cls
    shape = vectors[0].shape
    for other in vectors[1:]:
        shape = _joint_shape(_make(vectors[0].value, shape, cls), other) if other.shape != shape else shape
    dims = flatten(shape)
    return [_lanes(o, cls, dims) for o in operands], (lambda result: _make(result, shape, cls)), cls


def _join_raw(
    name: str, values: tuple[Any, ...], floating: bool | None
) -> tuple[list[ir.Value], Callable[[ir.Value], Any], NumericMeta]:
    from ..values.arith_value import _pair, element_class

    model = next((v for v in values if isinstance(v, ir.Value) and isinstance(v.type, ir.VectorType)), None)
    if model is None:
        model = next(v for v in values if isinstance(v, ir.Value))
    raw = [_pair(v, model)[0] for v in values]
    cls = element_class(raw[0])
    if floating is not None and cls.is_float is not floating:
        raise TypeError(f"{name} takes {'floats' if floating else 'integers'}, got {cls.__name__}")
    return raw, lambda result: result, cls


def _float_function(name: str, doc: str, op: str, arity: int) -> _Several:
    def call(*operands: Any, fastmath: FastMath = None) -> Any:
        if len(operands) != arity:
            raise TypeError(f"{name}() takes {arity} operands, got {len(operands)}")
        values, wrapper, _ = _join(name, operands, True)
        return wrapper(build(op, values, values[0].type, flags_attribute(fastmath)))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


powf = _float_function("powf", "Return base to the power of exponent: powf(base, exponent).", "math.powf", 2)
atan2 = _float_function("atan2", "Return the angle of the point (x, y) in radians: atan2(y, x).", "math.atan2", 2)
copysign = _float_function("copysign", "Return the magnitude with the sign: copysign(mag, sign).", "math.copysign", 2)
fma = _float_function("fma", "Return a * b + c, rounded once: fma(a, b, c).", "math.fma", 3)
clampf = _float_function("clampf", "Return x limited to [lo, hi]: clampf(x, lo, hi).", "math.clampf", 3)
maximumf = _float_function("maximumf", "Return the larger float; NaN if either is NaN.", "arith.maximumf", 2)
minimumf = _float_function("minimumf", "Return the smaller float; NaN if either is NaN.", "arith.minimumf", 2)
maxnumf = _float_function("maxnumf", "Return the larger float; the other one if one is NaN.", "arith.maxnumf", 2)
minnumf = _float_function("minnumf", "Return the smaller float; the other one if one is NaN.", "arith.minnumf", 2)


def fpowi(base: Any, exponent: ValueLike, *, fastmath: FastMath = None) -> Any:
    """Return a float base to the power of an integer exponent."""
    value, wrapper, _ = _open("fpowi", base, True)
    power, _, _ = _open("fpowi", exponent, False)
    if isinstance(value.type, ir.VectorType) and not isinstance(power.type, ir.VectorType):
        power = build("vector.broadcast", (power,), ir.VectorType.get(value.type.shape, power.type))
    return wrapper(build("math.fpowi", (value, power), value.type, flags_attribute(fastmath)))


def ipowi(base: Any, exponent: ValueLike, *, fastmath: FastMath = None) -> Any:
    """Return an integer base to the power of an integer exponent."""
    del fastmath  # integers have no flags; the argument is accepted like everywhere
    values, wrapper, _ = _join("ipowi", (base, exponent), False)
    return wrapper(build("math.ipowi", values, values[0].type))


def shrui(value: Any, amount: ValueLike) -> Any:
    """Return an integer shifted right with zeros from the left; the type of `value` is kept."""
    if isinstance(value, Numeric) and value.is_static() and type(amount) is int and value.dtype.is_integer:
        return type(value)((value.value & ((1 << value.dtype.width) - 1)) >> amount)
    opened, wrapper, cls = _open("shrui", value, False)
    if isinstance(amount, Vector):
        by = cast_value(amount.value, amount.dtype, cls)
    else:
        by = as_numeric(amount).to(cls).ir_value()
        if isinstance(opened.type, ir.VectorType):
            by = build("vector.broadcast", (by,), opened.type)
    return wrapper(build("arith.shrui", (opened, by), opened.type))


# -- extremes and rounding division ------------------------------------------------------------------------------------


def _flatten_operands(operands: Any) -> list[Any]:
    flat: list[Any] = []
    for operand in operands:
        if isinstance(operand, (list, tuple)):
            flat.extend(_flatten_operands(operand))
        else:
            flat.append(operand)
    return flat


def _fold_extreme(a: Any, b: Any, larger: bool) -> Any:
    if isinstance(a, float):
        if _python_math.isnan(a) or _python_math.isnan(b):
            return float("nan")
        if a == b == 0.0:  # zeros are ordered by sign
            negative = _python_math.copysign(1.0, a) < 0
            return b if negative is larger else a
    return (a if a >= b else b) if larger else (a if a <= b else b)


def _check_literals(name: str, operands: Sequence[Any], cls: NumericMeta) -> None:
    """Refuse Python integers that `cls`, in which the operation is done, does not hold."""
    for literal in operands:
        if type(literal) is int:
            refuse_literal(f"fx.{name}", literal, cls)


def _extreme(name: str, operands: tuple[Any, ...], larger: bool, fastmath: FastMath) -> Any:
    flat = [_as_vector_operand(o) for o in _flatten_operands(operands)]
    if not flat:
        raise ValueError(f"fx.{name} needs at least one operand")
    if any(o is None for o in flat):
        raise TypeError(f"fx.{name} takes numbers, scalars and vectors")
    for one in flat:
        if one.dtype is Index or (one.dtype.is_float and one.dtype.width <= 8):
            raise TypeError(f"fx.{name} is not defined for {one.dtype.__name__}; convert the operands first")
    cls = Int32 if flat[0].dtype is Boolean else flat[0].dtype
    for other in flat[1:]:
        cls = arithmetic_type(cls, other.dtype)
    _check_literals(name, _flatten_operands(operands), cls)
    result = flat[0].to(cls)
    for other in flat[1:]:
        if isinstance(result, Numeric) and isinstance(other, Numeric) and result.is_static() and other.is_static():
            result = cls(_fold_extreme(result.value, other.to(cls).value, larger))
            continue
        values, wrapper, _ = _join(name, (result, other.to(cls)), None)
        if cls.is_float:
            op = "arith.maximumf" if larger else "arith.minimumf"
        else:
            op = f"arith.{'max' if larger else 'min'}{'si' if cls.signed else 'ui'}"
        result = wrapper(build(op, values, values[0].type, flags_attribute(fastmath) if cls.is_float else None))
    return result


def max(*operands: Any, fastmath: FastMath = None) -> Any:
    """Return the largest operand, in the common type of all; nested lists and tuples are flattened.

    Floats propagate NaN, integers follow signedness, scalars are broadcast to vectors, static operands fold.

    Raises:
        ValueError: no operand.
        TypeError: `Index`, or floats of 8 bits or less.
    """
    return _extreme("max", operands, True, fastmath)


def min(*operands: Any, fastmath: FastMath = None) -> Any:
    """Return the smallest operand; as `max`."""
    return _extreme("min", operands, False, fastmath)


def ceildiv(a: Any, b: Any) -> Any:
    """Return the quotient of two integers rounded up, in their common type.

    Raises:
        TypeError: a float, `Boolean` or `Index` operand.
        ZeroDivisionError: a static zero divisor.
        OverflowError: the static result does not fit the type.
    """
    x, y = _as_vector_operand(a), _as_vector_operand(b)
    if x is None or y is None or x.dtype.is_float or y.dtype.is_float:
        raise TypeError("fx.ceildiv takes integers")
    for one in (x.dtype, y.dtype):
        if one is Index or one is Boolean:
            raise TypeError(
                f"fx.ceildiv is not defined for {one.__name__}; convert the operands first, for example x.to(fx.Int32)"
            )
    cls = arithmetic_type(x.dtype, y.dtype)
    _check_literals("ceildiv", (a, b), cls)
    if isinstance(x, Numeric) and isinstance(y, Numeric) and x.is_static() and y.is_static():
        quotient = -(-x.to(cls).value // y.to(cls).value)
        if cls(quotient).value != quotient:
            raise OverflowError(f"fx.ceildiv({x.value}, {y.value}) = {quotient} does not fit {cls.__name__}")
        return cls(quotient)
    if isinstance(y, Numeric) and y.is_static() and y.value == 0:
        raise ZeroDivisionError("fx.ceildiv by zero")
    values, wrapper, _ = _join("ceildiv", (x, y), False)
    return wrapper(build("arith.ceildivsi" if cls.signed else "arith.ceildivui", values, values[0].type))


def _truncating(name: str, a: Any, b: Any, ops: tuple[str, str, str], fold: Callable[[Any, Any], Any]) -> Any:
    """Apply signed, unsigned or float op to two operands in their common type; static integers fold."""
    x, y = _as_vector_operand(a), _as_vector_operand(b)
    if x is None or y is None:
        raise TypeError(f"fx.{name} takes numbers, scalars and vectors")
    cls = arithmetic_type(x.dtype, y.dtype)
    _check_literals(name, (a, b), cls)
    if isinstance(y, Numeric) and y.is_static() and y.value == 0 and not cls.is_float:
        raise ZeroDivisionError(f"fx.{name} by zero")
    if not cls.is_float and isinstance(x, Numeric) and isinstance(y, Numeric) and x.is_static() and y.is_static():
        return cls(fold(x.to(cls).value, y.to(cls).value))
    values, wrapper, cls = _join(name, (a, b), None)
    op = ops[2] if cls.is_float else ops[0] if cls.signed and cls.width > 1 else ops[1]
    return wrapper(build(op, values, values[0].type, flags_attribute() if cls.is_float else None))


def truncdiv(a: Any, b: Any) -> Any:
    """Return the quotient rounded toward zero, as `/` of C's integers, in the common type; `//` rounds down.

    Raises:
        ZeroDivisionError: a static integer zero divisor.
    """
    quotient = _truncating("truncdiv", a, b, ("arith.divsi", "arith.divui", "arith.divf"), _truncated)
    found = _as_vector_operand(quotient)
    assert found is not None
    return trunc(quotient) if found.dtype.is_float else quotient


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) is (b < 0) else -1)


def fmod(a: Any, b: Any) -> Any:
    """Return the remainder with the sign of `a`, as `%` and `fmod` of C; that of `%` has the sign of `b`.

    Raises:
        ZeroDivisionError: a static integer zero divisor.
    """
    ops = ("arith.remsi", "arith.remui", "arith.remf")
    return _truncating("fmod", a, b, ops, lambda x, y: x - _truncated(x, y) * y)


attach(maximumf=maximumf, minimumf=minimumf, exp2=exp2, rsqrt=rsqrt, shrui=shrui)
attach_math(__all__)
