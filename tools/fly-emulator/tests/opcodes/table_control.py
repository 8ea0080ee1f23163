# SPDX-License-Identifier: Apache-2.0
"""Branches, calls, barriers, waits, hints, hardware registers, indexed registers: short programs."""

from __future__ import annotations

import numpy as np

from .case import Case, Context, case
from .kinds import Array
from .table_scalar import lanes

# Each program gives 1 in {d} where the branch was taken.
_TAKEN = "s_mov_b32 {d}, 1\n{op} .Lyes{i}\ns_mov_b32 {d}, 0\n.Lyes{i}:"


def branches() -> list[Case]:
    def when(opcode: str, setup: str, condition: object) -> Case:
        return case(opcode, "s:u64", "s:u32", lanes(condition), setup + _TAKEN.replace("{op}", opcode))  # type: ignore[arg-type]

    bit = "s_bitcmp1_b64 {a}, 0\n"
    # The mask is the operand where its low bit is set, else zero.
    some = "s_bitcmp1_b64 {a}, 0\ns_cselect_b64 MASK, {a}, 0\n"
    return [
        when("s_branch", "", lambda a: 1),
        when("s_cbranch_scc0", bit, lambda a: not a & 1),
        when("s_cbranch_scc1", bit, lambda a: a & 1),
        when("s_cbranch_vccz", some.replace("MASK", "vcc"), lambda a: not a & 1),
        when("s_cbranch_vccnz", some.replace("MASK", "vcc"), lambda a: a & 1),
        when("s_cbranch_execz", some.replace("MASK", "exec"), lambda a: not a & 1),
        when("s_cbranch_execnz", some.replace("MASK", "exec"), lambda a: a & 1),
        # No debugger is attached.
        *(when(f"s_cbranch_cdbg{kind}", "", lambda a: 0) for kind in ("sys", "user", "sys_or_user", "sys_and_user")),
    ]


def calls() -> list[Case]:
    """A function is jumped over, called, and returns; {d} ends up one more than {a} each time."""
    function = "s_branch .Lover{i}\n.Lfunction{i}:\ns_add_u32 {d}, {d}, 1\ns_setpc_b64 s[54:55]\n.Lover{i}:\n"
    address = "s_getpc_b64 s[56:57]\n.Lhere{i}:\ns_add_u32 s56, s56, .Lfunction{i}-.Lhere{i}\ns_addc_u32 s57, s57, -1\n"
    twice = lanes(lambda a: (a + 2) & 0xFFFFFFFF)
    return [
        case("s_call_b64", "s:u32", "s:u32", twice,
             "s_mov_b32 {d}, {a}\n" + function + "{op} s[54:55], .Lfunction{i}\n{op} s[54:55], .Lfunction{i}",
             also=("s_setpc_b64",)),
        case("s_swappc_b64", "s:u32", "s:u32", twice,
             "s_mov_b32 {d}, {a}\n" + function + address
             + "{op} s[54:55], s[56:57]\n{op} s[54:55], s[56:57]", also=("s_getpc_b64", "s_setpc_b64")),
    ]  # fmt: skip


def registers() -> list[Case]:
    """MODE through s_getreg and s_setreg, in full and in fields."""
    restore = "\ns_setreg_b32 hwreg(HW_REG_MODE), s53"
    save = "s_getreg_b32 s53, hwreg(HW_REG_MODE)\n"
    return [
        case("s_setreg_b32", "s:u32", "s:u32", lanes(lambda a: a & 15),
             save + "{op} hwreg(HW_REG_MODE, 4, 4), {a}\ns_getreg_b32 {d}, hwreg(HW_REG_MODE, 4, 4)" + restore,
             also=("s_getreg_b32",)),
        case("s_setreg_imm32_b32", "", "s:u32", lambda c: np.full(c.blocks * 64, 0xA5, np.uint32),
             save + "{op} hwreg(HW_REG_MODE, 0, 8), 0xa5\ns_getreg_b32 {d}, hwreg(HW_REG_MODE, 0, 8)" + restore,
             context=True),
        # Rounding is changed for one addition: 1 + 2^-24 upwards, downwards.
        case("s_setreg_imm32_b32", "", "u32 u32",
             lambda c: (np.full(c.blocks * 64, 0x3F800001, np.uint32), np.full(c.blocks * 64, 0x3F800000, np.uint32)),
             save + "v_mov_b32 v90, 1.0\nv_mov_b32 v91, 0x33800000\n{op} hwreg(HW_REG_MODE, 0, 2), 1\n"
             "v_add_f32 {d}, v90, v91\n{op} hwreg(HW_REG_MODE, 0, 2), 2\nv_add_f32 {e}, v90, v91" + restore,
             context=True, label="rounding"),
    ]  # fmt: skip


HINTS = {
    "s_nop": "3", "s_setprio": "1", "s_wakeup": "", "s_sendmsg": "sendmsg(MSG_INTERRUPT)", "s_icache_inv": "",
    "s_incperflevel": "1", "s_decperflevel": "1", "s_ttracedata": "", "s_dcache_inv": "", "s_dcache_inv_vol": "",
    "s_dcache_wb": "", "s_dcache_wb_vol": "", "buffer_wbl2": "sc0 sc1", "buffer_inv": "sc0 sc1", "s_sleep": "1",
    "s_barrier": "", "s_waitcnt": "vmcnt(0) lgkmcnt(0) expcnt(0)", "s_sethalt": "0", "s_setkill": "0",
    "s_set_gpr_idx_off": "", "ds_gws_init": "v90 gds", "ds_gws_barrier": "v90 gds",  # a barrier of one wave
}  # fmt: skip


def hints() -> list[Case]:
    """What has no effect that a program sees: every register around it keeps its value."""
    alone = "v_mov_b32 v90, 0\ns_mov_b32 m0, 0\n"
    return [
        case(name, "u32 s:u32", "u32 s:u32", lambda a, b: (a, b), (alone if "gws" in name else "")
             + f"{{op}} {operand}\nv_mov_b32 {{d}}, {{a}}\ns_mov_b32 {{e}}, {{b}}")
        for name, operand in HINTS.items()
    ]  # fmt: skip


def clocks() -> list[Case]:
    """The second reading is later than the first."""
    return [
        case(name, "", "s:u32", lambda c: np.ones(c.blocks * 64, np.uint32),
             "{op} s[54:55]\ns_waitcnt lgkmcnt(0)\n{op} s[56:57]\ns_waitcnt lgkmcnt(0)\n"
             "s_sub_u32 s56, s56, s54\ns_cmp_gt_i32 s56, 0\ns_cselect_b32 {d}, 1, 0", context=True)
        for name in ("s_memtime", "s_memrealtime")
    ]  # fmt: skip


def forks() -> list[Case]:
    """Both sides of a fork run with their lanes, and meet: {e} is 5 where the bit of {a} is set, else 7; {d} counts."""
    sides = (
        "s_mov_b32 {d}, 0\nv_mov_b32 {e}, 0\nFORK\n"
        "v_mov_b32 {e}, 7\ns_add_u32 {d}, {d}, 1\ns_branch .Lmeet{i}\n"
        ".Lset{i}:\nv_mov_b32 {e}, 5\ns_add_u32 {d}, {d}, 16\n.Lmeet{i}:\nJOIN s59"
    )
    address = "s_getpc_b64 s[56:57]\n.Lhere{i}:\ns_add_u32 s56, s56, .Lset{i}-.Lhere{i}\ns_addc_u32 s57, s57, 0\n"
    # The stack begins at s0, which the frame needs.
    keep, back = "s_mov_b64 s[60:61], s[0:1]\ns_mov_b64 s[62:63], s[2:3]\n", "\ns_mov_b64 s[0:1], s[60:61]\n"
    back += "s_mov_b64 s[2:3], s[62:63]"
    mask = "s_mov_b32 s59, 0\n"

    def both(context: Context, a: Array) -> tuple[Array, Array]:
        bit = (a >> (context.lane % 64).astype(np.uint64) & np.uint64(1)).astype(bool)
        here = context.exec.reshape(context.blocks, -1)
        taken, stays = ((side.reshape(here.shape) & here).any(axis=1) for side in (bit, ~bit))
        count = np.where(taken, 16, 0) + np.where(stays, 1, 0)
        return np.repeat(count, here.shape[1]).astype(np.uint32), np.where(bit, 5, 7).astype(np.uint32)

    out = []
    for opcode, fork in (("s_cbranch_g_fork", "{op} {a}, s[56:57]"), ("s_cbranch_i_fork", "{op} {a}, .Lset{i}")):
        code = keep + mask + address + sides.replace("FORK", fork).replace("JOIN", "s_cbranch_join") + back
        out.append(case(opcode, "s:u64", "s:u32 u32", both, code, context=True, also=("s_cbranch_join",)))
    return out


def skipping() -> list[Case]:
    """VSKIP passes over vector instructions of every kind, and over no scalar one; a wait is none of them."""
    body = (
        "v_mov_b32 {e}, {b}\ns_mov_b32 {d}, 3\n{op} {a}, 4\nv_add_u32 {e}, {e}, 1\nds_write_b32 v0, v0\n"
        "global_store_dword v0, v0, s[90:91]\ns_add_u32 {d}, {d}, 1\ns_waitcnt vmcnt(0)\n{op} 0, 0\n"
        "v_add_u32 {e}, {e}, 16"
    )

    def define(a: Array, b: Array) -> tuple[Array, Array]:
        return np.full(len(a), 4, np.uint32), b + np.uint32(16)

    through_mode = body.replace("{op} {a}, 4", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1")
    off = "v_mov_b32 {e}, {b}\n{op} {a}, 3\nv_add_u32 {e}, {e}, 1\n{op} 0, 0\ns_mov_b32 {d}, 9"
    return [
        case("s_setvskip", "s:u32 u32", "s:u32 u32", define, "s_bitset1_b32 {a}, 4\n" + body),
        case("s_setvskip", "s:u32 u32", "s:u32 u32", define, through_mode, label="through MODE"),
        case("s_setvskip", "s:u32 u32", "s:u32 u32",
             lambda a, b: (np.full(len(a), 9, np.uint32), b + np.uint32(1)), "s_bitset0_b32 {a}, 3\n" + off,
             label="off"),
    ]  # fmt: skip


def indexed() -> list[Case]:
    """s_set_gpr_idx: vector registers relative to an index; results and sources each by a bit of the mode."""
    sources = "v_mov_b32 v90, {a}\nv_mov_b32 v91, {b}\nv_mov_b32 v92, {c}\n"

    def pick(context: Context, a: Array, b: Array, c: Array, i: Array) -> Array:
        return np.choose(i.astype(int), [a, b, c])

    def put(context: Context, a: Array, i: Array) -> tuple[Array, Array]:
        return np.where(i == 0, a, np.uint32(7)), np.where(i == 1, a, np.uint32(9))

    moved = "v_mov_b32 v90, 7\nv_mov_b32 v91, 9\n"
    return [
        case("s_set_gpr_idx_on", "u32 u32 u32 s:u32<3", "u32", pick,
             sources + "{op} {g}, gpr_idx(SRC0)\nv_mov_b32 {d}, v90\ns_set_gpr_idx_off", context=True),
        case("s_set_gpr_idx_on", "u32 s:u32<2", "u32 u32", put,
             moved + "{op} {b}, gpr_idx(DST)\nv_mov_b32 v90, {a}\ns_set_gpr_idx_off\n"
             "v_mov_b32 {d}, v90\nv_mov_b32 {e}, v91", context=True, label="destination"),
        case("s_set_gpr_idx_mode", "u32 u32 u32 s:u32<3", "u32", pick,
             sources + "s_set_gpr_idx_on {g}, gpr_idx(DST)\n{op} gpr_idx(SRC1)\nv_or_b32 {d}, 0, v90\n"
             "s_set_gpr_idx_off", context=True),
        case("s_set_gpr_idx_idx", "u32 u32 u32 s:u32<3", "u32", pick,
             sources + "s_set_gpr_idx_on 0, gpr_idx(SRC0)\n{op} {g}\nv_mov_b32 {d}, v90\ns_set_gpr_idx_off",
             context=True),
    ]  # fmt: skip


def cases() -> list[Case]:
    return [*branches(), *calls(), *registers(), *hints(), *clocks(), *forks(), *skipping(), *indexed()]
