# SPDX-License-Identifier: Apache-2.0
"""gfx950's scaled conversions (v_cvt_scalef32_*) against ml_dtypes.

The scale is the exponent part of a float: narrowing divides by it, widening multiplies, each rounded once.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .case import Case, Context, case
from .exact import Format
from .kinds import KINDS, Array, Kind, Words
from .table_convert import _stochastic, codes8

OPTIONS: dict[str, Any] = {"context": True, "archs": ("gfx950",)}
SMALL = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2, "fp4": ml_dtypes.float4_e2m1fn,
         "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn}  # fmt: skip
LARGEST = {"fp8": 448.0, "bf8": 57344.0, "fp4": 6.0, "fp6": 7.5, "bf6": 28.0}
WIDE = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def _scales(rng: np.random.Generator, n: int, share: float) -> Words:
    """All exponents, those near one more often; sign and mantissa must not matter."""
    codes = np.where(rng.random(n) < 0.5, rng.integers(0, 255, n), rng.integers(117, 138, n))
    noise = np.where(rng.random(n) < 0.5, rng.integers(0, 2**32, n, dtype=np.uint64), 0).astype(np.uint32)
    return np.asarray((codes.astype(np.uint32) << np.uint32(23) | noise & np.uint32(0x807FFFFF))[None])


def _numbers(kind: Kind) -> Kind:
    """The kind without NaNs, which fp4 and fp6 do not have."""

    def values(rng: np.random.Generator, n: int, share: float) -> Words:
        words = kind.values(rng, n, share)
        masks = {(32,): 0x7F800000, (16, 16): 0x7C007C00, (17, 17): 0x7F807F80}
        mask = masks[kind.floats]
        # Exponents of all ones lose a bit.
        for part in (0xFFFF, 0xFFFF0000) if len(kind.floats) == 2 else (0xFFFFFFFF,):
            top = np.uint32(mask & part)
            words = np.where((words & top) == top, words & ~np.uint32(top & ~(top << 1) & 0xFFFFFFFF), words)
        return words

    return Kind(kind.name, kind.rows, kind.decode, kind.encode, values, kind.half, kind.floats)


KINDS["scale"] = Kind("scale", 1, lambda w: np.exp2((w[0] >> 23 & 255).astype(float) - 127), lambda v: v[None], _scales)
for _name in ("f32", "pk_f16", "pk_bf16"):
    KINDS[f"number_{_name}"] = _numbers(KINDS[_name])


def narrow(context: Context, kind: str, values: Array, scale: Array) -> Array:
    """Codes of values / scale."""
    quotient = values.astype(np.float64) / scale
    if kind in ("fp8", "bf8"):
        # One rounding: the quotient is exact in float64, and ml_dtypes converts through float32 exactly in range.
        return codes8(context, _once(quotient, SMALL[kind]))
    limit = LARGEST[kind]
    return _once(np.clip(quotient, -limit, limit), SMALL[kind]).view(np.uint8).astype(np.uint32)


def _once(values: Array, dtype: Any) -> Array:
    """To a small format with one rounding: what lies far below its last place is made odd first."""
    return values.astype(np.float32).astype(dtype)


FORMATS = {"fp8": Format(4, -6, 8, None), "bf8": Format(3, -14, 15, None), "fp4": Format(2, 0, 2, None),
           "fp6": Format(4, 0, 2, None), "bf6": Format(3, -2, 4, None)}  # fmt: skip


def narrow_stochastic(context: Context, kind: str, values: Array, random: Array, scale: Array) -> Array:
    """Codes of values / scale, rounded by random bits."""
    with np.errstate(all="ignore"):
        scaled = (values.astype(np.float64) / scale).astype(np.float32)
    out = scaled.astype(np.float64)
    finite = np.isfinite(scaled) & (scaled != 0)
    out[finite] = [
        _stochastic(float(v), int(r), FORMATS[kind], 32)
        for v, r in zip(scaled[finite], random[finite], strict=True)
    ]  # fmt: skip
    limit = LARGEST[kind]
    if kind in ("fp8", "bf8"):
        beyond = np.where(np.isnan(out) | (np.abs(out) <= limit), out, np.copysign(np.inf, out))
        return codes8(context, beyond.astype(np.float32).astype(SMALL[kind]))
    return np.clip(out, -limit, limit).astype(np.float32).astype(SMALL[kind]).view(np.uint8).astype(np.uint32)


def widen(kind: str, codes: Array, scale: Array, wide: str) -> Array:
    values = codes.astype(np.uint8).view(SMALL[kind]).astype(np.float64)
    value: Array = (values * scale).astype(WIDE[wide] if wide != "bf16" else np.float32).astype(WIDE[wide])
    return value


def insert(old: Array, value: Array, shift: int, bits: int) -> Array:
    mask = np.uint32(((1 << bits) - 1) << shift)
    return np.asarray(old & ~mask | value.astype(np.uint32) << np.uint32(shift))


def pairs() -> list[Case]:
    out = []
    for kind in ("fp8", "bf8", "fp4"):
        bits = 4 if kind == "fp4" else 8
        places = range(4) if kind == "fp4" else range(2)
        for wide in WIDE:
            prefix = "number_" if kind == "fp4" else ""
            sources = f"{prefix}f32 {prefix}f32" if wide == "f32" else f"{prefix}pk_{wide}"
            names = "{a}, {b}, {c}" if wide == "f32" else "{a}, {b}"
            for place in places:
                # op_sel[3:2] names the byte, op_sel[3] the half.
                low, high = (place & 1, place >> 1) if kind == "fp4" else (0, place)
                select = f"[0,0,{low},{high}]" if wide == "f32" or kind == "fp4" else f"[0,0,{high}]"

                def down(context: Context, *v: Array, kind: str = kind, place: int = place, bits: int = bits) -> Array:
                    first, second = (v[0], v[1]) if len(v) == 3 else v[0]
                    pair = narrow(context, kind, first, v[-1]) | narrow(context, kind, second, v[-1]) << np.uint32(bits)
                    return insert(context.old[0][0], pair, 2 * bits * place, 2 * bits)

                out.append(
                    case(f"v_cvt_scalef32_pk_{kind}_{wide}", f"{sources} scale", "u32", down,
                         f"{{op}} {{d}}, {names} op_sel:{select}", label=f"place {place}", **OPTIONS)
                )  # fmt: skip

                def up(context: Context, a: Array, scale: Array, kind: str = kind, wide: str = wide,
                       place: int = place, bits: int = bits) -> Array:  # fmt: skip
                    codes = a >> np.uint32(2 * bits * place)
                    mask = np.uint32((1 << bits) - 1)
                    halves = (codes & mask, codes >> np.uint32(bits) & mask)
                    return np.stack([widen(kind, c, scale, wide) for c in halves])

                low, high = (place & 1, place >> 1) if kind == "fp4" else (place, 0)
                out.append(
                    case(f"v_cvt_scalef32_pk_{wide}_{kind}", "u32 scale", f"pk_{wide}", up,
                         f"{{op}} {{d}}, {{a}}, {{b}} op_sel:[{low},{high},0]", label=f"place {place}", **OPTIONS)
                )  # fmt: skip
    return out


def single() -> list[Case]:
    out = []
    for kind in ("fp8", "bf8"):
        for byte in range(4):
            low, high = byte & 1, byte >> 1

            def codes(a: Array, byte: int = byte) -> Array:
                return a >> np.uint32(8 * byte) & np.uint32(255)

            out += [
                case(f"v_cvt_scalef32_f32_{kind}", "u32 scale", "f32",
                     lambda c, a, s, k=kind, f=codes: widen(k, f(a), s, "f32"),
                     f"{{op}} {{d}}, {{a}}, {{b}} op_sel:[{low},{high},0]", label=f"byte {byte}", **OPTIONS),
                case(f"v_cvt_scalef32_f16_{kind}", "u32 scale", "pk_f16",
                     lambda c, a, s, k=kind, f=codes: _upper(c, widen(k, f(a), s, "f16")),
                     f"{{op}} {{d}}, {{a}}, {{b}} op_sel:[{low},{high},1]", label=f"byte {byte}", **OPTIONS),
            ]  # fmt: skip
            for wide in WIDE:

                def down(context: Context, a: Array, random: Array, scale: Array, kind: str = kind,
                         byte: int = byte) -> Array:  # fmt: skip
                    return insert(context.old[0][0], narrow_stochastic(context, kind, a, random, scale), 8 * byte, 8)

                out.append(
                    case(f"v_cvt_scalef32_sr_{kind}_{wide}", f"{wide} u32 scale", "u32", down,
                         f"{{op}} {{d}}, {{a}}, {{b}}, {{c}} op_sel:[0,0,{low},{high}]", label=f"byte {byte}",
                         **OPTIONS)
                )  # fmt: skip
    return out


def random_pairs() -> list[Case]:
    """Two numbers to two nibbles of a byte, by the same random bits."""
    out = []
    for wide in WIDE:
        # f32 operands keep an exponent bit clear, so that there are no NaNs.
        sources = "b64" if wide == "f32" else f"number_pk_{wide}"
        setup = "v_and_b32 v10, 0xbfffffff, v10\nv_and_b32 v11, 0xbfffffff, v11\n" if wide == "f32" else ""
        for byte in range(4):

            def down(context: Context, a: Array, random: Array, scale: Array, byte: int = byte,
                     wide: str = wide) -> Array:  # fmt: skip
                values = (a & np.uint32(0xBFFFFFFF)).view(np.float32) if wide == "f32" else a
                low, high = (narrow_stochastic(context, "fp4", v, random, scale) for v in values)
                return insert(context.old[0][0], low | high << np.uint32(4), 8 * byte, 8)

            out.append(
                case(f"v_cvt_scalef32_sr_pk_fp4_{wide}", f"{sources} u32 scale", "u32", down,
                     setup + f"{{op}} {{d}}, {{a}}, {{b}}, {{c}} op_sel:[0,0,{byte & 1},{byte >> 1}]",
                     label=f"byte {byte}", **OPTIONS)
            )  # fmt: skip
    return out


def _upper(context: Context, half: Array) -> Array:
    low = (context.old[0][0] & np.uint32(0xFFFF)).astype(np.uint16)
    return np.stack([low.view(np.float16), half])


def blocks() -> list[Case]:
    """32 numbers of six bits in six registers."""
    out = []
    for kind in ("fp6", "bf6"):
        for wide, rows in (("f32", 32), ("f16", 16), ("bf16", 16)):

            def up(context: Context, a: Words, scale: Array, kind: str = kind, wide: str = wide) -> Words:
                values = [widen(kind, codes, scale, wide) for codes in _fields(a, 6, 32)]
                if wide == "f32":
                    return np.stack(values).view(np.uint32)
                halves = [v.view(np.uint16).astype(np.uint32) for v in values]
                return np.stack([halves[2 * i] | halves[2 * i + 1] << np.uint32(16) for i in range(16)])

            out.append(case(f"v_cvt_scalef32_pk32_{wide}_{kind}", "b192 scale", f"b{32 * rows}", up, **OPTIONS))

            def down(context: Context, *operands: Any, kind: str = kind, wide: str = wide) -> Words:
                """One or two blocks of numbers, random bits (or none), a scale."""
                *parts, scale = operands
                random = parts.pop() if parts[-1].ndim == 1 else None
                values = [v for part in parts for v in _numbers_of(part, wide)]
                codes = [
                    narrow(context, kind, v, scale) if random is None
                    else narrow_stochastic(context, kind, v, random, scale) for v in values
                ]  # fmt: skip
                packed = [
                    sum(int(c[n]) << 6 * i for i, c in enumerate(codes)).to_bytes(24, "little")
                    for n in range(len(scale))
                ]
                return np.stack([np.frombuffer(p, np.uint32) for p in packed], axis=1)

            # An exponent bit is cleared, so that there are no NaNs.
            setup = "".join(f"v_and_b32 v{10 + i}, {_CLEAR[wide]:#x}, v{10 + i}\n" for i in range(rows))
            stem, name = ("2xpk16", "b512 b512") if wide == "f32" else ("pk32", "b512")
            halves = "{a}, {b}, {c}" if wide == "f32" else "{a}, {b}"
            out += [
                case(f"v_cvt_scalef32_{stem}_{kind}_{wide}", f"{name} scale", "b192", down,
                     setup + f"{{op}} {{d}}, {halves}", **OPTIONS),
                case(f"v_cvt_scalef32_sr_pk32_{kind}_{wide}", f"b{32 * rows} u32 scale", "b192", down,
                     setup + "{op} {d}, {a}, {b}, {c}", **OPTIONS),
            ]  # fmt: skip
    return out


_CLEAR = {"f32": 0xBFFFFFFF, "f16": 0xBFFFBFFF, "bf16": 0xBFFFBFFF}


def _numbers_of(rows: Words, wide: str) -> list[Array]:
    cut = rows & np.uint32(_CLEAR[wide])
    if wide == "f32":
        return list(cut.view(np.float32))
    return [v.astype(np.uint16).view(WIDE[wide]) for v in _fields(cut, 16, 2 * len(rows))]


def _fields(rows: Words, bits: int, count: int) -> list[Array]:
    lanes = [int.from_bytes(rows[:, n].tobytes(), "little") for n in range(rows.shape[1])]
    return [np.array([v >> bits * i & (1 << bits) - 1 for v in lanes], np.uint32) for i in range(count)]


def cases() -> list[Case]:
    return [*pairs(), *single(), *random_pairs(), *blocks()]
