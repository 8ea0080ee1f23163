# SPDX-License-Identifier: Apache-2.0
"""The random C programs of tests/differential on waves of 32 and of 64 lanes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from differential.test_random_programs import _FLOAT, LEVELS, Generator, initial_counters, inputs_of, run_on_host

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, Module
from rdna.harness import ALL_WAVES, DEVICES


def check(seed: int, arch: str, lanes: int, build: Callable[..., Module], emulator: Emulator, tmp_path: Path) -> None:
    source = Generator(seed).program()
    words = inputs_of(seed)
    want, want_counters = run_on_host(source, tmp_path, words)
    width = "-mwavefrontsize64" if lanes == 64 else "-mno-wavefrontsize64"
    module = build(source, arch, flags=(LEVELS[seed % len(LEVELS)], width, *_FLOAT))
    out, counters = np.zeros_like(want), initial_counters()
    emulator.set_seed(seed % 3)
    with sanitize():  # LLVM's code keeps all hazards and waits
        module.kernel("run")(*want.shape[:2], words, out, counters)
    np.testing.assert_array_equal(out, want, err_msg=f"program {seed}")
    np.testing.assert_array_equal(counters, want_counters, err_msg=f"program {seed}")


@pytest.mark.parametrize(("arch", "lanes"), ALL_WAVES)
@pytest.mark.parametrize("seed", range(2000, 2006))
def test_program(
    seed: int, arch: str, lanes: int, build: Callable[..., Module], emulator: Emulator, tmp_path: Path
) -> None:
    check(seed, arch, lanes, build, emulator, tmp_path)


def test_a_program_that_rounds_twice(build: Callable[..., Module], emulator: Emulator, tmp_path: Path) -> None:
    """It converts a sum of f32 to bf16 where one rounding gives another number."""
    check(51028, "gfx1250", 32, build, emulator, tmp_path)


@pytest.mark.parametrize("arch", DEVICES)
def test_a_half_of_a_fused_product_rounds_twice(arch: str, build: Callable[..., Module]) -> None:
    """LLVM makes one v_fma_mixlo_f16 of both; here the sum in f32 is a tie between two halves, the exact one is not."""
    source = """
typedef const __attribute__((address_space(1))) float *in;
typedef __attribute__((address_space(1))) _Float16 *halves;
__attribute__((device_kernel)) void f(in x, halves out) {
  unsigned t = __builtin_amdgcn_workitem_id_x();
  out[t] = (_Float16)__builtin_fmaf(x[t], x[64 + t], x[128 + t]);
}
"""
    rng = np.random.default_rng(3)
    x = np.empty((3, 64), np.float32)
    x[0] = 1 + rng.integers(0, 1024, 64) / 1024
    x[1], x[2] = 1, 2.0**-11 + rng.choice([-1, 1], 64) * 2.0**-30
    out = np.zeros(64, np.float16)
    build(source, arch, flags=("-O2", "-ffp-contract=off")).kernel("f")(1, 64, x, out)
    exact = x[0].astype(np.float64) * x[1] + x[2]
    want = exact.astype(np.float32).astype(np.float16)
    assert (want != exact.astype(np.float16)).any()
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1201"])
def test_append_and_consume_where_a_pointer_says(arch: str, build: Callable[..., Module]) -> None:
    """LLVM puts the pointer into the lower half of M0."""
    source = """
typedef __attribute__((address_space(3))) int *counter;
static __attribute__((address_space(3), loader_uninitialized)) int counters[64];
__attribute__((device_kernel)) void f(__attribute__((address_space(1))) int *out, int which) {
  unsigned t = __builtin_amdgcn_workitem_id_x();
  counters[t] = 100 * t;
  __builtin_amdgcn_s_barrier();
  int old = 0;
  if (t & 1) old = __builtin_amdgcn_ds_append((counter)counters + which);
  else old = __builtin_amdgcn_ds_consume((counter)counters + which + 3);
  out[t] = old;
  out[64 + t] = counters[t];
}
"""
    out = np.zeros(128, np.int32)
    flags = ("-O2",) if arch == "gfx942" else ("-O2", "-mwavefrontsize64")
    build(source, arch, flags=flags).kernel("f")(1, 64, out, np.int32(7))
    lane = np.arange(64)
    np.testing.assert_array_equal(out[:64], np.where(lane % 2 == 1, 700, 1000))
    np.testing.assert_array_equal(out[64:], 100 * lane + 32 * (lane == 7) - 32 * (lane == 10))


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "lanes"), ALL_WAVES)
@pytest.mark.parametrize("seed", range(2100, 2200))
def test_many_programs(
    seed: int, arch: str, lanes: int, build: Callable[..., Module], emulator: Emulator, tmp_path: Path
) -> None:
    check(seed, arch, lanes, build, emulator, tmp_path)
