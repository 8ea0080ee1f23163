# SPDX-License-Identifier: Apache-2.0
"""The waves over time under the issue model, and the trace made of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from assembly import aligned_words, kernel_f

from flydsl.emulator import Profile, profile
from flydsl.emulator.device import Emulator, EmulatorError, Module

LOAD = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[6:7]
"""


def traced(build: Callable[..., Module], arch: str, code: str, threads: int = 64, groups: int = 1) -> Profile:
    kernel = build(kernel_f(code, arch, lds=4096), arch, "asm", ()).kernel("f")
    x, y = aligned_words(1024), aligned_words(1024)
    with profile(trace=True) as session:
        kernel(groups, threads, x, y)
    return session.last


def test_a_load_is_waited_for(emulator: Emulator, build: Callable[..., Module], arch: str) -> None:
    """It comes from memory: the device's latency, and its line at the unit's part of the bandwidth."""
    got = traced(build, arch, LOAD)
    device = emulator.device_models()[got.timeline.device]
    latency = device["constants"]["hbm_latency_ns"] * device["facts"]["clock_ghz"]["value"]
    wait = next(one for one in got.instructions if one.text == "s_waitcnt vmcnt(0)")
    assert latency < wait.timeline_stalled < 1.2 * latency
    assert got.timeline.stalled["memory"] == wait.timeline_stalled
    assert got.timeline.cycles > wait.timeline_stalled


def test_matrix_work_hides_behind_its_issue(build: Callable[..., Module], arch: str) -> None:
    """Independent vector work issues while the matrix unit is busy; a use of the result waits."""
    mfma = "  v_mfma_f32_32x32x8_f16 v[24:39], v[2:3], v[8:9], v[24:39]\n"
    free = traced(build, arch, mfma + "  v_add_f32 v1, v4, v5\n" * 7)
    assert free.timeline.stalled["matrix_result"] == 0
    used = traced(build, arch, mfma + "  v_add_f32 v1, v24, v5\n")
    assert used.timeline.stalled["matrix_result"] >= 32 - 4
    chain = traced(build, arch, mfma * 4)
    assert chain.timeline.stalled["unit_busy"] == 3 * (32 - 4)
    fetched = chain.timeline.stalled["instruction_fetch"]
    assert chain.timeline.cycles == fetched + 3 * 32 + 2 * 4, "nobody waits for the last result"


def test_waves_share_a_simd_and_wait_at_barriers(build: Callable[..., Module], arch: str) -> None:
    code = "  s_nop 15\n  v_exp_f32 v1, v2\n  v_exp_f32 v1, v2\n  s_barrier\n"
    one = traced(build, arch, code, 64)
    eight = traced(build, arch, code, 512)  # two waves on each SIMD
    assert eight.timeline.waves == 8
    assert eight.timeline.cycles == one.timeline.cycles + 2 * 16
    assert eight.timeline.stalled["barrier"] > 0


def test_estimate_counts_rounds_of_workgroups(build: Callable[..., Module], arch: str) -> None:
    once = traced(build, arch, LOAD, 64, 1)
    assert once.estimated_cycles == once.timeline.cycles
    resident = once.occupancy.groups_per_compute_unit * once.data["device"]["compute_units"]
    rounds = traced(build, arch, LOAD, 64, resident + 1)
    assert rounds.timeline.groups == once.occupancy.groups_per_compute_unit
    assert rounds.estimated_cycles == 2 * rounds.timeline.cycles


def test_trace_events(build: Callable[..., Module], arch: str, tmp_path: Path) -> None:
    got = traced(build, arch, LOAD, 256, 2)
    got.write_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert "emulated" in trace["otherData"]["note"]
    assert not trace["otherData"]["truncated"]
    names = [event for event in trace["traceEvents"] if event["ph"] == "M" and event["name"] == "thread_name"]
    assert len(names) == 8
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    issued = [event for event in slices if event["cat"] != "stall"]
    assert len(issued) == got.total.instructions
    assert sum(event["dur"] for event in slices if event["cat"] == "stall") == sum(got.timeline.stalled.values())
    by_wave: dict[int, list[tuple[int, int]]] = {}
    for event in slices:
        by_wave.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_wave.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans)), "slices of a wave overlap"


def test_trace_needs_to_be_asked_for(build: Callable[..., Module]) -> None:
    kernel = build(kernel_f(LOAD, "gfx942"), "gfx942", "asm", ()).kernel("f")
    x, y = np.zeros((2, 64), np.uint32)
    with profile() as session:
        kernel(1, 64, x, y)
    with pytest.raises(EmulatorError, match="without a trace"):
        session.last.write_trace("/dev/null")


def test_profile_is_the_same_for_any_number_of_launches(build: Callable[..., Module], arch: str) -> None:
    first, again = traced(build, arch, LOAD, 256, 40), traced(build, arch, LOAD, 256, 40)
    first.data.pop("launch"), again.data.pop("launch")
    assert first.data == again.data
