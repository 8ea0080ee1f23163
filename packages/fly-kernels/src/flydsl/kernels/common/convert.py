# SPDX-License-Identifier: Apache-2.0
"""Conversions and reciprocals that take fewer instructions than the general ones."""

from __future__ import annotations

from typing import Any

from .arch import architecture
from .language import fx


def round_to(values: Any, element: type[fx.Numeric]) -> Any:
    """A vector of Float32 in `element`, rounded to nearest even.

    gfx942 has no conversion to bf16, and what LLVM makes of it is five instructions an element, three of them for NaN.
    Here it is two: adding half a unit can turn a NaN into a number only if all of the upper 16 bits of its mantissa are
    set and the lower 16 are not zero, which no NaN has that came from bf16 or from an operation.
    """
    if element is not fx.BFloat16 or architecture().converts_bf16 or values.numel % 2:
        return values.to(element)
    bits = values.bitcast(fx.Uint32)
    rounded = bits + ((bits >> 16) & 1) + 0x7FFF
    halves = rounded.bitcast(fx.Uint16)
    return halves.shuffle(halves, list(range(1, halves.numel, 2))).bitcast(element)


def reciprocal(value: Any) -> Any:
    """1 / value of a Float32 or of each of a vector, within one unit of the last place: one instruction each."""
    if isinstance(value, fx.Vector):
        return fx.Vector.from_elements([_reciprocal_of(value[index]) for index in range(value.numel)])
    return _reciprocal_of(value)


def _reciprocal_of(value: Any) -> Any:
    if architecture().nvidia:
        return fx.nvgpu.reciprocal_approx(value)
    return fx.Float32(fx.rocdl.rcp(fx.Float32, value))


class Divisor:
    """Division of vectors of Float32 by one positive Float32, rounded as IEEE 754 says, in four instructions each.

    The division of the language takes ten. This one takes the reciprocal, and a correction by what is left over (P.
    Markstein, Computation of elementary functions on the IBM RISC System/6000 processor), from numbers that are scaled
    up where the divisor is so small that its reciprocal would overflow. Quotients are numbers of moderate size, as of
    quantisation: those below 2^-100 may be rounded otherwise. Zeros keep their sign; by infinity all numbers give zero.
    """

    def __init__(self, divisor: fx.Float32) -> None:
        infinite = divisor == float("inf")
        self._up = (divisor < 2.0**-60).select(fx.Float32(2.0**64), fx.Float32(1.0))
        self._divisor = infinite.select(fx.Float32(1.0), divisor * self._up)
        near = _reciprocal_of(self._divisor)
        exact = fx.fma(fx.fma(-self._divisor, near, fx.Float32(1.0)), near, near)
        self._inverse = infinite.select(fx.Float32(0.0), exact)

    def of(self, values: fx.Vector, *, finite: bool = True) -> fx.Vector:
        """values / divisor, of a vector of Float32; `finite` says that no quotient is infinite."""
        return fx.Vector.from_elements([self._of_one(values[index], finite) for index in range(values.numel)])

    def _of_one(self, value: Any, finite: bool) -> Any:
        value = value * self._up
        near = value * self._inverse
        over = fx.fma(near, self._divisor, -value)
        exact = fx.fma(-over, self._inverse, near)
        return exact if finite else (fx.absf(near) < float("inf")).select(exact, near)


def divide_by_number(value: fx.Float32, divisor: float) -> fx.Float32:
    """value / divisor, of a Float32 that is not negative and a positive Python number, rounded as IEEE 754 says."""
    inverse = fx.Float32(1.0 / divisor)
    near = value * inverse
    exact = fx.fma(-fx.fma(near, fx.Float32(divisor), -value), inverse, near)
    quotient: fx.Float32 = (value < float("inf")).select(exact, near)
    return quotient


def inverse_sqrt(value: Any) -> Any:
    """1 / sqrt(value) of a Float32 that is no denormal, within one unit of the last place: one instruction."""
    if architecture().nvidia:
        return fx.nvgpu.rsqrt_approx(value)
    raw = value.ir_value()
    return fx.Float32(fx.rocdl.call_intrinsic("llvm.amdgcn.rsq", (raw,), raw.type))


def exp2(value: Any) -> Any:
    """2 to a Float32 or to each of a vector, within one unit of the last place; results below 2^-126 become 0.

    One instruction each; keeping denormal results would take five.
    """
    if isinstance(value, fx.Vector):
        return fx.Vector.from_elements([_exp2_of(value[index]) for index in range(value.numel)])
    return _exp2_of(value)


def _exp2_of(value: Any) -> Any:
    if architecture().nvidia:
        return fx.nvgpu.exp2_approx(value)
    raw = value.ir_value()
    return fx.Float32(fx.rocdl.call_intrinsic("llvm.amdgcn.exp2", (raw,), raw.type))


def minus(values: Any, scalar: Any) -> Any:
    """values - scalar. Written as a sum: there is a packed addition of two f32, and no packed subtraction."""
    return values + (-scalar)


def multiply_add_each(values: Any, factors: Any, summands: Any, element: type[fx.Numeric]) -> fx.Vector:
    """values · factors + summands of vectors of Float32, or of a vector and scalars, as a vector of `element`.

    Packed arithmetic is two elements an instruction; but an instruction on one element reads f16 operands as they are
    (v_fma_mix), and writes an f16 result. So this is for what comes from f16, which then need not be converted.
    """
    pick = lambda one, index: one[index] if isinstance(one, fx.Vector) else one  # noqa: E731
    results = [fx.fma(values[index], pick(factors, index), pick(summands, index)) for index in range(values.numel)]
    return fx.Vector.from_elements([one.to(element) for one in results])


def to_fp8(values: Any) -> Any:
    """A vector of Float32 as the bits (Int8) of the architecture's fp8 (E4M3), rounded to nearest even.

    Values are within its range up to rounding: a larger one becomes NaN, on NVIDIA's the largest number. Two elements
    an instruction.
    """
    count = values.numel
    if architecture().nvidia:
        return _to_e4m3(values)
    words = []
    for first in fx.range_constexpr(0, count, 4):
        word = fx.Int32(0)
        for half in fx.range_constexpr(0, min(4, count - first), 2):
            low = values[first + half]
            high = values[first + half + 1] if first + half + 1 < count else fx.Float32(0.0)
            word = fx.Int32(fx.rocdl.cvt_pk_fp8_f32(fx.Int32, low, high, word, half == 2))
        words.append(word)
    octets = fx.Vector.from_elements(words).bitcast(fx.Int8)
    return octets if octets.numel == count else octets.shuffle(octets, list(range(count)))


def _to_e4m3(values: Any) -> Any:
    count = values.numel
    last = fx.Float32(0.0)
    pairs = [
        fx.nvgpu.pack_e4m3(values[first], values[first + 1] if first + 1 < count else last)
        for first in range(0, count, 2)
    ]
    octets = fx.Vector.from_elements(pairs).bitcast(fx.Int8)
    return octets if octets.numel == count else octets.shuffle(octets, list(range(count)))


def to_int8(values: Any, *, nearest: bool) -> Any:
    """A vector of Float32 within [-128, 127] as Int8: rounded to nearest even, or cut off towards zero."""
    return (fx.roundeven(values) if nearest else values).to(fx.Int8)
