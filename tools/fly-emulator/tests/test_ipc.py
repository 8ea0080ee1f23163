# SPDX-License-Identifier: Apache-2.0
"""Memory and events that other processes, or other devices of this one, are given handles of; peer access."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator._library import library_path
from flydsl.emulator.device import Emulator

DATA = Path(__file__).parent / "data"
RANK = Path(__file__).parent / "hip_clients" / "rank.py"
SOURCE = (DATA / "device.h").read_text() + (DATA / "all_reduce.c").read_text()
INVALID_VALUE, INVALID_CONFIGURATION, INVALID_HANDLE, LAUNCH_FAILURE = 1, 9, 400, 719


class Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]


@pytest.fixture
def hip(emulator: Emulator) -> ctypes.CDLL:
    emulator.call("hipSetDevice", 0)
    return emulator.library


@pytest.fixture
def allocation(hip: ctypes.CDLL) -> ctypes.c_void_p:
    pointer = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(10000)) == 0
    yield pointer
    hip.hipFree(pointer)


def handle_of(hip: ctypes.CDLL, pointer: ctypes.c_void_p) -> Handle:
    handle = Handle()
    assert hip.hipIpcGetMemHandle(ctypes.byref(handle), pointer) == 0
    return handle


@pytest.mark.parametrize("devices", ["gfx942,gfx942", "gfx950,gfx950", "gfx942,gfx950"])
def test_a_sum_over_processes(compile_object: Callable[..., bytes], tmp_path: Path, devices: str) -> None:
    to_first, to_second = os.pipe(), os.pipe()
    ranks = []
    for rank, (receiving, sending) in enumerate(((to_first[0], to_second[1]), (to_second[0], to_first[1]))):
        image = tmp_path / f"{rank}.hsaco"
        image.write_bytes(compile_object(SOURCE, devices.split(",")[rank]))
        command = [sys.executable, str(RANK), library_path(), str(image), str(rank), str(receiving), str(sending)]
        environment = {**os.environ, "FLYDSL_EMU_DEVICES": devices, "FLYDSL_EMU_SANITIZE": "all", "FLYDSL_EMU_LOG": "1"}
        pipes = subprocess.PIPE
        ranks.append(
            subprocess.Popen(
                command, stdout=pipes, stderr=pipes, text=True, pass_fds=(receiving, sending), env=environment
            )
        )
    try:
        for process in ranks:
            printed, errors = process.communicate(timeout=600)
            assert process.returncode == 0, errors[-3000:]
            assert printed.strip() == "all right"
    finally:
        for process in ranks:
            process.kill()
            process.wait()
        for one in (*to_first, *to_second):
            os.close(one)


def test_a_handle_within_one_process(hip: ctypes.CDLL, allocation: ctypes.c_void_p) -> None:
    """For another of its devices: the memory is where it was, and keeps its contents."""
    x = np.arange(2500, dtype=np.int32)
    assert hip.hipMemcpy(allocation, ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(10000), 1) == 0
    inside = ctypes.c_void_p(allocation.value + 400)
    handle = handle_of(hip, inside)
    assert hip.hipSetDevice(1) == 0
    first, second = ctypes.c_void_p(), ctypes.c_void_p()
    assert hip.hipIpcOpenMemHandle(ctypes.byref(first), handle, 1) == 0
    assert hip.hipIpcOpenMemHandle(ctypes.byref(second), handle, 0) == 0
    assert first.value == second.value == inside.value
    assert ctypes.string_at(allocation, 10000) == x.tobytes()
    for _ in range(2):
        assert hip.hipIpcCloseMemHandle(first) == 0
    assert hip.hipIpcCloseMemHandle(first) == INVALID_VALUE


def test_errors_of_memory_handles(hip: ctypes.CDLL, allocation: ctypes.c_void_p) -> None:
    handle, pointer = handle_of(hip, allocation), ctypes.c_void_p()
    host = ctypes.c_void_p()
    assert hip.hipHostMalloc(ctypes.byref(host), ctypes.c_size_t(64), 0) == 0
    for wrong in (None, host, ctypes.c_void_p(16)):
        assert hip.hipIpcGetMemHandle(ctypes.byref(Handle()), wrong) == INVALID_VALUE
    assert hip.hipIpcGetMemHandle(None, allocation) == INVALID_VALUE
    assert hip.hipIpcOpenMemHandle(None, handle, 1) == INVALID_VALUE
    assert hip.hipIpcOpenMemHandle(ctypes.byref(pointer), handle, 2) == INVALID_VALUE
    assert hip.hipIpcOpenMemHandle(ctypes.byref(pointer), Handle(), 1) == INVALID_HANDLE
    for position in range(0, 56, 8):  # no field can be changed so that it leads to something else
        damaged = bytearray(bytes(handle))
        damaged[position] ^= 0x55
        code = hip.hipIpcOpenMemHandle(ctypes.byref(pointer), Handle.from_buffer_copy(damaged), 1)
        if code == 0:  # another size or place within the same allocation
            assert position >= 40
            assert allocation.value <= pointer.value < allocation.value + 10000
            assert hip.hipIpcCloseMemHandle(pointer) == 0
    assert hip.hipIpcCloseMemHandle(allocation) == INVALID_VALUE
    assert hip.hipHostFree(host) == 0
    gone = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(gone), ctypes.c_size_t(64)) == 0
    stale = handle_of(hip, gone)
    assert hip.hipFree(gone) == 0
    assert hip.hipIpcOpenMemHandle(ctypes.byref(pointer), stale, 1) == INVALID_HANDLE


OTHER_PROCESS = """
import ctypes, sys
hip = ctypes.CDLL(sys.argv[1])
class Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]
def ok(code): assert code == 0, code
pointer, event, handles = ctypes.c_void_p(), ctypes.c_void_p(), (Handle(), Handle())
ok(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(5000)))
ok(hip.hipMemset(pointer, 7, ctypes.c_size_t(5000)))
ok(hip.hipEventCreateWithFlags(ctypes.byref(event), 6))
ok(hip.hipIpcGetMemHandle(ctypes.byref(handles[0]), pointer))
ok(hip.hipIpcGetEventHandle(ctypes.byref(handles[1]), event))
sys.stdout.buffer.write(b"".join(bytes(one) for one in handles)); sys.stdout.flush()
sys.stdin.read()
"""


class Attributes(ctypes.Structure):
    """hipPointerAttribute_t"""

    _fields_ = [
        ("type", ctypes.c_int), ("device", ctypes.c_int), ("device_pointer", ctypes.c_void_p),
        ("host_pointer", ctypes.c_void_p), ("is_managed", ctypes.c_int), ("flags", ctypes.c_uint),
    ]  # fmt: skip


def test_memory_of_another_process(hip: ctypes.CDLL) -> None:
    command = [sys.executable, "-c", OTHER_PROCESS, library_path()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        handles = process.stdout.read(128)
        memory, event = Handle.from_buffer_copy(handles), Handle.from_buffer_copy(handles, 64)
        pointer, known = ctypes.c_void_p(), ctypes.c_void_p()
        free = [ctypes.c_size_t(), ctypes.c_size_t()]
        assert hip.hipMemGetInfo(ctypes.byref(free[0]), None) == 0
        assert hip.hipIpcOpenMemHandle(ctypes.byref(pointer), memory, 1) == 0
        assert hip.hipMemGetInfo(ctypes.byref(free[1]), None) == 0
        assert free[0].value == free[1].value  # it is the other's memory
        assert ctypes.string_at(pointer, 5000) == b"\7" * 5000
        attributes = Attributes()
        assert hip.hipPointerGetAttributes(ctypes.byref(attributes), pointer) == 0
        assert (attributes.type, attributes.host_pointer) == (2, None)  # hipMemoryTypeDevice
        assert hip.hipFree(pointer) == INVALID_VALUE
        assert hip.hipMemset(pointer, 0, ctypes.c_size_t(5001)) == INVALID_VALUE  # behind the end
        assert hip.hipIpcOpenEventHandle(ctypes.byref(known), event) == 0
        for function in (hip.hipEventQuery, hip.hipEventSynchronize, hip.hipEventDestroy):
            assert function(known) == 0
        process.stdin.close()
        process.wait(timeout=600)
    assert ctypes.string_at(pointer, 5000) == b"\7" * 5000  # what is open stays
    assert hip.hipIpcCloseMemHandle(pointer) == 0
    assert hip.hipIpcOpenMemHandle(ctypes.byref(pointer), memory, 1) == INVALID_HANDLE
    assert hip.hipIpcOpenEventHandle(ctypes.byref(known), event) == INVALID_HANDLE


def test_events_that_can_be_shared(hip: ctypes.CDLL) -> None:
    event, timed, handle, elapsed = ctypes.c_void_p(), ctypes.c_void_p(), Handle(), ctypes.c_float()
    assert hip.hipEventCreateWithFlags(ctypes.byref(event), 4) == INVALID_VALUE  # without hipEventDisableTiming
    assert hip.hipEventCreateWithFlags(ctypes.byref(event), 8) == INVALID_VALUE
    assert hip.hipEventCreateWithFlags(ctypes.byref(event), 6) == 0
    assert hip.hipEventCreateWithFlags(ctypes.byref(timed), 0) == 0
    assert hip.hipIpcGetEventHandle(ctypes.byref(handle), event) == 0
    assert hip.hipIpcGetEventHandle(ctypes.byref(handle), timed) == INVALID_CONFIGURATION
    assert hip.hipIpcGetEventHandle(None, event) == INVALID_VALUE
    for one in (event, timed):
        assert hip.hipEventRecord(one, None) == 0
    assert hip.hipEventElapsedTime(ctypes.byref(elapsed), timed, event) == INVALID_HANDLE
    for one in (event, timed):
        assert hip.hipEventDestroy(one) == 0
    assert hip.hipIpcGetEventHandle(ctypes.byref(handle), event) == INVALID_HANDLE


class MultiDeviceLaunch(ctypes.Structure):
    """hipFunctionLaunchParams"""

    _fields_ = [
        ("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
        ("lds", ctypes.c_uint), ("stream", ctypes.c_void_p), ("arguments", ctypes.POINTER(ctypes.c_void_p)),
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["threads", "together"])
def test_kernels_of_two_devices_wait_for_each_other(
    hip: ctypes.CDLL, emulator: Emulator, compile_object: Callable[..., bytes], how: str
) -> None:
    """Peers in one process: from two threads, or by hipModuleLaunchCooperativeKernelMultiDevice."""
    words = 300
    values = np.random.default_rng(1).standard_normal((2, words)).astype(np.float32)
    out = np.zeros_like(values)
    flags = np.zeros((2, 2), np.uint32)
    kept: list[object] = []
    launches = (MultiDeviceLaunch * 2)()
    modules, streams = [], []
    for array in (values, out, flags):
        assert hip.hipHostRegister(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), 0) == 0
    table = (ctypes.c_uint64 * 4)(*(row.ctypes.data for row in (*values, *flags)))
    for rank, arch in enumerate(("gfx942", "gfx950")):
        assert hip.hipSetDevice(rank) == 0
        if rank == 0:
            assert hip.hipDeviceEnablePeerAccess(1, 0) == 0
        stream, function = ctypes.c_void_p(), ctypes.c_void_p()
        assert hip.hipStreamCreate(ctypes.byref(stream)) == 0
        modules.append(emulator.load(compile_object(SOURCE, arch), rank))
        emulator.call("hipModuleGetFunction", ctypes.byref(function), modules[-1]._handle, b"all_reduce")
        scalars = (ctypes.c_uint64(out[rank].ctypes.data), ctypes.c_int(words), ctypes.c_int(rank), ctypes.c_uint(1))
        arguments = (ctypes.c_void_p * 5)(*(ctypes.addressof(one) for one in (table, *scalars)))
        kept += [scalars, arguments]
        streams.append(stream)
        launches[rank] = MultiDeviceLaunch(function, (1, 1, 1), (64, 1, 1), 0, stream, arguments)
    codes = []
    if how == "threads":

        def launch(one: MultiDeviceLaunch) -> None:
            extents = (*one.grid, *one.block)
            codes.append(
                hip.hipModuleLaunchKernel(
                    ctypes.c_void_p(one.function), *extents, 0, ctypes.c_void_p(one.stream), one.arguments, None
                )
            )

        threads = [threading.Thread(target=launch, args=(one,)) for one in launches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(600)
    else:
        codes = [hip.hipModuleLaunchCooperativeKernelMultiDevice(launches, 2, 0)] * 2
        twice = (MultiDeviceLaunch * 2)(launches[0], launches[0])
        assert hip.hipModuleLaunchCooperativeKernelMultiDevice(twice, 2, 0) == 101  # hipErrorInvalidDevice
        assert hip.hipModuleLaunchCooperativeKernelMultiDevice(launches, 0, 0) == INVALID_VALUE
        # One that never comes: the other waits until its limit, and the call says so.
        emulator.set_instruction_limit(100000)
        assert hip.hipModuleLaunchCooperativeKernelMultiDevice(launches, 1, 0) == 0  # this round's flags are there
        flags[:] = 0
        assert hip.hipModuleLaunchCooperativeKernelMultiDevice(launches, 1, 0) in (LAUNCH_FAILURE, 702)
    assert codes == [0, 0]
    np.testing.assert_array_equal(out, np.broadcast_to(values[0] + values[1], out.shape))
    assert hip.hipSetDevice(0) == 0
    assert hip.hipDeviceDisablePeerAccess(1) == 0
    for stream in streams:
        assert hip.hipStreamDestroy(stream) == 0
    for module in modules:
        module.unload()
    for array in (values, out, flags):
        assert hip.hipHostUnregister(ctypes.c_void_p(array.ctypes.data)) == 0
