# SPDX-License-Identifier: Apache-2.0
"""Many workgroups and one that goes wrong; steps of a release that only the machine code shows. In every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flydsl.emulator.device import Emulator

Check = Callable[..., list[dict[str, Any]]]

# v8: the thread's byte of a row; v20: a place of its own behind the data. s2: the workgroup.
START = """
  v_lshlrev_b32 v8, 2, v0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 1
  v_mov_b32 v7, 7
  v_mov_b32 v20, 0x1000
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
"""
ORDERS = range(7)
GROUPS = 8

# Each of eight workgroups does something and draws a ticket; the last one uses what all have done.
TICKETS = (
    START
    + """
  {work}
  s_cmp_eq_u32 s2, {culprit}
  s_cbranch_scc1 .Ldraw
  buffer_wbl2 sc1
  s_waitcnt vmcnt(0)
.Ldraw:
  s_mov_b64 exec, 1
  global_atomic_add v9, v20, v6, s[10:11] sc0
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s4, v9
  s_mov_b64 exec, -1
  s_cmp_lg_u32 s4, {last}
  s_cbranch_scc1 .Ldone
  buffer_inv sc1
  {use}
.Ldone:
  s_waitcnt vmcnt(0)
"""
)
LOAD = "global_load_dword v3, v8, s[10:11]"
WORK = {  # what all do, and what the last one does
    "adds, then a load": ("global_atomic_add v8, v6, s[10:11]", LOAD),
    "loads, then a store": (LOAD, "global_store_dword v8, v6, s[10:11]"),
    "coherent loads, then a plain store": (LOAD + " sc1", "global_store_dword v8, v6, s[10:11]"),
}


@pytest.mark.parametrize("work", WORK)
def test_one_of_many_workgroups_does_not_wait(check: Check, emulator: Emulator, arch: str, work: str) -> None:
    """Whichever it is (the last to come is in order with itself, so it is none that may be that)."""
    silent = []
    for seed in ORDERS:
        emulator.set_seed(seed)
        before = {"work": WORK[work][0], "use": WORK[work][1], "last": GROUPS - 1}
        assert check(TICKETS.format(culprit=GROUPS, **before), arch, groups=GROUPS, words=2048) == []
        for culprit in (2, 5):
            found = check(TICKETS.format(culprit=culprit, **before), arch, groups=GROUPS, words=2048)
            silent += [] if "race" in {report["sanitizer"] for report in found} else [(seed, culprit)]
    assert silent == []


@pytest.mark.parametrize("seed", ORDERS)
def test_the_last_but_one_is_not_the_last(check: Check, emulator: Emulator, arch: str, seed: int) -> None:
    emulator.set_seed(seed)
    work, use = WORK["adds, then a load"]
    code = TICKETS.format(work=work, use=use, culprit=GROUPS, last=GROUPS - 2)
    assert "race" in {report["sanitizer"] for report in check(code, arch, groups=GROUPS, words=2048)}


# Workgroup 0 leaves data behind a flag, workgroup 1 waits for it.
FLAG = (
    START
    + """
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lpoll
  global_store_dword v8, v7, s[10:11]
  s_waitcnt vmcnt(0)
  {back}
  {wait}
  global_store_dword v20, v6, s[10:11] sc1
  s_endpgm
.Lpoll:
  global_load_dword v9, v20, s[10:11] sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s4, v9
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc1 .Lpoll
  buffer_inv sc1
  {load}
  s_waitcnt vmcnt(0) lgkmcnt(0)
"""
)
RIGHT = {"back": "buffer_wbl2 sc1", "wait": "s_waitcnt vmcnt(0)", "load": LOAD}
SCALAR = "s_load_dword s5, s[10:11], 0x0"
STEPS: list[tuple[dict[str, str], str | None]] = [
    ({}, None),
    # Written back while another store of the wave is under way.
    ({"wait": "global_store_dword v8, v7, s[10:11] offset:1024\n  s_waitcnt vmcnt(1)"}, None),
    ({"wait": "s_nop 0"}, "buffer_wbl2 sc1, or the s_waitcnt"),
    ({"wait": "s_waitcnt vmcnt(1)"}, "buffer_wbl2 sc1, or the s_waitcnt"),
    ({"back": "buffer_wbl2 sc0"}, "buffer_wbl2 sc1"),
    ({"load": "s_dcache_inv\n  " + SCALAR}, None),
    ({"load": SCALAR}, "s_dcache_inv"),
]


@pytest.mark.parametrize(("change", "missing"), STEPS, ids=lambda value: str(value).replace(" ", ""))
def test_steps_of_a_release(
    check: Check, emulator: Emulator, arch: str, change: dict[str, str], missing: str | None
) -> None:
    for seed in ORDERS:
        emulator.set_seed(seed)
        reports = check(FLAG.format(**{**RIGHT, **change}), arch, groups=2, words=2048)
        assert {report["sanitizer"] for report in reports} == (set() if missing is None else {"race"})
        assert missing is None or any(missing in report["what"] for report in reports)


@pytest.mark.parametrize(
    ("wait", "invalidate", "clean"),
    [
        ("s_waitcnt vmcnt(0)", "s_dcache_inv", True),
        ("s_waitcnt vmcnt(0)", "s_nop 0", False),
        ("s_nop 0", "s_dcache_inv", False),
    ],
)
def test_a_scalar_load_of_what_the_wave_has_stored(
    check: Check, arch: str, wait: str, invalidate: str, clean: bool
) -> None:
    code = f"  global_store_dword v8, v0, s[10:11]\n  {wait}\n  {invalidate}\n  {SCALAR}\n  s_waitcnt lgkmcnt(0)\n"
    reports = check(START + code, arch)
    assert [report["sanitizer"] for report in reports] == ([] if clean else ["race"])


@pytest.mark.parametrize("seed", ORDERS)
@pytest.mark.parametrize(("load", "store", "clean"), [("sc1", "sc1", True), ("sc1", "", False), ("", "sc1", False)])
def test_an_atomic_access_beside_a_plain_one(
    check: Check, emulator: Emulator, arch: str, load: str, store: str, clean: bool, seed: int
) -> None:
    """Whichever comes first."""
    emulator.set_seed(seed)
    code = START + (
        "  s_cmp_lg_u32 s2, 0\n  s_cbranch_scc1 .Lstore\n"
        f"  global_load_dword v3, v20, s[10:11] {load}\n  s_endpgm\n"
        f".Lstore:\n  global_store_dword v20, v7, s[10:11] {store}\n"
    )
    reports = check(code, arch, groups=2, words=2048)
    assert [report["sanitizer"] for report in reports] == ([] if clean else ["race"])
