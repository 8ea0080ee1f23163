# SPDX-License-Identifier: Apache-2.0
"""LDS accesses of two waves: a barrier orders them only if the first was waited for. In every order of waves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flydsl.emulator.device import Emulator

Check = Callable[..., list[dict[str, Any]]]

# v1: the thread's dword of LDS; v2: the one of the other wave's thread. s20: the number of the wave.
START = """
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1
  v_mov_b32 v5, 0
  v_mov_b32 v6, 1
  v_readfirstlane_b32 s20, v0
  s_lshr_b32 s20, s20, 6
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
"""
FINISH = """
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[10:11]
"""
EXCHANGE = """
  ds_write_b32 v1, v0
  {wait}
  {barrier}
  ds_read_b32 v3, v2
"""
REUSE = """
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  {wait}
  {barrier}
  ds_write_b32 v1, v5
"""
WAITED = {"wait": "s_waitcnt lgkmcnt(0)", "barrier": "s_barrier"}


def only(code: str, wave: int, label: str) -> str:
    """Code that one wave executes."""
    return f"  s_cmp_lg_u32 s20, {wave}\n  s_cbranch_scc1 .L{label}\n{code}\n.L{label}:\n"


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("code", [EXCHANGE, REUSE])
@pytest.mark.parametrize(
    ("dropped", "sanitizer"), [({}, None), ({"wait": "s_nop 0"}, "wait"), ({"barrier": "s_nop 0"}, "race")]
)
def test_a_dropped_wait_or_barrier(
    check: Check, emulator: Emulator, arch: str, code: str, dropped: dict[str, str], sanitizer: str | None, seed: int
) -> None:
    emulator.set_seed(seed)
    reports = check(START + code.format(**{**WAITED, **dropped}) + FINISH, arch, threads=128, lds=512)
    # Without the barrier, a wave may also read what nobody has written yet.
    reports = [report for report in reports if report["sanitizer"] != "init"]
    assert {report["sanitizer"] for report in reports} == ({sanitizer} if sanitizer else set())
    for report in reports:
        assert {report["instruction"].split()[0], report["other_instruction"].split()[0]} == {
            "ds_read_b32",
            "ds_write_b32",
        }
        assert sanitizer == "race" or "lgkmcnt" in report["what"]


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("waits", [0, 1])
def test_one_wave_alone_does_not_wait(check: Check, emulator: Emulator, arch: str, waits: int, seed: int) -> None:
    """A wave that goes around its wait, as one that skips a tile does, is found whichever wave it is."""
    emulator.set_seed(seed)
    wait = only("  s_waitcnt lgkmcnt(0)", waits, "waits")
    reports = check(START + EXCHANGE.format(wait=wait, barrier="s_barrier") + FINISH, arch, threads=128, lds=512)
    assert [report["sanitizer"] for report in reports] == ["wait"]
    assert reports[0]["wave"] == waits  # that reads; the other one did not wait


def test_an_access_that_nobody_depends_on_may_be_outstanding_at_a_barrier(check: Check, arch: str) -> None:
    code = START + "  ds_write_b32 v1, v0\n  s_barrier\n  ds_read_b32 v3, v1\n" + FINISH
    assert check(code, arch, threads=128, lds=512) == []


def test_waits_for_a_number_of_accesses(check: Check, arch: str) -> None:
    """The older of two stores is waited for, the younger is not; the other wave reads one of them."""
    code = START + (
        "  ds_write_b32 v1, v0\n  ds_write_b32 v1, v0 offset:512\n  s_waitcnt lgkmcnt(1)\n  s_barrier\n"
        "  ds_read_b32 v3, v2 offset:{offset}\n"
    )
    assert check(code.format(offset=0) + FINISH, arch, threads=128, lds=1024) == []
    reports = check(code.format(offset=512) + FINISH, arch, threads=128, lds=1024)
    assert [report["sanitizer"] for report in reports] == ["wait"]
    assert reports[0]["other_instruction"].endswith("offset:512")


SAME = "  v_mov_b32 v1, 0\n  v_mov_b32 v2, 0\n"
RACES = {
    "atomic after a store": only("  ds_write_b32 v1, v5", 0, "a") + only("  ds_add_u32 v1, v6", 1, "b"),
    "atomic after a store and an atomic": only("  ds_write_b32 v1, v5\n  ds_add_u32 v1, v6", 0, "a")
    + only("  ds_add_u32 v1, v6", 1, "b"),
    "atomic after a load": only("  ds_read_b32 v3, v1", 0, "a") + only("  ds_add_u32 v1, v6", 1, "b"),
    "load after an atomic": only("  ds_add_u32 v1, v6", 0, "a") + only("  ds_read_b32 v3, v1", 1, "b"),
    "store of what an atomic left": only("  ds_add_u32 v1, v5", 0, "a") + only("  ds_write_b32 v1, v5", 1, "b"),
    "load after two stores of one value": only("  ds_write_b32 v1, v6", 0, "a")
    + only("  ds_write_b32 v1, v6", 1, "b")
    + only("  ds_read_b32 v3, v1", 2, "c"),
    "byte of a dword": only("  ds_write_b8 v1, v6 offset:1", 0, "a") + only("  ds_read_b32 v3, v1", 1, "b"),
}
ORDERED = {
    "two atomics": "  ds_add_u32 v1, v6\n",
    "two stores of one value, each read by its wave": "  ds_write_b32 v1, v6\n  ds_read_b32 v3, v1\n",
    "bytes of one dword": only("  ds_write_b8 v1, v6 offset:1", 0, "a") + only("  ds_write_b8 v1, v5", 1, "b"),
}
FIRST_CLEARED = only("  ds_write_b32 v1, v5", 0, "clear") + "  s_waitcnt lgkmcnt(0)\n  s_barrier\n"


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("name", RACES)
def test_races_on_one_dword(check: Check, emulator: Emulator, arch: str, name: str, seed: int) -> None:
    emulator.set_seed(seed)
    code = START + SAME + "  v_mov_b32 v3, 0\n  s_mov_b64 exec, 1\n" + FIRST_CLEARED + RACES[name]
    reports = check(code + FINISH, arch, threads=192, lds=512)
    assert "race" in {report["sanitizer"] for report in reports}


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("name", ORDERED)
def test_no_races_on_one_dword(check: Check, emulator: Emulator, arch: str, name: str, seed: int) -> None:
    emulator.set_seed(seed)
    code = START + SAME + "  v_mov_b32 v3, 0\n" + FIRST_CLEARED + ORDERED[name]
    assert check(code + FINISH, arch, threads=192, lds=512) == []


@pytest.mark.parametrize("store", ["ds_write_b32 v2, v0", "global_store_dword v2, v0, s[10:11]"])
def test_lanes_that_store_different_values_to_one_address(check: Check, arch: str, store: str) -> None:
    reports = check(START + SAME + f"  {store}\n  s_waitcnt vmcnt(0)\n", arch, lds=512)
    assert [report["sanitizer"] for report in reports] == ["race"]
    assert "lanes 0 and " in reports[0]["what"]
    assert check(START + SAME + f"  {store.replace('v0', 'v6')}\n  s_waitcnt vmcnt(0)\n", arch, lds=512) == []


def test_a_masked_load_to_lds_touches_its_lanes_only(check: Check, arch: str) -> None:
    """Lanes 0 and 63 load into LDS; what lies between is not on its way."""
    code = START + (
        "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_mov_b64 s[4:5], s[8:9]\n  s_mov_b32 s6, 4096\n"
        "  s_mov_b32 s7, 0x00027000\n  s_mov_b32 m0, 0\n"
        "  s_mov_b32 exec_lo, {low}\n  s_brev_b32 exec_hi, 1\n  buffer_load_dword v1, s[4:7], 0 offen lds\n"
        "  s_mov_b64 exec, 0xf0\n  ds_read_b32 v3, v1\n"
    )
    assert check(code.format(low=1) + FINISH, arch, lds=1024) == []
    reports = check(code.format(low=0x11) + FINISH, arch, lds=1024)
    assert [report["sanitizer"] for report in reports] == ["wait"]


# Wave 0 loads into the dwords of LDS that wave 1 has read before the barrier.
REFILL = (
    START
    + "  v_and_b32 v1, 0xff, v1\n  s_mov_b64 s[4:5], s[8:9]\n  s_mov_b32 s6, 4096\n  s_mov_b32 s7, 0x00027000\n"
    + only("  s_mov_b32 m0, 0\n  s_nop 0\n  buffer_load_dword v1, s[4:7], 0 offen lds", 0, "fill")
    + "  v_mov_b32 v3, 0\n  s_waitcnt vmcnt(0)\n  s_barrier\n"
    + only("  ds_read_b32 v3, v1", 1, "read")
    + "  {wait}\n  {barrier}\n"
    + only("  buffer_load_dword v1, s[4:7], 0 offen lds", 0, "refill")
    + "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
)


@pytest.mark.parametrize("seed", range(7))
def test_a_load_into_lds_behind_a_read_is_a_lint(check: Check, emulator: Emulator, arch: str, seed: int) -> None:
    """Hand-scheduled kernels leave the wait out, since memory is slower than LDS; nobody leaves out the barrier."""
    emulator.set_seed(seed)
    emulator.set_sanitizers("all", "lint")
    for dropped, wanted in (({}, set()), ({"wait": "s_nop 0"}, {"lint"}), ({"barrier": "s_nop 0"}, {"race"})):
        reports = check(REFILL.format(**{**WAITED, **dropped}), arch, threads=128, lds=512)
        assert {report["sanitizer"] for report in reports} == wanted
    emulator.set_sanitizers("all")
    assert check(REFILL.format(**{**WAITED, "wait": "s_nop 0"}), arch, threads=128, lds=512) == []
