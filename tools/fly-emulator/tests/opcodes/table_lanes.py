# SPDX-License-Identifier: Apache-2.0
"""Moves between lanes: DPP's controls, readlane and its kin, permutes, swizzles, swaps, accumulation registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .case import LANES, Case, Context, case
from .kinds import Array
from .table_memory import WAIT

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


def blocks(values: Array) -> Array:
    return values.reshape(-1, LANES)


def pulled(source: Callable[[int], int | None], zero: bool) -> Callable[..., Array]:
    """Each lane takes the lane that it names; without one (or from an inactive one) zero, or the old value."""
    where = [source(i) for i in range(LANES)]

    def run(context: Context, a: Array) -> Array:
        rows, on, old = blocks(a), blocks(context.exec), blocks(context.old[0][0])
        have = np.stack([[s is not None and bool(row[s]) for s in where] for row in on])
        moved = rows[:, [s or 0 for s in where]]
        return np.where(have, moved, 0 if zero else old).reshape(-1).astype(np.uint32)

    return run


def bpermute(context: Context, a: Array, b: Array) -> Array:
    out = []
    for address, data, on in zip(blocks(a), blocks(b), blocks(context.exec), strict=True):
        lanes = address.astype(np.int64) // 4 % LANES
        out.append(np.where(on[lanes], data[lanes], 0))
    return np.concatenate(out).astype(np.uint32)


def permute(context: Context, a: Array, b: Array) -> Array:
    out = np.zeros((context.blocks, LANES), np.uint32)
    for block, (address, data, on) in enumerate(zip(blocks(a), blocks(b), blocks(context.exec), strict=True)):
        for lane in np.flatnonzero(on):
            out[block, int(address[lane]) // 4 % LANES] = data[lane]
    return out.reshape(-1)


def first_lane(context: Context, a: Array) -> Array:
    picks = [row[np.flatnonzero(on)[0]] for row, on in zip(blocks(a), blocks(context.exec), strict=True)]
    return np.repeat(np.array(picks, np.uint32), LANES)


def read_lane(a: Array, b: Array) -> Array:
    picks = [row[int(lane[0]) % LANES] for row, lane in zip(blocks(a), blocks(b), strict=True)]
    return np.repeat(np.array(picks, np.uint32), LANES)


def write_lane(context: Context, a: Array, b: Array) -> Array:
    out = blocks(context.old[0][0]).copy()
    for row, value, lane in zip(out, blocks(a), blocks(b), strict=True):
        row[int(lane[0]) % LANES] = value[0]
    return out.reshape(-1)


def permlane_swap(width: int) -> Callable[..., Any]:
    """Odd rows of the first register and even rows of the second change places."""

    def run(a: Array, b: Array) -> Any:
        x, y = (v.reshape(-1, 2, width) for v in (a, b))
        return np.stack([x[:, 0], y[:, 0]], 1).reshape(-1), np.stack([x[:, 1], y[:, 1]], 1).reshape(-1)

    return run


def cases() -> list[Case]:
    out: list[Case] = []
    for control, source in DPP.items():
        for zero in (False, True):
            tail = " bound_ctrl:0" if zero else ""
            out.append(
                case("v_mov_b32", "u32", "u32", pulled(source, zero),
                     f"v_mov_b32_dpp {{d}}, {{a}} {control} row_mask:0xf bank_mask:0xf{tail}", context=True,
                     label=control + tail)
            )  # fmt: skip
    for pattern, swizzle in SWIZZLE.items():
        out.append(
            case("ds_swizzle_b32", "u32", "u32", pulled(swizzle, True),
                 f"{{op}} {{d}}, {{a}} offset:{pattern}" + WAIT, context=True, label=pattern)
        )  # fmt: skip
    copy = "v_mov_b32 v90, {a}\nv_mov_b32 v91, {b}\ns_nop 1\n{op} v90, v91\nv_mov_b32 {d}, v90\nv_mov_b32 {e}, v91"
    out += [
        case("ds_bpermute_b32", "u32 u32", "u32", bpermute, "{op} {d}, {a}, {b}" + WAIT, context=True),
        case("ds_permute_b32", "u32 u32", "u32", permute, "{op} {d}, {a}, {b}" + WAIT, context=True),
        case("v_readfirstlane_b32", "u32", "s:u32", first_lane, context=True),
        case("v_readlane_b32", "u32 s:u32", "s:u32", read_lane),
        case("v_writelane_b32", "s:u32 s:u32", "u32", write_lane, "s_mov_b32 m0, {b}\n{op} {d}, {a}, m0", context=True,
             whole=True),
        case("v_swap_b32", "u32 u32", "u32 u32", lambda a, b: (b, a), copy),
        *(
            case(f"v_permlane{width}_swap_b32", "u32 u32", "u32 u32", permlane_swap(width), copy, archs=("gfx950",),
                 every_lane=True)
            for width in (16, 32)
        ),
        case("v_accvgpr_write_b32", "u32", "a:u32", lambda a: a),
        case("v_accvgpr_read_b32", "a:u32", "u32", lambda a: a),
        case("v_accvgpr_mov_b32", "a:u32", "a:u32", lambda a: a),
        case("v_nop", "", "", lambda: None),
        case("v_clrexcp", "", "", lambda: None),
    ]  # fmt: skip
    return out
