# SPDX-License-Identifier: Apache-2.0
"""AMD's Python bindings of HIP (`hip-python`) on the emulator: structures, enumerations and calls as their headers have
them. It looks for `libamdhip64.so` as the dynamic linker does.

    LD_LIBRARY_PATH=... FLYDSL_EMU_DEVICES=gfx942,gfx950 python hip_python_client.py SCALE_HSACO

with a code object that holds `scale(float *x, float factor, int n)`.
"""

from __future__ import annotations

import ctypes
import pathlib
import sys
from typing import Any

import numpy as np
from hip import hip

IMAGE = pathlib.Path(sys.argv[1]).read_bytes()
TO_DEVICE, TO_HOST = hip.hipMemcpyKind.hipMemcpyHostToDevice, hip.hipMemcpyKind.hipMemcpyDeviceToHost
# Attributes whose name is not that of a property with a capital letter in front.
PROPERTY_OF = {
    "EccEnabled": "ECCEnabled", "KernelExecTimeout": "kernelExecTimeoutEnabled", "ComputeCapabilityMajor": "major",
    "ComputeCapabilityMinor": "minor", "MaxPitch": "memPitch", "MultiprocessorCount": "multiProcessorCount",
    "PciBusId": "pciBusID", "PciDeviceId": "pciDeviceID", "PciDomainId": "pciDomainID", "PciDomainID": "pciDomainID",
    "MaxRegistersPerBlock": "regsPerBlock", "MaxRegistersPerMultiprocessor": "regsPerMultiprocessor",
    "MaxSharedMemoryPerBlock": "sharedMemPerBlock", "TotalConstantMemory": "totalConstMem",
    "MaxSharedMemoryPerMultiprocessor": "maxSharedMemoryPerMultiProcessor", "IsLargeBar": "isLargeBar",
}  # fmt: skip
# They are no numbers, or no attributes.
NO_NUMBER = {"Luid", "Unused1", "Unused2", "Unused3", "Unused4", "Unused5", "HdpMemFlushCntl", "HdpRegFlushCntl"}


def ok(result: Any) -> Any:
    error, *values = result if isinstance(result, tuple) else (result,)
    if error != hip.hipError_t.hipSuccess:
        raise RuntimeError(str(error))
    return values[0] if len(values) == 1 else values


def devices() -> None:
    assert ok(hip.hipGetDeviceCount()) == 2
    for device, arch in ((0, b"gfx942"), (1, b"gfx950")):
        properties = hip.hipDeviceProp_t()
        ok(hip.hipGetDeviceProperties(properties, device))
        assert properties.gcnArchName == arch
        assert properties.warpSize == 64
        assert b"emulated" in properties.name
        compared = 0
        for attribute in hip.hipDeviceAttribute_t:
            name = attribute.name.removeprefix("hipDeviceAttribute")
            if name in NO_NUMBER or name.endswith(("Begin", "End")):
                continue
            value = ok(hip.hipDeviceGetAttribute(attribute, device))
            expected = getattr(properties, PROPERTY_OF.get(name, name[0].lower() + name[1:]), None)
            if isinstance(expected, int):
                assert value == min(expected, 2**31 - 1), (attribute.name, value, expected)
                compared += 1
        assert compared > 50
        assert ok(hip.hipDeviceGetAttribute(hip.hipDeviceAttribute_t.hipDeviceAttributeMaxBlockDimZ, device)) == 1024
    assert ok(hip.hipDeviceCanAccessPeer(0, 1)) == 1
    # HIP 10 gave the number of the place holder a name.
    named = [e for e in hip.hipError_t if e.name != "hipErrorTbd"]
    assert [e.name for e in named if e.name not in str(hip.hipGetErrorName(e))] == []


def memory() -> None:
    x = np.arange(1000, dtype=np.float32)
    for allocate, free in (
        (lambda: ok(hip.hipMalloc(x.nbytes)), hip.hipFree),
        (lambda: ok(hip.hipMallocManaged(x.nbytes, 1)), hip.hipFree),
        (lambda: ok(hip.hipHostMalloc(x.nbytes, 0)), hip.hipHostFree),
        (lambda: ok(hip.hipMallocAsync(x.nbytes, None)), lambda p: hip.hipFreeAsync(p, None)),
    ):
        pointer, back = allocate(), np.zeros_like(x)
        ok(hip.hipMemcpy(pointer, x, x.nbytes, TO_DEVICE))
        ok(hip.hipMemcpyAsync(back, pointer, x.nbytes, TO_HOST, None))
        assert (back == x).all()
        attributes = hip.hipPointerAttribute_t()
        ok(hip.hipPointerGetAttributes(attributes, pointer))
        assert attributes.device == 0
        ok(free(pointer))
    pool = ok(hip.hipDeviceGetDefaultMemPool(0))
    first = ok(hip.hipMallocFromPoolAsync(4096, pool, None))
    used = ctypes.c_uint64(0)
    ok(hip.hipMemPoolGetAttribute(pool, hip.hipMemPoolAttr.hipMemPoolAttrUsedMemCurrent, used))
    assert used.value == 4096
    ok(hip.hipFreeAsync(first, None))
    ok(hip.hipMemPoolGetAttribute(pool, hip.hipMemPoolAttr.hipMemPoolAttrUsedMemCurrent, used))
    assert used.value == 0
    ok(hip.hipHostRegister(x, x.nbytes, 0))
    ok(hip.hipHostUnregister(x))


def launches() -> None:
    module = ok(hip.hipModuleLoadData(IMAGE))
    kernel = ok(hip.hipModuleGetFunction(module, b"scale"))
    x = np.arange(100, dtype=np.float32)
    device, stream = ok(hip.hipMalloc(x.nbytes)), ok(hip.hipStreamCreate())
    start, stop = ok(hip.hipEventCreate()), ok(hip.hipEventCreate())
    arguments = (device, ctypes.c_float(2), ctypes.c_int(100))

    def launch() -> None:
        ok(hip.hipModuleLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, stream, None, arguments))

    ok(hip.hipMemcpy(device, x, x.nbytes, TO_DEVICE))
    ok(hip.hipEventRecord(start, stream))
    launch()
    ok(hip.hipEventRecord(stop, stream))
    ok(hip.hipEventSynchronize(stop))
    assert ok(hip.hipEventElapsedTime(start, stop)) > 0
    ok(hip.hipStreamBeginCapture(stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal))
    launch()
    graph = ok(hip.hipStreamEndCapture(stream))
    instance = ok(hip.hipGraphInstantiate(graph, None, 0))
    instance = instance[0] if isinstance(instance, list) else instance  # of some versions, with the node that failed
    for _ in range(3):
        ok(hip.hipGraphLaunch(instance, stream))
    back = np.zeros_like(x)
    ok(hip.hipMemcpy(back, device, x.nbytes, TO_HOST))
    assert (back == x * 16).all()
    assert ok(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(kernel, 64, 0)) > 0
    ok(hip.hipModuleUnload(module))
    ok(hip.hipFree(device))


if __name__ == "__main__":
    devices()
    memory()
    launches()
    print("all right")
