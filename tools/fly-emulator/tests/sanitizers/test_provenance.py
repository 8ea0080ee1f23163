# SPDX-License-Identifier: Apache-2.0
"""Accesses that land in another tensor than the one whose pointer they were made from, though that is memory too."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator import sanitize
from flydsl.emulator.device import Emulator, EmulatorError, Module

HEADER = (Path(__file__).parents[1] / "data" / "device.h").read_text()
ROWS = """
KERNEL void shift(GLOBAL float *a, GLOBAL float *b, int n, int by) {
  int i = BID * 64 + TID;
  if (i < n) b[i] = a[i + by];
}
// What is no bug: two arrays in one loop, a table of pointers, a choice, a difference, loaded indices.
KERNEL void sums(GLOBAL float *a, GLOBAL float *b, int n) {
  for (int i = TID; i < n; i += 64) b[i] += a[i];
}
KERNEL void table(GLOBAL float *GLOBAL *rows, GLOBAL float *out, GLOBAL float *a, GLOBAL float *b) {
  out[TID] = rows[TID & 1][TID];
}
KERNEL void choice(GLOBAL float *a, GLOBAL float *b, GLOBAL float *out) {
  GLOBAL float *from = TID & 1 ? a : b;
  out[TID] = from[TID];
}
KERNEL void between(GLOBAL char *a, GLOBAL char *b, GLOBAL float *out) {
  out[TID] = *(GLOBAL float *)(a + (b - a) + 4 * TID);
}
KERNEL void gather(GLOBAL float *a, GLOBAL long *index, GLOBAL float *out) { out[TID] = a[index[TID]]; }
"""


def neighbours() -> tuple[np.ndarray, np.ndarray]:
    """Two tensors, one right behind the other."""
    both = np.arange(128, dtype=np.float32)
    return both[:64], both[64:]


def test_off_by_one_into_the_next_tensor(build: Callable[..., Module], arch: str) -> None:
    a, b = neighbours()
    out = np.zeros(64, np.float32)
    kernel = build(HEADER + ROWS, arch).kernel("shift")
    with sanitize("all"):
        kernel(1, 64, a, out, 64, 0)
    with sanitize("memory") as found, pytest.raises(EmulatorError, match=r"pointer into 'a'.*hits .*'b'"):
        # b is an argument as well, so that its memory is registered and the access itself goes well.
        build(HEADER + ROWS, arch).kernel("shift")(1, 64, a, b, 64, 1, names=["a", "b", "n", "by"])
    assert found.reports[0].thread == (63, 0, 0)
    source = HEADER + ROWS
    assert found.reports[0].line == source[: source.index("a[i + by]")].count("\n") + 1


def test_a_mapping_around_a_tensor_hides_nothing(emulator: Emulator, build: Callable[..., Module], arch: str) -> None:
    """Memory whose bounds are unknown (a kernel was given an address in it) is there, and no tensor's."""
    heap = np.zeros(4096, np.float32)
    a, out = heap[1024:1088], np.zeros(64, np.float32)
    kernel = build(HEADER + ROWS, arch).kernel("shift")
    emulator.call("flyemu_register_memory", ctypes.c_void_p(heap.ctypes.data), ctypes.c_size_t(heap.nbytes), 0, b"heap")
    try:
        with sanitize("memory") as found, pytest.raises(EmulatorError, match=r"pointer into 'a' lies 4 bytes past"):
            kernel(1, 64, a, out, 64, 1, names=["a", "b", "n", "by"])
    finally:
        emulator.library.flyemu_unregister_memory(ctypes.c_void_p(heap.ctypes.data))
    assert found.reports[0].thread == (63, 0, 0)


VECTOR_ADDRESS = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v3, s5
  v_add_co_u32 v2, vcc, s4, v1
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  global_load_dword v4, v[2:3], off offset:{offset}
  s_waitcnt vmcnt(0)
"""
BUFFER = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_and_b32 s5, s5, 0xffff
  s_mov_b32 s6, 0x1000
  s_mov_b32 s7, 0x20000
  buffer_load_dword v4, v1, s[4:7], 0 offen offset:{offset}
  s_waitcnt vmcnt(0)
"""


@pytest.mark.parametrize("code", [VECTOR_ADDRESS, BUFFER], ids=["vector address", "buffer"])
def test_every_form_of_address(build: Callable[..., Module], arch: str, code: str) -> None:
    a, b = neighbours()
    with sanitize("memory"):
        build(kernel_f(code.format(offset=0), arch), arch, "asm", ()).kernel("f")(1, 64, a, b)
    with sanitize("memory") as found, pytest.raises(EmulatorError, match="4 bytes past the end"):
        build(kernel_f(code.format(offset=4), arch), arch, "asm", ()).kernel("f")(1, 64, a, b)
    assert found.reports[0].lane == 63


def test_what_is_no_bug(build: Callable[..., Module], arch: str) -> None:
    module = build(HEADER + ROWS, arch)
    a, b = neighbours()
    out = np.zeros(64, np.float32)
    with sanitize("all"):
        module.kernel("sums")(1, 64, a, b, 64)
        rows = np.array([a.ctypes.data, b.ctypes.data], np.uint64)
        module.kernel("table")(1, 64, rows, out, a, b)
        assert (out == np.where(np.arange(64) % 2, b, a)).all()
        module.kernel("choice")(1, 64, a, b, out)
        module.kernel("between")(1, 64, a, b, out)
        assert (out == b).all()
        module.kernel("gather")(1, 64, a, np.arange(63, -1, -1, dtype=np.int64), out)
        assert (out == a[::-1]).all()
