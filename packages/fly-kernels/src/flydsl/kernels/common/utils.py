# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic on Python numbers and on the language's alike, and fast functions of one Float32."""

from __future__ import annotations

from typing import Any

from .convert import exp2, reciprocal
from .language import fx

__all__ = ["align_up", "cdiv", "exp2_f32_fast", "rcp_f32", "udiv_pow2", "urem_const"]


def cdiv(a: fx.Numeric | int, b: fx.Numeric | int) -> Any:
    """ceil(a / b) of non-negative a and positive b."""
    return (a + (b - 1)) // b


def align_up(a: fx.Numeric | int, b: fx.Numeric | int) -> Any:
    """The least multiple of b that is at least a."""
    return cdiv(a, b) * b


def _power_of_two(what: str, divisor: int) -> int:
    if isinstance(divisor, bool) or not isinstance(divisor, int) or divisor < 1 or divisor & (divisor - 1):
        raise ValueError(f"{what}: the divisor is a power of two, got {divisor!r}")
    return divisor.bit_length() - 1


def udiv_pow2(a: fx.Numeric | int, divisor: int) -> Any:
    """a // divisor of a non-negative a, as a shift."""
    return a >> _power_of_two("udiv_pow2", divisor)


def urem_const(a: fx.Numeric | int, divisor: int) -> Any:
    """a mod divisor of a non-negative a; a mask for powers of two."""
    if divisor & (divisor - 1) == 0:
        return a & ((1 << _power_of_two("urem_const", divisor)) - 1)
    return a - a // divisor * divisor


def exp2_f32_fast(x: Any) -> Any:
    """2 to the power of a Float32, in one instruction; see `convert.exp2`."""
    return exp2(fx.Float32(x))


def rcp_f32(x: Any) -> Any:
    """1 / x of a Float32 within one unit of the last place, in one instruction."""
    return reciprocal(fx.Float32(x))
