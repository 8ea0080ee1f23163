# SPDX-License-Identifier: Apache-2.0
"""Conversions: integers, half, single, double, fp8 and the scaled formats."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from .case import Case, Context, case
from .exact import BF16, F16, Format, fraction, lanewise
from .kinds import Array

GFX950 = ("gfx950",)


def to_int(low: int, high: int, round_: Callable[[Array], Array] = np.trunc) -> Callable[[Array], Array]:
    """Round, saturate; NaN gives zero."""

    def run(a: Array) -> Array:
        v = round_(a.astype(np.longdouble))
        out = [0 if np.isnan(x) else int(max(min(x, high), low)) for x in v]
        return np.array(out, np.int64)

    return run


def half_up(a: Array) -> Array:
    return np.floor(a + np.longdouble(0.5))


def normalised(scale: int, low: float) -> Callable[[Array], Array]:
    """Clamp to [low, 1], scale, round to nearest even; NaN gives zero."""

    def run(a: Array) -> Array:
        v = np.clip(np.where(np.isnan(a), 0, a).astype(np.float64), low, 1.0)
        # The product is rounded to f32 before it becomes an integer.
        return np.rint((v.astype(np.float32) * np.float32(scale)).astype(np.float64)).astype(np.int64)

    return run


def pair(function: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.stack([function(a), function(b)])


def towards_zero(form: Format) -> Callable[[Array], Array]:
    def one(a: Any) -> float:
        if not np.isfinite(a):
            return float(a)
        return float(np.copysign(form.round(fraction(a), 3), a))

    return lanewise(one, form.dtype)


def insert_u8(a: Array, b: Array, c: Array) -> Array:
    byte = to_int(0, 255, np.rint)(a)
    shift = 8 * (b.astype(np.int64) & 3)
    value: Array = ((c.astype(np.int64) & ~(0xFF << shift)) | byte << shift).astype(np.uint32)
    return value


def stochastic_16(form: Format, drop: int) -> Callable[[Array, Array], Array]:
    """Add the upper bits of the random number below the last place, then truncate."""

    def one(a: Any, r: Any) -> float:
        if not np.isfinite(a):
            return float(a)
        return _stochastic(float(a), int(r), form, 32)

    return lanewise(one, form.dtype)


def _stochastic(value: float, random: int, form: Format, bits: int) -> float:
    """Round up where the random fraction reaches above what truncation would drop."""
    exact = fraction(value)
    if exact == 0:
        return value
    magnitude = abs(exact)
    exponent = form.least
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    unit = Fraction(2) ** (exponent - form.precision + 1)
    # f32 sources have 24 bits; the random number is cut to what lies below the last place.
    source = max(exponent if exponent > form.least else _exponent(magnitude), -126) - 23
    dropped = int((unit / Fraction(2) ** source).numerator).bit_length() - 1
    addend = Fraction(random >> max(bits - dropped, 0)) * Fraction(2) ** source
    if dropped > bits:
        addend = Fraction(random) * Fraction(2) ** (source + dropped - bits)
    steps = (magnitude + addend) // unit
    out = steps * unit
    limit = Fraction(2) ** (form.greatest + 1)
    result = float("inf") if out >= limit else float(out)
    return -result if value < 0 or (value == 0 and np.signbit(value)) else result


def _exponent(magnitude: Fraction) -> int:
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    return exponent


def float8(context: Context, narrow: bool) -> Any:
    """fp8 (or bf8) of the architecture."""
    if context.ocp:
        return ml_dtypes.float8_e5m2 if narrow else ml_dtypes.float8_e4m3fn
    return ml_dtypes.float8_e5m2fnuz if narrow else ml_dtypes.float8_e4m3fnuz


def decode8(narrow: bool, count: int, high: bool = False) -> Callable[..., Array]:
    def run(context: Context, a: Array) -> Array:
        bytes_ = a.view(np.uint8).reshape(-1, 4)
        dtype = float8(context, narrow)
        first = 2 if high else 0
        out = [bytes_[:, first + i].copy().view(dtype).astype(np.float32) for i in range(count)]
        return out[0] if count == 1 else np.stack(out)

    return run


def encode8(context: Context, a: Array, narrow: bool) -> Array:
    """Round to nearest even; ml_dtypes has the overflow to NaN or infinity of FP16_OVFL = 0."""
    return codes8(context, a.astype(float8(context, narrow)))


def codes8(context: Context, a: Array) -> Array:
    """The bytes; the OCP formats' NaN has all ones below its sign."""
    code = a.view(np.uint8).astype(np.uint32)
    return np.where(np.isnan(a.astype(np.float32)) & context.ocp, code | np.uint32(0x7F), code)


def pack8(narrow: bool, high: bool) -> Callable[..., Array]:
    def run(context: Context, a: Array, b: Array) -> Array:
        value = encode8(context, a, narrow) | encode8(context, b, narrow) << np.uint32(8)
        old = context.old[0][0]
        result: Array = (
            old & np.uint32(0xFFFF) | value << np.uint32(16) if high else old & np.uint32(0xFFFF0000) | value
        )
        return result

    return run


FP8_FORMATS = {
    ml_dtypes.float8_e4m3fn: (Format(4, -6, 8, None), 448.0),
    ml_dtypes.float8_e5m2: (Format(3, -14, 15, None), 57344.0),
    ml_dtypes.float8_e4m3fnuz: (Format(4, -7, 7, None), 240.0),
    ml_dtypes.float8_e5m2fnuz: (Format(3, -15, 15, None), 57344.0),
}  # fmt: skip


def stochastic_8(narrow: bool, byte: int) -> Callable[..., Array]:
    def run(context: Context, a: Array, r: Array) -> Array:
        dtype = float8(context, narrow)
        form, largest = FP8_FORMATS[dtype]
        values = []
        for x, bits in zip(a, r, strict=True):
            v = _stochastic(float(x), int(bits), form, 32) if np.isfinite(x) else float(x)
            values.append(v if np.isnan(v) or abs(v) <= largest else np.copysign(np.inf, v))
        code = codes8(context, np.array(values, np.float64).astype(np.float32).astype(dtype))
        mask = np.uint32(0xFF << 8 * byte)
        value: Array = context.old[0][0] & ~mask | code << np.uint32(8 * byte)
        return value

    return run


def cases() -> list[Case]:
    i32, u32 = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
    out = [
        case("v_cvt_f32_i32", "i32", "f32", lambda a: a.astype(np.float64)),
        case("v_cvt_f32_u32", "u32", "f32", lambda a: a.astype(np.float64)),
        case("v_cvt_f64_i32", "i32", "f64", lambda a: a.astype(np.float64)),
        case("v_cvt_f64_u32", "u32", "f64", lambda a: a.astype(np.float64)),
        case("v_cvt_i32_f32", "f32", "i32", to_int(*i32)),
        case("v_cvt_u32_f32", "f32", "u32", to_int(*u32)),
        case("v_cvt_i32_f64", "f64", "i32", to_int(*i32)),
        case("v_cvt_u32_f64", "f64", "u32", to_int(*u32)),
        case("v_cvt_rpi_i32_f32", "f32", "i32", to_int(*i32, half_up)),
        case("v_cvt_flr_i32_f32", "f32", "i32", to_int(*i32, np.floor)),
        case("v_cvt_f32_f64", "f64", "f32", lambda a: a.astype(np.float32)),
        case("v_cvt_f64_f32", "f32", "f64", lambda a: a.astype(np.float64)),
        case("v_cvt_f32_f16", "f16", "f32", lambda a: a.astype(np.float32)),
        case("v_cvt_f16_f32", "f32", "f16", lambda a: a.astype(np.float16)),
        case("v_cvt_f32_bf16", "bf16", "f32", lambda a: a.astype(np.float32), archs=GFX950),
        case("v_cvt_f16_i16", "i16", "f16", lambda a: a.astype(np.float64)),
        case("v_cvt_f16_u16", "u16", "f16", lambda a: a.astype(np.float64).astype(np.float32)),
        case("v_cvt_i16_f16", "f16", "i16", to_int(-(2**15), 2**15 - 1)),
        case("v_cvt_u16_f16", "f16", "u16", to_int(0, 2**16 - 1)),
        case("v_cvt_norm_i16_f16", "f16", "i16", normalised(32767, -1.0)),
        case("v_cvt_norm_u16_f16", "f16", "u16", normalised(65535, 0.0)),
        case("v_cvt_pknorm_i16_f32", "f32 f32", "pk_i16", pair(normalised(32767, -1.0))),
        case("v_cvt_pknorm_u16_f32", "f32 f32", "pk_u16", pair(normalised(65535, 0.0))),
        case("v_cvt_pknorm_i16_f16", "f16 f16", "pk_i16", pair(normalised(32767, -1.0))),
        case("v_cvt_pknorm_u16_f16", "f16 f16", "pk_u16", pair(normalised(65535, 0.0))),
        case("v_cvt_pkrtz_f16_f32", "f32 f32", "pk_f16", pair(towards_zero(F16))),
        case("v_cvt_pk_f16_f32", "f32 f32", "pk_f16", pair(lambda a: a.astype(np.float16)), archs=GFX950),
        case("v_cvt_pk_bf16_f32", "f32 f32", "pk_bf16", pair(lambda a: a.astype(ml_dtypes.bfloat16)), archs=GFX950),
        case("v_cvt_pk_u8_f32", "f32 u32 u32", "u32", insert_u8),
        case("v_cvt_pkaccum_u8_f32", "f32 u32", "u32", lambda c, a, b: insert_u8(a, b, c.old[0][0]), context=True),
        case("v_cvt_off_f32_i4", "u32", "f32", lambda a: (((a.astype(np.int64) & 15) ^ 8) - 8) / 16),
        case("v_cvt_sr_f16_f32", "f32 u32", "f16", stochastic_16(F16, 13), archs=GFX950, keep_high=True),
        case("v_cvt_sr_bf16_f32", "f32 u32", "bf16", stochastic_16(BF16, 16), archs=GFX950, keep_high=True),
    ]  # fmt: skip
    for byte in range(4):
        out.append(
            case(
                f"v_cvt_f32_ubyte{byte}",
                "u32",
                "f32",
                lambda a, s=8 * byte: (a >> np.uint32(s) & 255).astype(np.float32),
            )
        )
    for narrow, kind in ((False, "fp8"), (True, "bf8")):
        out += [
            case(f"v_cvt_f32_{kind}", "u32", "f32", decode8(narrow, 1), context=True),
            case(f"v_cvt_pk_f32_{kind}", "u32", "pk_f32", decode8(narrow, 2), context=True),
            case(f"v_cvt_pk_f32_{kind}", "u32", "pk_f32", decode8(narrow, 2, True), context=True, label="upper half",
                 code="{op}_sdwa {d}, {a} src0_sel:WORD_1"),
            case(f"v_cvt_f32_{kind}", "u32", "f32",
                 lambda c, a, n=narrow: decode8(n, 1)(c, a >> np.uint32(24)), context=True, label="byte 3",
                 code="{op}_sdwa {d}, {a} src0_sel:BYTE_3"),
        ]  # fmt: skip
        for high in (False, True):
            tail = " op_sel:[0,0,1]" if high else ""
            out.append(
                case(f"v_cvt_pk_{kind}_f32", "f32 f32", "u32", pack8(narrow, high), f"{{op}} {{d}}, {{a}}, {{b}}{tail}",
                     context=True, label="upper half" if high else "")
            )  # fmt: skip
        for byte in range(4):
            select = f" op_sel:[0,0,{byte & 1},{byte >> 1}]"
            out.append(
                case(f"v_cvt_sr_{kind}_f32", "f32 u32", "u32", stochastic_8(narrow, byte),
                     f"{{op}} {{d}}, {{a}}, {{b}}{select}", context=True, label=f"byte {byte}")
            )  # fmt: skip
    return out
