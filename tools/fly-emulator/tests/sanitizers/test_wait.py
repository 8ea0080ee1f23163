# SPDX-License-Identifier: Apache-2.0
"""Waits for loads that go straight to LDS (buffer_load ... lds)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DIRECT = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_and_b32 v2, 63, v0
  v_lshlrev_b32 v2, 2, v2
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[4:5], s[8:9]
  s_mov_b32 s6, 4096
  s_mov_b32 s7, 0x00027000
  s_mov_b32 m0, 0
  v_cmp_gt_u32 vcc, 64, v0
  s_cbranch_vccz .Lsecond
  buffer_load_dword v1, s[4:7], 0 offen lds
  {own}
.Lsecond:
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[10:11]
"""


@pytest.mark.parametrize(("own", "threads"), [("s_nop 0", 64), ("s_waitcnt vmcnt(1)", 64), ("s_nop 0", 128)])
def test_lds_is_read_before_a_direct_load_has_arrived(
    check: Callable[..., list[dict[str, Any]]], arch: str, own: str, threads: int
) -> None:
    reports = check(DIRECT.format(own=own), arch, threads=threads, lds=1024)
    assert {report["sanitizer"] for report in reports} == {"wait"}
    for report in reports:
        assert "vmcnt" in report["what"]
        assert report["instruction"].startswith("ds_read_b32")
        assert report["other_instruction"].startswith("buffer_load_dword")
    if threads == 128:  # the second wave reads what the first one did not wait for
        assert [report["count"] for report in reports] == [2]


@pytest.mark.parametrize("threads", [64, 128])
def test_a_direct_load_that_is_waited_for(check: Callable[..., list[dict[str, Any]]], arch: str, threads: int) -> None:
    assert check(DIRECT.format(own="s_waitcnt vmcnt(0)"), arch, threads=threads, lds=1024) == []


def test_the_older_of_two_direct_loads_is_enough(check: Callable[..., list[dict[str, Any]]], arch: str) -> None:
    """A pipeline: the next tile is on its way while this one is read."""
    own = "s_mov_b32 m0, 512\n  buffer_load_dword v1, s[4:7], 0 offen lds\n  s_waitcnt vmcnt(1)"
    assert check(DIRECT.format(own=own), arch, lds=1024) == []
