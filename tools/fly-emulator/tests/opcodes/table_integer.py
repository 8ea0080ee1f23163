# SPDX-License-Identifier: Apache-2.0
"""Vector integer instructions, on numpy's 64-bit (or Python's unbounded) integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .case import Case, Context, case
from .kinds import Array, Words

M16, M32, M64 = 0xFFFF, 0xFFFFFFFF, 2**64 - 1
GFX950 = ("gfx950",)


def big(*values: Array) -> tuple[Array, ...]:
    """Python integers, which do not overflow."""
    return tuple(v.astype(object) for v in values)


def wide(function: Callable[..., Any], bits: int = 32) -> Callable[..., Array]:
    """The definition on Python integers, lane by lane, reduced to the result's bits."""

    def run(*values: Array) -> Array:
        dtype = np.uint64 if bits == 64 else np.uint32
        lanes = [tuple(int(x) for x in lane) for lane in zip(*values, strict=True)]
        return np.array([function(*lane) & (2**bits - 1) for lane in lanes], dtype)

    return run


def s32(v: int) -> int:
    v &= M32
    return v - 2**32 if v >> 31 else v


def s24(v: int) -> int:
    v &= 0xFFFFFF
    return v - 2**24 if v >> 23 else v


def s16(v: int) -> int:
    v &= M16
    return v - 2**16 if v >> 15 else v


def clamp(v: int, low: int, high: int) -> int:
    return max(low, min(high, v))


def leading_zeros(v: int, bits: int = 32) -> int:
    return bits - v.bit_length() if v else -1


def leading_signs(v: int, bits: int = 32) -> int:
    return leading_zeros(~v & (2**bits - 1) if v >> (bits - 1) else v, bits)


def trailing_zeros(v: int) -> int:
    return (v & -v).bit_length() - 1 if v else -1


def reverse(v: int, bits: int = 32) -> int:
    return int(f"{v:0{bits}b}"[::-1], 2)


def bfe(a: int, b: int, c: int) -> int:
    return a >> (b & 31) & ((1 << (c & 31)) - 1)


def bfe_signed(a: int, b: int, c: int) -> int:
    width = c & 31
    field = s32(a) >> (b & 31) & ((1 << width) - 1)
    return field - (1 << width) if width and field >> (width - 1) else field


def perm(a: int, b: int, c: int) -> int:
    data = (a << 32 | b).to_bytes(8, "little")

    def pick(select: int) -> int:
        if select < 8:
            return data[select]
        if select < 12:
            return 255 if data[2 * (select - 8) + 1] >> 7 else 0
        return 0 if select == 12 else 255

    return sum(pick(select) << 8 * i for i, select in enumerate(c.to_bytes(4, "little")))


def sad8(a: int, b: int, masked: bool = False) -> int:
    pairs = zip(a.to_bytes(4, "little"), b.to_bytes(4, "little"), strict=True)
    return sum(abs(x - y) for x, y in pairs if y or not masked)


def sad16(a: int, b: int) -> int:
    return abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16))


def quad_sad(masked: bool, clamp: bool = False) -> Callable[[int, int, int], int]:
    def run(a: int, b: int, c: int) -> int:
        sums = [sad8(a >> 8 * i & M32, b, masked) + (c >> 16 * i & M16) for i in range(4)]
        return sum((min(v, M16) if clamp else v & M16) << 16 * i for i, v in enumerate(sums))

    return run


def mqsad32(a: Array, b: Array, c: Words) -> Words:
    rows = [
        [sad8(int(x) >> 8 * i & M32, int(y), True) + int(z[i]) & M32 for i in range(4)]
        for x, y, z in zip(a, b, c.T, strict=True)
    ]
    return np.array(rows, np.uint32).T


def elements(v: int, bits: int, signed: bool) -> list[int]:
    out = [v >> i & ((1 << bits) - 1) for i in range(0, 32, bits)]
    return [e - (1 << bits) if signed and e >> (bits - 1) else e for e in out]


def dot(bits: int, signed: bool) -> Callable[[int, int, int], int]:
    def run(a: int, b: int, c: int) -> int:
        return sum(x * y for x, y in zip(elements(a, bits, signed), elements(b, bits, signed), strict=True)) + c

    return run


def median(*v: int) -> int:
    return sorted(v)[1]


def bitop3(table: int) -> Callable[[int, int, int], int]:
    def run(a: int, b: int, c: int) -> int:
        bits = ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1) for i in range(32))
        return sum((table >> index & 1) << i for i, index in enumerate(bits))

    return run


def carries(function: Callable[[int, int], int], saturated: int | None = None) -> Callable[..., Any]:
    """A result and its carry or borrow, which is false in inactive lanes."""

    def run(context: Context, a: Array, b: Array, *carry: Array) -> Any:
        ins = [0] * len(a) if not carry else _lanes(carry[0], context)
        exact = [function(int(x), int(y), int(z)) for x, y, z in zip(a, b, ins, strict=True)]  # type: ignore[call-arg]
        over = [not 0 <= v <= M32 for v in exact]
        value = [saturated if o and saturated is not None else v & M32 for v, o in zip(exact, over, strict=True)]
        return np.array(value, np.uint32), mask_of(np.array(over), context)

    return run


def mask_of(lanes: Array, context: Context) -> Array:
    """Lane conditions as one 64-bit number a block, inactive lanes zero."""
    on = (lanes & context.exec).reshape(context.blocks, 64)
    values = [sum(int(v) << i for i, v in enumerate(row)) for row in on]
    return np.repeat(np.array(values, np.uint64), 64)


def _lanes(mask: Array, context: Context) -> list[int]:
    return [int(m) >> int(lane) & 1 for m, lane in zip(mask, context.lane, strict=True)]


def mad64(signed: bool) -> Callable[..., Any]:
    def run(context: Context, a: Array, b: Array, c: Array) -> Any:
        exact = [int(x) * int(y) + int(z) for x, y, z in zip(a, b, c, strict=True)]
        over = [v < 0 if signed else v > M64 for v in exact]  # bit 64
        value = np.array([v & M64 for v in exact], np.uint64)
        return value.view(np.int64) if signed else value, mask_of(np.array(over), context)

    return run


def conditional(context: Context, a: Array, b: Array, mask: Array) -> Array:
    return np.where(np.array(_lanes(mask, context), bool), b, a)


def mbcnt(high: bool) -> Callable[..., Array]:
    def run(context: Context, a: Array, b: Array) -> Array:
        out = []
        for lane, mask, count in zip(context.lane, a, b, strict=True):
            below = (1 << int(lane)) - 1
            part = below >> 32 if high else below & M32
            out.append((bin(int(mask) & part).count("1") + int(count)) & M32)
        return np.array(out, np.uint32)

    return run


ONE: dict[str, Callable[[int], int]] = {
    "v_mov_b32": lambda a: a,
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": reverse,
    "v_ffbh_u32": leading_zeros,
    "v_ffbh_i32": leading_signs,
    "v_ffbl_b32": trailing_zeros,
}
TWO: dict[str, Callable[[int, int], int]] = {
    "v_add_u32": lambda a, b: a + b,
    "v_sub_u32": lambda a, b: a - b,
    "v_subrev_u32": lambda a, b: b - a,
    "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b,
    "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b),
    "v_min_u32": min,
    "v_max_u32": max,
    "v_min_i32": lambda a, b: min(s32(a), s32(b)),
    "v_max_i32": lambda a, b: max(s32(a), s32(b)),
    "v_lshlrev_b32": lambda a, b: b << (a & 31),
    "v_lshrrev_b32": lambda a, b: b >> (a & 31),
    "v_ashrrev_i32": lambda a, b: s32(b) >> (a & 31),
    "v_mul_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24": lambda a, b: s24(a) * s24(b),
    "v_mul_hi_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_mul_hi_i32_i24": lambda a, b: s24(a) * s24(b) >> 32,
}
TWO_VOP3: dict[str, Callable[[int, int], int]] = {
    "v_add_i32": lambda a, b: a + b,
    "v_sub_i32": lambda a, b: a - b,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_lo_i32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: s32(a) * s32(b) >> 32,
    "v_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "v_bcnt_u32_b32": lambda a, b: bin(a).count("1") + b,
    "v_cvt_pk_u16_u32": lambda a, b: min(a, M16) | min(b, M16) << 16,
    "v_cvt_pk_i16_i32": lambda a, b: clamp(s32(a), -32768, 32767) & M16 | (clamp(s32(b), -32768, 32767) & M16) << 16,
}
# 16-bit operations that write zeros to the upper half.
TWO_16: dict[str, Callable[[int, int], int]] = {
    "v_add_u16": lambda a, b: a + b,
    "v_sub_u16": lambda a, b: a - b,
    "v_subrev_u16": lambda a, b: b - a,
    "v_mul_lo_u16": lambda a, b: a * b,
    "v_lshlrev_b16": lambda a, b: b << (a & 15),
    "v_lshrrev_b16": lambda a, b: b >> (a & 15),
    "v_ashrrev_i16": lambda a, b: s16(b) >> (a & 15),
    "v_min_u16": min,
    "v_max_u16": max,
    "v_min_i16": lambda a, b: min(s16(a), s16(b)),
    "v_max_i16": lambda a, b: max(s16(a), s16(b)),
}
THREE: dict[str, Callable[[int, int, int], int]] = {
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b & M32) << (c & 31),
    "v_lshl_or_b32": lambda a, b, c: a << (b & 31) | c,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "v_bfe_u32": bfe,
    "v_bfe_i32": bfe_signed,
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_perm_b32": perm,
    "v_min3_u32": min,
    "v_max3_u32": max,
    "v_med3_u32": median,
    "v_min3_i32": lambda a, b, c: min(s32(a), s32(b), s32(c)),
    "v_max3_i32": lambda a, b, c: max(s32(a), s32(b), s32(c)),
    "v_med3_i32": lambda a, b, c: median(s32(a), s32(b), s32(c)),
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24": lambda a, b, c: s24(a) * s24(b) + c,
    "v_mad_u32_u16": lambda a, b, c: (a & M16) * (b & M16) + c,
    "v_mad_i32_i16": lambda a, b, c: s16(a) * s16(b) + c,
    "v_sad_u8": lambda a, b, c: sad8(a, b) + c,
    "v_sad_hi_u8": lambda a, b, c: (sad8(a, b) << 16) + c,
    "v_sad_u16": lambda a, b, c: sad16(a, b) + c,
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_msad_u8": lambda a, b, c: sad8(a, b, True) + c,
    "v_lerp_u8": lambda a, b, c: sum(
        ((a >> s & 255) + (b >> s & 255) + (c >> s & 1) >> 1) << s for s in (0, 8, 16, 24)
    ),
    "v_dot4_i32_i8": dot(8, True),
    "v_dot4_u32_u8": dot(8, False),
    "v_dot8_i32_i4": dot(4, True),
    "v_dot8_u32_u4": dot(4, False),
    "v_dot2_i32_i16": dot(16, True),
    "v_dot2_u32_u16": dot(16, False),
}
# 16-bit operations of VOP3, which leave the upper half as it is.
KEEP_16: dict[str, Callable[..., int]] = {
    "v_add_i16": lambda a, b: a + b,
    "v_sub_i16": lambda a, b: a - b,
    "v_mad_u16": lambda a, b, c: a * b + c,
    "v_mad_i16": lambda a, b, c: a * b + c,
    "v_min3_u16": min,
    "v_max3_u16": max,
    "v_med3_u16": median,
    "v_min3_i16": lambda a, b, c: min(s16(a), s16(b), s16(c)),
    "v_max3_i16": lambda a, b, c: max(s16(a), s16(b), s16(c)),
    "v_med3_i16": lambda a, b, c: median(s16(a), s16(b), s16(c)),
}
PACKED: dict[str, Callable[..., int]] = {
    "v_pk_add_u16": lambda a, b: a + b,
    "v_pk_sub_u16": lambda a, b: a - b,
    "v_pk_add_i16": lambda a, b: a + b,
    "v_pk_sub_i16": lambda a, b: a - b,
    "v_pk_mul_lo_u16": lambda a, b: a * b,
    "v_pk_min_u16": min,
    "v_pk_max_u16": max,
    "v_pk_min_i16": lambda a, b: min(s16(a), s16(b)),
    "v_pk_max_i16": lambda a, b: max(s16(a), s16(b)),
    "v_pk_lshlrev_b16": lambda a, b: b << (a & 15),
    "v_pk_lshrrev_b16": lambda a, b: b >> (a & 15),
    "v_pk_ashrrev_i16": lambda a, b: s16(b) >> (a & 15),
    "v_pk_mad_u16": lambda a, b, c: a * b + c,
    "v_pk_mad_i16": lambda a, b, c: a * b + c,
}
# With clamp: the exact value, and the range that it saturates to.
CLAMPED: dict[str, tuple[str, Callable[..., int], int, int]] = {
    "v_add_u32": ("u32 u32", lambda a, b: a + b, 0, M32),
    "v_sub_u32": ("u32 u32", lambda a, b: a - b, 0, M32),
    "v_subrev_u32": ("u32 u32", lambda a, b: b - a, 0, M32),
    "v_add_i32": ("i32 i32", lambda a, b: a + b, -(2**31), 2**31 - 1),
    "v_sub_i32": ("i32 i32", lambda a, b: a - b, -(2**31), 2**31 - 1),
    "v_mad_u32_u24": ("u32 u32 u32", lambda a, b, c: ((a & 0xFFFFFF) * (b & 0xFFFFFF) & M32) + c, 0, M32),
    "v_mad_u32_u16": ("u16 u16 u32", lambda a, b, c: a * b + c, 0, M32),
    "v_mad_i32_i16": ("i16 i16 i32", lambda a, b, c: a * b + c, -(2**31), 2**31 - 1),
    "v_dot4_i32_i8": ("u32 u32 i32", dot(8, True), -(2**31), 2**31 - 1),
    "v_dot4_u32_u8": ("u32 u32 u32", dot(8, False), 0, M32),
    "v_dot8_i32_i4": ("u32 u32 i32", dot(4, True), -(2**31), 2**31 - 1),
    "v_dot8_u32_u4": ("u32 u32 u32", dot(4, False), 0, M32),
    "v_dot2_i32_i16": ("u32 u32 i32", dot(16, True), -(2**31), 2**31 - 1),
    "v_dot2_u32_u16": ("u32 u32 u32", dot(16, False), 0, M32),
}
CLAMPED_16: dict[str, tuple[str, Callable[..., int], int, int]] = {
    "v_add_i16": ("i16 i16", lambda a, b: a + b, -(2**15), 2**15 - 1),
    "v_sub_i16": ("i16 i16", lambda a, b: a - b, -(2**15), 2**15 - 1),
    "v_mad_u16": ("u16 u16 u16", lambda a, b, c: a * b + c, 0, M16),
    "v_mad_i16": ("i16 i16 i16", lambda a, b, c: a * b + c, -(2**15), 2**15 - 1),
}
CLAMPED_PACKED = {
    "v_pk_add_u16": (0, M16), "v_pk_sub_u16": (0, M16), "v_pk_mad_u16": (0, M16),
    "v_pk_add_i16": (-(2**15), 2**15 - 1), "v_pk_sub_i16": (-(2**15), 2**15 - 1), "v_pk_mad_i16": (-(2**15), 2**15 - 1),
}  # fmt: skip


def saturating(function: Callable[..., int], low: int, high: int) -> Callable[..., Array]:
    return wide(lambda *v: clamp(function(*v), low, high))


def packed(function: Callable[..., int], low: int | None = None, high: int | None = None) -> Callable[..., Array]:
    def one(*v: int) -> int:
        exact = function(*v)
        return exact & M16 if low is None or high is None else clamp(exact, low, high) & M16

    def run(*values: Array) -> Array:
        return np.stack([wide(one)(*(v[half] for v in values)) for half in range(2)])

    return run


def _count(function: Callable[..., int], name: str) -> int:
    code = getattr(function, "__code__", None)
    return int(code.co_argcount) if code is not None and not code.co_flags & 4 else 3 if "3" in name else 2


def _kinds(name: str, count: int) -> str:
    signed = name.endswith("i16")
    return " ".join(["i16" if signed and "shrrev" not in name else "u16"] * count)


def cases() -> list[Case]:
    out: list[Case] = []
    out += [case(n, "u32", "u32", wide(f)) for n, f in ONE.items()]
    out += [case(n, "u32 u32", "u32", wide(f)) for n, f in (TWO | TWO_VOP3).items()]
    out += [case(n, "u32 u32", "u16", wide(lambda a, b, f=f: f(a & M16, b & M16) & M16)) for n, f in TWO_16.items()]
    out += [case(n, "u32 u32 u32", "u32", wide(f)) for n, f in THREE.items()]
    for n, f in KEEP_16.items():
        kinds = _kinds(n, _count(f, n))
        out.append(case(n, kinds, "u16", wide(f), keep_high=True))
    for n, f in PACKED.items():
        count = _count(f, n)
        kind = "pk_i16" if n.endswith("i16") and "shrrev" not in n else "pk_u16"
        out.append(case(n, " ".join([kind] * count), "pk_u16", packed(f)))
        names = ", ".join("{" + x + "}" for x in "abc"[:count])
        select = ",".join("101"[:count]), ",".join("011"[:count])
        swapped = packed(f)
        out.append(
            case(
                n, " ".join([kind] * count), "pk_u16",
                lambda *v, f=swapped: f(*(np.stack([x[int("101"[i])], x[int("011"[i])]]) for i, x in enumerate(v))),
                f"{{op}} {{d}}, {names} op_sel:[{select[0]}] op_sel_hi:[{select[1]}]", label="op_sel",
            )
        )  # fmt: skip
    for n, (low, high) in CLAMPED_PACKED.items():
        count = 3 if "mad" in n else 2
        kind = "pk_i16" if n.endswith("i16") else "pk_u16"
        names = ", ".join("{" + x + "}" for x in "abc"[:count])
        out.append(
            case(n, " ".join([kind] * count), "pk_u16", packed(PACKED[n], low, high), f"{{op}} {{d}}, {names} clamp",
                 label="clamp")
        )  # fmt: skip
    for table, result in ((CLAMPED, "u32"), (CLAMPED_16, "u16")):
        for n, (kinds, f, low, high) in table.items():
            names = ", ".join("{" + x + "}" for x in "abc"[: len(kinds.split())])
            out.append(
                case(n, kinds, result, saturating(f, low, high), f"{{op}} {{d}}, {names} clamp", label="clamp",
                     keep_high=result == "u16")
            )  # fmt: skip
    out += _wide_cases() + _carry_cases() + _accumulating()
    out += [
        case("v_mbcnt_lo_u32_b32", "u32 u32", "u32", mbcnt(False), context=True),
        case("v_mbcnt_hi_u32_b32", "u32 u32", "u32", mbcnt(True), context=True),
        case("v_mad_legacy_u16", "u16 u16 u16", "u16", wide(lambda a, b, c: a * b + c & M16)),
        case("v_mad_legacy_i16", "i16 i16 i16", "u16", wide(lambda a, b, c: a * b + c & M16)),
        case("v_sat_pk_u8_i16", "u32", "u16",
             wide(lambda a: clamp(s16(a), 0, 255) | clamp(s16(a >> 16), 0, 255) << 8)),
        case("v_pack_b32_f16", "u16 u16", "u32", wide(lambda a, b: a | b << 16)),
        case("v_pack_b32_f16", "u32 u32", "u32", wide(lambda a, b: a >> 16 | (b & M16 ^ 0x8000) << 16),
             "{op} {d}, {a}, -{b} op_sel:[1,0,0]", label="op_sel and negation"),
        case("v_cndmask_b32", "u32 u32 s:u64", "u32", conditional, context=True),
        case("v_cndmask_b32", "u32 u32 s:u64", "u32", conditional, "s_mov_b64 vcc, {c}\n{op}_e32 {d}, {a}, {b}, vcc",
             context=True, label="e32"),
        case("v_prng_b32", "u32", "u32", wide(lambda a: a << 1 ^ (197 if a >> 31 else 0)), archs=GFX950),
        case("v_bitop3_b32", "u32 u32 u32", "u32", wide(bitop3(0x96)), "{op} {d}, {a}, {b}, {c} bitop3:0x96",
             archs=GFX950),
        case("v_bitop3_b32", "u32 u32 u32", "u32", wide(bitop3(0x2A)), "{op} {d}, {a}, {b}, {c} bitop3:0x2a",
             archs=GFX950, label="0x2a"),
        case("v_bitop3_b16", "u16 u16 u16", "u16", wide(bitop3(0xE8), 16), "{op} {d}, {a}, {b}, {c} bitop3:0xe8",
             archs=GFX950, keep_high=True),
        case("v_ashr_pk_i8_i32", "i32 i32 u32", "u16", wide(ashr_pack(-128, 127), 16), archs=GFX950, keep_high=True),
        case("v_ashr_pk_u8_i32", "i32 i32 u32", "u16", wide(ashr_pack(0, 255), 16), archs=GFX950, keep_high=True),
    ]  # fmt: skip
    return out


def ashr_pack(low: int, high: int) -> Callable[[int, int, int], int]:
    def run(a: int, b: int, c: int) -> int:
        first, second = (clamp(v >> (c & 31), low, high) & 255 for v in (a, b))
        return first | second << 8

    return run


def _wide_cases() -> list[Case]:
    return [
        case("v_mov_b64", "u64", "u64", lambda a: a),
        case("v_lshlrev_b64", "u32 u64", "u64", wide(lambda a, b: b << (a & 63), 64)),
        case("v_lshrrev_b64", "u32 u64", "u64", wide(lambda a, b: b >> (a & 63), 64)),
        case("v_ashrrev_i64", "u32 i64", "u64", wide(lambda a, b: b >> (a & 63), 64)),
        case("v_lshl_add_u64", "u64 u32 u64", "u64", wide(lambda a, b, c: (a << (b & 7)) + c, 64),
             "v_and_b32 {b}, 4, {b}\n{op} {d}, {a}, {b}, {c}").but(
                 define=lambda _, a, b, c: wide(lambda x, y, z: (x << (y & 4)) + z, 64)(a, b, c)),
        case("v_qsad_pk_u16_u8", "u64 u32 u64", "u64", wide(quad_sad(False), 64)),
        case("v_mqsad_pk_u16_u8", "u64 u32 u64", "u64", wide(quad_sad(True), 64)),
        case("v_qsad_pk_u16_u8", "u64 u32 u64", "u64", wide(quad_sad(False, True), 64),
             "{op} {d}, {a}, {b}, {c} clamp", label="clamp"),
        case("v_mqsad_u32_u8", "u64 u32 b128", "b128", mqsad32),
        case("v_mad_u64_u32", "u32 u32 u64", "u64 s:u64", mad64(False), "{op} {d}, {e}, {a}, {b}, {c}", context=True),
        case("v_mad_i64_i32", "i32 i32 i64", "i64 s:u64", mad64(True), "{op} {d}, {e}, {a}, {b}, {c}", context=True),
    ]  # fmt: skip


def _carry_cases() -> list[Case]:
    out = []
    operations: dict[str, tuple[Callable[..., int], int]] = {
        "v_add_co_u32": (lambda a, b, c: a + b, M32),
        "v_sub_co_u32": (lambda a, b, c: a - b, 0),
        "v_subrev_co_u32": (lambda a, b, c: b - a, 0),
        "v_addc_co_u32": (lambda a, b, c: a + b + c, M32),
        "v_subb_co_u32": (lambda a, b, c: a - b - c, 0),
        "v_subbrev_co_u32": (lambda a, b, c: b - a - c, 0),
    }
    for name, (function, saturated) in operations.items():
        chained = name[5:].startswith(("c_", "b_", "brev"))
        kinds, last = ("u32 u32 s:u64", ", {c}") if chained else ("u32 u32", "")
        out.append(
            case(name, kinds, "u32 s:u64", carries(function), f"{{op}} {{d}}, {{e}}, {{a}}, {{b}}{last}", context=True)
        )
        vcc = "s_mov_b64 vcc, {c}\n" if chained else ""
        tail = ", vcc" if chained else ""
        out.append(
            case(name, kinds, "u32 s:u64", carries(function),
                 f"{vcc}{{op}}_e32 {{d}}, vcc, {{a}}, {{b}}{tail}\ns_mov_b64 {{e}}, vcc", context=True, label="e32")
        )  # fmt: skip
        out.append(
            case(name, kinds, "u32 s:u64", carries(function, saturated),
                 f"{{op}}_e64 {{d}}, {{e}}, {{a}}, {{b}}{last} clamp", context=True, label="clamp")
        )  # fmt: skip
    return out


def _accumulating() -> list[Case]:
    """Dot products that add to their destination."""
    table = {"v_dot2c_i32_i16": dot(16, True), "v_dot4c_i32_i8": dot(8, True), "v_dot8c_i32_i4": dot(4, True)}
    return [
        case(n, "u32 u32", "u32", lambda context, a, b, f=f: wide(f)(a, b, context.old[0][0]), context=True)
        for n, f in table.items()
    ]
