# SPDX-License-Identifier: Apache-2.0
"""Predicted times: what the model says of kernels whose bound is known by construction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from assembly import aligned_words, kernel_f
from conftest import ARCHITECTURES

from flydsl.emulator import Prediction, predict, profile, sanitize
from flydsl.emulator.cli import main
from flydsl.emulator.device import Emulator, EmulatorError, Module

DEVICES = {"gfx942": "MI325X", "gfx950": "MI355X"}
COMPUTE_UNITS = {"gfx942": 304, "gfx950": 256}
HBM_BYTES_PER_SECOND = {"gfx942": 6.0e12, "gfx950": 8.0e12}
MATRIX = "  v_mfma_f32_32x32x8_f16 v[24:39], v[2:3], v[8:9], v[24:39]\n"
COPY = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  s_mul_i32 s8, s2, 4096
  v_add_u32 v1, v1, s8
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[2:5], v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[2:5], s[6:7]
"""  # 256 threads: 4 KiB a workgroup


@pytest.fixture
def own_devices(emulator: Emulator) -> Iterator[None]:
    """The command line makes devices of its own: those of the tests come back."""
    yield
    emulator.set_devices(*ARCHITECTURES)


def predicted(
    build: Callable[..., Module],
    arch: str,
    code: str,
    *,
    threads: int = 256,
    groups: int = 1,
    words: int = 1024,
    **how: bool,
) -> Prediction:
    kernel = build(kernel_f(code, arch, lds=4096), arch, "asm", ()).kernel("f")
    x, y = aligned_words(words), aligned_words(words)
    with predict(DEVICES[arch], **how) as session:
        kernel(groups, threads, x, y)
    return session.last


def test_a_stream_takes_the_bandwidth_of_memory(build: Callable[..., Module], arch: str) -> None:
    groups = 16384
    got = predicted(build, arch, COPY, groups=groups, words=groups * 1024, sampled=True)
    least = 2 * groups * 4096 / HBM_BYTES_PER_SECOND[arch]
    assert got.bound == "hbm"
    assert least < got.seconds < 2 * least
    assert got.data["groups_executed"] < groups / 10


def test_no_launch_is_faster_than_what_it_moves(build: Callable[..., Module], arch: str) -> None:
    """A last round with few workgroups has memory for itself: that makes none of the bytes come sooner."""
    read = COPY.replace("s2, 4096", "s2, 16384")
    read = read[: read.index("  global_load")] + "  s_mov_b32 s9, 4\nagain:\n" + read[read.index("  global_load") :]
    read = read[: read.index("  global_store")] + "  v_add_u32 v1, 4096, v1\n  s_sub_u32 s9, s9, 1\n"
    read += "  s_cmp_lg_u32 s9, 0\n  s_cbranch_scc1 again\n"
    groups = 2 * COMPUTE_UNITS[arch] * 8 + 32
    got = predicted(build, arch, read, groups=groups, words=groups * 4096, sampled=True)
    assert got.bound == "hbm"
    assert got.seconds >= got.bounds["hbm"]
    assert got.seconds > groups * 16384 / HBM_BYTES_PER_SECOND[arch]
    assert got.busy["hbm"] <= 1


def test_matrix_work_takes_the_cycles_of_its_unit(build: Callable[..., Module], arch: str) -> None:
    rounds, chain = 8, 400
    got = predicted(build, arch, MATRIX * chain, groups=COMPUTE_UNITS[arch] * rounds, sampled=True)
    cycles = rounds * chain * 32  # 256 threads: a wave on each SIMD, whatever shares it
    assert got.bound == "matrix"
    assert 0.99 * cycles < got.data["unit_cycles"] < 1.1 * cycles  # nobody waits for the last result
    assert got.data["clock_ghz"] < {"gfx942": 2.1, "gfx950": 2.4}[arch], "the clock falls under matrix load"


def test_twice_the_work_takes_twice_the_time(build: Callable[..., Module], arch: str) -> None:
    once = predicted(build, arch, MATRIX * 400, groups=COMPUTE_UNITS[arch] * 16, sampled=True)
    twice = predicted(build, arch, MATRIX * 400, groups=COMPUTE_UNITS[arch] * 32, sampled=True)
    assert twice.data["unit_cycles"] == pytest.approx(2 * once.data["unit_cycles"], rel=0.05)


def test_one_workgroup_more_than_fits_begins_another_round(build: Callable[..., Module], arch: str) -> None:
    units = COMPUTE_UNITS[arch]
    code = MATRIX * 400
    full = predicted(build, arch, code, groups=units, sampled=True)
    more = predicted(build, arch, code, groups=units + 1, sampled=True)
    assert more.data["unit_cycles"] > 1.8 * full.data["unit_cycles"]


def test_lines_that_waves_share_come_once(build: Callable[..., Module], arch: str) -> None:
    """All workgroups read the same 4 KiB: nobody waits for memory's bandwidth."""
    shared = COPY.replace("s_mul_i32 s8, s2, 4096", "s_mov_b32 s8, 0")
    got = predicted(build, arch, shared, groups=16384, words=1024, sampled=True)
    loads = got.data["loads"]
    assert loads["hbm"] + loads["mall"] <= 4096 / 128
    assert got.data["footprint_bytes"] <= 4096


ADD = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v6, v7, s[6:7]
"""


def test_atomics_on_one_line_go_one_after_the_other(build: Callable[..., Module], arch: str) -> None:
    """Where each workgroup has a line of its own, compute units do not wait for each other."""
    groups, cycles_of_one = 1 << 15, 24
    own = ADD.replace("s_waitcnt", "s_lshl_b32 s8, s2, 7\n  v_mov_b32 v6, s8\n  s_waitcnt")
    alone, together = (
        predicted(build, arch, code, threads=64, groups=groups, words=groups * 32, sampled=True) for code in (own, ADD)
    )
    assert together.bound == "atomic"
    assert together.data["unit_cycles"] == groups * cycles_of_one
    assert together.bounds["atomic"] == pytest.approx(together.seconds)
    assert alone.bounds["atomic"] == alone.bounds["launch"]
    assert alone.seconds < 0.5 * together.seconds


# Workgroup 7 sets a flag, the others poll it, and all copy 4 KiB. A wave polls as one, or its lanes leave the loop one
# by one, as compilers write what threads do.
POLLS = {
    "wave": """
poll:
  s_sleep 1
  global_load_dword v8, v6, s[6:7] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v8
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 poll
""",
    "lanes": """
poll:
  s_mov_b64 s[10:11], 0
  v_mov_b32 v10, s6
  v_mov_b32 v11, s7
again:
  global_load_dword v8, v[10:11], off sc1
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 1, v8
  s_or_b64 s[10:11], vcc, s[10:11]
  s_andn2_b64 exec, exec, s[10:11]
  s_cbranch_execnz again
  s_mov_b64 exec, -1
""",
}
WAIT = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, {setter}
  s_cbranch_scc1 poll
  global_store_dword v6, v7, s[6:7] sc0 sc1
  s_branch go
{poll}
go:
  v_lshlrev_b32 v1, 4, v0
  global_load_dwordx4 v[2:5], v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[2:5], s[6:7] offset:64
"""


@pytest.mark.parametrize("how", POLLS)
def test_workgroups_that_wait_for_one_that_no_sample_has(build: Callable[..., Module], arch: str, how: str) -> None:
    """All of them run, and a wait is one look at the flag, however long the emulator's order lets it be."""
    groups, setter = 600, 7
    code = WAIT.format(setter=setter, poll=POLLS[how])
    waits = predicted(build, arch, code, groups=groups, words=4096, sampled=True)
    once = code.replace("s_cbranch_scc1 poll\n\ngo", "s_nop 0\n\ngo").replace("s_cbranch_execnz again", "s_nop 0")
    bare = predicted(build, arch, once, groups=groups, words=4096, sampled=True)
    assert waits.seconds == pytest.approx(bare.seconds, rel=0.1)


def test_a_sample_that_waits_for_ever_ends_with_an_error(build: Callable[..., Module], arch: str) -> None:
    with pytest.raises(EmulatorError, match="livelock"):
        predicted(
            build, arch, WAIT.format(setter=9999, poll=POLLS["wave"]), groups=4, threads=64, words=4096, sampled=True
        )


# A product of ones, 8 in each element, decides: what a sample passes over leaves 0.
PRODUCT = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v2, 0x3c003c00
  v_mov_b32 v3, v2
  v_mov_b32 v8, v2
  v_mov_b32 v9, v2
  s_waitcnt lgkmcnt(0)
again:
  v_mfma_f32_32x32x8_f16 v[24:39], v[2:3], v[8:9], 0
  s_nop 15
  s_nop 7
  v_cvt_u32_f32 v4, v24
"""
DECIDED = {
    "address": "  v_sub_u32 v4, 8, v4\n  v_lshlrev_b32 v4, 28, v4\n  global_load_dword v5, v4, s[4:5]\n",
    "loop": "  v_readfirstlane_b32 s8, v4\n  s_cmp_lg_u32 s8, 8\n  s_cbranch_scc1 again\n",
}


@pytest.mark.parametrize("what", ["address", pytest.param("loop", marks=pytest.mark.slow)])
def test_a_sample_that_products_decide_runs_with_them(build: Callable[..., Module], arch: str, what: str) -> None:
    """Without them it would read beyond memory, or go on for ever."""
    code = PRODUCT + DECIDED[what]
    sample = predicted(build, arch, code, groups=8, sampled=True)
    full = predicted(build, arch, code, groups=8)
    assert sample.data["unit_cycles"] == full.data["unit_cycles"]


def test_a_sample_that_fails_with_its_products_is_an_error(build: Callable[..., Module], arch: str) -> None:
    code = PRODUCT + "  v_lshlrev_b32 v4, 28, v4\n  global_load_dword v5, v4, s[4:5]\n"
    with pytest.raises(EmulatorError, match="outside of all registered memory"):
        predicted(build, arch, code, groups=8, sampled=True)


def test_more_workgroups_than_are_dealt_out_one_by_one(build: Callable[..., Module], arch: str) -> None:
    """Of 32 million workgroups that differ, a part is dealt out, and stands for the others. Half of them have nothing
    to do, of either sample some more or less."""
    uneven = "  s_bitcmp1_b32 s2, 3\n  s_cbranch_scc1 end\n" + MATRIX * 100 + "end:\n"
    few = predicted(build, arch, uneven, threads=64, groups=1 << 22, sampled=True)
    many = predicted(build, arch, uneven, threads=64, groups=1 << 25, sampled=True)
    assert many.data["unit_cycles"] == pytest.approx(8 * few.data["unit_cycles"], rel=0.3)


STREAM = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 7, v0
  s_movk_i32 s8, {rounds}
  s_waitcnt lgkmcnt(0)
again:
  global_load_dword v2, v1, s[4:5]
  v_add_u32 v1, 0x8000, v1
{work}
  s_waitcnt vmcnt(1)
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 again
"""  # 256 threads: 32 KiB a round, a line for each lane


def test_workgroups_that_compete_for_a_unit_share_less_of_l2(build: Callable[..., Module]) -> None:
    """All workgroups read the same 12 MiB, three times what L2 holds. Where they wait for memory they go in step, and a
    line comes once for an XCD. Where the matrix unit holds them up, the oldest of a compute unit goes ahead of the
    other one, which finds less of what it brought."""
    arch, rounds = "gfx942", 384
    beyond = {}
    for name, work in (("memory", ""), ("matrix", "  v_mfma_f32_32x32x2_f32 v[24:39], v8, v9, v[24:39]\n" * 24)):
        code = STREAM.format(rounds=rounds, work=work)
        kernel = build(kernel_f(code, arch, lds=32 << 10), arch, "asm", ()).kernel("f")
        x = aligned_words(rounds << 13)
        with predict(DEVICES[arch], sampled=True) as session:
            kernel(COMPUTE_UNITS[arch] * 12, 256, x, x)
        data = session.last.data
        assert data["occupancy"]["groups_per_compute_unit"] == 2
        assert (session.last.bound == "matrix") == (name == "matrix")
        beyond[name] = (data["loads"]["hbm"] + data["loads"]["mall"]) / data["resident_groups_sampled"]
    assert beyond["matrix"] > 1.5 * beyond["memory"]


def test_what_two_of_the_xcds_share_comes_for_the_others_too(build: Callable[..., Module], arch: str) -> None:
    """Workgroups 2 n and 2 n + 1 read the same lines: the next XCD has nothing of its own, and yet all of the tensor
    comes from memory once."""
    groups = 16384
    pairs = COPY.replace("s_mul_i32 s8, s2, 4096", "s_lshr_b32 s8, s2, 1\n  s_lshl_b32 s8, s8, 12")
    got = predicted(build, arch, pairs, groups=groups, words=groups * 512, sampled=True)
    assert got.data["unique_between_xcds"] == 0
    assert got.data["hbm_share"] == pytest.approx(0.5, rel=0.1)


def test_warm_data_come_from_the_infinity_cache(build: Callable[..., Module], arch: str) -> None:
    groups = 4096
    cold = predicted(build, arch, COPY, groups=groups, words=groups * 1024, sampled=True)
    warm = predicted(build, arch, COPY, groups=groups, words=groups * 1024, sampled=True, warm=True)
    assert cold.data["loads"]["hbm"] > 0
    assert warm.data["loads"]["hbm"] == 0
    assert warm.seconds < cold.seconds


def test_a_launch_in_full_is_right_and_predicted_alike(build: Callable[..., Module], arch: str) -> None:
    groups = 2048
    kernel = build(kernel_f(COPY, arch), arch, "asm", ()).kernel("f")
    x, y = aligned_words(groups * 1024), aligned_words(groups * 1024)
    x[:] = np.arange(x.size)
    with predict(DEVICES[arch]) as session:
        kernel(groups, 256, x, y)
    assert np.array_equal(x, y)
    sampled = predicted(build, arch, COPY, groups=groups, words=groups * 1024, sampled=True)
    assert session.seconds == pytest.approx(sampled.seconds, rel=0.1)


def test_sanitizers_go_with_a_launch_in_full(build: Callable[..., Module], arch: str) -> None:
    kernel = build(kernel_f(COPY, arch), arch, "asm", ()).kernel("f")
    with sanitize("all", raises=False) as found, predict() as session:
        kernel(256, 256, aligned_words(256 * 1024), aligned_words(256 * 1024))
    assert not found.reports
    assert session.last.seconds > 0


def test_workgroups_that_differ(build: Callable[..., Module], arch: str) -> None:
    """Half of the workgroups end at once: they take no time."""
    code = f"  s_and_b32 s3, s2, 512\n  s_cmp_eq_u32 s3, 0\n  s_cbranch_scc1 .Ldone\n{MATRIX * 400}.Ldone:\n"
    half = predicted(build, arch, code, groups=16384, sampled=True)
    whole = predicted(build, arch, MATRIX * 400, groups=16384, sampled=True)
    assert not half.data["uniform"]
    assert whole.data["uniform"]
    assert 0.4 * whole.seconds < half.seconds < 0.8 * whole.seconds


def test_predictions_repeat_exactly(build: Callable[..., Module], arch: str) -> None:
    first, again = (predicted(build, arch, COPY, groups=2048, words=2048 * 1024, sampled=True) for _ in range(2))
    assert first.data == again.data


def test_where_the_host_has_a_tensor_does_not_matter(build: Callable[..., Module], arch: str) -> None:
    """A device would have it at the begin of a page."""
    kernel = build(kernel_f(COPY, arch), arch, "asm", ()).kernel("f")
    found = []
    for words_aside in (0, 4, 20):  # 16 and 80 bytes into a line
        x, y = (aligned_words(512 * 1024 + words_aside)[words_aside:] for _ in range(2))
        with predict(DEVICES[arch], sampled=True) as session:
            kernel(512, 256, x, y)
        found.append(session.last.data)
    assert found[0] == found[1] == found[2]


def test_the_clock_follows_what_all_units_do_on_average(build: Callable[..., Module], arch: str) -> None:
    """A second round with one workgroup leaves the device idle half of the time."""
    units = COMPUTE_UNITS[arch]
    boost = {"gfx942": 2.1, "gfx950": 2.4}[arch]
    full, more = (
        predicted(build, arch, MATRIX * 400, groups=groups, sampled=True).data["clock_ghz"]
        for groups in (units, units + 1)
    )
    assert boost - more == pytest.approx((boost - full) / 2, rel=0.1)


def test_the_clock_is_that_of_all_workgroups_where_they_differ(build: Callable[..., Module], arch: str) -> None:
    """Half of them multiply three times as long: which half the unit has that is looked at does not matter.

    How many of them do is known from a sample, to a third.
    """
    clocks, cycles = [], []
    for longer in (0, 64):
        code = f"  s_and_b32 s3, s2, 64\n{MATRIX * 100}  s_cmp_lg_u32 s3, {longer}\n  s_cbranch_scc1 .Ldone\n"
        code += f"{MATRIX * 200}.Ldone:\n"
        got = predicted(build, arch, code, groups=COMPUTE_UNITS[arch] * 32, sampled=True).data
        clocks.append(got["clock_ghz"])
        cycles.append(got["issue_cycles"])
    boost = {"gfx942": 2.1, "gfx950": 2.4}[arch]
    assert cycles[0] == pytest.approx(cycles[1], rel=0.3)
    assert boost - clocks[0] == pytest.approx(boost - clocks[1], rel=0.3)


def test_the_report_says_predicted_where_and_why(build: Callable[..., Module]) -> None:
    got = predicted(build, "gfx942", COPY, groups=2048, words=2048 * 1024)
    assert str(got).startswith("f on MI325X: predicted ")
    assert f"(within {got.error:.0%})" in str(got)
    assert "waves waited for: memory" in got.report()
    assert json.loads(got.to_json())["predicted"] is True


def test_every_bound_has_its_time(build: Callable[..., Module], arch: str) -> None:
    """The bound is the longest of the resources' times, no resource takes longer than the launch, and one round of
    single workgroups takes what a workgroup alone does."""
    got = predicted(build, arch, MATRIX * 400, groups=COMPUTE_UNITS[arch] * 8, sampled=True)
    resources = {name: got.bounds[name] for name in ("vector", "matrix", "lds", "l1", "l2", "mall", "hbm")}
    assert max(resources, key=lambda name: resources[name]) == got.bound == "matrix"
    assert all(seconds <= 1.001 * got.seconds for seconds in resources.values())
    assert resources["matrix"] == pytest.approx(got.seconds, rel=0.05)
    assert got.bounds["launch"] <= got.bounds["hbm"] < 0.5 * got.seconds
    alone = predicted(build, arch, MATRIX * 400, groups=1, sampled=True)
    assert alone.bounds["latency"] == pytest.approx(alone.seconds, rel=1e-3)


def test_issue_cycles_are_those_of_the_profile(build: Callable[..., Module], arch: str) -> None:
    """Of all workgroups, from the few that are looked at."""
    got = predicted(build, arch, MATRIX * 40 + COPY, groups=64, words=64 * 1024, sampled=True)
    kernel = build(kernel_f(MATRIX * 40 + COPY, arch, lds=4096), arch, "asm", ()).kernel("f")
    with profile() as session:
        kernel(64, 256, aligned_words(64 * 1024), aligned_words(64 * 1024))
    assert got.data["issue_cycles"] == session.last.total.issue_cycles


def test_a_last_round_with_one_workgroup_is_the_tail(build: Callable[..., Module], arch: str) -> None:
    units, slots = COMPUTE_UNITS[arch], 8  # workgroups of 256 threads at once on a compute unit
    full, more = (
        predicted(build, arch, MATRIX * 400, groups=groups, sampled=True)
        for groups in (units * slots, units * slots + 1)
    )
    assert full.bounds["tail"] == 0
    assert more.bounds["tail"] > 0
    assert full.occupancy_over_time == pytest.approx([8.0] * 32), "waves a SIMD"
    assert more.occupancy_over_time[0] == pytest.approx(8.0)
    assert more.occupancy_over_time[-1] < 0.1


def test_where_waves_wait_is_told_by_instruction_and_reason(build: Callable[..., Module], arch: str) -> None:
    got = predicted(build, arch, COPY, groups=2048, words=2048 * 1024, sampled=True)
    most = got.stalled_instructions[0]
    assert most["text"] == "s_waitcnt vmcnt(0)"
    assert set(most["stalled"]) == {"memory"}
    of_instructions = sum(sum(one["stalled"].values()) for one in got.stalled_instructions)
    assert of_instructions == sum(got.stalled.values()), "nine instructions: all are listed"
    assert sum(cycles for _, cycles in got.stalled_at) == of_instructions
    assert dict(got.stall_reasons)[got.stalled_at[0][0]]["memory"] == most["stalled"]["memory"]
    assert f"{most['address']:#x} s_waitcnt vmcnt(0)" in got.report()


def test_the_python_line_of_a_stall(build: Callable[..., Module], arch: str) -> None:
    """Line tables of the code object name the source; `#line` makes it what the compiler of the language writes."""
    code = """
__attribute__((amdgpu_kernel)) void f(const unsigned *x, unsigned *y) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  unsigned loaded = x[i];
#line 42 "kernel.py"
  y[i] = loaded * 3;
}
"""
    x, y = aligned_words(512 * 256), aligned_words(512 * 256)
    with predict(DEVICES[arch], sampled=True) as session:
        build(code, arch).kernel("f")(512, 256, x, y)
    got = session.last
    assert got.stalled_at[0][0].endswith("kernel.py:42")
    assert got.stalled_instructions[0]["source"].endswith("kernel.py:42")


def test_trace_of_a_prediction(build: Callable[..., Module], arch: str, tmp_path: Path) -> None:
    got = predicted(build, arch, COPY, groups=4096, words=4096 * 1024, sampled=True, trace=True)
    got.write_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["otherData"]["note"].startswith(f"predicted for {DEVICES[arch]}")
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    stalled = sum(event["dur"] for event in slices if event["cat"] == "stall")
    assert stalled == sum(got.stalled.values())
    waves = [event["args"]["waves"] for event in trace["traceEvents"] if event["ph"] == "C"]
    assert max(waves) == 32, "eight workgroups of four waves"
    assert waves[-1] == 0
    later = predicted(build, arch, COPY, groups=64, words=64 * 1024, sampled=True)
    with pytest.raises(EmulatorError, match="without a trace"):
        later.write_trace(tmp_path / "none.json")


def test_other_memory_of_the_process_does_not_matter(build: Callable[..., Module], arch: str) -> None:
    """Where a prediction has a tensor depends on what the launch accesses, not on what else is registered."""
    shared = COPY.replace("s_mul_i32 s8, s2, 4096", "s_mov_b32 s8, 0")  # few lines: the place of each matters
    kernel = build(kernel_f(shared, arch), arch, "asm", ()).kernel("f")
    found = []
    for _ in range(3):
        kept = [aligned_words(4096) for _ in range(4)]  # another place in the host's memory each time
        build(kernel_f(COPY, arch, vgprs=32, accum=32), arch, "asm", ())
        with predict(DEVICES[arch], sampled=True) as session:
            kernel(300, 256, kept[-1], kept[-2])
        found.append(session.last.data)
    assert found[0] == found[1] == found[2]


def test_refusals(build: Callable[..., Module]) -> None:
    with (
        pytest.raises(
            EmulatorError,
            match=r"no model of the device MI1000; there are: MI300X, .*RX 9070 XT",
        ),
        predict("MI1000"),
    ):
        pass
    kernel = build(kernel_f(COPY, "gfx942"), "gfx942", "asm", ()).kernel("f")
    x, y = aligned_words(1024), aligned_words(1024)
    with pytest.raises(EmulatorError, match="another architecture"), predict("MI355X"):
        kernel(1, 256, x, y)
    with pytest.raises(EmulatorError, match="not checked by sanitizers"), sanitize("all"), predict(sampled=True):
        kernel(1, 256, x, y)
    with predict("MI300X") as session:
        pass
    with pytest.raises(LookupError, match="no kernel was launched"):
        _ = session.last


@pytest.mark.usefixtures("own_devices")
def test_command_line(compile_object: Callable[..., bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.hsaco").write_bytes(compile_object(kernel_f(COPY, "gfx950"), "gfx950", "asm", ()))
    np.save(tmp_path / "x.npy", np.zeros(4096, np.uint32))
    options = ["predict", str(tmp_path / "k.hsaco"), str(tmp_path / "x.npy"), str(tmp_path / "x.npy")]
    assert main([*options, "--grid", "4", "--block", "256"]) == 0
    assert "f on MI355X: predicted" in capsys.readouterr().out
    assert main([*options, "--grid", "4", "--block", "256", "--device", "MI300X"]) == 1
    assert "another architecture" in capsys.readouterr().err
    assert main([*options, "--grid", "4", "--block", "256", "--trace", str(tmp_path / "trace.json")]) == 0
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    capsys.readouterr()
    assert main(["predict", "--devices"]) == 0
    assert "AMD Instinct MI325X data sheet" in capsys.readouterr().out
    assert main([*options, "--grid", "4", "--block", "256", "--html", str(tmp_path / "page.html")]) == 0
    assert "f on MI355X" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "predict: which code object"),
        (["k.hsaco", "--objects", "x"], "--objects can only be given with --records"),
        (["--match", "x"], "--match can only be given with --records"),
        (["--records", "r.json", "--html", "p", "--device", "MI300X"], "--device, --html and --records"),
        (["k.hsaco", "--records", "r.json"], "a code object and --records"),
        (["--devices", "--grid", "7"], "--grid and --devices"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", *given]) == 2
    assert said in capsys.readouterr().err


class _Text(HTMLParser):
    """The text of a page, and the tags that are open at its end."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.open = "", []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "path", "polygon"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """Has no end."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_says_what_the_report_says(build: Callable[..., Module], arch: str, tmp_path: Path) -> None:
    got = predicted(build, arch, COPY, groups=4096, words=4096 * 1024, sampled=True)
    got.kernel = "f<&>"
    got.write_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    read = _Text(page)
    assert not read.open
    assert f"f<&> on {DEVICES[arch]}" in read.text, "names are escaped"
    assert f"{got.seconds * 1e6:,.4g} \N{MICRO SIGN}s \N{PLUS-MINUS SIGN} {got.error:.0%}" in read.text
    assert f"Bound by {got.bound}" in read.text
    for name, seconds in got.bounds.items():
        assert name in read.text
        assert f"{seconds * 1e6:,.4g}" in read.text
    for one in got.stalled_instructions:
        assert one["text"] in read.text
    for reason in got.stalled:
        assert reason in read.text or not got.stalled[reason]
    assert page.count("<polygon") == 1
    assert "http" not in page and "<script" not in page, "it needs nothing else"  # noqa: PT018


TABLE = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  s_lshl_b32 s8, s2, 12
  v_add_u32 v2, s8, v1
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[4:7], v1, s[6:7]
  global_load_dwordx4 v[8:11], v2, s[4:5]
  s_waitcnt vmcnt(0)
"""  # 256 threads: the same 4 KiB for all workgroups, and 4 KiB of one's own


def test_a_table_that_all_read_is_little_of_what_memory_is_asked_for(build: Callable[..., Module], arch: str) -> None:
    groups = 16384
    got = predicted(build, arch, TABLE, groups=groups, words=groups * 1024, sampled=True)
    sampled = got.data["resident_groups_sampled"]
    assert got.data["unique_between_xcds"] > 1 - 2 / sampled, "half of the lines of a group, few of those of an XCD"
    assert got.data["loads"]["hbm"] == pytest.approx(sampled * 4096 / 128, rel=0.1)


SPILL = """
  v_mov_b32 v1, 1.0
  v_mov_b32 v2, 2.0
  scratch_store_dword off, v1, off offset:4
  scratch_store_dword off, v2, off offset:8
  s_waitcnt vmcnt(0)
  scratch_load_dword v3, off, off offset:4
  scratch_load_dwordx2 v[4:5], off, off offset:4
  s_waitcnt vmcnt(0)
"""


def test_spilled_registers_take_their_way_through_the_caches(build: Callable[..., Module], arch: str) -> None:
    """Stored, they are in L2; loaded, in L1 too. Two waves' lanes have dwords of their own: 256 bytes each."""
    kernel = build(kernel_f(SPILL, arch, scratch=16), arch, "asm", ()).kernel("f")
    with predict(DEVICES[arch], sampled=True) as session:
        kernel(COMPUTE_UNITS[arch], 128, aligned_words(64), aligned_words(64))
    data = session.last.data
    waves = 2 * data["resident_groups_sampled"]
    assert data["stores"] == waves * 2 * 2
    from_l2 = data["loads"]["l2"] + data["loads"]["l2_behind_mall"] + data["loads"]["l2_behind_hbm"]
    from_l1 = sum(data["loads"][name] for name in ("l1", "l1_behind_l2"))
    assert (from_l2, from_l1) == (waves * 2 * 2, waves * 2)
    assert data["loads"]["hbm"] == data["loads"]["mall"] == 0
    assert session.last.stalled["memory"] > 0


def test_code_that_the_instruction_cache_cannot_hold_is_fetched_again(build: Callable[..., Module], arch: str) -> None:
    """A loop of 32 KiB is fetched once, one of 80 KiB in each pass."""
    passes, waited = 8, {}
    for dwords in (8000, 20000):
        body = "  v_mov_b32 v2, v3\n" * dwords
        code = f"  s_movk_i32 s8, {passes}\nagain:\n{body}"
        code += "  s_sub_u32 s8, s8, 1\n  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 again\n"
        got = predicted(build, arch, code, threads=64, sampled=True)
        lines = dwords * 4 / 128
        waited[dwords] = got.data["stalled"]["instruction_fetch"] / (lines * got.data["constants"]["code_cycles"])
    assert waited[8000] == pytest.approx(1, rel=0.05)
    assert waited[20000] == pytest.approx(passes, rel=0.05)


def test_products_below_the_peak_rate_take_less_of_the_clock(build: Callable[..., Module]) -> None:
    """Both keep the matrix unit busy all the time; the first multiplies half as much in it."""
    old = "  v_mfma_f32_16x16x32_fp8_fp8 v[24:27], v[2:3], v[8:9], v[24:27]\n"
    new = "  v_mfma_f32_16x16x128_f8f6f4 v[24:27], v[2:9], v[8:15], v[24:27]\n"
    lost = {}
    for code in (old, new):
        got = predicted(build, "gfx950", code * 800, groups=COMPUTE_UNITS["gfx950"] * 4, sampled=True)
        assert got.data["busy"]["matrix"] > 0.95
        lost[code] = 2.4 - got.data["clock_ghz"]
    assert lost[new] == pytest.approx(2 * lost[old], rel=0.05)


def test_a_round_and_a_few_workgroups_is_less_than_two(build: Callable[..., Module], arch: str) -> None:
    """Workgroups of two lengths, two on a compute unit: those of the last round have a unit of their own."""
    code = "  s_mul_i32 s8, s2, 0x9e3779b1\n  s_lshr_b32 s8, s8, 28\n  s_and_b32 s8, s8, 8\n"  # by chance
    code += "  s_add_u32 s8, s8, 16\nagain:\n" + MATRIX * 40
    code += "  s_sub_u32 s8, s8, 1\n  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 again\n"
    half_of_lds = {"gfx942": 32, "gfx950": 80}[arch] << 10
    kernel = build(kernel_f(code, arch, lds=half_of_lds), arch, "asm", ()).kernel("f")
    x, cycles = aligned_words(1024), []
    for more in (0, 16):
        with predict(DEVICES[arch], sampled=True) as session:
            kernel(2 * COMPUTE_UNITS[arch] + more, 256, x, x)
        assert not session.last.data["uniform"]
        assert session.last.data["occupancy"]["groups_per_compute_unit"] == 2
        cycles.append(session.last.data["unit_cycles"])
    assert 1.05 * cycles[0] < cycles[1] < 1.4 * cycles[0]


XCDS = 8
# Workgroups of every second XCD, those of the others, go a loop once more often.
HEAVY = """
  s_and_b32 s9, s2, 1
  s_cmp_eq_u32 s9, {odd}
  s_cselect_b32 s9, {most}, {least}
again:
{work}  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 again
"""


@pytest.mark.parametrize("sampled", [True, False])
def test_the_xcd_with_the_most_to_do_decides(build: Callable[..., Module], arch: str, sampled: bool) -> None:
    """The work repeats with every second workgroup, and so with the XCDs: whichever half it is, the device takes as
    long as if all of them had the longer work, but for its clock."""
    groups, cycles = COMPUTE_UNITS[arch] * (8 if sampled else 2), {}
    for least, odd in ((1, 0), (1, 1), (3, 0)):
        code = HEAVY.format(odd=odd, most=3, least=least, work=MATRIX * 100)
        got = predicted(build, arch, code, groups=groups, sampled=sampled)
        cycles[least, odd] = got.data["unit_cycles"]
        assert got.data["uniform"]
        assert got.data["xcds_differ"] == (least == 1)
        assert got.data["xcd"] == (odd if least == 1 else 0)
    assert cycles[1, 0] == pytest.approx(cycles[1, 1], rel=0.01)
    assert cycles[1, 0] == pytest.approx(cycles[3, 0], rel=0.01)


def test_an_xcd_that_asks_for_more_gets_more_of_memory(build: Callable[..., Module], arch: str) -> None:
    """One half of the XCDs copies three times as much as the other: memory moves it all in the time of its bytes."""
    groups, copy = 8192, COPY.replace("s_waitcnt lgkmcnt(0)", "s_waitcnt lgkmcnt(0)\n{loop}")
    seconds = {}
    for least, most in ((1, 3), (3, 1), (2, 2)):
        begin = f"  s_and_b32 s9, s2, 1\n  s_cmp_eq_u32 s9, 0\n  s_cselect_b32 s9, {least}, {most}\nagain:"
        code = copy.format(loop=begin).replace("s2, 4096", "s2, 12288")
        code += "  v_add_u32 v1, 4096, v1\n  s_sub_u32 s9, s9, 1\n  s_cmp_lg_u32 s9, 0\n  s_cbranch_scc1 again\n"
        got = predicted(build, arch, code, groups=groups, words=groups * 3072, sampled=True)
        assert got.bound == "hbm"
        seconds[least, most] = got.seconds
    assert seconds[1, 3] == pytest.approx(seconds[3, 1], rel=0.05)
    assert seconds[1, 3] == pytest.approx(seconds[2, 2], rel=0.15)


def test_one_xcd_has_all_of_the_work(build: Callable[..., Module], arch: str) -> None:
    """Where seven of eight workgroups end at once, the units of one XCD do what is left."""
    rounds = 4
    code = f"  s_and_b32 s3, s2, 7\n  s_cmp_lg_u32 s3, 5\n  s_cbranch_scc1 .Ldone\n{MATRIX * 400}.Ldone:\n"
    got = predicted(build, arch, code, groups=COMPUTE_UNITS[arch] * rounds, sampled=True).data
    all_work = predicted(build, arch, MATRIX * 400, groups=COMPUTE_UNITS[arch] * rounds, sampled=True).data
    assert got["unit_cycles"] == pytest.approx(all_work["unit_cycles"], rel=0.02)
    assert got["issue_cycles"] == pytest.approx(all_work["issue_cycles"] / XCDS, rel=0.05)
