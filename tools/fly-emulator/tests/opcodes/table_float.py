# SPDX-License-Identifier: Apache-2.0
"""Vector floating-point arithmetic: plain, packed, mixed precision, with modifiers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from . import exact
from .case import Case, Context, case
from .exact import F16, F32, F64, FORMATS, fma, lanewise
from .kinds import Array

GFX950 = ("gfx950",)
Definition = Callable[..., Array]


def _basic(form: str) -> dict[str, Definition]:
    """What f16, f32 and f64 have in common; numpy rounds these correctly."""
    f = FORMATS[form]
    return {
        f"v_add_{form}": lambda a, b: a + b,
        f"v_mul_{form}": lambda a, b: a * b,
        f"v_min_{form}": exact.minimum,
        f"v_max_{form}": exact.maximum,
        f"v_fma_{form}": fma(f),
        f"v_floor_{form}": np.floor,
        f"v_ceil_{form}": np.ceil,
        f"v_trunc_{form}": np.trunc,
        f"v_rndne_{form}": np.rint,
        f"v_fract_{form}": exact.fract,
        f"v_frexp_mant_{form}": exact.frexp_mantissa,
    }


def _narrow(form: str) -> dict[str, Definition]:
    """What f16 and f32 have besides."""
    return {
        f"v_sub_{form}": lambda a, b: a - b,
        f"v_subrev_{form}": lambda a, b: b - a,
        f"v_min3_{form}": lambda a, b, c: exact.minimum(exact.minimum(a, b), c),
        f"v_max3_{form}": lambda a, b, c: exact.maximum(exact.maximum(a, b), c),
        f"v_med3_{form}": exact.median,
    }


def legacy_multiply(a: Array, b: Array) -> Array:
    return np.where((a == 0) | (b == 0), np.float32(0), a * b)


def two_step(a: Array, b: Array, c: Array) -> Array:
    """Multiply-add with a rounding after the product."""
    return (a * b) + c


ARGUMENTS = {"v_floor": 1, "v_ceil": 1, "v_trunc": 1, "v_rndne": 1, "v_fract": 1, "v_frexp_mant": 1, "v_fma": 3}
# VOP3 halves that leave the other half of the register alone.
KEEPS = ("v_fma_f16", "v_min3_f16", "v_max3_f16", "v_med3_f16", "v_div_fixup_f16", "v_mad_f16")


def count_of(name: str) -> int:
    stem = name.rsplit("_", 1)[0]
    return ARGUMENTS.get(stem, 3 if "3" in stem else 2)


def modified(function: Definition, form: str) -> Definition:
    """-a, |b|, -|c|."""
    sign = {"f16": 0x8000, "f32": 2**31, "f64": 2**63}[form]

    def flip(v: Array, clear: bool, negate: bool) -> Array:
        bits = v.view(f"u{v.dtype.itemsize}").copy()
        if clear:
            bits &= bits.dtype.type(sign - 1)
        if negate:
            bits ^= bits.dtype.type(sign)
        return bits.view(v.dtype)

    def run(*values: Array) -> Array:
        plan = [(False, True), (True, False), (True, True)]
        return function(*(flip(v, *how) for v, how in zip(values, plan, strict=False)))

    return run


def clamped(function: Definition) -> Definition:
    """To [0, 1]; a NaN gives zero (MODE.DX10_CLAMP), -0 gives... +0."""

    def run(*values: Array) -> Array:
        v = function(*values)
        value: Array = np.where(np.isnan(v) | (v <= 0), v.dtype.type(0), np.minimum(v, v.dtype.type(1))).astype(v.dtype)
        return value

    return run


def _with_variants(name: str, form: str, function: Definition, count: int) -> list[Case]:
    kinds, names = " ".join([form] * count), ", ".join("{" + x + "}" for x in "abc"[:count])
    keep = name in KEEPS
    signs = ", ".join(("-{a}", "|{b}|", "-|{c}|")[:count])
    variants = [
        case(name, kinds, form, function, keep_high=keep),
        case(name, kinds, form, modified(function, form), f"{{op}}_e64 {{d}}, {signs}", label="signs", keep_high=keep),
        case(name, kinds, form, clamped(function), f"{{op}}_e64 {{d}}, {names} clamp", label="clamp", keep_high=keep),
        case(name, kinds, form, function, f"{{op}}_e64 {{d}}, {names} mul:4", label="omod is ignored in IEEE mode",
             keep_high=keep),
    ]  # fmt: skip
    if count == 3:  # VOP3 only: no suffix
        variants = [one.but(code=one.code.replace("_e64", "")) for one in variants]
    if name.endswith("f16") and "omod" in variants[-1].label:
        pass
    return variants


def _packed(function: Definition, select: tuple[str, str], negate: tuple[str, str]) -> Definition:
    """op_sel, op_sel_hi, neg_lo and neg_hi on operands of shape (2, n)."""

    def run(*values: Array) -> Array:
        halves = []
        for half in range(2):
            parts = []
            for i, v in enumerate(values):
                part = v[int(select[half][i])]
                parts.append(-part if negate[half][i] == "1" else part)
            halves.append(function(*parts))
        return np.stack(halves)

    return run


def _packed_cases(name: str, kind: str, function: Definition, count: int, archs: tuple[str, ...]) -> list[Case]:
    kinds, names = " ".join([kind] * count), ", ".join("{" + x + "}" for x in "abc"[:count])
    out = [case(name, kinds, kind, _packed(function, ("000", "111"), ("000", "000")), archs=archs)]
    if name.startswith("v_pk_fmac"):
        return out

    def text(bits: str) -> str:
        return "[" + ",".join(bits[:count]) + "]"

    for select, negate in ((("101", "010"), ("010", "101")), (("011", "110"), ("110", "001"))):
        modifiers = f"op_sel:{text(select[0])} op_sel_hi:{text(select[1])}"
        modifiers += f" neg_lo:{text(negate[0])} neg_hi:{text(negate[1])}"
        out.append(
            case(name, kinds, kind, _packed(function, select, negate), f"{{op}} {{d}}, {names} {modifiers}",
                 label=modifiers, archs=archs)
        )  # fmt: skip
    out.append(
        case(name, kinds, kind, clamped(_packed(function, ("000", "111"), ("000", "000"))),
             f"{{op}} {{d}}, {names} clamp", label="clamp", archs=archs)
    )  # fmt: skip
    return out


def mix(select: str, high: str, negate: str, absolute: str) -> Callable[[Array, Array, Array], list[Array]]:
    """The sources of v_fma_mix as f32: halves where op_sel_hi is set, the upper one where op_sel is."""

    def run(*words: Array) -> list[Array]:
        out = []
        for i, w in enumerate(words):
            value = w.view(np.float32)
            if high[i] == "1":
                half = (w >> np.uint32(16) if select[i] == "1" else w & np.uint32(0xFFFF)).astype(np.uint16)
                value = half.view(np.float16).astype(np.float32)
            value = np.abs(value) if absolute[i] == "1" else value
            out.append(-value if negate[i] == "1" else value)
        return out

    return run


def _mix_cases() -> list[Case]:
    out = []
    for select, high, signs in (
        ("000", "000", ("{a}", "{b}", "{c}")),
        ("101", "111", ("{a}", "{b}", "{c}")),
        ("010", "011", ("-{a}", "|{b}|", "-{c}")),
        ("001", "101", ("|{a}|", "-{b}", "-|{c}|")),
    ):
        negate = "".join(str(int(s.startswith("-"))) for s in signs)
        absolute = "".join(str(int("|" in s)) for s in signs)
        sources = mix(select, high, negate, absolute)
        text = f"{', '.join(signs)} op_sel:[{','.join(select)}] op_sel_hi:[{','.join(high)}]"
        single = lambda a, b, c, s=sources: fma(F32)(*s(a, b, c))  # noqa: E731
        half = lambda a, b, c, s=sources: fma(F32)(*s(a, b, c)).astype(np.float16)  # noqa: E731
        out.append(case("v_fma_mix_f32", "u32 u32 u32", "f32", single, f"{{op}} {{d}}, {text}", label=text))
        out.append(
            case("v_fma_mixlo_f16", "u32 u32 u32", "f16", half, f"{{op}} {{d}}, {text}", label=text, keep_high=True)
        )

        def upper(context: Context, a: Array, b: Array, c: Array, half: Definition = half) -> Array:
            bits = half(a, b, c).view(np.uint16).astype(np.uint32)
            low = context.old[0][0] & np.uint32(0xFFFF)
            return np.stack([low.astype(np.uint16), bits.astype(np.uint16)]).view(np.float16)

        out.append(
            case("v_fma_mixhi_f16", "u32 u32 u32", "pk_f16", upper, f"{{op}} {{d}}, {text}", label=text, context=True)
        )
    return out


def dot2(form: str) -> Definition:
    """Two products and the addend, rounded once."""

    def one(a0: Any, a1: Any, b0: Any, b1: Any, c: Any) -> float:
        values = [float(v) for v in (a0, a1, b0, b1, c)]
        if not np.isfinite(values).all():
            return float(np.float64(values[0]) * values[2] + np.float64(values[1]) * values[3] + values[4])
        total = sum((Fraction(values[i]) * Fraction(values[i + 2]) for i in range(2)), Fraction(values[4]))
        if total == 0:
            return 0.0
        return F32.round(total)

    def run(a: Array, b: Array, c: Array) -> Array:
        return lanewise(one, np.float32)(a[0], a[1], b[0], b[1], c)

    return run


def cube(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array, Array]:
    """face, twice the major axis, and the coordinates on the face."""
    x, y, z = np.abs(a), np.abs(b), np.abs(c)
    major_z = (z >= x) & (z >= y)
    major_y = ~major_z & (y >= x)
    face = np.where(major_z, np.where(c < 0, 5, 4), np.where(major_y, np.where(b < 0, 3, 2), np.where(a < 0, 1, 0)))
    major = 2 * np.where(major_z, c, np.where(major_y, b, a))
    s = np.where(major_z, np.where(c < 0, -a, a), np.where(major_y, a, np.where(a < 0, c, -c)))
    t = np.where(major_z, -b, np.where(major_y, np.where(b < 0, -c, c), -b))
    return face.astype(np.float32), major.astype(np.float32), s.astype(np.float32), t.astype(np.float32)


def cases() -> list[Case]:
    out: list[Case] = []
    for form in ("f16", "f32", "f64"):
        table = _basic(form) | (_narrow(form) if form != "f64" else {})
        for name, function in table.items():
            if form == "f64" and name.startswith("v_sub"):
                continue
            out += _with_variants(name, form, function, count_of(name))
        exponent = "v_frexp_exp_i16_f16" if form == "f16" else f"v_frexp_exp_i32_{form}"
        out.append(case(exponent, form, "i16" if form == "f16" else "i32", exact.frexp_exponent))
    out += [
        case("v_ldexp_f16", "f16 i16", "f16", exact.ldexp(F16)),
        case("v_ldexp_f32", "f32 i32", "f32", exact.ldexp(F32)),
        case("v_ldexp_f64", "f64 i32", "f64", exact.ldexp(F64)),
        *(
            case(f"v_ldexp_{f}", f"{f} u32<80", f, lambda a, b, g=FORMATS[f]: exact.ldexp(g)(a, b.view(np.int32) - 40),
                 "v_subrev_u32 {b}, 40, {b}\n{op} {d}, {a}, {b}", label="near")
            for f in ("f16", "f32", "f64")
        ),
        case("v_mul_legacy_f32", "f32 f32", "f32", legacy_multiply),
        case("v_fmac_f32", "f32 f32", "f32",
             lambda c, a, b: fma(F32)(a, b, c.old[0][0].view(np.float32)), context=True),
        case("v_fmac_f64", "f64 f64", "f64",
             lambda c, a, b: fma(F64)(a, b, out_f64(c)), context=True),
        case("v_fmaak_f32", "f32 f32", "f32", lambda a, b: fma(F32)(a, b, np.full_like(a, 1.7)),
             "{op} {d}, {a}, {b}, 0x3fd9999a"),
        case("v_fmamk_f32", "f32 f32", "f32", lambda a, b: fma(F32)(a, np.full_like(a, 1.7), b),
             "{op} {d}, {a}, 0x3fd9999a, {b}"),
        case("v_fma_legacy_f16", "f16 f16 f16", "f16", fma(F16)),
        case("v_mad_f16", "f16 f16 f16", "f16", two_step, keep_high=True),
        case("v_mad_legacy_f16", "f16 f16 f16", "f16", two_step),
        case("v_mac_f16", "f16 f16", "f16",
             lambda c, a, b: two_step(a, b, (c.old[0][0] & 0xFFFF).astype(np.uint16).view(np.float16)), context=True),
        case("v_madak_f16", "f16 f16", "f16", lambda a, b: two_step(a, b, np.full_like(a, 1.7)),
             "{op} {d}, {a}, {b}, 0x3ecd"),
        case("v_madmk_f16", "f16 f16", "f16", lambda a, b: two_step(a, np.full_like(a, 1.7), b),
             "{op} {d}, {a}, 0x3ecd, {b}"),
        case("v_minimum3_f32", "f32 f32 f32", "f32", exact.minimum_2019, archs=GFX950),
        case("v_maximum3_f32", "f32 f32 f32", "f32", exact.maximum_2019, archs=GFX950),
    ]  # fmt: skip
    for index, name in enumerate(("v_cubeid_f32", "v_cubema_f32", "v_cubesc_f32", "v_cubetc_f32")):
        out.append(case(name, "f32 f32 f32", "f32", lambda a, b, c, i=index: cube(a, b, c)[i]))
    packed: dict[str, tuple[str, Definition, int, tuple[str, ...]]] = {
        "v_pk_add_f16": ("pk_f16", lambda a, b: a + b, 2, ("gfx942", "gfx950")),
        "v_pk_mul_f16": ("pk_f16", lambda a, b: a * b, 2, ("gfx942", "gfx950")),
        "v_pk_min_f16": ("pk_f16", exact.minimum, 2, ("gfx942", "gfx950")),
        "v_pk_max_f16": ("pk_f16", exact.maximum, 2, ("gfx942", "gfx950")),
        "v_pk_fma_f16": ("pk_f16", fma(F16), 3, ("gfx942", "gfx950")),
        "v_pk_minimum3_f16": ("pk_f16", exact.minimum_2019, 3, GFX950),
        "v_pk_maximum3_f16": ("pk_f16", exact.maximum_2019, 3, GFX950),
        "v_pk_add_f32": ("pk_f32", lambda a, b: a + b, 2, ("gfx942", "gfx950")),
        "v_pk_mul_f32": ("pk_f32", lambda a, b: a * b, 2, ("gfx942", "gfx950")),
        "v_pk_fma_f32": ("pk_f32", fma(F32), 3, ("gfx942", "gfx950")),
    }
    for name, (kind, function, count, archs) in packed.items():
        out += _packed_cases(name, kind, function, count, archs)
    out.append(
        case("v_pk_fmac_f16", "pk_f16 pk_f16", "pk_f16",
             lambda c, a, b: _packed(fma(F16), ("000", "111"), ("000", "000"))(
                 a, b, np.stack([c.old[0][0] & 0xFFFF, c.old[0][0] >> 16]).astype(np.uint16).view(np.float16)),
             context=True)
    )  # fmt: skip
    for select in ("00", "01", "10", "11"):
        out.append(
            case("v_pk_mov_b32", "b64 b64", "b64", lambda a, b, s=select: np.stack([a[int(s[0])], b[int(s[1])]]),
                 f"{{op}} {{d}}, {{a}}, {{b}} op_sel:[{','.join(select)}]", label=select)
        )  # fmt: skip
    out += _mix_cases()
    accumulate = lambda c, a, b: dot2("f32")(a, b, c.old[0][0].view(np.float32))  # noqa: E731
    out += [
        case("v_dot2_f32_f16", "pk_f16 pk_f16 f32", "f32", dot2("f16")),
        case("v_dot2c_f32_f16", "pk_f16 pk_f16", "f32", accumulate, context=True),
        case("v_dot2_f32_bf16", "pk_bf16 pk_bf16 f32", "f32", dot2("bf16"), archs=GFX950),
        case("v_dot2c_f32_bf16", "pk_bf16 pk_bf16", "f32", accumulate, context=True, archs=GFX950),
    ]
    return out


def out_f64(context: Context) -> Array:
    words = context.old[0]
    value: Array = (words[0].astype(np.uint64) | words[1].astype(np.uint64) << np.uint64(32)).view(np.float64)
    return value
