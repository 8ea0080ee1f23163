# SPDX-License-Identifier: Apache-2.0
"""What kernels may not touch: freed memory, code and constants, undeclared arguments, gaps between elements."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, EmulatorError, Module

HEADER = (Path(__file__).parents[1] / "data" / "device.h").read_text()
POINTERS = """
__attribute__((visibility("default"))) GLOBAL int counter = 5;
__attribute__((visibility("default"))) __attribute__((address_space(4))) const int table[64] = {1, 2, 3};
KERNEL void through(long address, GLOBAL int *out) { out[TID] = ((GLOBAL int *)address)[TID]; }
KERNEL void store(long address) { ((GLOBAL int *)address)[TID] = 1; }
KERNEL void count(GLOBAL int *out) { out[TID] = __hip_atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED, 4) + table[TID]; }
KERNEL void where(GLOBAL long *out) { out[0] = (long)(__UINTPTR_TYPE__)table; }
"""
HIP_ERROR_INVALID_VALUE = 1


@pytest.fixture
def hip(emulator: Emulator) -> Iterator[ctypes.CDLL]:
    library = ctypes.CDLL(emulator.library._name)
    yield library
    library.hipDeviceReset()


def allocated(hip: ctypes.CDLL, size: int) -> int:
    pointer = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    assert pointer.value
    return pointer.value


def test_freed_memory_is_named(hip: ctypes.CDLL, build: Callable[..., Module], arch: str) -> None:
    address = allocated(hip, 256)
    assert hip.hipFree(ctypes.c_void_p(address)) == 0
    other = allocated(hip, 256)
    assert other != address  # nobody else's yet
    assert hip.hipFree(ctypes.c_void_p(other)) == 0
    with pytest.raises(EmulatorError, match="byte 0 of a device allocation of 256 bytes that has been freed"):
        build(HEADER + POINTERS, arch).kernel("through")(1, 64, ctypes.c_int64(address), np.zeros(64, np.int32))


def test_copies_from_freed_memory_are_refused(hip: ctypes.CDLL) -> None:
    address = allocated(hip, 256)
    assert hip.hipFree(ctypes.c_void_p(address)) == 0
    target = np.zeros(64, np.int32)
    arguments = (ctypes.c_void_p(target.ctypes.data), ctypes.c_void_p(address), ctypes.c_size_t(256), 2)
    assert hip.hipMemcpy(*arguments) == HIP_ERROR_INVALID_VALUE


def test_many_allocations_come_and_go(hip: ctypes.CDLL) -> None:
    """More than are kept: addresses are given back in the end."""
    for _ in range(3000):
        assert hip.hipFree(ctypes.c_void_p(allocated(hip, 1 << 20))) == 0


def test_code_and_constants_are_read_only(hip: ctypes.CDLL, build: Callable[..., Module], arch: str) -> None:
    module = build(HEADER + POINTERS, arch)
    out = np.zeros(64, np.int32)
    module.kernel("count")(1, 64, out)  # variables are not
    assert sorted(out - np.array([1, 2, 3] + [0] * 61)) == list(range(5, 69))
    place = np.zeros(1, np.int64)
    module.kernel("where")(1, 1, place)
    base, _, text = module.memory()
    for address in (int(place[0]), base + text[0]):
        with pytest.raises(EmulatorError, match="read-only memory"):
            module.kernel("store")(1, 64, ctypes.c_int64(address))
        hip.hipDeviceReset()


@pytest.mark.parametrize(
    ("load", "clean"),
    [
        ("s_load_dwordx4 s[4:7], s[0:1], 0x0", True),
        ("s_load_dwordx2 s[4:5], s[0:1], 0x10", False),
        ("s_load_dwordx8 s[4:11], s[0:1], 0x0", False),
        ("s_load_dword s4, s[0:1], 0x3c", False),
    ],
)
def test_arguments_that_are_not_declared(check: Callable[..., Any], arch: str, load: str, clean: bool) -> None:
    reports = check(f"  {load}\n  s_waitcnt lgkmcnt(0)\n", arch)
    assert [report["sanitizer"] for report in reports] == ([] if clean else ["memory"])
    assert clean or "it declares 16 bytes" in reports[0]["what"]


COPY = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, {shift}, v0
  v_lshlrev_b32 v2, 4, v0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[4:7], v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v2, v[4:7], s[6:7]
"""


def test_a_wide_copy_over_the_gaps_of_a_strided_tensor(build: Callable[..., Module], arch: str) -> None:
    kernel = build(kernel_f(COPY.format(shift=4), arch), arch, "asm", ()).kernel("f")
    whole = np.arange(64 * 8, dtype=np.uint32)
    for x, gaps in (
        (whole[::2], True),  # every second element
        (whole.reshape(64, 8)[:, :4], True),  # rows of 16 bytes, 32 apart: the odd accesses lie between two
        (whole.reshape(16, 32).T, False),
        (whole, False),
    ):
        with sanitize("memory", raises=False) as found:
            kernel(1, 16, x, np.zeros(64, np.uint32), names=["x", "y"])
        assert bool(found.reports) is gaps, x.strides
        for report in found.reports:
            assert "takes in what lies between the elements of 'x'" in report.what
    rows = build(kernel_f(COPY.format(shift=5), arch), arch, "asm", ()).kernel("f")
    with sanitize("memory") as found:
        rows(1, 16, whole.reshape(64, 8)[:, :4], np.zeros(64, np.uint32))


def test_scalar_registers_that_the_descriptor_does_not_enable(check: Callable[..., Any], arch: str) -> None:
    """The kernel begins with s[0:1] and s2; s3 is somebody's rest."""
    code = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_lshlrev_b32 v1, 2, v0\n  v_mov_b32 v2, {register}\n"
    code += "  s_waitcnt lgkmcnt(0)\n  global_store_dword v1, v2, s[6:7]\n"
    assert check(code.format(register="s2"), arch) == []
    assert [report["sanitizer"] for report in check(code.format(register="s3"), arch)] == ["init"]


def test_m0_from_something_undefined(check: Callable[..., Any], arch: str) -> None:
    code = "{m0}\n  v_mov_b32 v1, 1\n  ds_write_addtid_b32 v1\n  s_waitcnt lgkmcnt(0)\n"
    assert check(code.format(m0="  s_mov_b32 m0, 0"), arch, lds=256) == []
    for m0 in ("", "  s_mov_b32 m0, s20"):
        reports = check(code.format(m0=m0), arch, lds=256)
        assert [report["sanitizer"] for report in reports] == ["init"]
        assert "M0" in reports[0]["what"]
