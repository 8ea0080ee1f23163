# SPDX-License-Identifier: Apache-2.0
"""Each sanitizer finds its planted bug at the right line, and says nothing about correct kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator.device import Emulator, EmulatorError, Module

DATA = Path(__file__).parent.parent / "data"
HEADER = (DATA / "device.h").read_text()
KERNELS = HEADER + (DATA / "kernels.c").read_text()


def line_of(source: str, mark: str) -> int:
    """The number of the line that carries a comment ``// mark``."""
    return next(i for i, line in enumerate((HEADER + source).splitlines(), 1) if line.endswith(f"// {mark}"))


def findings(emulator: Emulator, launch: Callable[[], None]) -> list[dict[str, Any]]:
    with pytest.raises(EmulatorError) as raised:
        launch()
    reports = emulator.reports()
    for report in reports:
        assert report["location"] in raised.value.report
    return reports


def at_line(report: dict[str, Any], line: int, key: str = "source") -> bool:
    return str(report[key]).endswith(f":{line}")


@pytest.mark.parametrize("seed", [0, 5])
def test_correct_kernels_are_clean(checked: Emulator, build: Callable[..., Module], arch: str, seed: int) -> None:
    kernels = build(KERNELS, arch)
    checked.set_seed(seed)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1000), dtype=np.float32)
    c = np.zeros_like(a)
    kernels.kernel("vector_add")(4, 256, a, b, c, 1000)
    x = rng.integers(0, 2**32, (64, 64), dtype=np.uint32)
    kernels.kernel("swizzled_copy")(1, 256, x, np.zeros_like(x), 64)
    f = rng.standard_normal((64, 64)).astype(np.float16)
    kernels.kernel("gemm_f16")(1, 256, f, f, np.zeros((64, 64), np.float32), 64, 64, 64)
    s = rng.standard_normal((2, 700), dtype=np.float32)
    kernels.kernel("softmax_f32")(2, 256, s, np.zeros_like(s), 700, 700)
    assert checked.reports() == []


RACE = """
static SHARED float slot[8];
static float reduce(float v, int last) {
  for (int mask = 32; mask > 0; mask >>= 1)
    v += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(((TID & 63) ^ mask) * 4, __builtin_bit_cast(int, v)));
  if (TID % 64 == 0)
    slot[TID / 64] = v; // write
  barrier();
  return slot[0] + slot[1] + slot[2] + slot[3]; // read
}
KERNEL void two_reductions(const GLOBAL float *in, GLOBAL float *out) {
  float first = reduce(in[TID], 0);
  out[TID] = reduce(in[TID] * first, 1);
}
"""


@pytest.mark.parametrize("seed", range(6))
def test_reuse_of_a_reduction_slot_is_a_race_in_every_order(
    checked: Emulator, build: Callable[..., Module], arch: str, seed: int
) -> None:
    kernel = build(HEADER + RACE, arch).kernel("two_reductions")
    checked.set_seed(seed)
    x = np.ones(256, np.float32)
    reports = findings(checked, lambda: kernel(1, 256, x, np.zeros_like(x)))
    write, read = line_of(RACE, "write"), line_of(RACE, "read")
    races = [r for r in reports if r["sanitizer"] == "race"]
    lines = [{str(r["source"]).rsplit(":")[-1], str(r["other_source"]).rsplit(":")[-1]} for r in races]
    assert {str(write), str(read)} in lines


GLOBAL_RACE = """
KERNEL void overlapping(GLOBAL int *out) {
  out[BID * 63 + TID] = BID; // store
}
"""


def test_race_between_workgroups(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    kernel = build(HEADER + GLOBAL_RACE, arch).kernel("overlapping")
    out = np.zeros(256, np.int32)
    reports = findings(checked, lambda: kernel(2, 64, out, names=["out"]))
    assert [r["sanitizer"] for r in reports] == ["race"]
    assert at_line(reports[0], line_of(GLOBAL_RACE, "store"))
    assert "'out'" in reports[0]["what"]


OUT_OF_BOUNDS = """
static SHARED int tile[64];
KERNEL void beyond(const GLOBAL int *in, GLOBAL int *out, int shift) {
  tile[TID + shift] = in[TID]; // lds
  barrier();
  out[TID] = tile[TID];
}
KERNEL void off_by_one(const GLOBAL int *in, GLOBAL int *out) {
  out[TID] = in[TID + 1]; // global
}
"""


def test_lds_out_of_bounds(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    kernel = build(HEADER + OUT_OF_BOUNDS, arch).kernel("beyond")
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(EmulatorError, match=f":{line_of(OUT_OF_BOUNDS, 'lds')}\n") as raised:
        kernel(1, 64, x, np.zeros_like(x), 3)
    assert "LDS at offset 256" in raised.value.report
    assert "lane 61" in raised.value.report


def test_index_off_by_one_names_the_tensor(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    kernel = build(HEADER + OUT_OF_BOUNDS, arch).kernel("off_by_one")
    both = np.arange(128, dtype=np.int32)  # two tensors without a gap between them
    x, y = both[:64], both[64:]
    with pytest.raises(EmulatorError, match="past") as raised:
        kernel(1, 64, x, y, names=["x", "y"])
    assert "'x'" in raised.value.report
    assert f":{line_of(OUT_OF_BOUNDS, 'global')}" in raised.value.report


WAIT = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  {scalar_wait}
  v_lshlrev_b32 v0, 2, v0
  global_load_dword v2, v0, s[4:5]
  global_load_dword v3, v0, s[4:5] offset:256
  {vector_wait}
  v_add_u32 v2, v2, v3
  global_store_dword v0, v2, s[6:7]
"""


@pytest.mark.parametrize(
    ("scalar_wait", "vector_wait", "counter"),
    [
        ("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)", None),
        ("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(1)", "vmcnt"),
        ("s_waitcnt lgkmcnt(0)", "s_nop 0", "vmcnt"),
        ("s_nop 0", "s_waitcnt vmcnt(0)", "lgkmcnt"),
    ],
)
def test_missing_wait(
    checked: Emulator, build: Callable[..., Module], arch: str, scalar_wait: str, vector_wait: str, counter: str | None
) -> None:
    source = kernel_f(WAIT.format(scalar_wait=scalar_wait, vector_wait=vector_wait), arch)
    kernel = build(source, arch, "asm", ()).kernel("f")
    x, y = np.arange(128, dtype=np.uint32), np.zeros(64, np.uint32)
    if counter is None:
        kernel(1, 64, x, y)
        np.testing.assert_array_equal(y, x[:64] + x[64:])
        return
    reports = findings(checked, lambda: kernel(1, 64, x, y))
    assert {r["sanitizer"] for r in reports} == {"wait"}
    assert all(counter in r["what"] for r in reports)


INIT = """
static SHARED float tile[128];
KERNEL void reads_lds(GLOBAL float *out) {
  if (TID != 5)
    tile[TID] = TID;
  barrier();
  out[TID] = tile[TID]; // lds
}
"""


def test_lds_read_before_it_is_written(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    kernel = build(HEADER + INIT, arch).kernel("reads_lds")
    out = np.zeros(64, np.float32)
    reports = findings(checked, lambda: kernel(1, 64, out))
    assert [r["sanitizer"] for r in reports] == ["init"]
    assert reports[0]["lane"] == 5
    assert at_line(reports[0], line_of(INIT, "lds"))


def test_register_stored_before_it_is_written(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    code = WAIT.format(scalar_wait="s_waitcnt lgkmcnt(0)", vector_wait="s_waitcnt vmcnt(0)")
    source = kernel_f(code.replace("v_add_u32 v2, v2, v3", "v_add_u32 v2, v2, v5"), arch)
    kernel = build(source, arch, "asm", ()).kernel("f")
    x, y = np.arange(128, dtype=np.uint32), np.zeros(64, np.uint32)
    reports = findings(checked, lambda: kernel(1, 64, x, y))
    assert [r["sanitizer"] for r in reports] == ["init"]
    assert "global_store_dword" in reports[0]["instruction"]


BARRIER = """
KERNEL void divergent(GLOBAL int *out, int n) {
  if ((int)TID < n) {
    out[TID] = 1;
    __builtin_amdgcn_s_barrier(); // barrier
  }
  out[TID + 256] = 2;
}
"""


def test_barrier_under_divergence(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    kernel = build(HEADER + BARRIER, arch).kernel("divergent")
    out = np.zeros(512, np.int32)
    reports = findings(checked, lambda: kernel(1, 256, out, 100))
    assert {r["sanitizer"] for r in reports} == {"barrier"}
    assert any(at_line(r, line_of(BARRIER, "barrier")) for r in reports)
