# SPDX-License-Identifier: Apache-2.0
"""The HIP C API as a client sees it that knows nothing of the emulator: plain ctypes, ROCm 6's structures."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator.device import Emulator, Module

DATA = Path(__file__).parent / "data"
SOURCE = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()


@pytest.fixture
def hip(emulator: Emulator) -> ctypes.CDLL:
    emulator.call("hipSetDevice", 0)
    return emulator.library


def ok(code: int) -> None:
    assert code == 0


def test_devices(hip: ctypes.CDLL) -> None:
    count, major, attribute = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    ok(hip.hipInit(0))
    ok(hip.hipGetDeviceCount(ctypes.byref(count)))
    assert count.value == 2
    ok(hip.hipDeviceComputeCapability(ctypes.byref(major), ctypes.byref(attribute), 1))
    assert (major.value, attribute.value) == (9, 5)
    ok(hip.hipDeviceGetAttribute(ctypes.byref(attribute), 87, 0))  # hipDeviceAttributeWarpSize
    assert attribute.value == 64
    name = ctypes.create_string_buffer(256)
    ok(hip.hipDeviceGetName(name, 256, 0))
    assert b"(emulated)" in name.value
    assert hip.hipSetDevice(7) == 101  # hipErrorInvalidDevice


def test_memory_round_trip(hip: ctypes.CDLL) -> None:
    pointer, size = ctypes.c_void_p(), ctypes.c_size_t()
    x, y = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
    ok(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(4000)))
    assert pointer.value % 256 == 0
    ok(hip.hipMemcpy(pointer, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(4000), 1))
    ok(hip.hipMemsetD32(ctypes.c_void_p(pointer.value + 400), 7, ctypes.c_size_t(10)))
    ok(hip.hipMemcpyDtoH(y.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(4000)))
    x[100:110] = 7
    np.testing.assert_array_equal(x, y)
    base = ctypes.c_void_p()
    inside = ctypes.c_void_p(pointer.value + 123)
    ok(hip.hipMemGetAddressRange(ctypes.byref(base), ctypes.byref(size), inside))
    assert (base.value, size.value) == (pointer.value, 4000)
    assert hip.hipFree(inside) == 1
    ok(hip.hipFree(pointer))
    assert hip.hipFree(pointer) == 1


def test_launch_with_parameters_and_with_extra(hip: ctypes.CDLL, compile_object: Callable[..., bytes]) -> None:
    module, function, pointer = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    ok(hip.hipModuleLoadData(ctypes.byref(module), compile_object(SOURCE, "gfx942")))
    ok(hip.hipModuleGetFunction(ctypes.byref(function), module, b"vector_add"))
    ok(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(3 * 1024)))
    a, b, c = (ctypes.c_void_p(pointer.value + 1024 * i) for i in range(3))
    ones = np.ones(256, np.float32)
    for target in (a, b):
        ok(hip.hipMemcpyHtoD(target, ones.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(1024)))
    n, result = ctypes.c_int(256), np.zeros(256, np.float32)
    parameters = (ctypes.c_void_p * 4)(*(ctypes.addressof(v) for v in (a, b, c, n)))
    stream, start, stop, elapsed = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
    ok(hip.hipStreamCreate(ctypes.byref(stream)))
    ok(hip.hipEventCreate(ctypes.byref(start)))
    ok(hip.hipEventCreate(ctypes.byref(stop)))
    ok(hip.hipEventRecord(start, stream))
    ok(hip.hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, stream, parameters, None))
    ok(hip.hipEventRecord(stop, stream))
    ok(hip.hipEventElapsedTime(ctypes.byref(elapsed), start, stop))
    assert elapsed.value > 0
    ok(hip.hipMemcpyDtoH(result.ctypes.data_as(ctypes.c_void_p), c, ctypes.c_size_t(1024)))
    assert (result == 2).all()
    # The same from one packed buffer: c, b -> a.
    packed = b"".join(bytes(v) for v in (c, b, a)) + bytes(n)
    buffer, size = ctypes.create_string_buffer(packed, len(packed)), ctypes.c_size_t(len(packed))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
    ok(hip.hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, stream, None, extra))
    ok(hip.hipMemcpyDtoH(result.ctypes.data_as(ctypes.c_void_p), a, ctypes.c_size_t(1024)))
    assert (result == 3).all()
    blocks = ctypes.c_int()
    ok(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(blocks), function, 256, ctypes.c_size_t(0)))
    assert blocks.value == 8
    ok(hip.hipStreamDestroy(stream))
    assert hip.hipStreamDestroy(stream) == 400  # hipErrorInvalidHandle
    ok(hip.hipEventDestroy(start))
    ok(hip.hipEventDestroy(stop))
    ok(hip.hipFree(pointer))
    ok(hip.hipModuleUnload(module))
    assert hip.hipModuleUnload(module) == 400


def test_offload_bundles(emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    image = compile_object(SOURCE, "gfx942")
    triple = b"hipv4-amdgcn-amd-amdhsa--gfx942"
    host = b"host-x86_64-unknown-linux-gnu-"
    header = b"__CLANG_OFFLOAD_BUNDLE__" + (2).to_bytes(8, "little")
    offset = 4096
    for size, name in ((0, host), (len(image), triple)):
        header += b"".join(v.to_bytes(8, "little") for v in (offset, size, len(name))) + name
    bundle = header.ljust(offset, b"\0") + image
    module = emulator.load(bundle)
    module.kernel("vector_add")
    module.unload()


def test_peer_access(hip: ctypes.CDLL) -> None:
    can = ctypes.c_int()
    ok(hip.hipDeviceCanAccessPeer(ctypes.byref(can), 0, 1))
    assert can.value == 1
    ok(hip.hipDeviceEnablePeerAccess(1, 0))
    assert hip.hipDeviceEnablePeerAccess(1, 0) == 704
    ok(hip.hipDeviceDisablePeerAccess(1))
    assert hip.hipDeviceDisablePeerAccess(1) == 705


def test_registrations_are_counted_and_may_overlap(emulator: Emulator) -> None:
    x = np.zeros(100, np.int32)
    first = ctypes.c_void_p(x.ctypes.data)
    for bytes_ in (400, 400, 100):
        emulator.call("flyemu_register_memory", first, ctypes.c_size_t(bytes_), 0, b"x")
    for _ in range(3):
        emulator.call("flyemu_unregister_memory", first)
    with pytest.raises(Exception, match="no registration begins there"):
        emulator.call("flyemu_unregister_memory", first)


def test_fidelity_says_what_is_no_matter_of_an_opcode(
    build: Callable[..., Module], emulator: Emulator, arch: str
) -> None:
    x = np.ones(64, np.float32)
    y = np.zeros_like(x)
    build(SOURCE, arch).kernel("vector_add")(1, 64, x, x, y, 64)
    fidelity = emulator.fidelity()
    assert "global_load_dword" in fidelity["exact"]
    model = {part["what"]: part for part in fidelity["model"]}
    assert model["modes"]["fidelity"] == "exact"
    assert "f32 rounds to nearest, denormals kept" in model["modes"]["how"]
    assert model["memory"]["fidelity"] == model["waits"]["fidelity"] == "assumed"
    assert not {"lds", "atomics", "time", "scratch"} & set(model)
    row = np.zeros(700, np.float32)
    build(SOURCE, arch).kernel("softmax_f32")(1, 256, row, row.copy(), 700, 700)
    assert {"lds", "order"} <= {part["what"] for part in emulator.fidelity()["model"]}


ATTRIBUTES = {
    "warpSize": 87, "major": 23, "minor": 61, "multiProcessorCount": 63, "maxThreadsPerBlock": 56,
    "maxThreadsPerMultiProcessor": 57, "regsPerBlock": 71, "sharedMemPerBlock": 74, "clockRate": 5,
    "memoryClockRate": 60, "memoryBusWidth": 59, "l2CacheSize": 19, "totalConstMem": 83, "managedMemory": 24,
    "pciBusID": 67, "cooperativeLaunch": 10, "maxSharedMemoryPerMultiProcessor": 10002,
}  # fmt: skip
# Where ROCm 5's structure has them, in bytes; the rest of these begins with the name.
OLDER_LAYOUT = {
    "warpSize": 276, "major": 328, "minor": 332, "multiProcessorCount": 336, "l2CacheSize": 340,
    "maxThreadsPerBlock": 280, "regsPerBlock": 272, "clockRate": 308, "memoryClockRate": 312, "memoryBusWidth": 316,
}  # fmt: skip


def test_attributes_and_the_older_properties_agree(hip: ctypes.CDLL) -> None:
    """The numbers of hipDeviceAttribute_t and the layout of ROCm 5, which AMD's headers have."""
    properties = ctypes.create_string_buffer(792)
    ok(hip.hipGetDeviceProperties(properties, 0))
    assert properties.raw.startswith(b"AMD Instinct")
    assert b"gfx942\0" in properties.raw
    value = ctypes.c_int()
    values = {}
    for name, number in ATTRIBUTES.items():
        ok(hip.hipDeviceGetAttribute(ctypes.byref(value), number, 0))
        values[name] = value.value
    assert (values["warpSize"], values["major"], values["minor"]) == (64, 9, 4)
    assert values["maxThreadsPerBlock"] == 1024
    assert values["sharedMemPerBlock"] == 65536
    for name, at in OLDER_LAYOUT.items():
        assert int.from_bytes(properties.raw[at : at + 4], "little") == values[name], name
    assert hip.hipDeviceGetAttribute(ctypes.byref(value), 64, 0) != 0  # no number


def test_memory_pools(hip: ctypes.CDLL) -> None:
    pool, memory, used = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    ok(hip.hipDeviceGetDefaultMemPool(ctypes.byref(pool), 0))
    for size, expected in ((1000, 1000), (0, 0)):
        if size:
            ok(hip.hipMallocFromPoolAsync(ctypes.byref(memory), ctypes.c_size_t(size), pool, None))
        else:
            ok(hip.hipFreeAsync(memory, None))
        ok(hip.hipMemPoolGetAttribute(pool, 7, ctypes.byref(used)))  # hipMemPoolAttrUsedMemCurrent
        assert used.value == expected
    assert hip.hipMemPoolDestroy(pool) != 0  # a device keeps its own
    assert hip.hipMemPoolTrimTo(ctypes.c_void_p(0x1230), ctypes.c_size_t(0)) != 0


def test_copies_in_three_dimensions(hip: ctypes.CDLL) -> None:
    source = np.arange(4 * 5 * 6, dtype=np.uint8).reshape(4, 5, 6)
    target = np.zeros((3, 4, 8), np.uint8)
    fields = [  # hipMemcpy3DParms: array, position, (pointer, pitch, width, height), the same again, extent, kind
        0, 1, 2, 1, source.ctypes.data, 6, 6, 5,
        0, 0, 0, 0, target.ctypes.data, 8, 8, 4,
        3, 2, 2, 3,
    ]  # fmt: skip
    parameters = (ctypes.c_uint64 * len(fields))(*fields)
    ok(hip.hipMemcpy3D(parameters))
    assert (target[:2, :2, :3] == source[1:3, 2:4, 1:4]).all()
    assert target.sum() == source[1:3, 2:4, 1:4].sum()
    fields[0] = source.ctypes.data  # an array
    assert hip.hipMemcpy3D((ctypes.c_uint64 * len(fields))(*fields)) == 801
