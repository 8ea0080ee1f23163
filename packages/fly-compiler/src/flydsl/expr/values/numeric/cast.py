# SPDX-License-Identifier: Apache-2.0
"""Conversions between numeric types: of Python numbers (static) and of SSA values, scalar or vector (dynamic)."""

from __future__ import annotations

import ctypes
import enum
import functools
import math
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build, build_once, int_attribute, vector_type
from flydsl.trace.context import state
from flydsl.trace.fastmath import FastMath, flags_attribute

from .meta import NumericMeta, classes

__all__ = [
    "Literal",
    "RoundingMode",
    "bitcast_value",
    "cast_number",
    "cast_value",
    "constant",
    "held_number",
    "like",
    "stored_number",
    "wrap_integer",
]


class RoundingMode(enum.Enum):
    """How a narrowing float conversion rounds."""

    to_nearest_even = "to_nearest_even"
    downward = "downward"
    upward = "upward"
    toward_zero = "toward_zero"
    to_nearest_away = "to_nearest_away"


def wrap_integer(value: int, cls: NumericMeta) -> int:
    """Return `value` modulo 2^width, in the range of `cls`."""
    width = cls.width
    value &= (1 << width) - 1
    if cls.signed and width > 1 and value >> (width - 1):
        value -= 1 << width
    return value


class Literal(float):
    """A float that Python wrote: all its digits count until it takes the class of an operation."""

    __slots__ = ()


def held_number(value: bool | int | float, cls: NumericMeta) -> bool | int | float:
    """Return the payload of a static `cls` as the class holds it: a float is rounded to nearest, ties to even.

    Payloads keep the digits that they were made with, and are rounded where they are used. A literal is not.
    """
    if type(value) is not float or cls.width == 64:
        return value
    if cls.width == 32:
        return ctypes.c_float(value).value
    if cls.width == 16 and -256.0 <= value <= 256.0 and value.is_integer():
        return value
    if state.trace is not None:
        return float(ir.FloatAttr.get(cls.ir_type, value).value)
    with _context(), ir.Location.unknown():
        return float(ir.FloatAttr.get(ir.Type.parse(cls.mnemonic), value).value)


@functools.cache
def _context() -> ir.Context:
    """Return a context for numbers outside of a trace."""
    return ir.Context()


def cast_number(value: bool | int | float, cls: NumericMeta) -> bool | int | float:
    """Return a Python number as the payload of a static `cls`.

    Raises:
        ValueError: NaN into an integer type.
        OverflowError: infinity into an integer type.
    """
    if cls.is_float:
        return float(value)
    if cls.width == 1:
        return bool(value)
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError(f"cannot convert NaN to {cls.__name__}")
        if math.isinf(value):
            raise OverflowError(f"cannot convert infinity to {cls.__name__}")
    return wrap_integer(int(value), cls)


def stored_number(value: bool | int | float, cls: NumericMeta, place: str = "tensor") -> Any:
    """Return a Python number as a static `cls` to be an element of a tensor or vector, which keeps all of it.

    An integer may have the bits of one of either sign: -1 and 255 fit `Uint8` and `Int8`.

    Raises:
        ValueError: a fraction into an integer type, or NaN.
        OverflowError: an integer of more bits, or infinity.
    """
    result = cls(value)
    if cls.is_float or cls.width == 1:
        return result
    if value != int(value):
        raise ValueError(
            f"cannot store {value!r} in a {place} of {cls.__name__} without its fraction; fx.{cls.__name__}({value!r}) "
            "cuts it off"
        )
    if not -(1 << (cls.width - 1)) <= value < 1 << cls.width:
        raise OverflowError(
            f"cannot store {value!r} in a {place} of {cls.__name__}: it does not fit {cls.width} bits; "
            f"fx.{cls.__name__}({value!r}) wraps"
        )
    return result


def like(model: ir.Type, element: ir.Type) -> ir.Type:
    """Return `element`, or the vector of the shape of `model` with it."""
    if isinstance(model, ir.VectorType):
        shape = model.shape
        return vector_type(shape[0], element) if len(shape) == 1 else ir.VectorType.get(shape, element)
    return element


def constant(value: bool | int | float, cls: NumericMeta, model: ir.Type | None = None) -> ir.Value:
    """Return a number as an `arith.constant`; with a vector type as `model`, as a splat of its shape.

    In a kernel each constant is made once, at its start.
    """
    key = (cls, value.hex() if isinstance(value, float) else value, model)
    trace = state.trace
    if trace is not None and trace.kernel is not None:
        known: ir.Value | None = trace.kernel.hoisted.get(key)
        if known is not None:
            return known
    element = cls.ir_type
    attr: ir.Attribute
    if cls.is_float:
        attr = ir.FloatAttr.get(element, float(value))
    elif cls.width > 64:
        attr = ir.Attribute.parse(f"{wrap_integer(int(value), cls)} : {cls.mnemonic}")
    else:
        number = int(value)
        if cls.width == 1:
            number = -1 if value else 0
        elif number >> (cls.width - 1):  # MLIR takes the bits as a signed number
            number = ((number + (1 << (cls.width - 1))) & ((1 << cls.width) - 1)) - (1 << (cls.width - 1))
        attr = ir.IntegerAttr.get(element, number)
    if model is None or model == element:
        return build_once(key, "arith.constant", element, {"value": attr})
    return build_once(key, "arith.constant", model, {"value": ir.DenseElementsAttr.get_splat(model, attr)})


def bitcast_value(value: ir.Value, element: ir.Type) -> ir.Value:
    """Reinterpret the bits of a scalar, or of each lane of a vector, as `element`."""
    target = like(value.type, element)
    return value if value.type == target else build("arith.bitcast", (value,), target)


def cast_value(
    value: ir.Value, src: NumericMeta, dst: NumericMeta, rounding: RoundingMode | None = None, fastmath: FastMath = None
) -> ir.Value:
    """Convert an SSA scalar or vector of `src` to `dst`."""
    if src is dst:
        return value
    if src.is_float:
        return _float_to_float(value, src, dst, rounding, fastmath) if dst.is_float else _float_to_int(value, src, dst)
    return _int_to_float(value, src, dst) if dst.is_float else _int_to_int(value, src, dst)


def _float_to_float(
    value: ir.Value, src: NumericMeta, dst: NumericMeta, rounding: RoundingMode | None, fastmath: FastMath
) -> ir.Value:
    if dst.width > src.width:
        return build("arith.extf", (value,), like(value.type, dst.ir_type), flags_attribute(fastmath))
    if dst.width == src.width:  # no conversion between formats of one width: go through f32
        value = _float_to_float(value, src, classes.Float32, None, fastmath)
    attributes = dict(flags_attribute(fastmath) or {})
    if rounding is not None:
        attributes["roundingmode"] = int_attribute(_ROUNDING[rounding], 32)
    return build("arith.truncf", (value,), like(value.type, dst.ir_type), attributes)


# arith.RoundingMode, whose attribute is an i32 enumeration.
_ROUNDING = {
    RoundingMode.to_nearest_even: 0,
    RoundingMode.downward: 1,
    RoundingMode.upward: 2,
    RoundingMode.toward_zero: 3,
    RoundingMode.to_nearest_away: 4,
}


def _float_to_int(value: ir.Value, src: NumericMeta, dst: NumericMeta) -> ir.Value:
    if dst.width == 1:
        zero = constant(0.0, src, value.type)
        return build("arith.cmpf", (value, zero), like(value.type, dst.ir_type), {"predicate": int_attribute(13, 64)})
    if src.width < 16:
        value, src = _float_to_float(value, src, classes.Float32, None, None), classes.Float32
    if dst is classes.Index:
        return _int_to_int(_float_to_int(value, src, classes.Int64), classes.Int64, dst)
    op = "arith.fptosi" if dst.signed else "arith.fptoui"
    return build(op, (value,), like(value.type, dst.ir_type))


def _int_to_float(value: ir.Value, src: NumericMeta, dst: NumericMeta) -> ir.Value:
    if src is classes.Index:
        value, src = _int_to_int(value, src, classes.Uint64), classes.Uint64
    via = dst if dst.width >= 16 else classes.Float32
    op = "arith.sitofp" if src.signed and src.width > 1 else "arith.uitofp"
    value = build(op, (value,), like(value.type, via.ir_type))
    return value if via is dst else _float_to_float(value, via, dst, None, None)


def _int_to_int(value: ir.Value, src: NumericMeta, dst: NumericMeta) -> ir.Value:
    index = classes.Index
    target = like(value.type, dst.ir_type)
    if value.type == target:
        return value
    if dst.width == 1:
        zero = constant(0, src, value.type)
        return build("arith.cmpi", (value, zero), target, {"predicate": int_attribute(1, 64)})
    if src is index or dst is index:
        signed = src.signed and src.width > 1
        return build("arith.index_cast" if signed or src is index else "arith.index_castui", (value,), target)
    if dst.width < src.width:
        return build("arith.trunci", (value,), target)
    return build("arith.extsi" if src.signed and src.width > 1 else "arith.extui", (value,), target)
