# SPDX-License-Identifier: Apache-2.0
"""Instructions that move data: between lanes, parts of registers, LDS, buffers, scalars."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .harness import LANES, Probe, random_words

ALL = 2**64 - 1
EXEC = 0xF0F3_5A5A_00FF_FFF7


def active(mask: int) -> np.ndarray:
    return np.array([mask >> lane & 1 for lane in range(LANES)], bool)


DPP: dict[str, Callable[[int], int | None]] = {
    "quad_perm:[3,0,1,2]": lambda i: i & ~3 | (3, 0, 1, 2)[i & 3],
    "row_shl:3": lambda i: i + 3 if i % 16 + 3 < 16 else None,
    "row_shr:1": lambda i: i - 1 if i % 16 else None,
    "row_ror:5": lambda i: i & ~15 | (i - 5) & 15,
    "wave_shl:1": lambda i: i + 1 if i < 63 else None,
    "wave_rol:1": lambda i: (i + 1) % 64,
    "wave_shr:1": lambda i: i - 1 if i else None,
    "wave_ror:1": lambda i: (i - 1) % 64,
    "row_mirror": lambda i: i & ~15 | 15 - i % 16,
    "row_half_mirror": lambda i: i & ~7 | 7 - i % 8,
    "row_bcast:15": lambda i: i // 16 * 16 - 1 if i >= 16 else None,
    "row_bcast:31": lambda i: 31 if i >= 32 else None,
    "row_newbcast:7": lambda i: i & ~15 | 7,
}


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("control", DPP)
def test_dpp(probe: Probe, control: str, zero: bool) -> None:
    x = random_words(1, 1)[0]
    tail = " bound_ctrl:0" if zero else ""
    code = f"v_mov_b32_dpp v5, v10 {control} row_mask:0xf bank_mask:0xf{tail}"
    for mask in (ALL, EXEC):
        got = probe.run(code, x, ["v5"], mask, before="v_mov_b32 v5, 77")[0]
        want = np.full(LANES, 77, np.uint32)
        for lane in range(LANES):
            source = DPP[control](lane)
            if mask >> lane & 1:
                if source is not None and mask >> source & 1:
                    want[lane] = x[source]
                elif zero:
                    want[lane] = 0
        np.testing.assert_array_equal(got, want)


def test_dpp_row_and_bank_masks(probe: Probe) -> None:
    x = random_words(2, 1)[0]
    got = probe.run("v_mov_b32_dpp v5, v10 row_ror:1 row_mask:0xa bank_mask:0x5", x, ["v5"], before="v_mov_b32 v5, 7")[
        0
    ]
    for lane in range(LANES):
        on = lane // 16 in (1, 3) and lane // 4 % 4 in (0, 2)
        assert got[lane] == (x[lane & ~15 | (lane - 1) & 15] if on else 7)


SELECT = {"BYTE_1": (8, 8), "BYTE_3": (24, 8), "WORD_0": (0, 16), "WORD_1": (16, 16), "DWORD": (0, 32)}


@pytest.mark.parametrize("unused", ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"])
@pytest.mark.parametrize("dst", SELECT)
def test_sdwa(probe: Probe, dst: str, unused: str) -> None:
    a, b = inputs = random_words(3, 2)
    code = f"v_add_u32_sdwa v5, v10, sext(v11) dst_sel:{dst} dst_unused:{unused} src0_sel:BYTE_1 src1_sel:WORD_1"
    got = probe.run(code, inputs, ["v5"], EXEC, before="v_mov_b32 v5, 0x12345678")[0]
    shift, width = SELECT[dst]
    for lane in range(LANES):
        if not EXEC >> lane & 1:
            assert got[lane] == 0x12345678
            continue
        word = int(b[lane]) >> 16
        total = (int(a[lane]) >> 8 & 255) + (word - 65536 if word & 0x8000 else word)
        field = total & ((1 << width) - 1)
        rest = 0
        if unused == "UNUSED_PRESERVE":
            rest = 0x12345678 & ~(((1 << width) - 1) << shift)
        elif unused == "UNUSED_SEXT" and field >> (width - 1):
            rest = -1 << (shift + width)
        assert got[lane] == (field << shift | rest) & 0xFFFFFFFF


def test_read_and_write_lane(probe: Probe) -> None:
    x = random_words(4, 1)[0]
    code = ["v_readfirstlane_b32 s20, v10", "v_readlane_b32 s21, v10, 41", "v_writelane_b32 v5, s21, 9"]
    got = probe.run(code, x, ["s20", "s21", "v5"], EXEC & ~7, before="v_mov_b32 v5, 1")
    assert (got[0] == x[4]).all() if EXEC >> 4 & 1 else True
    assert (got[1] == x[41]).all()
    assert got[2, 9] == x[41]
    assert (np.delete(got[2], 9) == 1).all()


def test_mbcnt_numbers_the_active_lanes(probe: Probe) -> None:
    code = ["v_mbcnt_lo_u32_b32 v5, s10, 0", "v_mbcnt_hi_u32_b32 v5, s11, v5"]
    got = probe.run(code, np.zeros(LANES, np.uint32), ["v5"], mask=EXEC)[0]
    assert got.tolist() == [bin(EXEC & ((1 << lane) - 1)).count("1") for lane in range(LANES)]


@pytest.mark.parametrize("mask", [ALL, EXEC])
def test_bpermute_and_permute(probe: Probe, mask: int) -> None:
    rng = np.random.default_rng(5)
    lanes = rng.permutation(LANES).astype(np.uint32)
    x = random_words(5, 1)[0]
    code = ["ds_bpermute_b32 v5, v10, v11", "ds_permute_b32 v6, v10, v11", "s_waitcnt lgkmcnt(0)"]
    got = probe.run(code, np.stack([4 * lanes + 256, x]), ["v5", "v6"], mask, before="v_mov_b32 v5, 9\nv_mov_b32 v6, 9")
    on = active(mask)
    pulled = np.where(on, np.where(on[lanes], x[lanes], 0), 9)
    pushed = np.where(on, 0, 9).astype(np.uint32)
    for lane in range(LANES):
        if on[lane] and on[lanes[lane]]:
            pushed[lanes[lane]] = x[lane]
    np.testing.assert_array_equal(got[0], pulled)
    np.testing.assert_array_equal(got[1], pushed)


def reverse(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


SWIZZLE: dict[str, Callable[[int], int]] = {
    "swizzle(QUAD_PERM,1,0,3,2)": lambda i: i ^ 1,
    "swizzle(SWAP,16)": lambda i: i ^ 16,
    "swizzle(REVERSE,8)": lambda i: i ^ 7,
    "swizzle(BROADCAST,32,5)": lambda i: i & 32 | 5,
    'swizzle(BITMASK_PERM,"01pi0")': lambda i: i & 32 | 8 | i & 4 | (i & 2) ^ 2,
    "0xC060": lambda i: i & 32 | (i + 3) % 32,
    "0xC460": lambda i: i & 32 | (i - 3) % 32,
    "0xE000": lambda i: i & 32 | reverse(i & 31, 5),
    "0xE010": lambda i: i & 48 | reverse(i & 15, 4),
    "0xE01F": lambda i: i,
}


@pytest.mark.parametrize("pattern", SWIZZLE)
def test_swizzle(probe: Probe, pattern: str) -> None:
    x = random_words(6, 1)[0]
    got = probe.run([f"ds_swizzle_b32 v5, v10 offset:{pattern}", "s_waitcnt lgkmcnt(0)"], x, ["v5"])[0]
    assert got.tolist() == [int(x[SWIZZLE[pattern](lane)]) for lane in range(LANES)]


def test_permlane_swaps(probe: Probe) -> None:
    if probe.arch != "gfx950":
        pytest.skip("gfx942 has no permlane swaps")
    x = random_words(7, 2)
    for width in (16, 32):
        code = ["v_mov_b32 v5, v10", "v_mov_b32 v6, v11", "s_nop 1", f"v_permlane{width}_swap_b32 v5, v6"]
        got = probe.run(code, x, ["v5", "v6"])
        a, b = (row.reshape(-1, 2, width) for row in x)
        np.testing.assert_array_equal(got[0].reshape(-1, 2, width), np.stack([a[:, 0], b[:, 0]], 1))
        np.testing.assert_array_equal(got[1].reshape(-1, 2, width), np.stack([a[:, 1], b[:, 1]], 1))


def test_accumulation_registers(probe: Probe) -> None:
    x = random_words(8, 1)[0]
    code = [
        "v_accvgpr_write_b32 a3, v10",
        "s_nop 4",
        "v_accvgpr_mov_b32 a7, a3",
        "s_nop 4",
        "v_accvgpr_read_b32 v5, a7",
    ]
    np.testing.assert_array_equal(probe.run(code, x, ["v5"])[0], x)


@pytest.mark.parametrize("width", [32, 64, 96, 128])
def test_lds_widths(probe: Probe, width: int) -> None:
    count = width // 32
    data = random_words(9, count + 1)
    data[0] = np.random.default_rng(9).permutation(LANES) * 16
    last = f"v[12:{11 + count}]" if count > 1 else "v12"
    out = f"v[20:{19 + count}]" if count > 1 else "v20"
    rows = np.concatenate([data[:1], np.zeros((1, LANES), np.uint32), data[1:]])
    code = [
        f"ds_write_b{width} v10, {last} offset:32",
        f"ds_read_b{width} {out}, v10 offset:32",
        "s_waitcnt lgkmcnt(0)",
    ]
    got = probe.run(code, rows, [f"v{20 + i}" for i in range(count)])
    np.testing.assert_array_equal(got, data[1:])


def test_lds_parts_and_pairs(probe: Probe) -> None:
    x = random_words(10, 2)
    x[0] = np.arange(LANES) * 8
    code = [
        "ds_write2_b32 v10, v11, v10 offset0:0 offset1:1", "s_waitcnt lgkmcnt(0)",
        "ds_read_u8 v20, v10 offset:1", "ds_read_i8 v21, v10 offset:3", "ds_read_u16 v22, v10",
        "ds_read_i16 v23, v10 offset:2", "v_mov_b32 v24, -1", "v_mov_b32 v25, -1", "ds_read_u16_d16 v24, v10",
        "ds_read_u16_d16_hi v25, v10", "ds_read2_b32 v[26:27], v10 offset0:1 offset1:0", "s_waitcnt lgkmcnt(0)",
        "ds_write_b8 v10, v11 offset:4", "ds_write_b16_d16_hi v10, v11 offset:6", "ds_read_b32 v28, v10 offset:4",
        "s_waitcnt lgkmcnt(0)",
    ]  # fmt: skip
    got = probe.run(code, x, [f"v{i}" for i in range(20, 29)])
    v = x[1]
    signed8 = (v >> 24).astype(np.uint8).view(np.int8).astype(np.int32).view(np.uint32)
    signed16 = (v >> 16).astype(np.uint16).view(np.int16).astype(np.int32).view(np.uint32)
    want = [v >> 8 & 255, signed8, v & 0xFFFF, signed16, v & 0xFFFF | 0xFFFF0000, v << 16 | 0xFFFF, x[0], v]
    want.append(v & 255 | x[0] & 0xFF00 | v & 0xFFFF0000)
    np.testing.assert_array_equal(got, np.stack(want))


@pytest.mark.parametrize(("name", "function"), [
    ("add_rtn_u32", lambda old, v: old + v), ("sub_rtn_u32", lambda old, v: old - v),
    ("max_rtn_i32", lambda old, v: max(old, v, key=lambda u: u - 2**32 if u >> 31 else u)),
    ("min_rtn_u32", min), ("and_rtn_b32", lambda old, v: old & v), ("or_rtn_b32", lambda old, v: old | v),
    ("xor_rtn_b32", lambda old, v: old ^ v), ("inc_rtn_u32", lambda old, v: 0 if old >= v else old + 1),
    ("dec_rtn_u32", lambda old, v: v if old == 0 or old > v else old - 1), ("wrxchg_rtn_b32", lambda old, v: v),
    ("rsub_rtn_u32", lambda old, v: v - old),
])  # fmt: skip
def test_lds_atomics_return_the_old_value(probe: Probe, name: str, function: Callable[[int, int], int]) -> None:
    x = random_words(11, 3)
    x[0] = np.arange(LANES) * 4
    code = ["ds_write_b32 v10, v11", f"ds_{name} v20, v10, v12", "ds_read_b32 v21, v10", "s_waitcnt lgkmcnt(0)"]
    got = probe.run(code, x, ["v20", "v21"], EXEC)
    for lane in np.flatnonzero(active(EXEC)):
        assert got[0, lane] == x[1, lane]
        assert got[1, lane] == function(int(x[1, lane]), int(x[2, lane])) & 0xFFFFFFFF


@pytest.mark.parametrize(("records", "offset"), [(256, 0), (100, 0), (64, 16), (0, 0)])
def test_raw_buffers_read_zero_and_drop_writes_beyond_the_end(probe: Probe, records: int, offset: int) -> None:
    x = random_words(12, 1)[0]
    code = [
        "s_mov_b32 s16, s4", "s_and_b32 s17, s5, 0xffff", f"s_mov_b32 s18, {records}", "s_mov_b32 s19, 0x27000",
        "v_lshlrev_b32 v20, 2, v0", "v_lshrrev_b32 v20, 2, v20", f"s_mov_b32 s22, {offset}",
        "buffer_load_dword v21, v20, s[16:19], s22 offen", "buffer_load_dwordx2 v[22:23], v20, s[16:19], s22 offen",
        "s_waitcnt vmcnt(0)",
    ]  # fmt: skip
    got = probe.run(code, x, ["v21", "v22", "v23"])
    words = np.concatenate([x, np.zeros(8, np.uint32)])

    def at(place: int) -> int:
        return int(words[place // 4]) if place + 4 <= records else 0

    for lane in range(LANES):
        place = lane * 4 + offset
        assert got[0, lane] == at(place)
        assert (got[1, lane], got[2, lane]) == (at(place), at(place + 4))


SCALAR: dict[str, tuple[Callable[[int, int], int], Callable[[int, int], bool]]] = {
    "s_add_u32": (lambda a, b: a + b, lambda a, b: a + b >= 2**32),
    "s_sub_u32": (lambda a, b: a - b, lambda a, b: b > a),
    "s_and_b32": (lambda a, b: a & b, lambda a, b: a & b != 0),
    "s_andn2_b32": (lambda a, b: a & ~b, lambda a, b: a & ~b & 0xFFFFFFFF != 0),
    "s_xor_b32": (lambda a, b: a ^ b, lambda a, b: a != b),
    "s_lshl_b32": (lambda a, b: a << (b & 31), lambda a, b: (a << (b & 31)) & 0xFFFFFFFF != 0),
    "s_lshr_b32": (lambda a, b: a >> (b & 31), lambda a, b: a >> (b & 31) != 0),
    "s_max_u32": (max, lambda a, b: a > b),
    "s_min_u32": (min, lambda a, b: a < b),
    "s_bfe_u32": (
        lambda a, b: (a >> (b & 31)) & ((1 << (b >> 16 & 127)) - 1),
        lambda a, b: (a >> (b & 31)) & ((1 << (b >> 16 & 127)) - 1) != 0,
    ),
    "s_lshl2_add_u32": (lambda a, b: (a << 2) + b, lambda a, b: (a << 2) + b >= 2**32),
}


@pytest.mark.parametrize("name", SCALAR)
def test_scalar_arithmetic_and_its_condition(probe: Probe, name: str) -> None:
    value, condition = SCALAR[name]
    rng = np.random.default_rng(len(name))
    for a, b in [(0, 0), (0xFFFFFFFF, 1), (5, 5), *rng.integers(0, 2**32, (4, 2)).tolist()]:
        b = b & 0x1F001F if name == "s_bfe_u32" else b
        code = ["s_mov_b32 s20, s10", "s_mov_b32 s21, s11", f"{name} s22, s20, s21", "s_cselect_b32 s23, 1, 0"]
        got = probe.run(code, np.zeros(LANES, np.uint32), ["s22", "s23"], mask=a | b << 32)
        assert int(got[0, 0]) == value(a, b) & 0xFFFFFFFF
        assert bool(got[1, 0]) == condition(a, b)


def test_exec_is_saved_and_restored(probe: Probe) -> None:
    code = [
        "s_and_saveexec_b64 s[20:21], s[10:11]",
        "v_mov_b32 v5, 2",
        "s_mov_b64 exec, s[20:21]",
        "v_add_u32 v5, v5, 1",
    ]
    got = probe.run(code, np.zeros(LANES, np.uint32), ["v5"], EXEC, mask=0x0F0F0F0F0F0F0F0F, before="v_mov_b32 v5, 0")[
        0
    ]
    both = active(EXEC & 0x0F0F0F0F0F0F0F0F)
    np.testing.assert_array_equal(got, active(EXEC).astype(np.uint32) + 2 * both)
