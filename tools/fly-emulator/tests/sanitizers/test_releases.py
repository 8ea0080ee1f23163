# SPDX-License-Identifier: Apache-2.0
"""Global memory: what waits, write-backs and invalidations order, between waves and between workgroups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, Module
from flydsl.emulator.mutation import drops
from flydsl.emulator.sanitizing import Report

HEADER = (Path(__file__).parent.parent / "data" / "device.h").read_text()

SOURCE = """
KERNEL void ticket(const GLOBAL int *in, GLOBAL int *parts, GLOBAL int *done, GLOBAL int *out) {
  static SHARED int last;
  parts[BID * 128 + TID] = in[BID * 128 + TID];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, SCOPE);
  barrier();
  if (TID == 0)
    last = __hip_atomic_fetch_add(done, 1, __ATOMIC_RELAXED, 4) == 3;
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, SCOPE);
  if (last) {
    int total = 0;
    for (int i = 0; i < 4; ++i)
      total += parts[i * 128 + TID];
    out[TID] = total;
  }
}
KERNEL void flag(GLOBAL int *data, GLOBAL int *flags, GLOBAL int *out) {
  if (BID == 0) {
    data[TID] = 42 + TID;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, SCOPE);
    barrier();
    if (TID == 0)
      __hip_atomic_store(flags, 1, __ATOMIC_RELAXED, 4);
  } else {
    if (TID == 0)
      while (__hip_atomic_load(flags, __ATOMIC_RELAXED, 4) == 0)
        __builtin_amdgcn_s_sleep(1);
    barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, SCOPE);
    out[TID] = data[TID];
  }
}
KERNEL void read_and_add(GLOBAL int *y) {
  y[4 + BID] = y[0];
  __hip_atomic_fetch_add(y, 1, __ATOMIC_RELAXED, 4);
}
KERNEL void exchange(GLOBAL int *y, GLOBAL int *z) {
  y[TID] = TID * 3;
  BARRIER;
  z[TID] = y[TID ^ 64];
}
KERNEL void two_stores(GLOBAL int *y, GLOBAL int *z) {
  y[0] = TID < 64 ? 1 : VALUE;
  if (TID >= 64)
    z[TID] = y[0];
}
"""


def source(scope: str = "agent", barrier: str = "barrier()", value: int = 1) -> str:
    return f'#define SCOPE "{scope}"\n#define BARRIER {barrier}\n#define VALUE {value}\n' + HEADER + SOURCE


def run(module: Module, kernel: str, seed: int) -> list[Report]:
    """What the sanitizers say of a kernel, and that a clean one is right."""
    Emulator().set_seed(seed)
    x = np.arange(512, dtype=np.int32)
    parts, done, out = np.zeros(512, np.int32), np.zeros(1, np.int32), np.zeros(128, np.int32)
    with sanitize(raises=False) as found:
        if kernel == "ticket":
            module.kernel("ticket")(4, 128, x, parts, done, out)
            expected = x.reshape(4, 128).sum(axis=0)
        else:
            module.kernel("flag")(2, 128, parts, done, out)
            expected = 42 + np.arange(128)
    if not found.reports:
        np.testing.assert_array_equal(out, expected)
    return found.reports


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("kernel", ["ticket", "flag"])
def test_releases_of_agent_scope(build: Callable[..., Module], arch: str, kernel: str, seed: int) -> None:
    assert run(build(source(), arch), kernel, seed) == []


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("kernel", ["ticket", "flag"])
def test_releases_of_workgroup_scope_across_workgroups(
    build: Callable[..., Module], arch: str, kernel: str, seed: int
) -> None:
    reports = run(build(source("workgroup"), arch), kernel, seed)
    assert "race" in {report.sanitizer for report in reports}


@pytest.mark.parametrize("kernel", ["ticket"])
def test_each_step_of_a_release_is_needed(
    emulator: Emulator, compile_object: Callable[..., bytes], arch: str, kernel: str
) -> None:
    """Every wait, barrier, write-back and invalidation of the machine code, left out, in every order of waves."""
    device = ("gfx942", "gfx950").index(arch)
    code = compile_object(source(), arch, "c", ("-O1",))
    missed = []
    all_drops = drops(code, arch, kernel)
    assert {drop.text.split()[0] for drop in all_drops} == {"s_waitcnt", "s_barrier", "buffer_wbl2", "buffer_inv"}
    for drop in all_drops:
        module = emulator.load(drop.apply(code), device)
        missed += [(str(drop), seed) for seed in range(3) if not run(module, kernel, seed)]
        module.unload()
    assert missed == []


@pytest.mark.parametrize("seed", range(4))
def test_a_plain_read_of_a_counter(build: Callable[..., Module], arch: str, seed: int) -> None:
    """`y[4 + wg] = y[0]; atomic_add(y, 1)`: a scalar load, which no atomic orders."""
    module = build(source(), arch)
    Emulator().set_seed(seed)
    with sanitize(raises=False) as found:
        module.kernel("read_and_add")(4, 64, np.zeros(16, np.int32))
    assert {report.sanitizer for report in found.reports} == {"race"}


@pytest.mark.parametrize("seed", range(7))
def test_waves_of_a_workgroup_in_global_memory(build: Callable[..., Module], arch: str, seed: int) -> None:
    Emulator().set_seed(seed)
    y, z = np.zeros((2, 128), np.int32)
    for barrier, expected in (("barrier()", set()), ("", {"race"})):
        with sanitize(raises=False) as found:
            build(source(barrier=barrier), arch).kernel("exchange")(1, 128, y, z)
        assert {report.sanitizer for report in found.reports} == expected


@pytest.mark.parametrize("seed", range(4))
def test_stores_of_one_value_are_no_race(build: Callable[..., Module], arch: str, seed: int) -> None:
    Emulator().set_seed(seed)
    for value, expected in ((1, set()), (2, {"race"})):
        with sanitize(raises=False) as found:
            build(source(value=value), arch).kernel("two_stores")(1, 128, *np.zeros((2, 128), np.int32))
        assert {report.sanitizer for report in found.reports} == expected
