# SPDX-License-Identifier: Apache-2.0
"""What a report holds, how many there are, and where they go."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, EmulatorError, Module

HEADER = (Path(__file__).parent.parent / "data" / "device.h").read_text()

ROW = """
KERNEL void scale(const GLOBAL float *x, GLOBAL float *y, int row, int columns) {
  y[TID] = x[row * columns + (int)TID];
}
"""


def test_memory_finding_names_tensor_and_coordinate(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    """An access outside of all memory ends the launch, and is a finding all the same."""
    kernel = build(HEADER + ROW, arch).kernel("scale")
    space, y = np.zeros((24, 64), np.float32), np.zeros(64, np.float32)
    x = space[8:16]
    with pytest.raises(EmulatorError, match=r"shape \(8, 64\), elements of 4 bytes.*element \(-1, 0\) would be"):
        kernel(1, 64, x, y, -1, 64, names=["x", "y"])
    (report,) = checked.reports()
    assert report["sanitizer"] == "memory"
    assert report["lane"] == 0
    assert report["thread"] == [0, 0, 0]
    assert report["address"] == x.ctypes.data - 256
    assert "256 bytes before 'x'" in report["what"]


def test_next_row_of_a_neighbour(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    both = np.zeros((16, 64), np.float32)
    x, other, y = both[:8], both[8:], np.zeros(64, np.float32)
    source = """
KERNEL void scale(const GLOBAL float *x, GLOBAL float *y, const GLOBAL float *z) {
  y[TID] = x[TID + 8 * 64];
}
"""
    kernel = build(HEADER + source, arch).kernel("scale")
    with pytest.raises(EmulatorError) as raised:
        kernel(1, 64, x, y, other, names=["x", "y", "other"])
    text = raised.value.report
    assert "through a pointer into 'x'" in text
    assert "where element (8, 0) would be" in text
    assert "it hits byte 0 of 'other'" in text
    (report,) = checked.reports()
    assert report["address"] == other.ctypes.data


def test_unaligned_by_the_elements_of_the_tensor(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    """A 4-byte load at a multiple of 2 is a mistake in a tensor of floats, and fine in one of halves."""
    code = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5] offset:2
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[6:7]
"""
    kernel = build(kernel_f(code, arch), arch, "asm", ()).kernel("f")
    y = np.zeros(64, np.float32)
    kernel(1, 64, np.zeros(130, np.float16), y)
    assert checked.reports() == []
    with pytest.raises(EmulatorError, match="unaligned access of 4 bytes"):
        kernel(1, 64, np.zeros(65, np.float32), y)
    (report,) = checked.reports()
    assert "byte 2 of element (0,)" in report["what"]
    # Where nothing is known of the elements, the hardware's rule holds.
    x = np.zeros(65, np.float32)
    library = checked.library
    checked.call("flyemu_register_memory", ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(x.nbytes), 1, b"x")
    try:
        kernel(1, 64, np.uint64(x.ctypes.data), y)
    finally:
        library.flyemu_unregister_memory(ctypes.c_void_p(x.ctypes.data))
    assert checked.reports() == []


MANY = """
static SHARED int slot[64], other[64];
KERNEL void racy(GLOBAL int *out) {
  slot[TID & 63] = TID;
  other[TID & 31] = TID * 3;
  barrier();
  out[TID] = slot[TID & 63] + other[TID & 63];
}
"""


def racy(build: Callable[..., Module], arch: str) -> Callable[[], None]:
    kernel = build(HEADER + MANY, arch).kernel("racy")
    out = np.zeros(256, np.int32)
    return lambda: kernel(2, 256, out)


def test_repeats_are_counted(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    with pytest.raises(EmulatorError, match="times"):
        racy(build, arch)()
    reports = checked.reports()
    places = [(r["location"], r.get("other_location"), r["sanitizer"]) for r in reports]
    assert len(places) == len(set(places))
    assert max(report["count"] for report in reports) > 64


def test_cap_and_stop(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    checked.set_report_options(most_reports=1)
    with pytest.raises(EmulatorError, match="FLYDSL_EMU_MAX_REPORTS keeps more"):
        racy(build, arch)()
    assert len(checked.reports()) == 1
    checked.set_report_options(stop_at_first=True)
    with pytest.raises(EmulatorError, match="stopped at the first finding"):
        racy(build, arch)()
    (report,) = checked.reports()
    assert report["count"] == 1
    with pytest.raises(EmulatorError, match="at least one"):
        checked.set_report_options(most_reports=0)


def test_report_file(
    checked: Emulator, build: Callable[..., Module], arch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "reports.jsonl"
    monkeypatch.setenv("FLYDSL_EMU_REPORT_FILE", str(path))
    launch = racy(build, arch)
    for _ in range(2):
        with pytest.raises(EmulatorError):
            launch()
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["kernel"], line["arch"]) for line in lines] == [("racy", arch)] * 2
    assert lines[0]["reports"] == checked.reports()


@pytest.mark.parametrize(
    ("modifiers", "found"),
    [("op_sel:[0,1,0]", True), ("op_sel:[0,1,1]", False), ("op_sel:[0,0,0]", False), ("op_sel:[1,1,0]", False)],
)
def test_lint_of_packed_fma(emulator: Emulator, build: Callable[..., Module], modifiers: str, found: bool) -> None:
    code = f"  v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9] {modifiers}"
    words = np.zeros(64, np.uint32)
    emulator.set_sanitizers("lint")
    try:
        for arch in ("gfx942", "gfx950"):
            kernel = build(kernel_f(code, arch), arch, "asm", ()).kernel("f")
            if found and arch == "gfx950":
                with pytest.raises(EmulatorError, match="mis-executes v_pk_fma_f32"):
                    kernel(1, 64, words, words)
            else:
                kernel(1, 64, words, words)
    finally:
        emulator.set_sanitizers()


DEADLOCK = """
KERNEL void some_wait(GLOBAL int *out) {
  if (TID >= 64) {
    out[TID] = 1;
    __builtin_amdgcn_s_barrier(); // waits
  }
}
KERNEL void elsewhere(GLOBAL int *out) {
  if (__builtin_amdgcn_readfirstlane(TID) >= 64) {
    out[TID] = 1;
    __builtin_amdgcn_s_barrier(); // one
  } else {
    out[TID] = 2;
    __builtin_amdgcn_s_barrier(); // other
  }
}
"""


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_barriers_that_not_all_waves_reach(
    checked: Emulator, build: Callable[..., Module], arch: str, seed: int
) -> None:
    module = build(HEADER + DEADLOCK, arch, flags=("-O0", "-g"))
    checked.set_seed(seed)
    out = np.zeros(256, np.int32)
    # A wave that has ended no longer counts at a barrier: the others pass, on hardware as here.
    module.kernel("some_wait")(1, 256, out)
    assert checked.reports() == []
    checked.set_sanitizers("lint")
    with pytest.raises(EmulatorError, match="ends without a barrier"):
        module.kernel("some_wait")(1, 256, out)
    lines = {str(r["source"]).rsplit(":")[-1] for r in checked.reports()}
    lines |= {str(r.get("other_source")).rsplit(":")[-1] for r in checked.reports()}
    wanted = next(i for i, line in enumerate((HEADER + DEADLOCK).splitlines(), 1) if line.endswith("// waits"))
    assert str(wanted) in lines
    # Hardware counts arrivals: waves may wait at different places, which only the lint speaks of.
    elsewhere = module.kernel("elsewhere")
    checked.set_sanitizers("all")
    elsewhere(1, 128, out)
    assert checked.reports() == []
    checked.set_sanitizers("lint")
    with pytest.raises(EmulatorError, match="wait at different barriers"):
        elsewhere(1, 128, out)


def test_compilers_see_the_sanitizers_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """They mark registers that nobody writes where the environment asks for init."""
    monkeypatch.delenv("FLYDSL_EMU_SANITIZE", raising=False)
    with sanitize():
        assert os.environ["FLYDSL_EMU_SANITIZE"] == "all"
        with sanitize("memory", "init"):
            assert os.environ["FLYDSL_EMU_SANITIZE"] == "memory,init"
        assert os.environ["FLYDSL_EMU_SANITIZE"] == "all"
    assert "FLYDSL_EMU_SANITIZE" not in os.environ


def test_a_failure_says_what_was_not_checked(checked: Emulator, build: Callable[..., Module], arch: str) -> None:
    launch = racy(build, arch)
    for sanitizers, hazards in (("all", "checked"), ("race", "not checked")):
        checked.set_sanitizers(sanitizers)
        with pytest.raises(EmulatorError) as raised:
            launch()
        lines = dict(line.split(": ", 1) for line in raised.value.report.splitlines()[-2:])
        assert f"hazards of {arch}" in lines[hazards].split("; ")
        assert "races of waves in LDS and global memory" in lines["checked"].split("; ")
        assert "hazards across calls" in lines["not checked"].split("; ")
