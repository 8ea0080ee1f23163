# SPDX-License-Identifier: Apache-2.0
"""Element types of the target by name, and rounding by random bits."""

from __future__ import annotations

from typing import Any

from flydsl.runtime.device import get_rocm_arch

from .dtypes import float_type as dtype_to_elem_type
from .language import fx

__all__ = ["cvt_sr_f32_to_bf16", "default_f8_type", "dtype_to_elem_type"]

_FP8 = {"gfx94": "Float8E4M3FNUZ", "gfx95": "Float8E4M3FN", "gfx12": "Float8E4M3FN"}


def default_f8_type() -> Any:
    """The language's type of the 8-bit float with 3 bits of mantissa that the target's instructions take.

    Float8E4M3FN on gfx95 and gfx12, Float8E4M3FNUZ on gfx94. Raises RuntimeError for a target without one.
    """
    name = get_rocm_arch()
    for family, kind in _FP8.items():
        if name.startswith(family):
            return getattr(fx, kind)
    raise RuntimeError(f"{name} has no instructions on 8-bit floats; those that have: {', '.join(_FP8)}")


def cvt_sr_f32_to_bf16(x: Any, rand: Any) -> Any:
    """A Float32 as BFloat16, rounded up in magnitude with the probability of the part that bf16 has no room for.

    `rand` is 32 uniform random bits. gfx950 has an instruction for it; elsewhere the upper 16 of them are added to the
    number's bits before its lower half is dropped, except to infinities and NaN.
    """
    if get_rocm_arch().startswith("gfx95"):
        return fx.rocdl.cdna4.cvt_sr_f32_to_bf16(x, rand)
    value = fx.Float32(x)
    bits = value.bitcast(fx.Uint32)
    noise = fx.Uint32(rand) >> 16
    finite = (bits & 0x7F800000) != 0x7F800000
    quiet = (value == value).select(bits, bits | 0x400000)
    rounded = finite.select(bits + noise, quiet)
    return (rounded >> 16).to(fx.Uint16).bitcast(fx.BFloat16)
