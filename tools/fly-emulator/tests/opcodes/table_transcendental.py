# SPDX-License-Identifier: Apache-2.0
"""Reciprocals, roots, exponentials, logarithms, sine, cosine; and the steps of IEEE division."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .case import ARCHITECTURES, Case, Context, case
from .exact import F32, F64, fma
from .kinds import Array
from .table_integer import mask_of

LD = np.longdouble


def flushed(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The f32 forms make denormal inputs and results zero."""
    tiny = np.finfo(np.float32).tiny

    def run(a: Array) -> Array:
        value = function(np.where(np.abs(a) < tiny, np.copysign(np.float32(0), a), a).astype(LD))
        return np.where(np.abs(value) < LD(tiny), np.copysign(LD(0), value), value)

    return run


def plain(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda a: function(a.astype(LD))


TURN = 2 * LD("3.14159265358979323846264338327950288")


def turns(cosine: bool, limited: bool) -> Callable[[Array], Array]:
    """The argument counts whole turns; on gfx9 the result beyond 256 of them is that of zero."""

    def run(a: Array) -> Array:
        part = a - np.rint(a)
        if cosine:
            value = np.sin((LD(0.25) - np.abs(part)) * TURN)
        else:
            value = np.sin(np.where(np.abs(part) > 0.25, np.copysign(LD(0.5), part) - part, part) * TURN)
        if limited:
            value = np.where(np.abs(a) > 256, LD(1 if cosine else 0), value)
        return np.where(np.isfinite(a), value, LD(np.nan))

    return run


def of_turns(cosine: bool, form: str) -> Callable[[Context, Array], Array]:
    kept = flushed if form == "f32" else plain
    return lambda c, a: kept(turns(cosine, c.arch in ARCHITECTURES))(a)


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp2,
    "log": np.log2,
    "rcp": lambda a: 1 / a,
    "rsq": lambda a: 1 / np.sqrt(a),
    "sqrt": np.sqrt,
}


def div_fixup(q: Array, d: Array, n: Array) -> Array:
    """The final cases of a division n / d whose quotient is q."""
    negative = np.signbit(d) ^ np.signbit(n)
    dtype = q.dtype
    sign = np.where(negative, -1, 1).astype(dtype)
    width = {2: (10, 15), 4: (23, 127), 8: (52, 1023)}[dtype.itemsize]
    biased = [(v.view(f"u{dtype.itemsize}").astype(np.int64) >> width[0]) & (2 * width[1] + 1) for v in (n, d)]
    # A quotient that overflowed on the way arrives as a NaN, and means infinity.
    value = np.copysign(np.where(np.isnan(q), dtype.type(np.inf), np.abs(q)), sign)
    if dtype.itemsize > 2:
        least = {4: -150, 8: -1075}[dtype.itemsize]
        value = np.where(biased[0] - biased[1] < least, np.copysign(dtype.type(0), sign), value)
    value = np.where(np.isinf(d) | (n == 0), np.copysign(dtype.type(0), sign), value)
    value = np.where((d == 0) | np.isinf(n), np.copysign(dtype.type(np.inf), sign), value)
    nan = ((d == 0) & (n == 0)) | (np.isinf(d) & np.isinf(n)) | np.isnan(d) | np.isnan(n)
    result: Array = np.where(nan, dtype.type(np.nan), value).astype(dtype)
    return result


def division(context: Context, n: Array, d: Array) -> Array:
    """What the sequence of a correctly rounded division gives."""
    return n / d


def div_f32(n: str, d: str, out: str) -> str:
    """LLVM's expansion of an IEEE f32 division."""
    return f"""
      v_div_scale_f32 v100, s[60:61], {d}, {d}, {n}
      v_div_scale_f32 v101, vcc, {n}, {d}, {n}
      v_rcp_f32 v102, v100
      v_fma_f32 v103, -v100, v102, 1.0
      v_fma_f32 v102, v103, v102, v102
      v_mul_f32 v104, v101, v102
      v_fma_f32 v105, -v100, v104, v101
      v_fma_f32 v104, v105, v102, v104
      v_fma_f32 v105, -v100, v104, v101
      v_div_fmas_f32 v105, v105, v102, v104
      v_div_fixup_f32 {out}, v105, {d}, {n}"""


def div_f64(n: str, d: str, out: str) -> str:
    """LLVM's expansion of an f64 division."""
    return f"""
      v_div_scale_f64 v[100:101], s[60:61], {d}, {d}, {n}
      v_rcp_f64 v[102:103], v[100:101]
      v_fma_f64 v[104:105], -v[100:101], v[102:103], 1.0
      v_fma_f64 v[102:103], v[102:103], v[104:105], v[102:103]
      v_fma_f64 v[104:105], -v[100:101], v[102:103], 1.0
      v_fma_f64 v[102:103], v[102:103], v[104:105], v[102:103]
      v_div_scale_f64 v[106:107], vcc, {n}, {d}, {n}
      v_mul_f64 v[104:105], v[106:107], v[102:103]
      v_fma_f64 v[100:101], -v[100:101], v[104:105], v[106:107]
      v_div_fmas_f64 v[100:101], v[100:101], v[102:103], v[104:105]
      v_div_fixup_f64 {out}, v[100:101], {d}, {n}"""


def scaled_fma(form: str) -> Callable[..., Array]:
    """v_div_fmas: with VCC, the result times 2^32 (2^64) or its inverse; checked where VCC is clear."""
    f = F32 if form == "f32" else F64
    return lambda context, a, b, c: fma(f)(a, b, c)


def trig_preop(a: Array, segment: Array) -> Array:
    """Bits of 2/pi from 53 * segment on, further along for large exponents."""
    digits = int("0x" + _TWO_OVER_PI, 16)
    out = []
    for value, part in zip(a.view(np.uint64), segment, strict=True):
        exponent = int(value) >> 52 & 0x7FF
        shift = (int(part) & 31) * 53 + max(exponent - 1077, 0)
        field = digits >> (4 * len(_TWO_OVER_PI) - shift - 53) if shift + 53 <= 4 * len(_TWO_OVER_PI) else 0
        field = (digits << 4096 >> (4096 + 4 * len(_TWO_OVER_PI) - shift - 53)) if field == 0 else field
        scale = -53 - shift + (128 if exponent >= 1968 else 0)
        out.append(np.ldexp(np.float64(field & (2**53 - 1)), scale))
    return np.array(out)


# The first 1216 bits after the point, from pi's series by exact integer arithmetic.
def _two_over_pi(bits: int) -> str:
    guard = bits + 64

    def arctan_inverse(x: int) -> int:
        term = total = (1 << guard) // x
        n, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return f"{(2 << (2 * guard)) // pi >> 64:0{bits // 4}x}"


_TWO_OVER_PI = _two_over_pi(2432)


def cases() -> list[Case]:
    out: list[Case] = []
    for name, function in FUNCTIONS.items():
        # Half precision keeps denormals; its results and doubles' are within one unit in the last place.
        out.append(case(f"v_{name}_f32", "f32", "f32", flushed(function), ulp=1.0))
        out.append(case(f"v_{name}_f16", "f16", "f16", plain(function), ulp=1.0))
    for form in ("f32", "f16"):
        for name, cosine in (("sin", False), ("cos", True)):
            out.append(case(f"v_{name}_{form}", form, form, of_turns(cosine, form), context=True, ulp=1.0))
    out += [case(f"v_{n}_f64", "f64", "f64", plain(FUNCTIONS[n]), ulp=2.0**29) for n in ("rcp", "rsq", "sqrt")]
    out += [
        case("v_exp_legacy_f32", "f32", "f32", flushed(FUNCTIONS["exp"]), ulp=1.0),
        case("v_log_legacy_f32", "f32", "f32", flushed(FUNCTIONS["log"]), ulp=1.0),
        case("v_rcp_iflag_f32", "f32", "f32", flushed(FUNCTIONS["rcp"]), ulp=1.0),
        case("v_div_fixup_f16", "f16 f16 f16", "f16", div_fixup, keep_high=True),
        case("v_div_fixup_legacy_f16", "f16 f16 f16", "f16", div_fixup),
        case("v_div_fixup_f32", "f32 f32 f32", "f32", div_fixup),
        case("v_div_fixup_f64", "f64 f64 f64", "f64", div_fixup),
        case("v_div_fmas_f32", "f32 f32 f32", "f32", scaled_fma("f32"), "s_mov_b64 vcc, 0\n{op} {d}, {a}, {b}, {c}",
             context=True),
        case("v_div_fmas_f64", "f64 f64 f64", "f64", scaled_fma("f64"), "s_mov_b64 vcc, 0\n{op} {d}, {a}, {b}, {c}",
             context=True),
        case("v_div_scale_f32", "f32 f32", "f32", division, div_f32("{a}", "{b}", "{d}"), context=True,
             label="in a division", also=("v_div_fmas_f32", "v_div_fixup_f32", "v_rcp_f32")),
        case("v_div_scale_f64", "f64 f64", "f64", division, div_f64("{a}", "{b}", "{d}"), context=True,
             label="in a division", also=("v_div_fmas_f64", "v_div_fixup_f64", "v_rcp_f64")),
        case("v_div_scale_f32", "f32 f32", "s:u64", lambda c, a, b: mask_of(scale_flag(c, a, b), c),
             "v_div_scale_f32 v100, {d}, {a}, {b}, {a}", context=True, label="flag"),
        case("v_trig_preop_f64", "f64 u32<24", "f64", trig_preop),
    ]  # fmt: skip
    return out


def scale_flag(context: Context, n: Array, d: Array) -> Array:
    """v_div_scale's VCC: the quotient needs scaling back.

    RDNA's is also set where an operand is zero, and goes by exponents where a quotient may be denormal (assumed).
    """
    bits = [v.view(np.uint32) for v in (n, d)]
    exponent = [(b >> np.uint32(23) & np.uint32(255)).astype(np.int64) for b in bits]
    with np.errstate(all="ignore"):
        tiny = np.finfo(np.float32).tiny
        denormal_d = (np.abs(d) < tiny) & (d != 0)
        quotient = (n / d).astype(np.float32)
        small = (np.abs(quotient) < tiny) & (quotient != 0)
        rdna = context.arch not in ARCHITECTURES
        if rdna:
            small |= (exponent[0] != 0) & (exponent[1] != 255) & (exponent[0] - exponent[1] == -126)
    far = exponent[0] - exponent[1] >= 96
    return np.where((n == 0) | (d == 0), rdna, np.where(far, True, np.where(denormal_d, False, small)))
