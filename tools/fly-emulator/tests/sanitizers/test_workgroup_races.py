# SPDX-License-Identifier: Apache-2.0
"""Races between workgroups, and the order that workgroups make by atomics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import Module

HEADER = (Path(__file__).parent.parent / "data" / "device.h").read_text()

SOURCE = """
KERNEL void locked_sum(GLOBAL int *lock, GLOBAL int *sum) {
  if (TID == 0) {
    while (__hip_atomic_exchange(lock, 1, __ATOMIC_ACQUIRE, AGENT) != 0)
      __builtin_amdgcn_s_sleep(1);
    *(volatile GLOBAL int *)sum += BID; // guarded
    __hip_atomic_store(lock, 0, __ATOMIC_RELEASE, AGENT);
  }
}
KERNEL void last_block_adds(const GLOBAL int *in, GLOBAL int *parts, GLOBAL int *done, GLOBAL int *out) {
  static SHARED int last;
  parts[BID * 64 + TID] = in[BID * 64 + TID]; // part
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (TID == 0)
    last = ADD == BLOCKS - 1;
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  if (last) {
    int total = 0;
    for (int i = 0; i < BLOCKS; ++i)
      total += parts[i * 64 + TID]; // total
    out[TID] = total;
  }
}
KERNEL void hand_over(GLOBAL int *data, GLOBAL int *flag, GLOBAL int *out) {
  if (TID != 0)
    return;
  if (BID == 0) {
    *data = 42; // data
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, AGENT);
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0)
      __builtin_amdgcn_s_sleep(1);
    *out = *data; // use
  }
}
"""
ATOMIC = "__hip_atomic_fetch_add(done, 1, __ATOMIC_ACQ_REL, AGENT)"


def build_kernels(build: Callable[..., Module], arch: str, add: str = ATOMIC) -> Module:
    return build(f"#define AGENT 4\n#define BLOCKS 4\n#define ADD {add}\n" + HEADER + SOURCE, arch, flags=("-O1", "-g"))


def line(mark: str) -> int:
    return next(i for i, text in enumerate(("\n" * 3 + HEADER + SOURCE).splitlines(), 1) if text.endswith(f"// {mark}"))


@pytest.mark.parametrize("seed", range(4))
def test_atomics_order_workgroups(build: Callable[..., Module], arch: str, seed: int) -> None:
    module = build_kernels(build, arch)
    lock, total = np.zeros((2, 1), np.int32)
    data, flag, out = np.zeros((3, 16), np.int32)
    x = np.arange(256, dtype=np.int32)
    parts, done, sums = np.zeros(256, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)
    with sanitize() as found:
        module.kernel("locked_sum")(8, 64, lock, total)
        module.kernel("last_block_adds")(4, 64, x, parts, done, sums)
        module.kernel("hand_over")(2, 64, data, flag, out)
    assert found.reports == []
    assert total[0] == sum(range(8))
    np.testing.assert_array_equal(sums, x.reshape(4, 64).sum(axis=0))
    assert out[0] == 42


def test_a_plain_counter_orders_nothing(build: Callable[..., Module], arch: str) -> None:
    module = build_kernels(build, arch, "__builtin_nontemporal_load(done) + 0 * (*done += 1)")
    x = np.arange(256, dtype=np.int32)
    parts, done, sums = np.zeros(256, np.int32), np.full(1, 3, np.int32), np.zeros(64, np.int32)
    with sanitize("race", raises=False) as found:
        module.kernel("last_block_adds")(4, 64, x, parts, done, sums)
    lines = {(report.line, int(report.other_source.rpartition(":")[2])) for report in found.reports}
    assert (line("total"), line("part")) in lines or (line("part"), line("total")) in lines, found.reports


def test_a_write_after_the_release_is_a_race(build: Callable[..., Module], arch: str) -> None:
    source = SOURCE.replace("*data = 42; // data\n", "").replace(
        "AGENT);\n  } else", "AGENT);\n    *data = 42; // late\n  } else"
    )
    module = build(
        f"#define AGENT 4\n#define BLOCKS 4\n#define ADD {ATOMIC}\n" + HEADER + source, arch, flags=("-O1", "-g")
    )
    data, flag, out = np.zeros((3, 16), np.int32)
    with sanitize("race", raises=False) as found:
        module.kernel("hand_over")(2, 64, data, flag, out)
    assert len(found.reports) == 1
    wanted = next(i for i, text in enumerate(("\n" * 3 + HEADER + source).splitlines(), 1) if text.endswith("// late"))
    assert wanted in (found.reports[0].line, int(found.reports[0].other_source.rpartition(":")[2]))


def test_more_loads_than_the_counter_holds(build: Callable[..., Module], arch: str) -> None:
    """vmcnt ends at 63: hardware waits for the oldest before it issues another one."""
    from assembly import kernel_f

    loads = "\n".join(f"  global_load_dword v{10 + i}, v1, s[4:5] offset:{4 * i}" for i in range(70))
    code = (
        "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_lshlrev_b32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)\n"
        f"{loads}\n  v_mov_b32 v2, v15\n  {{wait}}\n  v_mov_b32 v3, v20\n  s_waitcnt vmcnt(0)\n"
    )
    x = np.zeros(256, np.uint32)
    for wait, clean in (("s_waitcnt vmcnt(59)", True), ("s_waitcnt vmcnt(60)", False)):
        kernel = build(kernel_f(code.format(wait=wait), arch, vgprs=128, accum=128), arch, "asm", ()).kernel("f")
        with sanitize("wait", raises=False) as found:
            kernel(1, 64, x, x.copy())
        assert (found.reports == []) is clean, wait


HALVES = """
KERNEL void odd_rows(GLOBAL unsigned short *y) { // three elements a row: rows meet within a dword
  if (TID < 3)
    y[BID * 3 + TID] = (unsigned short)(BID + 1);
  __builtin_amdgcn_s_barrier();
  if (TID < 3)
    y[BID * 3 + TID] = y[BID * 3 + OTHER(TID)] + 1;
}
"""


@pytest.mark.parametrize("seed", range(3))
def test_workgroups_with_bytes_of_their_own_in_a_dword_do_not_race(
    build: Callable[..., Module], arch: str, seed: int
) -> None:
    module = build("#define OTHER(t) (t)\n" + HEADER + HALVES, arch, flags=("-O1", "-g"))
    y = np.zeros(12, np.uint16)
    with sanitize("race", raises=False) as found:
        module.kernel("odd_rows")(4, 64, y)
    assert found.reports == []
    np.testing.assert_array_equal(y, np.repeat(np.arange(2, 6), 3))


def test_a_byte_of_another_workgroup_in_the_same_dword_races(build: Callable[..., Module], arch: str) -> None:
    module = build("#define OTHER(t) ((t) + 1)\n" + HEADER + HALVES, arch, flags=("-O1", "-g"))
    with sanitize("race", raises=False) as found:
        module.kernel("odd_rows")(4, 64, np.zeros(13, np.uint16))
    assert found.reports
