# SPDX-License-Identifier: Apache-2.0
"""Loops of compare-and-swap: the plain load that seeds one is no race, any other plain load of such memory is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import Module

HEADER = (Path(__file__).parent.parent / "data" / "device.h").read_text()

# Halves and the minimum of floats at system scope are no instructions: LLVM writes the loop itself.
SOURCE = """
#define SYSTEM 5
#define AGENT 4
#define WORKGROUP 3
static inline unsigned zero(void) { // in a vector register: a uniform load would be a scalar one
  unsigned value;
  __asm__("v_mov_b32 %0, 0" : "=v"(value));
  return value;
}
KERNEL void by_compiler(const GLOBAL float *x, GLOBAL float *out) {
  __hip_atomic_fetch_min(out, x[BID * 64 + TID], __ATOMIC_RELAXED, SYSTEM);
}
KERNEL void by_hand(const GLOBAL float *x, GLOBAL float *out) {
  GLOBAL unsigned *bits = (GLOBAL unsigned *)out + zero();
  const float value = x[BID * 64 + TID];
  unsigned old = *bits;
  while (value < __builtin_bit_cast(float, old) &&
         !__hip_atomic_compare_exchange_strong(bits, &old, __builtin_bit_cast(unsigned, value), __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, AGENT))
    ;
}
KERNEL void in_lds(const GLOBAL float *x, GLOBAL float *out) {
  static SHARED unsigned least;
  if (TID == 0)
    least = 0x7f800000;
  barrier();
  const float value = x[BID * 256 + TID];
  unsigned old = *(volatile LDS unsigned *)&least;
  while (value < __builtin_bit_cast(float, old) &&
         !__hip_atomic_compare_exchange_strong(&least, &old, __builtin_bit_cast(unsigned, value), __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, WORKGROUP))
    ;
  barrier();
  if (TID == 0)
    out[BID] = __builtin_bit_cast(float, least);
}
KERNEL void no_loop(const GLOBAL float *x, GLOBAL float *out) {
  GLOBAL unsigned *bits = (GLOBAL unsigned *)out + zero();
  const float value = x[BID * 64 + TID];
  if (value < __builtin_bit_cast(float, *bits)) // plain
    __hip_atomic_exchange(bits, __builtin_bit_cast(unsigned, value), __ATOMIC_RELAXED, AGENT);
}
KERNEL void elsewhere(const GLOBAL float *x, GLOBAL float *out) {
  GLOBAL unsigned *bits = (GLOBAL unsigned *)out + zero();
  unsigned old = *bits; // seed of another
  if (BID % 2 == 0)
    __hip_atomic_exchange(bits, 7, __ATOMIC_RELAXED, AGENT);
  else
    __hip_atomic_compare_exchange_strong(bits + 1, &old, 5, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         AGENT);
}
KERNEL void plain_store(const GLOBAL float *x, GLOBAL float *out) {
  GLOBAL unsigned *bits = (GLOBAL unsigned *)out + zero();
  unsigned old = *bits; // a seed
  while (!__hip_atomic_compare_exchange_strong(bits, &old, old + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                               AGENT))
    ;
  if (BID == 2 && TID == 0)
    *bits = 0; // store
}
"""


def line(mark: str) -> int:
    return next(i for i, text in enumerate((HEADER + SOURCE).splitlines(), 1) if text.endswith(f"// {mark}"))


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
@pytest.mark.parametrize("kernel", ["by_compiler", "by_hand", "in_lds"])
def test_seeds_are_clean(build: Callable[..., Module], arch: str, kernel: str, level: str) -> None:
    module = build(HEADER + SOURCE, arch, flags=(level, "-g"))
    threads = 256 if kernel == "in_lds" else 64
    x = np.random.default_rng(0).standard_normal(4 * threads).astype(np.float32)
    for seed in (0, 3):
        module._emulator.set_seed(seed)
        out = np.full(4, np.inf, np.float32)
        with sanitize("all", raises=False) as found:
            module.kernel(kernel)(4, threads, x, out)
        assert found.reports == []
        np.testing.assert_array_equal(out[0] if kernel != "in_lds" else out.min(), x.min())


@pytest.mark.parametrize("kernel", ["no_loop", "elsewhere", "plain_store"])
@pytest.mark.parametrize("seed", range(3))
def test_other_plain_accesses_are_found(build: Callable[..., Module], arch: str, kernel: str, seed: int) -> None:
    marks = {"no_loop": "plain", "elsewhere": "seed of another", "plain_store": "store"}
    module = build(HEADER + SOURCE, arch, flags=("-O1", "-g"))
    x = np.random.default_rng(0).standard_normal(256).astype(np.float32)
    module._emulator.set_seed(seed)
    with sanitize("race", raises=False) as found:
        module.kernel(kernel)(4, 64, x, np.zeros(4, np.float32) + 9)
    lines = {one for report in found.reports for one in (report.line, int(report.other_source.rpartition(":")[2]))}
    assert line(marks[kernel]) in lines, found.reports


def test_the_first_finding_still_ends_a_launch(build: Callable[..., Module], arch: str) -> None:
    module = build(HEADER + SOURCE, arch, flags=("-O1", "-g"))
    x = np.zeros(256, np.float32)
    with sanitize("race", raises=False, stop_at_first=True) as found:
        module.kernel("by_hand")(4, 64, x, np.full(4, np.inf, np.float32))
        with pytest.raises(Exception, match="stopped at the first finding"):
            module.kernel("plain_store")(4, 64, x, np.zeros(4, np.float32))
    assert len(found.reports) == 1
