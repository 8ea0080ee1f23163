# SPDX-License-Identifier: Apache-2.0
"""What gfx11 and gfx12 have and gfx9 has not, apart from matrices, scalar floats, dual instructions and lane moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import exact
from .case import Case, Context, case
from .exact import F16, F32, fma
from .kinds import Array
from .table_convert import pair, to_int
from .table_integer import M16, M32, conditional, s32, wide

BOTH, GFX11, GFX12 = ("gfx1100", "gfx1201"), ("gfx1100",), ("gfx1201",)


def s16(v: int) -> int:
    return (v & M16 ^ 0x8000) - 0x8000


def in_turn(outer: Callable[..., Array], inner: Callable[..., Array]) -> Callable[..., Array]:
    return lambda a, b, c: outer(inner(a, b), c)


def without_zero_times(a: Array, b: Array, c: Array) -> Array:
    """Zero times anything is +0."""
    return np.where((a == 0) | (b == 0), np.float32(0) + c, fma(F32)(a, b, c)).astype(np.float32)


def lighting(a: Array, b: Array, c: Array) -> Array:
    lowest = -np.finfo(np.float32).max
    none = ~(b > lowest) | ~(c > 0)
    return np.where(none, lowest, a * b).astype(np.float32)


def dot(count: int, signs: tuple[bool, bool], clamp: bool) -> Callable[..., Array]:
    """Sum of products of parts of words, each source with signs or without."""
    bits = 32 // count

    def part(v: int, i: int, signed: bool) -> int:
        field = v >> bits * i & (1 << bits) - 1
        return field - (1 << bits) if signed and field >> bits - 1 else field

    def run(a: int, b: int, c: int) -> int:
        total = s32(c) + sum(part(a, i, signs[0]) * part(b, i, signs[1]) for i in range(count))
        return (min(max(total, -(2**31)), 2**31 - 1) if clamp else total) & M32

    return wide(run)


def paired_dot(form: exact.Format) -> Callable[..., Array]:
    """Two products and an addend, rounded once (assumed)."""

    def run(a: Array, b: Array, c: Array) -> Array:
        out = []
        for values in zip(a[0], b[0], a[1], b[1], c, strict=True):
            x0, y0, x1, y1, z = (float(v) for v in values)
            if np.isfinite([x0, y0, x1, y1, z]).all():
                total = sum(exact.fraction(x) * exact.fraction(y) for x, y in ((x0, y0), (x1, y1))) + exact.fraction(z)
                zero = -0.0 if all(np.signbit([x0 * y0, x1 * y1, z])) else 0.0
                rounded = form.round(total)
                out.append((np.copysign(rounded, -1.0) if total < 0 else rounded) if total else zero)
            else:
                out.append(x0 * y0 + x1 * y1 + z)
        return np.array(out, form.dtype)

    return run


def _sixteen() -> list[Case]:
    def accumulated(context: Context, a: Array, b: Array) -> Array:
        return fma(F16)(a, b, (context.old[0][0] & np.uint32(M16)).astype(np.uint16).view(np.float16))

    constant = np.float16(1.5)
    plain = {
        "v_and_b16": lambda a, b: a & b, "v_or_b16": lambda a, b: a | b, "v_xor_b16": lambda a, b: a ^ b,
    }  # fmt: skip
    return [
        *(case(name, "u16 u16", "u16", wide(f), archs=BOTH) for name, f in plain.items()),
        case("v_not_b16", "u16", "u16", wide(lambda a: ~a & M16), archs=BOTH),
        case("v_mov_b16", "u16", "u16", wide(lambda a: a), archs=BOTH),
        case("v_cndmask_b16", "u16 u16 s:u64", "u16", conditional, context=True, archs=BOTH),
        case("v_swap_b16", "", "u16 u16", lambda context: tuple(old[0] & np.uint32(M16) for old in context.old[::-1]),
             context=True, keep_high=True, archs=BOTH),
        case("v_dot2_f16_f16", "pk_f16 pk_f16 f16", "f16", paired_dot(F16), archs=BOTH),
        case("v_dot2_bf16_bf16", "pk_bf16 pk_bf16 bf16", "bf16", paired_dot(exact.BF16), archs=BOTH),
        case("v_cvt_i32_i16", "u16", "u32", wide(lambda a: s16(a) & M32), archs=BOTH),
        case("v_cvt_u32_u16", "u16", "u32", wide(lambda a: a), archs=BOTH),
        case("v_fmac_f16", "f16 f16", "f16", accumulated, context=True, archs=BOTH),
        case("v_fmaak_f16", "f16 f16", "f16", lambda a, b: fma(F16)(a, b, np.full_like(a, constant)),
             "{op} {d}, {a}, {b}, 0x3e00", archs=BOTH),
        case("v_fmamk_f16", "f16 f16", "f16", lambda a, b: fma(F16)(a, np.full_like(a, constant), b),
             "{op} {d}, {a}, 0x3e00, {b}", archs=BOTH),
    ]  # fmt: skip


def _of_2019() -> list[Case]:
    """gfx12's minimum and maximum of IEEE 754-2019, and the middle of three numbers."""
    least, most = exact.minimum_2019, exact.maximum_2019
    out = []
    for form in ("f16", "f32", "f64"):
        two, three = f"{form} {form}", f"{form} {form} {form}"
        out += [
            case(f"v_{name}_{form}", two, form, f, archs=GFX12) for name, f in (("minimum", least), ("maximum", most))
        ]
        if form != "f64":
            out += [
                case(f"v_minimum3_{form}", three, form, least, archs=GFX12),
                case(f"v_maximum3_{form}", three, form, most, archs=GFX12),
                case(f"v_minimummaximum_{form}", three, form, in_turn(most, least), archs=GFX12),
                case(f"v_maximumminimum_{form}", three, form, in_turn(least, most), archs=GFX12),
                case(f"v_med3_num_{form}", three, form, lambda a, b, c: exact.median(a, b, c, False), archs=GFX12),
            ]
    pairs: Any = {"v_pk_minimum_f16": least, "v_pk_maximum_f16": most,
                  "v_pk_min_num_f16": lambda a, b: exact.minimum(a, b, False),
                  "v_pk_max_num_f16": lambda a, b: exact.maximum(a, b, False)}  # fmt: skip
    for name, f in pairs.items():
        both: Any = lambda a, b, f=f: np.stack([f(x, y) for x, y in zip(a, b, strict=True)])  # noqa: E731
        out.append(case(name, "pk_f16 pk_f16", "pk_f16", both, archs=GFX12))
    return out


def cases() -> list[Case]:
    def accumulated(context: Context, a: Array, b: Array) -> Array:
        return without_zero_times(a, b, context.old[0][0].view(np.float32))

    out = [
        *_sixteen(),
        case("v_xor3_b32", "u32 u32 u32", "u32", wide(lambda a, b, c: a ^ b ^ c), archs=BOTH),
        case("v_cvt_pk_i16_f32", "f32 f32", "pk_i16", pair(to_int(-(2**15), 2**15 - 1)), archs=BOTH),
        case("v_cvt_pk_i16_f32", "f32 f32", "pk_i16", lambda a, b: pair(to_int(-(2**15), 2**15 - 1))(-a, abs(b)),
             "{op} {d}, -{a}, |{b}|", label="signs", archs=BOTH),
        case("v_cvt_pk_u16_f32", "f32 f32", "pk_u16", pair(to_int(0, 2**16 - 1)), archs=BOTH),
        case("v_fma_dx9_zero_f32", "f32 f32 f32", "f32", without_zero_times, archs=BOTH),
        case("v_fmac_dx9_zero_f32", "f32 f32", "f32", accumulated, context=True, archs=GFX11),
        case("v_mullit_f32", "f32 f32 f32", "f32", lighting, archs=BOTH),
        case("s_pack_hl_b32_b16", "s:u32 s:u32", "s:u32", wide(lambda a, b: a >> 16 | (b & M16) << 16), archs=BOTH),
    ]  # fmt: skip
    for signed, kind in ((True, "i32"), (False, "u32")):
        read: Callable[[int], int] = s32 if signed else lambda v: v
        low: Any = lambda a, b, c, r=read: min(max(r(a), r(b)), r(c)) & M32  # noqa: E731
        high: Any = lambda a, b, c, r=read: max(min(r(a), r(b)), r(c)) & M32  # noqa: E731
        out.append(case(f"v_maxmin_{kind}", "u32 u32 u32", "u32", wide(low), archs=BOTH))
        out.append(case(f"v_minmax_{kind}", "u32 u32 u32", "u32", wide(high), archs=BOTH))
    for form in ("f16", "f32", "f64"):
        two, three = f"{form} {form}", f"{form} {form} {form}"
        # gfx12 takes a number before any NaN, gfx11 in IEEE mode not before a signalling one.
        for archs, num, ieee in ((GFX11, "", True), (GFX12, "num_", False)):
            least: Any = lambda a, b, i=ieee: exact.minimum(a, b, i)  # noqa: E731
            most: Any = lambda a, b, i=ieee: exact.maximum(a, b, i)  # noqa: E731
            if not ieee:
                out.append(case(f"v_min_num_{form}", two, form, least, archs=archs))
                out.append(case(f"v_max_num_{form}", two, form, most, archs=archs))
            if form == "f64":
                continue
            upper, lower = in_turn(most, least), in_turn(least, most)
            out += [
                case(f"v_minmax_{num}{form}", three, form, upper, archs=archs),
                case(f"v_maxmin_{num}{form}", three, form, lower, archs=archs),
                case(f"v_minmax_{num}{form}", three, form, lambda a, b, c, f=upper: f(-a, abs(b), -abs(c)),
                     "{op} {d}, -{a}, |{b}|, -|{c}|", label="signs", archs=archs),
            ]  # fmt: skip
            if not ieee:
                out += [
                    case(f"v_min3_num_{form}", three, form, in_turn(least, least), archs=archs),
                    case(f"v_max3_num_{form}", three, form, in_turn(most, most), archs=archs),
                ]
    out += _of_2019()
    for name, count in (("v_dot4_i32_iu8", 4), ("v_dot8_i32_iu4", 8)):
        for a in (False, True):
            for b in (False, True):
                for clamp in (False, True):
                    code = f"{{op}} {{d}}, {{a}}, {{b}}, {{c}} neg_lo:[{int(a)},{int(b)},0]" + " clamp" * clamp
                    label = f"signs {int(a)}{int(b)}" + " clamp" * clamp
                    define = dot(count, (a, b), clamp)
                    out.append(case(name, "u32 u32 u32", "u32", define, code, label=label, archs=BOTH))
    return out
