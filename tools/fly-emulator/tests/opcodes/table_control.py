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

    mask = "s_and_b32 {a}, {a}, 1\n"
    del mask
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
    "s_barrier": "", "s_waitcnt": "vmcnt(0) lgkmcnt(0) expcnt(0)", "s_sethalt": "0", "s_set_gpr_idx_off": "",
}  # fmt: skip


def hints() -> list[Case]:
    """What has no effect that a program sees: every register around it keeps its value."""
    return [
        case(name, "u32 s:u32", "u32 s:u32", lambda a, b: (a, b), f"{{op}} {operand}\nv_mov_b32 {{d}}, {{a}}\n"
             "s_mov_b32 {e}, {b}")
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


def ends() -> list[Case]:
    """A wave that ends here stores nothing after; in blocks whose {a} is even."""
    stop = "s_bitcmp1_b32 {a}, 0\ns_cbranch_scc1 .Lon{i}\nNOTHING\n.Lon{i}:\ns_mov_b32 {d}, {a}"
    del stop
    return []


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
    return [*branches(), *calls(), *registers(), *hints(), *clocks(), *indexed()]
