# SPDX-License-Identifier: Apache-2.0
"""Memory of hipMalloc that nobody wrote: what is loaded from it is undefined."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, Module
from flydsl.emulator.sanitizing import Report

HEADER = (Path(__file__).parent.parent / "data" / "device.h").read_text()
SOURCE = """
KERNEL void copy(const GLOBAL int *in, GLOBAL int *out) { out[TID] = in[TID]; }
KERNEL void masked(const GLOBAL int *in, GLOBAL int *out) {
  int v = in[TID];
  out[TID] = TID < 32 ? v : 7;
}
KERNEL void scalar(const GLOBAL int *in, GLOBAL int *out) { out[TID] = in[BID] + TID; }
KERNEL void branch(const GLOBAL int *in, GLOBAL int *out) {
  if (in[BID] == 3)
    out[TID] = 1;
}
KERNEL void count(const GLOBAL int *in, GLOBAL int *out) {
  __hip_atomic_fetch_add(out, in[TID], __ATOMIC_RELAXED, 4);
}
KERNEL void bytes(const GLOBAL unsigned char *in, GLOBAL int *out) { out[TID] = in[TID]; }
KERNEL void last_wins(const GLOBAL int *in, GLOBAL int *out) {
  out[TID] = 5;
  out[TID] += in[TID];
}
"""
WORDS = 64


class Device:
    """Allocations of hipMalloc, and what the sanitizers say of a launch."""

    def __init__(self, emulator: Emulator) -> None:
        self.hip = emulator.library
        self.memory: list[ctypes.c_void_p] = []

    def malloc(self, words: int = WORDS) -> int:
        pointer = ctypes.c_void_p()
        assert self.hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(4 * words)) == 0
        self.memory.append(pointer)
        return int(pointer.value or 0)

    def put(self, to: int, values: np.ndarray) -> None:
        assert self.hip.hipMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(values.ctypes.data), values.nbytes, 1) == 0

    def run(self, kernel: object, one: int, two: int, *sanitizers: str) -> list[Report]:
        packed = np.array([one, two], np.uint64).tobytes()
        with sanitize(*sanitizers, raises=False) as found:
            kernel.launch_packed((1, 1, 1), (WORDS, 1, 1), packed)  # type: ignore[attr-defined]
        return found.reports


@pytest.fixture
def device(emulator: Emulator, arch: str) -> Iterator[Device]:
    emulator.library.hipSetDevice(("gfx942", "gfx950").index(arch))
    made = Device(emulator)
    yield made
    for pointer in made.memory:
        assert emulator.library.hipFree(pointer) == 0
    emulator.library.hipSetDevice(0)


@pytest.fixture
def module(build: Callable[..., Module], arch: str) -> Module:
    return build(HEADER + SOURCE, arch, flags=("-O1", "-g"))


@pytest.mark.parametrize("name", ["copy", "masked", "scalar", "branch", "bytes", "last_wins"])
def test_what_nobody_wrote(device: Device, module: Module, name: str) -> None:
    source, target = device.malloc(), device.malloc()
    reports = device.run(module.kernel(name), source, target)
    assert [one.sanitizer for one in reports] == ["init"]
    assert "memory that nobody wrote is read" in reports[0].what
    assert "device allocation" in reports[0].what
    assert "load" in reports[0].instruction
    assert source <= (reports[0].address or 0) < source + 4 * WORDS
    device.put(source, np.zeros(WORDS, np.int32))
    assert device.run(module.kernel(name), source, target) == []


def test_the_first_half_is_written(device: Device, module: Module) -> None:
    source, target = device.malloc(), device.malloc()
    device.put(source, np.zeros(WORDS // 2, np.int32))
    assert device.run(module.kernel("masked"), source, target) == []
    assert [one.lane for one in device.run(module.kernel("copy"), source, target)] == [WORDS // 2]


def test_kernels_write(device: Device, module: Module) -> None:
    source, middle, target = device.malloc(), device.malloc(), device.malloc()
    device.put(source, np.zeros(WORDS, np.int32))
    assert device.run(module.kernel("copy"), source, middle) == []
    assert device.run(module.kernel("copy"), middle, target) == []


def test_a_launch_that_is_not_followed_may_have_written_anything(device: Device, module: Module) -> None:
    source, target = device.malloc(), device.malloc()
    assert device.run(module.kernel("copy"), source, target, "race") == []
    assert device.run(module.kernel("copy"), source, target) == []


def test_fills_and_copies(device: Device, module: Module) -> None:
    source, target, other = device.malloc(), device.malloc(), device.malloc()
    copy, size = module.kernel("copy"), ctypes.c_size_t(4 * WORDS)
    # A copy of what nobody wrote is no more than that.
    assert device.hip.hipMemcpy(ctypes.c_void_p(other), ctypes.c_void_p(source), size, 3) == 0
    assert len(device.run(copy, other, target)) == 1
    assert device.hip.hipMemset(ctypes.c_void_p(source), 0, size) == 0
    assert device.hip.hipMemcpy(ctypes.c_void_p(other), ctypes.c_void_p(source), size, 3) == 0
    assert device.run(copy, source, target) == []
    assert device.run(copy, other, target) == []


def test_a_counter_that_nobody_zeroed(device: Device, module: Module) -> None:
    source, target = device.malloc(), device.malloc()
    device.put(source, np.ones(WORDS, np.int32))
    reports = device.run(module.kernel("count"), source, target)
    assert [one.sanitizer for one in reports] == ["init"]
    assert "atomic" in reports[0].what
    assert device.run(module.kernel("count"), source, target) == []


def test_memory_is_new_when_it_is_allocated_again(device: Device, module: Module) -> None:
    target = device.malloc()
    for _ in range(2):
        source = device.malloc()
        assert len(device.run(module.kernel("copy"), source, target)) == 1
        device.put(source, np.zeros(WORDS, np.int32))
        assert device.hip.hipFree(device.memory.pop()) == 0


def test_through_lds(device: Device, build: Callable[..., Module], arch: str) -> None:
    """A load straight into LDS takes what nobody wrote there."""
    code = (
        "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_lshlrev_b32 v1, 2, v0\n  s_mov_b32 m0, 0\n"
        "  s_waitcnt lgkmcnt(0)\n  global_load_lds_dword v1, s[4:5]\n  s_waitcnt vmcnt(0)\n"
        "  ds_read_b32 v2, v1\n  s_waitcnt lgkmcnt(0)\n  global_store_dword v1, v2, s[6:7]\n  s_waitcnt vmcnt(0)\n"
    )
    kernel = build(kernel_f(code, arch, lds=256), arch, "asm", ()).kernel("f")
    source, target = device.malloc(), device.malloc()
    assert {one.sanitizer for one in device.run(kernel, source, target)} == {"init"}
    device.put(source, np.zeros(WORDS, np.int32))
    assert device.run(kernel, source, target) == []


def test_tiles_beyond_what_counts(device: Device, build: Callable[..., Module], arch: str) -> None:
    """Rows of A that nobody wrote spoil their rows of D only: a kernel that does not store those is right."""
    code = (
        "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_and_b32 v1, 15, v0\n  v_lshlrev_b32 v2, 2, v1\n"
        "  s_waitcnt lgkmcnt(0)\n  global_load_dword v3, v2, s[4:5]\n  v_mov_b32 v4, 1.0\n  s_waitcnt vmcnt(0)\n"
        "  v_mfma_f32_16x16x4_f32 v[8:11], v3, v4, 0\n  s_nop 15\n"
        "  v_lshlrev_b32 v2, 2, v0\n  v_cmp_gt_u32 vcc, {lanes}, v0\n  s_and_saveexec_b64 s[8:9], vcc\n"
        "  global_store_dword v2, v8, s[6:7]\n  s_waitcnt vmcnt(0)\n"
    )
    source, target = device.malloc(), device.malloc()
    device.put(source, np.ones(4, np.float32))  # rows 0 to 3, which lanes 0 to 15 hold
    for lanes, clean in ((16, True), (17, False)):
        kernel = build(kernel_f(code.format(lanes=lanes), arch), arch, "asm", ()).kernel("f")
        assert (device.run(kernel, source, target) == []) is clean
