# SPDX-License-Identifier: Apache-2.0
"""The order that waves of a workgroup make by flags and atomics in LDS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, Module
from flydsl.emulator.sanitizing import Report

HEADER = (Path(__file__).parent.parent / "data" / "device.h").read_text()
SOURCE = """
#define GROUP 3
#define WAVE (TID / 64)
#define LANE (TID % 64)
#define RELEASE __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup")
#define ACQUIRE __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define GET(x) __hip_atomic_load(&x, __ATOMIC_RELAXED, GROUP)
#define SET(x, v) __hip_atomic_store(&x, v, __ATOMIC_RELAXED, GROUP)
#define ADD(x, v) __hip_atomic_fetch_add(&x, v, __ATOMIC_RELAXED, GROUP)
static SHARED int data[64], flag, count, sum, lock;
__attribute__((noinline)) static void await(SHARED int *place, int value) {
  while (__hip_atomic_load(place, __ATOMIC_RELAXED, GROUP) != value) __builtin_amdgcn_s_sleep(1);
}
__attribute__((noinline)) static int get(SHARED int *place) {
  return __hip_atomic_load(place, __ATOMIC_RELAXED, GROUP);
}

// Wave 0 hands `data` to wave 1, by a flag.
KERNEL void flags(const GLOBAL int *in, GLOBAL int *out, GLOBAL int *spare) {
  if (TID == 0) flag = 0;
  barrier();
  if (WAVE == 0) {
    DATA[LANE] = in[LANE] * 3;
    RELEASE_DATA;
    if (LANE == 0) SET(flag, 1);
    LATE;
  } else {
    AWAIT;
    ACQUIRE;
    out[LANE] = DATA[LANE];
  }
}
// Four rounds through one buffer: full, empty, full, ...
KERNEL void rounds(const GLOBAL int *in, GLOBAL int *out, GLOBAL int *spare) {
  if (TID == 0) flag = 0;
  barrier();
  for (int i = 0; i < 4; ++i)
    if (WAVE == 0) {
      while (GET(flag) != 2 * i) WAIT;
      ACQUIRE;
      data[LANE] = in[LANE] + i;
      RELEASE;
      if (LANE == 0) SET(flag, 2 * i + 1);
    } else {
      while (GET(flag) != 2 * i + 1) WAIT;
      ACQUIRE;
      out[i * 64 + LANE] = data[LANE];
      RELEASE;
      if (LANE == 0) SET(flag, 2 * i + 2);
      AFTER;
    }
}
// The last wave to come adds up what all of them left.
KERNEL void ticket(const GLOBAL int *in, GLOBAL int *out, GLOBAL int *spare) {
  static SHARED int parts[4];
  if (TID == 0) count = 0;
  barrier();
  if (LANE == 0) {
    parts[WAVE] = in[WAVE];
    RELEASE_PART;
    if (TICKET == 3) {
      ACQUIRE;
      out[0] = parts[0] + parts[1] + parts[2] + parts[3];
    }
  }
}
KERNEL void locked(const GLOBAL int *in, GLOBAL int *out, GLOBAL int *spare) {
  if (TID == 0) lock = sum = 0;
  barrier();
  if (LANE == 0) {
    LOCK;
    ACQUIRE;
    sum += in[WAVE];
    RELEASE;
    SET(lock, 0);
  }
  barrier();
  out[0] = sum;
}
"""
RIGHT = {
    "DATA": "data",
    "RELEASE_DATA": "RELEASE",
    "LATE": "",
    "AWAIT": "while (GET(flag) == 0) WAIT",
    "WAIT": "__builtin_amdgcn_s_sleep(1)",
    "AFTER": "",
    "RELEASE_PART": "RELEASE",
    "TICKET": "ADD(count, 1)",
    "LOCK": "while (__hip_atomic_exchange(&lock, 1, __ATOMIC_RELAXED, GROUP) != 0) WAIT",
}
WAVES = {"flags": 2, "rounds": 2, "ticket": 4, "locked": 4}
WRONG = [
    ("flags", {"LATE": "data[LANE] = 7"}),
    ("flags", {"RELEASE_DATA": ""}),
    ("flags", {"DATA": "spare", "LATE": "spare[LANE] = 7"}),
    ("rounds", {"AFTER": "out[i * 64 + LANE] += data[LANE ^ 1]"}),
    ("ticket", {"TICKET": "(count = count + 1) - 1"}),
    ("ticket", {"RELEASE_PART": ""}),
    ("locked", {"LOCK": ""}),
]
ORDERS = range(7)


def run(build: Callable[..., Module], arch: str, kernel: str, seed: int, changes: dict[str, str]) -> list[Report]:
    """What the race and wait sanitizers say; a clean kernel has to be right."""
    macros = "".join(f"#define {name} {text}\n" for name, text in (RIGHT | changes).items())
    module = build(macros + HEADER + SOURCE, arch, flags=("-O1", "-g"))
    x, out, spare = np.arange(1, 65, dtype=np.int32), np.zeros(256, np.int32), np.zeros(64, np.int32)
    Emulator().set_seed(seed)
    with sanitize("race", "wait", raises=False) as found:
        module.kernel(kernel)(1, 64 * WAVES[kernel], x, out, spare)
    if not found.reports:
        expected = {
            "flags": x * 3,
            "rounds": np.concatenate([x + i for i in range(4)]),
            "ticket": x[:4].sum(keepdims=True),
            "locked": x[:4].sum(keepdims=True),
        }[kernel]
        np.testing.assert_array_equal(out[: expected.size], expected)
    return found.reports


@pytest.mark.parametrize("seed", ORDERS)
@pytest.mark.parametrize("kernel", WAVES)
def test_waves_keep_clear_of_each_other(build: Callable[..., Module], arch: str, kernel: str, seed: int) -> None:
    assert run(build, arch, kernel, seed, {}) == []


@pytest.mark.parametrize("seed", ORDERS)
def test_an_lds_flag_orders_global_memory(build: Callable[..., Module], arch: str, seed: int) -> None:
    assert run(build, arch, "flags", seed, {"DATA": "spare"}) == []


IN_FUNCTIONS = ["await(&flag, 1)", "while (get(&flag) == 0) WAIT"]  # the whole loop, its load alone


@pytest.mark.parametrize("seed", ORDERS)
@pytest.mark.parametrize("waits", IN_FUNCTIONS)
def test_a_function_that_waits(build: Callable[..., Module], arch: str, waits: str, seed: int) -> None:
    assert run(build, arch, "flags", seed, {"AWAIT": waits}) == []


@pytest.mark.parametrize("waits", [*IN_FUNCTIONS, "get(&flag)"])
def test_a_function_that_waits_for_something_else(build: Callable[..., Module], arch: str, waits: str) -> None:
    changes = {"AWAIT": waits, "RELEASE_DATA": "", "LATE": "data[LANE] = 7"}
    assert [seed for seed in ORDERS if not run(build, arch, "flags", seed, changes)] == []


@pytest.mark.parametrize(("kernel", "changes"), WRONG, ids=lambda value: str(value).replace(" ", ""))
def test_planted(build: Callable[..., Module], arch: str, kernel: str, changes: dict[str, str]) -> None:
    silent = [seed for seed in ORDERS if not run(build, arch, kernel, seed, changes)]
    assert silent == []
