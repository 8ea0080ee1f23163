# SPDX-License-Identifier: Apache-2.0
"""Corners of the HIP API that clients meet: last errors, sizes beyond an allocation, contexts, older ways to launch."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator._library import library_path
from flydsl.emulator.device import Emulator, Module

DATA = Path(__file__).parent / "data"
HEADER = (DATA / "device.h").read_text()
SOURCE = HEADER + (DATA / "kernels.c").read_text()
INVALID_VALUE, INVALID_DEVICE, INVALID_CONTEXT, ALREADY_REGISTERED = 1, 101, 201, 712


@pytest.fixture
def hip(emulator: Emulator) -> ctypes.CDLL:
    emulator.call("hipSetDevice", 0)
    emulator.library.hipGetLastError()
    emulator.library.flyemu_last_error.restype = ctypes.c_char_p
    return emulator.library


@pytest.fixture
def memory(hip: ctypes.CDLL) -> ctypes.c_void_p:
    pointer = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(1000)) == 0
    yield pointer
    assert hip.hipFree(pointer) == 0


def size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


def test_the_last_error_stays_until_it_is_taken(hip: ctypes.CDLL) -> None:
    count = ctypes.c_int()
    assert hip.hipSetDevice(99) == INVALID_DEVICE
    assert hip.hipGetDeviceCount(ctypes.byref(count)) == 0  # success does not clear it
    assert hip.hipPeekAtLastError() == hip.hipPeekAtLastError() == INVALID_DEVICE
    seen = []
    other = threading.Thread(target=lambda: seen.append(hip.hipGetLastError()))
    other.start()
    other.join()
    assert seen == [0]  # each thread has its own
    assert hip.hipGetLastError() == INVALID_DEVICE
    assert hip.hipGetLastError() == 0


def test_copies_and_fills_stay_inside_of_allocations(hip: ctypes.CDLL, memory: ctypes.c_void_p) -> None:
    host = np.zeros(2000, np.uint8)
    x, inside = ctypes.c_void_p(host.ctypes.data), ctypes.c_void_p(memory.value + 600)
    nowhere = ctypes.c_void_p(0x1000)
    for to, source, count, code in (
        (memory, x, 1000, 0), (memory, x, 1001, INVALID_VALUE), (inside, x, 400, 0), (inside, x, 401, INVALID_VALUE),
        (x, memory, 1001, INVALID_VALUE), (x, inside, 401, INVALID_VALUE), (x, nowhere, 4, INVALID_VALUE),
        (nowhere, x, 4, INVALID_VALUE), (memory, None, 4, INVALID_VALUE), (None, x, 0, 0),
    ):  # fmt: skip
        assert hip.hipMemcpy(to, source, size(count), 4) == code, (to, source, count)
        assert hip.hipMemcpyAsync(to, source, size(count), 4, None) == code
    assert hip.hipMemcpy(memory, x, size(4), 7) == 21  # hipErrorInvalidMemcpyDirection
    assert hip.hipMemset(memory, 1, size(1001)) == INVALID_VALUE
    assert b"ends 1000 bytes behind that" in hip.flyemu_last_error()
    assert hip.hipMemsetD32(memory, 1, size(251)) == INVALID_VALUE
    assert hip.hipMemsetD32(memory, 1, size(2**62)) == INVALID_VALUE
    assert hip.hipMemset(nowhere, 1, size(8)) == INVALID_VALUE
    assert hip.hipMemcpy2D(memory, size(100), x, size(100), size(50), size(11), 1) == INVALID_VALUE
    assert hip.hipMemcpy2D(memory, size(100), x, size(100), size(50), size(10), 1) == 0


def test_registration_of_host_memory(hip: ctypes.CDLL) -> None:
    host, device, flags = np.zeros(1000, np.uint8), ctypes.c_void_p(), ctypes.c_uint()
    x = ctypes.c_void_p(host.ctypes.data)
    assert hip.hipHostRegister(x, size(1000), 0x40) == INVALID_VALUE
    assert hip.hipHostRegister(x, size(0), 0) == INVALID_VALUE
    assert hip.hipHostRegister(x, size(1000), 3) == 0
    assert hip.hipHostRegister(x, size(1000), 3) == ALREADY_REGISTERED
    assert hip.hipHostGetDevicePointer(ctypes.byref(device), x, 0) == 0
    assert device.value == x.value
    assert hip.hipHostGetFlags(ctypes.byref(flags), x) == 0
    assert flags.value == 3
    assert hip.hipHostUnregister(x) == 0
    assert hip.hipHostUnregister(x) == 713


def test_contexts_are_a_stack(hip: ctypes.CDLL) -> None:
    contexts, current, device = [ctypes.c_void_p(), ctypes.c_void_p()], ctypes.c_void_p(), ctypes.c_int()
    for ordinal, context in enumerate(contexts):
        assert hip.hipDevicePrimaryCtxRetain(ctypes.byref(context), ordinal) == 0
    for context in (contexts[1], contexts[0], contexts[1]):
        assert hip.hipCtxPushCurrent(context) == 0
    for expected in (1, 0, 1):
        assert hip.hipCtxGetDevice(ctypes.byref(device)) == 0
        assert device.value == expected
        assert hip.hipCtxPopCurrent(ctypes.byref(current)) == 0
        assert current.value == contexts[expected].value
    assert hip.hipGetDevice(ctypes.byref(device)) == 0
    assert device.value == 0
    assert hip.hipCtxPopCurrent(None) == INVALID_CONTEXT
    assert hip.hipCtxPushCurrent(None) == INVALID_CONTEXT


def test_what_devices_say_of_each_other(hip: ctypes.CDLL) -> None:
    value, kind, hops = ctypes.c_int(), ctypes.c_uint32(), ctypes.c_uint32()
    for attribute, expected in ((0, 0), (1, 1), (2, 1), (3, 0)):
        assert hip.hipDeviceGetP2PAttribute(ctypes.byref(value), attribute, 0, 1) == 0
        assert value.value == expected
    assert hip.hipDeviceGetP2PAttribute(ctypes.byref(value), 4, 0, 1) == INVALID_VALUE
    assert hip.hipDeviceGetP2PAttribute(ctypes.byref(value), 1, 0, 0) == INVALID_DEVICE
    assert hip.hipExtGetLinkTypeAndHopCount(0, 1, ctypes.byref(kind), ctypes.byref(hops)) == 0
    assert (kind.value, hops.value) == (4, 1)  # XGMI


def test_several_attributes_of_a_pointer(hip: ctypes.CDLL, memory: ctypes.c_void_p) -> None:
    kind, begin, bytes_, ordinal = ctypes.c_uint(), ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_int(5)
    wanted = (ctypes.c_int * 4)(2, 11, 12, 9)
    places = (ctypes.c_void_p * 4)(*(ctypes.addressof(one) for one in (kind, begin, bytes_, ordinal)))
    inside = ctypes.c_void_p(memory.value + 8)
    assert hip.hipDrvPointerGetAttributes(4, wanted, places, inside) == 0
    assert (kind.value, begin.value, bytes_.value, ordinal.value) == (2, memory.value, 1000, 0)
    assert hip.hipDrvPointerGetAttributes(4, wanted, places, ctypes.c_void_p(64)) == 0  # no allocation: zeros
    assert (kind.value, begin.value, bytes_.value, ordinal.value) == (0, 0, 0, 0)
    assert hip.hipGetLastError() == 0
    assert hip.hipPointerGetAttribute(ctypes.byref(begin), 4, memory) == INVALID_VALUE  # no host pointer to it


def launched(hip: ctypes.CDLL, module: Module) -> ctypes.c_void_p:
    function = ctypes.c_void_p()
    assert hip.hipModuleGetFunction(ctypes.byref(function), module._handle, b"vector_add") == 0
    return function


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


@pytest.mark.parametrize("stream", [None, ctypes.c_void_p(1), ctypes.c_void_p(2)])  # null, legacy, per thread
def test_the_older_way_to_launch(
    hip: ctypes.CDLL, emulator: Emulator, build: Callable[..., Module], memory: ctypes.c_void_p, stream: object
) -> None:
    function = launched(hip, build(SOURCE, "gfx942"))
    ones, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    assert hip.hipMemcpy(memory, ctypes.c_void_p(ones.ctypes.data), size(256), 1) == 0
    arguments = (memory, memory, ctypes.c_void_p(memory.value + 256), ctypes.c_int(64))
    assert hip.hipConfigureCall(Dim3(1, 1, 1), Dim3(64, 1, 1), size(0), stream) == 0
    for i, argument in enumerate(arguments):
        assert hip.hipSetupArgument(ctypes.byref(argument), size(ctypes.sizeof(argument)), size(8 * i)) == 0
    assert hip.hipLaunchByPtr(function) == 0
    assert hip.hipMemcpy(ctypes.c_void_p(out.ctypes.data), arguments[2], size(256), 2) == 0
    assert (out == 2).all()
    assert hip.hipLaunchByPtr(function) == 9  # hipErrorInvalidConfiguration: configured once, launched once
    assert hip.hipSetupArgument(ctypes.byref(arguments[0]), size(8), size(0)) == INVALID_VALUE


GRID_BARRIER = """
KERNEL void rotate(GLOBAL int *x, GLOBAL int *out, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    if (TID == 0)
      x[BID] += i; // before
    SYNC
    if (TID == 0)
      out[BID] += x[(BID + 1) % GROUPS];
    SYNC
  }
}
"""
# As HIP's device library writes grid_group::sync(): one wave of each workgroup meets the others.
SYNC = """__builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); __builtin_amdgcn_s_barrier();
    if (TID == 0) __builtin_amdgcn_ds_gws_barrier(GROUPS - 1, 0);
    __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");"""


@pytest.mark.parametrize("sync", [True, False])
def test_barriers_of_a_grid(emulator: Emulator, build: Callable[..., Module], arch: str, sync: bool) -> None:
    define = f"#define GROUPS 12\n#define SYNC {' '.join(SYNC.split()) if sync else ''}\n"
    module = build(define + HEADER + GRID_BARRIER, arch)
    x, out, rounds = np.arange(12, dtype=np.int32), np.zeros(12, np.int32), ctypes.c_int(3)
    function = ctypes.c_void_p()
    emulator.call("hipModuleGetFunction", ctypes.byref(function), module._handle, b"rotate")
    with contextlib.ExitStack() as stack:
        pointers = []
        for array in (x, out):
            pointers.append(ctypes.c_void_p(array.ctypes.data))
            assert emulator.library.hipHostRegister(pointers[-1], size(array.nbytes), 0) == 0
            stack.callback(emulator.library.hipHostUnregister, pointers[-1])
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(one) for one in (*pointers, rounds)))
        found = stack.enter_context(sanitize("all", raises=False))
        code = emulator.library.hipModuleLaunchCooperativeKernel(function, 12, 1, 1, 128, 1, 1, 0, None, arguments)
        assert code == 0
    if sync:
        assert found.reports == []
        expected = sum((np.arange(12) + total) for total in (0, 1, 3))
        np.testing.assert_array_equal(out, np.roll(expected, -1))
    else:
        assert {report.sanitizer for report in found.reports} == {"race"}


def test_dynamic_lds_that_can_be_asked_for(hip: ctypes.CDLL, build: Callable[..., Module]) -> None:
    function = launched(hip, build(SOURCE, "gfx942"))
    assert hip.hipFuncSetAttribute(function, 8, 65536) == 0
    assert hip.hipFuncSetAttribute(function, 8, 65537) == INVALID_VALUE
    assert hip.hipFuncSetAttribute(function, 9, 100) == 0
    assert hip.hipFuncSetAttribute(function, 3, 1) == INVALID_VALUE
    assert hip.hipFuncSetAttribute(ctypes.c_void_p(8), 8, 0) == 400  # hipErrorInvalidHandle


def test_most_of_the_memory_can_be_reserved(hip: ctypes.CDLL) -> None:
    """As frameworks do with their own pools, whatever the host has."""
    free, pointer = ctypes.c_size_t(), ctypes.c_void_p()
    assert hip.hipMemGetInfo(ctypes.byref(free), None) == 0
    assert hip.hipMalloc(ctypes.byref(pointer), size(free.value // 10 * 9)) == 0
    assert hip.hipMemset(ctypes.c_void_p(pointer.value + free.value // 2), 1, size(1 << 20)) == 0
    assert hip.hipMalloc(ctypes.byref(ctypes.c_void_p()), size(free.value // 5)) == 2  # hipErrorOutOfMemory
    assert hip.hipFree(pointer) == 0


ENDLESS = (
    "KERNEL void wait_for(GLOBAL int *flag, GLOBAL int *x) { while (__hip_atomic_load(flag, 2, 4) == 0) *x += 1; }"
)


def test_what_a_kernel_uses_goes_away_when_it_has_ended(
    hip: ctypes.CDLL, emulator: Emulator, compile_object: Callable[..., bytes]
) -> None:
    """hipFree and hipModuleUnload wait for kernels, as HIP's do; hipMalloc and copies do not."""
    module, function = emulator.load(compile_object(HEADER + ENDLESS, "gfx942"), 0), ctypes.c_void_p()
    assert hip.hipModuleGetFunction(ctypes.byref(function), module._handle, b"wait_for") == 0
    flag, x, other = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    for pointer in (flag, x):
        assert hip.hipMalloc(ctypes.byref(pointer), size(4)) == 0
        assert hip.hipMemset(pointer, 0, size(4)) == 0
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(flag), ctypes.addressof(x))
    codes: list[int] = []
    launch = (function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None)
    kernel = threading.Thread(target=lambda: codes.append(hip.hipModuleLaunchKernel(*launch)))
    kernel.start()
    seen = ctypes.c_int()
    while seen.value == 0:  # it runs
        assert hip.hipMemcpy(ctypes.byref(seen), x, size(4), 2) == 0
    release = threading.Thread(target=lambda: codes.append(hip.hipFree(x)))
    release.start()
    release.join(0.1)
    assert release.is_alive()
    assert hip.hipMalloc(ctypes.byref(other), size(64)) == 0
    assert hip.hipMemsetD32(flag, 1, size(1)) == 0
    for thread in (kernel, release):
        thread.join(600)
    assert codes == [0, 0]
    module.unload()
    for pointer in (flag, other):
        assert hip.hipFree(pointer) == 0


REFUSED = """
import ctypes, sys
hip = ctypes.CDLL(sys.argv[1])
for _ in range(2):
    module = ctypes.c_void_p()
    assert hip.hipModuleLoad(ctypes.byref(module), sys.argv[2].encode()) == 209 and not module
"""


@pytest.mark.parametrize("other", ["gfx1030", "gfx950"])
def test_code_for_something_else_is_refused_once(
    compile_object: Callable[..., bytes], tmp_path: Path, other: str
) -> None:
    """HIP's caller gets a number each time; the reason is said once, with what would help."""
    image = tmp_path / "kernel.hsaco"
    image.write_bytes(compile_object(HEADER + "KERNEL void one(GLOBAL int *x) { x[TID] = 1; }", other, "c", ("-O2",)))
    environment = {**os.environ, "FLYDSL_GPU_ARCH": "gfx942"}
    environment.pop("FLYDSL_EMU_DEVICES", None)
    command = [sys.executable, "-c", REFUSED, library_path(), str(image)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr
    why = {
        "gfx1030": "gfx1030, which is not emulated (gfx942, gfx950, gfx1100, gfx1201, gfx1250 are), or compile for "
        "gfx942",
        "gfx950": "gfx950, and the device is gfx942: set FLYDSL_GPU_ARCH=gfx950, or compile for gfx942",
    }
    assert done.stderr == f"fly-emulator: this code object is for {why[other]}\n"


def test_an_architecture_that_is_not_emulated() -> None:
    environment = {**os.environ, "FLYDSL_GPU_ARCH": "gfx1030"}
    environment.pop("FLYDSL_EMU_DEVICES", None)
    command = [sys.executable, "-m", "flydsl.emulator"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode != 0
    assert "'gfx1030' is not emulated (there are gfx942, gfx950, gfx1100, gfx1201, gfx1250)" in done.stderr
    assert "Traceback" not in done.stderr


def test_code_of_the_generic_target(emulator: Emulator, compile_object: Callable[..., bytes], arch: str) -> None:
    image = compile_object(SOURCE, "gfx9-4-generic", flags=("-O2", "-mcode-object-version=6"))
    triple, host = b"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", b"host-x86_64-unknown-linux-gnu-"
    header = b"__CLANG_OFFLOAD_BUNDLE__" + (2).to_bytes(8, "little")
    for length, name in ((0, host), (len(image), triple)):
        header += b"".join(value.to_bytes(8, "little") for value in (4096, length, len(name))) + name
    for code in (image, header.ljust(4096, b"\0") + image):
        module = emulator.load(code, ("gfx942", "gfx950").index(arch))
        x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
        module.kernel("vector_add")(1, 64, x, x, out, 64)
        np.testing.assert_array_equal(out, 2 * x)
        module.unload()
