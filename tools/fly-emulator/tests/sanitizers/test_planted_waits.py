# SPDX-License-Identifier: Apache-2.0
"""Waits left out where the registers or the counters are not what the instruction names: each with its sound twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

Check = Callable[..., list[dict[str, Any]]]

# v1: the thread's byte offset; s[8:9], s[10:11]: `in` and `out`; v[10:11]: its dword of `in`, v[12:13] of LDS, by flat
# addresses. LDS is filled.
START = """
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 1
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v11, s9
  v_add_co_u32 v10, vcc, s8, v1
  v_addc_co_u32 v11, vcc, 0, v11, vcc
  s_mov_b64 s[4:5], src_shared_base
  v_mov_b32 v12, v1
  v_mov_b32 v13, s5
  s_mov_b32 s4, 1
"""
FINISH = """
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_set_gpr_idx_off
  global_store_dword v1, v3, s[10:11]
"""


class Case(NamedTuple):
    code: str  # with {wait}
    enough: str
    short: str
    counter: str


NOTHING, ALL_LOCAL = "s_nop 0", "s_waitcnt lgkmcnt(0)"
INTO_VCC = "s_load_dwordx2 vcc, s[8:9], 0x8\n {wait}\n "
CASES = {
    # Where flat accesses go to LDS, vmcnt may count them off before an older access to memory; lgkmcnt counts all off
    # at any time.
    "a load, then a flat one of LDS": Case(
        "global_load_dword v3, v1, s[8:9]\n flat_load_dword v4, v[12:13]\n {wait}\n v_add_u32 v3, v3, v6",
        "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(1)", "vmcnt",
    ),
    "a load, then a flat one of memory": Case(
        "global_load_dword v3, v1, s[8:9]\n flat_load_dword v4, v[10:11]\n {wait}\n v_add_u32 v3, v3, v6",
        "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(2)", "vmcnt",
    ),
    "a read of LDS, then a flat load": Case(
        "ds_read_b32 v3, v1\n flat_load_dword v4, v[10:11]\n {wait}\n v_add_u32 v3, v3, v6",
        ALL_LOCAL, "s_waitcnt lgkmcnt(1)", "lgkmcnt",
    ),
    "a scalar load, then one of LDS": Case(
        "ds_read_b32 v3, v1\n s_load_dword s6, s[8:9], 0x40\n {wait}\n v_add_u32 v3, v3, v6",
        ALL_LOCAL, "s_waitcnt lgkmcnt(1)", "lgkmcnt",
    ),
    "VCC in a branch": Case(
        INTO_VCC + "v_mov_b32 v3, 1\n s_cbranch_vccnz .Lover\n v_mov_b32 v3, 2\n.Lover:", ALL_LOCAL, NOTHING, "lgkmcnt"
    ),
    "VCC in v_div_fmas": Case(INTO_VCC + "v_div_fmas_f32 v3, v6, v6, v6", ALL_LOCAL, NOTHING, "lgkmcnt"),
    "an indexed source": Case(
        "v_mov_b32 v8, 0\n global_load_dword v9, v1, s[8:9]\n s_set_gpr_idx_on s4, gpr_idx(SRC0)\n {wait}\n"
        " v_mov_b32 v3, v8\n", "s_waitcnt vmcnt(0)", NOTHING, "vmcnt",
    ),
    "an indexed destination": Case(
        "v_mov_b32 v3, 0\n global_load_dword v9, v1, s[8:9]\n s_set_gpr_idx_on s4, gpr_idx(DST)\n {wait}\n"
        " v_mov_b32 v8, v6", "s_waitcnt vmcnt(0)", NOTHING, "vmcnt",
    ),
    "s_movrels": Case(
        "s_mov_b32 m0, 1\n s_load_dword s5, s[8:9], 0x10\n {wait}\n s_movrels_b32 s6, s4\n v_mov_b32 v3, s6",
        ALL_LOCAL, NOTHING, "lgkmcnt",
    ),
    "s_movreld": Case(
        "s_mov_b32 m0, 1\n s_load_dword s5, s[8:9], 0x10\n {wait}\n s_movreld_b32 s4, s2\n v_mov_b32 v3, 0",
        ALL_LOCAL, NOTHING, "lgkmcnt",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_wait_that_is_too_weak(check: Check, arch: str, name: str) -> None:
    case = CASES[name]
    assert check(START + case.code.format(wait=case.enough) + FINISH, arch, lds=256) == []
    reports = check(START + case.code.format(wait=case.short) + FINISH, arch, lds=256)
    assert {report["sanitizer"] for report in reports} == {"wait"}
    assert any(case.counter in report["what"] for report in reports)


def test_a_flat_access_outstanding_at_a_barrier(check: Check, arch: str) -> None:
    """A flat load may come back first: lgkmcnt(1) does not say that the store to LDS is done."""
    code = START + (
        "  v_xor_b32 v2, 0x100, v1\n  s_barrier\n  ds_write_b32 v1, v6\n  flat_load_dword v4, v[10:11]\n  {wait}\n"
        "  s_barrier\n  ds_read_b32 v3, v2\n"
    )
    assert check(code.format(wait="s_waitcnt lgkmcnt(0)") + FINISH, arch, threads=128, lds=512) == []
    reports = check(code.format(wait="s_waitcnt lgkmcnt(1)") + FINISH, arch, threads=128, lds=512)
    assert {report["sanitizer"] for report in reports} == {"wait"}
