# SPDX-License-Identifier: Apache-2.0
"""A launch that failed leaves its device failed, as on hardware: whoever checks later sees it, until a reset."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator.device import Emulator, EmulatorError, Module

DATA = Path(__file__).parent / "data"
HEADER = (DATA / "device.h").read_text()
SOURCE = HEADER + "KERNEL void store(GLOBAL int *out, int at) { out[at] = 7; }"
INVALID_VALUE, LAUNCH_FAILURE = 1, 719


@pytest.fixture
def hip(emulator: Emulator) -> Iterator[ctypes.CDLL]:
    emulator.call("hipSetDevice", 0)
    emulator.library.hipGetLastError()
    yield emulator.library
    emulator.library.flyemu_forget_failures()
    emulator.call("hipSetDevice", 0)
    emulator.library.hipGetLastError()


@pytest.fixture
def launch(hip: ctypes.CDLL, emulator: Emulator, build: Callable[..., Module]) -> Callable[[int], int]:
    """Launch `store` on device 0 as a HIP client does: element 0 is allowed, others are far outside."""
    handle = ctypes.c_void_p()
    emulator.call("hipModuleGetFunction", ctypes.byref(handle), build(SOURCE, "gfx942")._handle, b"store")
    pointer = ctypes.c_void_p()
    emulator.call("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(4))

    def run(at: int) -> int:
        index = ctypes.c_int(at)
        arguments = (ctypes.c_void_p * 2)(ctypes.addressof(pointer), ctypes.addressof(index))
        return int(hip.hipModuleLaunchKernel(handle, 1, 1, 1, 1, 1, 1, 0, None, arguments, None))

    yield run  # type: ignore[misc]
    assert hip.hipFree(pointer) == 0  # a device that failed still takes its memory back


def test_every_call_that_waits_or_copies_sees_it(hip: ctypes.CDLL, launch: Callable[[int], int]) -> None:
    data = (ctypes.c_char * 16)()
    event, stream, pointer, milliseconds = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
    assert hip.hipStreamCreate(ctypes.byref(stream)) == 0
    assert hip.hipEventCreate(ctypes.byref(event)) == 0
    assert hip.hipEventRecord(event, stream) == 0
    assert launch(1 << 20) == LAUNCH_FAILURE
    sixteen = ctypes.c_size_t(16)
    calls = {
        "hipDeviceSynchronize": lambda: hip.hipDeviceSynchronize(),
        "hipStreamQuery": lambda: hip.hipStreamQuery(stream),
        "hipStreamQuery of the default stream": lambda: hip.hipStreamQuery(None),
        "hipStreamSynchronize": lambda: hip.hipStreamSynchronize(stream),
        "hipEventQuery": lambda: hip.hipEventQuery(event),
        "hipEventSynchronize": lambda: hip.hipEventSynchronize(event),
        "hipEventRecord": lambda: hip.hipEventRecord(event, stream),
        "hipEventElapsedTime": lambda: hip.hipEventElapsedTime(ctypes.byref(milliseconds), event, event),
        "hipStreamWaitEvent": lambda: hip.hipStreamWaitEvent(stream, event, 0),
        "hipMemcpy": lambda: hip.hipMemcpy(data, data, sixteen, 0),
        "hipMemcpyAsync": lambda: hip.hipMemcpyAsync(data, data, sixteen, 0, stream),
        "hipMemset": lambda: hip.hipMemset(data, 0, sixteen),
        "hipMemsetAsync": lambda: hip.hipMemsetAsync(data, 0, sixteen, stream),
        "hipMalloc": lambda: hip.hipMalloc(ctypes.byref(pointer), sixteen),
        "a launch": lambda: launch(0),
        "hipGetLastError": lambda: hip.hipGetLastError(),
        "hipPeekAtLastError": lambda: hip.hipPeekAtLastError(),
    }
    assert {name: call() for name, call in calls.items()} == dict.fromkeys(calls, LAUNCH_FAILURE)
    # A failure of the call's own comes first, and asking what there is does not fail.
    assert hip.hipMemcpy(data, data, sixteen, 99) not in (0, LAUNCH_FAILURE)
    assert hip.hipGetDeviceCount(ctypes.byref(ctypes.c_int())) == 0
    assert hip.hipStreamDestroy(stream) == 0
    assert hip.hipEventDestroy(event) == 0


def test_the_report_is_kept_and_a_reset_ends_it(hip: ctypes.CDLL, launch: Callable[[int], int]) -> None:
    assert launch(1 << 20) == LAUNCH_FAILURE
    assert hip.hipDeviceSynchronize() == LAUNCH_FAILURE
    report = hip.flyemu_last_error().decode()
    for part in ("an earlier launch failed", "store+0x", "hipDeviceReset"):
        assert part in report
    assert hip.hipDeviceReset() == 0
    assert launch(0) == hip.hipDeviceSynchronize() == 0


def test_other_devices_go_on(hip: ctypes.CDLL, launch: Callable[[int], int]) -> None:
    assert launch(1 << 20) == LAUNCH_FAILURE
    assert hip.hipSetDevice(1) == 0
    hip.hipGetLastError()  # of this thread's own call, the launch
    assert hip.hipDeviceSynchronize() == hip.hipGetLastError() == 0
    assert hip.hipSetDevice(0) == 0
    assert hip.hipDeviceSynchronize() == LAUNCH_FAILURE


def test_a_launch_that_cannot_begin_does_not_stick(hip: ctypes.CDLL, launch: Callable[[int], int]) -> None:
    assert hip.hipModuleLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, None, None, None) not in (0, LAUNCH_FAILURE)
    assert hip.hipDeviceSynchronize() == 0
    assert launch(0) == 0


def test_python_goes_on_after_the_exception(emulator: Emulator, build: Callable[..., Module], arch: str) -> None:
    kernel = build(SOURCE, arch).kernel("store")
    out = np.zeros(1, np.int32)
    with pytest.raises(EmulatorError) as raised:
        kernel(1, 1, out, 1 << 20)
    assert raised.value.code == LAUNCH_FAILURE
    emulator.call("hipDeviceSynchronize")
    kernel(1, 1, out, 0)
    assert out[0] == 7


def test_reads_within_the_granularity_are_allowed_where_asked_for(
    emulator: Emulator, build: Callable[..., Module], arch: str
) -> None:
    """As real kernels read a last vector of 16 bytes; writes, and reads further on, stay errors."""
    source = HEADER + "KERNEL void copy(GLOBAL int *to, GLOBAL int *from, int at) { to[0] = from[at]; }"
    kernel = build(source, arch).kernel("copy")
    words = np.arange(64, dtype=np.int32)
    first = -words.ctypes.data % 64 // 4
    array, out = words[first : first + 5], np.zeros(1, np.int32)
    with pytest.raises(EmulatorError, match="outside of all registered memory"):
        kernel(1, 1, out, array, 7)
    emulator.set_read_granularity(16)
    try:
        for sanitizers in ((), ("memory",)):
            emulator.set_sanitizers(*sanitizers)
            kernel(1, 1, out, array, 7)
            assert out[0] == array[0] + 7
            with pytest.raises(EmulatorError, match="outside of all registered memory"):
                kernel(1, 1, out, array, 8)
            with pytest.raises(EmulatorError, match="read-only memory"):
                kernel(1, 1, ctypes.c_void_p(array.ctypes.data + 20), array, 0)
        with pytest.raises(EmulatorError, match="power of two"):
            emulator.set_read_granularity(24)
    finally:
        emulator.set_sanitizers()
        emulator.set_read_granularity(1)


def test_names_of_the_newest_errors(hip: ctypes.CDLL) -> None:
    names = {code: hip.hipGetErrorName(code).decode() for code in (914, 915, 916, 1054, 1055)}
    assert names == {
        914: "hipErrorInvalidResourceType",
        915: "hipErrorInvalidResourceConfiguration",
        916: "hipErrorStreamDetached",
        1054: "hipErrorInvalidClusterSize",
        1055: "hipErrorTbd",
    }


@pytest.mark.parametrize("name", [
    "hipGreenCtxCreate", "hipExecutionCtxSynchronize", "hipDeviceGetDevResource", "hipDevSmResourceSplit",
    "hipLibraryGetGlobal", "hipKernelGetName", "hipMemGetDefaultMemPool", "hipOccupancyMaxActiveClusters",
    "hipStreamCopyAttributes", "hipMemPrefetchBatchAsync",
])  # fmt: skip
def test_functions_of_hip_10_are_refused_by_name(hip: ctypes.CDLL, name: str) -> None:
    assert getattr(hip, name)(None, None, None, None) == 801
    assert name.encode() in hip.flyemu_last_error()
