# SPDX-License-Identifier: Apache-2.0
"""Waits, barriers and caches of gfx11 and gfx12: sound kernels pass, and what is left out of them is reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import SavedLaunch, check_code, sanitize, save_launches
from flydsl.emulator.device import Emulator, Module
from flydsl.emulator.mutation import Dropped, drop_each
from rdna.harness import WAVES, Runner

HEADER = (Path(__file__).parent.parent / "data" / "device.h").read_text()
SOURCE = """
#define AGENT 4
#define BLOCKS 4
static SHARED int tile[256];

// Each wave reads what the others stored, twice.
KERNEL void exchange(const GLOBAL int *in, GLOBAL int *flag, GLOBAL int *out) {
  for (int round = 0; round < 2; ++round) {
    tile[TID] = in[256 * round + TID];
    barrier();
    out[256 * round + TID] = tile[TID ^ 255] + 1;
    if (round == 0)
      barrier();
  }
}
// The first workgroup hands its rows to the second one.
KERNEL void hand_over(GLOBAL int *data, GLOBAL int *flag, GLOBAL int *out) {
  if (BID == 0) {
    data[TID] = 3 * TID;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __builtin_amdgcn_s_barrier();
    if (TID == 0)
      __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, AGENT);
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, AGENT) == 0)
      __builtin_amdgcn_s_sleep(1);
    out[TID] = data[TID ^ 1];
  }
}
// The last workgroup adds up what all of them left.
KERNEL void last_block(GLOBAL int *parts, GLOBAL int *done, GLOBAL int *out) {
  static SHARED int last;
  parts[BID * 256 + TID] = BID + TID;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (TID == 0)
    last = __hip_atomic_fetch_add(done, 1, __ATOMIC_ACQ_REL, AGENT) == BLOCKS - 1;
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  if (last) {
    int total = 0;
    for (int i = 0; i < BLOCKS; ++i)
      total += parts[i * 256 + (TID ^ 255)];
    out[TID] = total;
  }
}
KERNEL void bare_counter(GLOBAL int *parts, GLOBAL int *done, GLOBAL int *out) {
  parts[TID] = BID; // workgroups that write different values
}
"""
GROUPS = {"exchange": 1, "hand_over": 2, "last_block": 4, "bare_counter": 2}
ORDERS = range(4)


def arguments(kernel: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first = np.arange(1024, dtype=np.int32) if kernel == "exchange" else np.zeros(1024, np.int32)
    return first, np.zeros(16, np.int32), np.zeros(1024, np.int32)


def expected(kernel: str) -> np.ndarray:
    tid = np.arange(256)
    if kernel == "exchange":
        return np.concatenate([(tid ^ 255) + 1, (tid ^ 255) + 257])
    return 3 * (tid ^ 1) if kernel == "hand_over" else 6 + 4 * (tid ^ 255)


def module_of(build: Callable[..., Module], arch: str, lanes: int) -> Module:
    width = "-mwavefrontsize64" if lanes == 64 else "-mno-wavefrontsize64"
    return build(HEADER + SOURCE, arch, flags=("-O2", "-g", width))


@pytest.mark.parametrize(("arch", "lanes"), WAVES)
@pytest.mark.parametrize("kernel", ["exchange", "hand_over", "last_block"])
def test_sound(build: Callable[..., Module], kernel: str, arch: str, lanes: int) -> None:
    module = module_of(build, arch, lanes)
    for seed in ORDERS:
        Emulator().set_seed(seed)
        given = arguments(kernel)
        with sanitize("memory", "race", "init", "wait", "barrier") as found:
            module.kernel(kernel)(GROUPS[kernel], 256, *given)
        assert found.reports == []
        want = expected(kernel)
        np.testing.assert_array_equal(given[2][: want.size], want)


@pytest.mark.parametrize(("arch", "lanes"), WAVES)
def test_workgroups_that_write_different_values(build: Callable[..., Module], arch: str, lanes: int) -> None:
    with sanitize("race", raises=False) as found:
        module_of(build, arch, lanes).kernel("bare_counter")(2, 256, *arguments("bare_counter"))
    assert {report.sanitizer for report in found.reports} == {"race"}


def dropped(module: Module, kernel: str, folder: Path) -> dict[int, list[Dropped]]:
    """What each order of waves reports of each instruction that is left out."""
    with save_launches(folder):
        module.kernel(kernel)(GROUPS[kernel], 256, *arguments(kernel))
    (path,) = folder.glob("*.flylaunch")
    launch = SavedLaunch.load(path)
    return {seed: drop_each(launch, seed=seed) for seed in ORDERS}


# What has to be reported, wherever it stands or at one of its places at least, in every order. What else there is, is
# there twice.
NEEDED = {
    ("exchange", "gfx1100"): {"s_barrier", "s_waitcnt"},
    ("exchange", "gfx1201"): {"s_barrier_signal", "s_wait_loadcnt", "s_wait_kmcnt", "s_wait_dscnt"},
    ("hand_over", "gfx1100"): {"s_barrier", "s_waitcnt", "s_waitcnt_vscnt", "buffer_gl0_inv", "buffer_gl1_inv"},
    ("hand_over", "gfx1201"): {"s_barrier_signal", "s_wait_loadcnt", "s_wait_kmcnt", "s_wait_storecnt", "global_inv"},
    ("last_block", "gfx1100"): {"s_barrier", "s_waitcnt", "s_waitcnt_vscnt"},
    ("last_block", "gfx1201"): {"s_barrier_signal", "s_wait_loadcnt", "s_wait_kmcnt", "s_wait_storecnt"},
}
BARRIERS = {"s_barrier", "s_barrier_signal"}


@pytest.mark.parametrize(("arch", "lanes"), WAVES)
@pytest.mark.parametrize("kernel", ["exchange", "hand_over", "last_block"])
def test_left_out(build: Callable[..., Module], kernel: str, arch: str, lanes: int, tmp_path: Path) -> None:
    for seed, drops in dropped(module_of(build, arch, lanes), kernel, tmp_path).items():
        told = {one.text.split()[0] for one in drops if one.reports}
        assert NEEDED[kernel, arch] <= told, f"order {seed}"
        silent = [one for one in drops if not one.reports and one.text.split()[0] in BARRIERS]
        assert silent == [], f"order {seed}"


EARLY = """
  ds_store_b32 v1, v0
  s_wait_dscnt 0x0
  {first}
  {second}
  s_barrier_wait -1
  v_xor_b32 v3, 0xfc, v1
  ds_load_b32 v40, v3
  s_wait_dscnt 0x0
"""
"""Between its signal and its wait a wave is in no order with the others."""


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize(
    ("between", "clean"),
    [("s_nop 0", True), ("ds_store_b32 v1, v10\n  s_wait_dscnt 0x0", False), ("ds_load_b32 v5, v3", False)],
)
def test_between_signal_and_wait(run: Runner, lanes: int, between: str, clean: bool) -> None:
    code = "  v_xor_b32 v3, 0xfc, v1\n" + EARLY.format(first="s_barrier_signal -1", second=between)
    given = np.full((1, 64), 7, np.uint32)
    for seed in ORDERS:
        Emulator().set_seed(seed)
        with sanitize("race", "wait", raises=False) as found:
            run(code, "gfx1201", lanes, given, threads=64)
        assert (found.reports == []) is (clean or lanes == 64), found.reports


@pytest.mark.parametrize(
    ("wait", "clean"),
    [("s_wait_loadcnt 0x0", True), ("s_wait_dscnt 0x0", False), ("s_wait_loadcnt 0x1", False), ("s_wait_idle", True)],
)
def test_the_check_of_code_knows_the_counters_of_gfx12(
    compile_object: Callable[..., bytes], wait: str, clean: bool
) -> None:
    source = f"""
KERNEL void f(const GLOBAL int *in, GLOBAL int *out) {{
  int v;
  asm volatile("global_load_b32 %0, %1, %2\\n {wait}\\n v_add_nc_u32 %0, 1, %0"
               : "=&v"(v) : "v"(4 * TID), "s"(in) : "memory");
  out[TID] = v;
}}
"""
    (kernel,) = check_code(compile_object(HEADER + source, "gfx1201", flags=("-O2",)), "gfx1201")
    assert {finding.kind for finding in kernel.findings} == (set() if clean else {"wait"})


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize(
    ("second", "clean"),
    [("ds_load_u16_d16_hi v5, v1 offset:2", True), ("ds_load_u16_d16_hi v5, v5 offset:2", False),
     ("global_load_d16_hi_b16 v5, v1, s[4:5]", False)],
)  # fmt: skip
def test_halves_of_a_register_that_are_loaded_one_by_one(run: Runner, arch: str, second: str, clean: bool) -> None:
    """A load leaves the other half of its register alone, which may still be on its way, if that comes in order."""
    first = "s_wait_dscnt 0x0" if arch == "gfx1201" else "s_waitcnt lgkmcnt(0)"
    wait = "s_wait_loadcnt_dscnt 0x0" if arch == "gfx1201" else "s_waitcnt vmcnt(0) lgkmcnt(0)"
    code = f"""
  v_mov_b32 v5, 0
  ds_store_b32 v1, v10
  {first}
  ds_load_u16_d16 v5, v1
  {second}
  {wait}
  v_mov_b32 v40, v5
"""
    with sanitize("wait", raises=False) as found:
        got = run(code, arch, 32, np.full((1, 32), 0x00040004, np.uint32), threads=32)
    assert (found.reports == []) is clean, found.reports
    assert (got == 0x00040004).all()
