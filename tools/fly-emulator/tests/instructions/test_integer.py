# SPDX-License-Identifier: Apache-2.0
"""Vector integer instructions against Python integers, with a third of the lanes masked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .harness import LANES, Probe, random_words

M32 = 0xFFFFFFFF
EXEC = 0xF0F3_5A5A_00FF_FFF7


def s32(v: int) -> int:
    return v - 2**32 if v & 2**31 else v


def s16(v: int) -> int:
    v &= 0xFFFF
    return v - 2**16 if v & 2**15 else v


def s24(v: int) -> int:
    v &= 0xFFFFFF
    return v - 2**24 if v & 2**23 else v


def clz(v: int) -> int:
    return 32 - v.bit_length() if v else M32


def ctz(v: int) -> int:
    return (v & -v).bit_length() - 1 if v else M32


def bfe(a: int, b: int, c: int) -> int:
    return (a >> (b & 31)) & ((1 << (c & 31)) - 1)


def bfe_signed(a: int, b: int, c: int) -> int:
    width = c & 31
    field = (s32(a) >> (b & 31)) & ((1 << width) - 1)
    return field - (1 << width) if width and field >> (width - 1) else field


def perm_byte(data: int, select: int) -> int:
    if select >= 13:
        return 0xFF
    if select == 12:
        return 0
    if select >= 8:
        return 0xFF if data >> ((select - 8) * 16 + 15) & 1 else 0
    return data >> (8 * select) & 0xFF


def perm(a: int, b: int, c: int) -> int:
    return sum(perm_byte(a << 32 | b, c >> (8 * i) & 0xFF) << (8 * i) for i in range(4))


def sad8(a: int, b: int) -> int:
    return sum(abs((a >> s & 255) - (b >> s & 255)) for s in (0, 8, 16, 24))


def median(*v: int) -> int:
    return sorted(v)[1]


def dot(a: int, b: int, bits: int, signed: bool) -> int:
    def part(v: int, i: int) -> int:
        e = v >> (bits * i) & ((1 << bits) - 1)
        return e - (1 << bits) if signed and e >> (bits - 1) else e

    return sum(part(a, i) * part(b, i) for i in range(32 // bits))


ONE: dict[str, Callable[[int], int]] = {
    "v_mov_b32": lambda a: a,
    "v_not_b32": lambda a: ~a,
    "v_bfrev_b32": lambda a: int(f"{a:032b}"[::-1], 2),
    "v_ffbh_u32": clz,
    "v_ffbh_i32": lambda a: clz(~a & M32 if a >> 31 else a),
    "v_ffbl_b32": ctz,
    "v_cvt_f32_ubyte0": lambda a: int(np.float32(a & 255).view(np.uint32)),
    "v_cvt_f32_ubyte3": lambda a: int(np.float32(a >> 24).view(np.uint32)),
    "v_cvt_f32_u32": lambda a: int(np.float32(np.float64(a)).view(np.uint32)),
    "v_cvt_f32_i32": lambda a: int(np.float32(np.float64(s32(a))).view(np.uint32)),
    "v_sat_pk_u8_i16": lambda a: max(0, min(255, s16(a))) | max(0, min(255, s16(a >> 16))) << 8,
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
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: s32(a) * s32(b) >> 32,
    "v_mul_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24": lambda a, b: s24(a) * s24(b),
    "v_mul_hi_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_mul_hi_i32_i24": lambda a, b: s24(a) * s24(b) >> 32,
    "v_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "v_bcnt_u32_b32": lambda a, b: bin(a).count("1") + b,
    "v_add_u16": lambda a, b: (a + b) & 0xFFFF,
    "v_sub_u16": lambda a, b: (a - b) & 0xFFFF,
    "v_mul_lo_u16": lambda a, b: (a * b) & 0xFFFF,
    "v_lshlrev_b16": lambda a, b: (b << (a & 15)) & 0xFFFF,
    "v_lshrrev_b16": lambda a, b: (b & 0xFFFF) >> (a & 15),
    "v_ashrrev_i16": lambda a, b: (s16(b) >> (a & 15)) & 0xFFFF,
    "v_min_u16": lambda a, b: min(a & 0xFFFF, b & 0xFFFF),
    "v_max_u16": lambda a, b: max(a & 0xFFFF, b & 0xFFFF),
    "v_min_i16": lambda a, b: min(s16(a), s16(b)) & 0xFFFF,
    "v_max_i16": lambda a, b: max(s16(a), s16(b)) & 0xFFFF,
    "v_cvt_pk_u16_u32": lambda a, b: min(a, 0xFFFF) | min(b, 0xFFFF) << 16,
    "v_cvt_pk_i16_i32": lambda a, b: (
        max(-32768, min(32767, s32(a))) & 0xFFFF | (max(-32768, min(32767, s32(b))) & 0xFFFF) << 16
    ),
    "v_pack_b32_f16": lambda a, b: a & 0xFFFF | (b & 0xFFFF) << 16,
    "v_pk_add_u16": lambda a, b: (a + b) & 0xFFFF | ((a >> 16) + (b >> 16) & 0xFFFF) << 16,
    "v_pk_sub_i16": lambda a, b: (a - b) & 0xFFFF | ((a >> 16) - (b >> 16) & 0xFFFF) << 16,
    "v_pk_mul_lo_u16": lambda a, b: (a * b) & 0xFFFF | ((a >> 16) * (b >> 16) & 0xFFFF) << 16,
    "v_pk_max_i16": lambda a, b: max(s16(a), s16(b)) & 0xFFFF | (max(s16(a >> 16), s16(b >> 16)) & 0xFFFF) << 16,
    "v_pk_min_u16": lambda a, b: min(a & 0xFFFF, b & 0xFFFF) | min(a >> 16, b >> 16) << 16,
    "v_pk_lshlrev_b16": lambda a, b: (b << (a & 15)) & 0xFFFF | ((b >> 16) << (a >> 16 & 15) & 0xFFFF) << 16,
    "v_pk_ashrrev_i16": lambda a, b: (s16(b) >> (a & 15)) & 0xFFFF | (s16(b >> 16) >> (a >> 16 & 15) & 0xFFFF) << 16,
}
THREE: dict[str, Callable[[int, int, int], int]] = {
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: ((a + b) & M32) << (c & 31),
    "v_lshl_or_b32": lambda a, b, c: a << (b & 31) | c,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "v_bfe_u32": bfe,
    "v_bfe_i32": bfe_signed,
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> (8 * (c & 3)),
    "v_perm_b32": perm,
    "v_min3_u32": min,
    "v_max3_u32": max,
    "v_med3_u32": median,
    "v_min3_i32": lambda a, b, c: min(s32(a), s32(b), s32(c)),
    "v_max3_i32": lambda a, b, c: max(s32(a), s32(b), s32(c)),
    "v_med3_i32": lambda a, b, c: median(s32(a), s32(b), s32(c)),
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24": lambda a, b, c: s24(a) * s24(b) + c,
    "v_mad_u32_u16": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c,
    "v_mad_i32_i16": lambda a, b, c: s16(a) * s16(b) + c,
    "v_sad_u8": lambda a, b, c: sad8(a, b) + c,
    "v_sad_hi_u8": lambda a, b, c: (sad8(a, b) << 16) + c,
    "v_sad_u16": lambda a, b, c: abs((a & 0xFFFF) - (b & 0xFFFF)) + abs((a >> 16) - (b >> 16)) + c,
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_lerp_u8": lambda a, b, c: sum(
        ((a >> s & 255) + (b >> s & 255) + (c >> s & 1) >> 1) << s for s in (0, 8, 16, 24)
    ),
    "v_dot4_i32_i8": lambda a, b, c: dot(a, b, 8, True) + c,
    "v_dot4_u32_u8": lambda a, b, c: dot(a, b, 8, False) + c,
    "v_dot8_i32_i4": lambda a, b, c: dot(a, b, 4, True) + c,
    "v_dot8_u32_u4": lambda a, b, c: dot(a, b, 4, False) + c,
    "v_dot2_i32_i16": lambda a, b, c: dot(a, b, 16, True) + c,
    "v_dot2_u32_u16": lambda a, b, c: dot(a, b, 16, False) + c,
}


def expected(definition: Callable[..., int], inputs: np.ndarray, old: int) -> np.ndarray:
    out = np.full(LANES, old, np.uint32)
    for lane in range(LANES):
        if EXEC >> lane & 1:
            out[lane] = definition(*(int(v) for v in inputs[:, lane])) & M32
    return out


@pytest.mark.parametrize("name", [*ONE, *TWO, *THREE])
def test_matches_definition(probe: Probe, name: str) -> None:
    definition = ONE.get(name) or TWO.get(name) or THREE[name]
    count = 1 if name in ONE else 2 if name in TWO else 3
    inputs = random_words(len(name), count)
    operands = ", ".join(f"v{10 + i}" for i in range(count))
    got = probe.run(f"{name} v5, {operands}", inputs, ["v5"], EXEC, before="v_mov_b32 v5, 77")
    np.testing.assert_array_equal(got[0], expected(definition, inputs, 77))


@pytest.mark.parametrize("name", ["v_add_u32", "v_sub_u32", "v_mad_u32_u24", "v_add_i32", "v_sub_i32"])
def test_clamp_saturates(probe: Probe, name: str) -> None:
    signed = name.endswith("i32")
    count = 3 if name.startswith("v_mad") else 2
    inputs = random_words(7, count)
    inputs[1, :8] = 0x7FFFFFFF
    exact: dict[str, Callable[..., int]] = {
        "v_add_u32": lambda a, b: a + b,
        "v_sub_u32": lambda a, b: a - b,
        "v_mad_u32_u24": lambda a, b, c: ((a & 0xFFFFFF) * (b & 0xFFFFFF) & M32) + c,
        "v_add_i32": lambda a, b: s32(a) + s32(b),
        "v_sub_i32": lambda a, b: s32(a) - s32(b),
    }
    low, high = (-(2**31), 2**31 - 1) if signed else (0, M32)
    operands = ", ".join(f"v{10 + i}" for i in range(count))
    got = probe.run(f"{name} v5, {operands} clamp", inputs, ["v5"], EXEC, before="v_mov_b32 v5, 77")
    clamped = expected(lambda *v: max(low, min(high, exact[name](*v))), inputs, 77)
    np.testing.assert_array_equal(got[0], clamped)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("v_lshlrev_b64", lambda s, v: v << (s & 63)),
        ("v_lshrrev_b64", lambda s, v: v >> (s & 63)),
        ("v_ashrrev_i64", lambda s, v: (v - 2**64 if v >> 63 else v) >> (s & 63)),
    ],
)
def test_shifts_of_64_bits(probe: Probe, name: str, formula: Callable[[int, int], int]) -> None:
    inputs = random_words(3, 3)
    got = probe.run(f"{name} v[4:5], v12, v[10:11]", inputs, ["v4", "v5"])
    for lane in range(LANES):
        value = int(inputs[0, lane]) | int(inputs[1, lane]) << 32
        want = formula(int(inputs[2, lane]), value) & (2**64 - 1)
        assert int(got[0, lane]) | int(got[1, lane]) << 32 == want


@pytest.mark.parametrize("signed", [False, True])
def test_wide_multiply_add_carries(probe: Probe, signed: bool) -> None:
    inputs = random_words(4, 4)
    inputs[2:, :20] = 0xFFFFFFFF
    name = "v_mad_i64_i32" if signed else "v_mad_u64_u32"
    got = probe.run(f"{name} v[4:5], s[20:21], v10, v11, v[12:13]", inputs, ["v4", "v5", "s20", "s21"])
    carries = int(got[2, 0]) | int(got[3, 0]) << 32
    for lane in range(LANES):
        a, b = int(inputs[0, lane]), int(inputs[1, lane])
        c = int(inputs[2, lane]) | int(inputs[3, lane]) << 32
        if signed:
            a, b, c = s32(a), s32(b), c - 2**64 if c >> 63 else c
        total = a * b + c
        assert int(got[0, lane]) | int(got[1, lane]) << 32 == total % 2**64
        overflow = not -(2**63) <= total < 2**63 if signed else total >= 2**64
        assert carries >> lane & 1 == overflow


def test_carry_chain(probe: Probe) -> None:
    inputs = random_words(9, 4)
    code = ["v_add_co_u32 v4, vcc, v10, v12", "v_addc_co_u32 v5, vcc, v11, v13, vcc"]
    code += ["v_sub_co_u32 v6, s[20:21], v10, v12", "v_subb_co_u32 v7, s[22:23], v11, v13, s[20:21]"]
    got = probe.run(code, inputs, ["v4", "v5", "v6", "v7", "v4"])
    for lane in range(LANES):
        a = int(inputs[0, lane]) | int(inputs[1, lane]) << 32
        b = int(inputs[2, lane]) | int(inputs[3, lane]) << 32
        assert int(got[0, lane]) | int(got[1, lane]) << 32 == (a + b) % 2**64
        assert int(got[2, lane]) | int(got[3, lane]) << 32 == (a - b) % 2**64


OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("kind", ["i32", "u32", "i16", "u16"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_comparisons(probe: Probe, operator: str, kind: str) -> None:
    inputs = random_words(11, 2)
    inputs[1, ::5] = inputs[0, ::5]
    read = {"i32": s32, "u32": lambda v: v, "i16": s16, "u16": lambda v: v & 0xFFFF}[kind]
    got = probe.run(f"v_cmp_{operator}_{kind} s[20:21], v10, v11", inputs, ["s20", "s21"], EXEC)
    want = sum(OPERATORS[operator](read(int(a)), read(int(b))) << lane for lane, (a, b) in enumerate(inputs.T))
    assert int(got[0, 0]) | int(got[1, 0]) << 32 == want & EXEC


def test_compare_and_write_exec(probe: Probe) -> None:
    inputs = random_words(12, 2)
    code = ["v_mov_b32 v5, 1", "v_cmpx_lt_u32 vcc, v10, v11", "v_mov_b32 v5, 2"]
    got = probe.run(code, inputs, ["v5"], EXEC, before="v_mov_b32 v5, 0")
    for lane in range(LANES):
        if EXEC >> lane & 1:
            assert got[0, lane] == (2 if inputs[0, lane] < inputs[1, lane] else 1)
        else:
            assert got[0, lane] == 0
