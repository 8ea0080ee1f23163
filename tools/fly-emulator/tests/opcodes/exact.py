# SPDX-License-Identifier: Apache-2.0
"""Floating-point definitions by exact rational arithmetic: the reference that rounding is held against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from .kinds import Array


@dataclass(frozen=True)
class Format:
    """A binary format: bits of the significand with the leading one, and the least and greatest exponents."""

    precision: int
    least: int
    greatest: int
    dtype: Any

    def round(self, exact: Fraction, mode: int = 0) -> float:
        """The nearest number (mode 0, ties to even), or towards +inf (1), -inf (2), zero (3)."""
        if exact == 0:
            return 0.0
        negative, magnitude = exact < 0, abs(exact)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        while Fraction(2) ** exponent > magnitude:
            exponent -= 1
        while Fraction(2) ** (exponent + 1) <= magnitude:
            exponent += 1
        unit = Fraction(2) ** (max(exponent, self.least) - self.precision + 1)
        steps, rest = divmod(magnitude / unit, 1)
        up = {0: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and steps % 2 == 1),
              1: rest > 0 and not negative, 2: rest > 0 and negative, 3: False}[mode]  # fmt: skip
        value = (steps + up) * unit
        limit = Fraction(2) ** (self.greatest + 1)
        if value >= limit:
            largest = float(limit - Fraction(2) ** (self.greatest - self.precision + 1))
            away = mode == 0 or (mode == 1 and not negative) or (mode == 2 and negative)
            return (-1.0 if negative else 1.0) * (float("inf") if away else largest)
        return float(-value if negative else value)


F16 = Format(11, -14, 15, np.float16)
BF16 = Format(8, -126, 127, ml_dtypes.bfloat16)
F32 = Format(24, -126, 127, np.float32)
F64 = Format(53, -1022, 1023, np.float64)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


def fraction(value: Any) -> Fraction:
    return Fraction(float(value))


def lanewise(function: Callable[..., Any], dtype: Any) -> Callable[..., Array]:
    """A definition of one lane, for all."""

    def run(*values: Array) -> Array:
        return np.array([function(*lane) for lane in zip(*values, strict=True)], dtype)

    return run


def fma(form: Format, mode: int = 0) -> Callable[..., Array]:
    """a * b + c with one rounding."""

    def one(a: Any, b: Any, c: Any) -> float:
        x, y, z = float(a), float(b), float(c)
        if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
            # No rounding: infinities and NaNs come out the same from two steps, if the product cannot overflow.
            product = np.float64(np.sign(x)) * np.float64(np.sign(y)) if np.isfinite([x, y]).all() else x * y
            return float(np.float64(product) + np.float64(z))
        exact = fraction(x) * fraction(y) + fraction(z)
        if exact == 0:
            signs = {bool(np.signbit(x)) ^ bool(np.signbit(y)), bool(np.signbit(z))}
            exact_zero = fraction(x) * fraction(y) == 0
            if len(signs) == 1 and exact_zero:
                return -0.0 if True in signs else 0.0
            return -0.0 if mode == 2 else 0.0
        out = form.round(exact, mode)
        return -0.0 if out == 0 and exact < 0 else out

    return lanewise(one, form.dtype)


def rounded_sum(form: Format, mode: int = 0) -> Callable[[Array, Array], Array]:
    """a + b in a rounding mode."""
    whole = fma(form, mode)
    return lambda a, b: whole(a, np.ones_like(a), b)


def rounded_product(form: Format, mode: int = 0) -> Callable[[Array, Array], Array]:
    """a * b in a rounding mode."""

    def one(a: Any, b: Any) -> float:
        x, y = float(a), float(b)
        if not (np.isfinite(x) and np.isfinite(y)):
            return float(np.float64(x) * np.float64(y))
        out = form.round(fraction(x) * fraction(y), mode)
        return float(np.copysign(out, np.sign(1.0) * np.copysign(1, x) * np.copysign(1, y)))

    return lanewise(one, form.dtype)


def signalling(value: Array) -> Array:
    """Lanes that hold signalling NaNs."""
    width = value.dtype.itemsize
    bits = value.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[width])
    quiet = {np.dtype(np.float16): 9, np.dtype(np.float32): 22, np.dtype(np.float64): 51}.get(value.dtype, 6)
    return np.asarray(np.isnan(value) & ((bits >> bits.dtype.type(quiet) & bits.dtype.type(1)) == 0))


def minimum(a: Array, b: Array, ieee: bool = True) -> Array:
    """AMD's v_min: minNum with -0 below +0; in IEEE mode a signalling NaN gives a NaN."""
    return _extreme(a, b, a < b, np.signbit(a), ieee)


def maximum(a: Array, b: Array, ieee: bool = True) -> Array:
    """AMD's v_max."""
    return _extreme(a, b, a > b, ~np.signbit(a), ieee)


def _extreme(a: Array, b: Array, first: Array, on_tie: Array, ieee: bool) -> Array:
    value = np.where(first | ((a == b) & on_tie), a, b)
    value = np.where(np.isnan(a), b, np.where(np.isnan(b), a, value))
    if ieee:
        value = np.where(signalling(a) | signalling(b), a.dtype.type(np.nan), value)
    return value.astype(a.dtype)


def median(a: Array, b: Array, c: Array, ieee: bool = True) -> Array:
    """AMD's v_med3: the middle one; with a NaN, v_min3."""
    low = minimum(minimum(a, b, ieee), c, ieee)
    high = np.maximum(np.maximum(a, b), c)
    middle = np.where(high == a, maximum(b, c, False), np.where(high == b, maximum(a, c, False), maximum(a, b, False)))
    return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), low, middle).astype(a.dtype)


def minimum_2019(*values: Array) -> Array:
    """IEEE 754-2019 minimum: a NaN wins, -0 is below +0."""
    out = values[0]
    for v in values[1:]:
        nan = np.isnan(out) | np.isnan(v)
        out = np.where(nan, out.dtype.type(np.nan), minimum(out, v, False)).astype(out.dtype)
    return out


def maximum_2019(*values: Array) -> Array:
    """IEEE 754-2019 maximum."""
    out = values[0]
    for v in values[1:]:
        nan = np.isnan(out) | np.isnan(v)
        out = np.where(nan, out.dtype.type(np.nan), maximum(out, v, False)).astype(out.dtype)
    return out


def fract(a: Array) -> Array:
    """a - floor(a), below one."""
    below_one = np.nextafter(a.dtype.type(1), a.dtype.type(0), dtype=a.dtype)
    difference = (a.astype(np.longdouble) - np.floor(a.astype(np.longdouble))).astype(a.dtype)
    value: Array = np.where(np.isfinite(a), np.minimum(difference, below_one), a.dtype.type(np.nan)).astype(a.dtype)
    return value


def ldexp(form: Format) -> Callable[[Array, Array], Array]:
    """a * 2^b, rounded once."""

    def one(a: Any, b: Any) -> float:
        x = float(a)
        if not np.isfinite(x) or x == 0:
            return x
        exponent = max(-5000, min(5000, int(b)))
        return float(np.copysign(form.round(fraction(x) * Fraction(2) ** exponent), x))

    return lanewise(one, form.dtype)


def frexp_exponent(a: Array) -> Array:
    """The exponent of 0.5 <= |mantissa| < 1; zero for zero, infinities and NaNs."""
    special = ~np.isfinite(a) | (a == 0)
    return np.where(special, 0, np.frexp(np.where(special, 1, a).astype(np.longdouble))[1]).astype(np.int64)


def frexp_mantissa(a: Array) -> Array:
    """The mantissa; infinities and NaNs as they are."""
    return np.where(np.isfinite(a), np.frexp(np.where(np.isfinite(a), a, 0))[0], a).astype(a.dtype)
