# SPDX-License-Identifier: Apache-2.0
"""Calls on hardware (a test double of HIP's library with two devices), each in a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import make_doubles as build
import pytest

Python = Callable[..., subprocess.CompletedProcess[str]]

PROLOGUE = """
import os, sys
import numpy as np
import make_doubles as build
from dlpack_tensors import CPU, CUDA, HIP, HIP_HOST, Tensor
from flydsl import runtime

hip = build.Hip(os.environ["FLYDSL_HIP_LIBRARY"])
f = runtime.load_artifact(os.environ["ARTIFACT"])
inside = build.Inside(os.environ["ARTIFACT"])
memory = np.zeros(64, np.float32)

def on(device, index=0):
    return Tensor(memory.ctypes.data, (4,), device=(device, index))

def refused(*arguments):
    try:
        f(*arguments)
    except ValueError as error:
        print(error)

hip.reset()
"""


@pytest.fixture
def run(python: Python, tmp_path: Path, doubles: Path) -> Callable[[str], str]:
    path = build.artifact(tmp_path, build.note("f", [build.tensor("a"), build.tensor("b"), build.scalar("n")]))

    def in_process(code: str) -> str:
        done = python(
            PROLOGUE + code,
            FLYDSL_HIP_LIBRARY=str(doubles / "libhip.so"),
            ARTIFACT=str(path),
            FAKE_ARCHS="gfx942:sramecc+:xnack-,gfx942",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return in_process


def test_host_memory_is_refused(run: Callable[[str], str]) -> None:
    assert run("refused(on(HIP), memory[:4], 1); refused(on(CPU), on(HIP), 1)").splitlines() == [
        "f(): argument 2 ('b'): expected a tensor on one of the 2 HIP devices, got one on the CPU",
        "f(): argument 1 ('a'): expected a tensor on one of the 2 HIP devices, got one on the CPU",
    ]


def test_mixed_devices_are_refused(run: Callable[[str], str]) -> None:
    assert run(
        "refused(on(HIP, 1), on(HIP, 0), 1); refused(on(CUDA), on(CUDA), 1); refused(on(HIP, 2), on(HIP), 1)"
    ) == (
        "f(): argument 2 ('b'): expected all tensors on one device (argument 1 ('a') is on HIP device 1), got a tensor "
        "on HIP device 0\n"
        "f(): argument 1 ('a'): expected a tensor on one of the 2 HIP devices, got one on CUDA device 0\n"
        "f(): argument 1 ('a'): expected a tensor on one of the 2 HIP devices, got one on HIP device 2\n"
    )


def test_pinned_host_memory_is_device_memory(run: Callable[[str], str]) -> None:
    assert "launch f_kernel_0 on 1" in run("f(on(HIP_HOST), on(HIP, 1), 1); print(hip.log())")


def test_device_of_the_tensors_is_current_for_the_call(run: Callable[[str], str]) -> None:
    lines = run("f(on(HIP, 1), on(HIP, 1), 1); f(on(HIP), on(HIP), 1); print(*hip.log(), sep='\\n')").splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "hipSetDevice 1",
        "hipModuleLoadData on 1",
        "launch f_kernel_0 on 1",
        "hipSetDevice 0",
        "hipModuleLoadData on 0",
        "launch f_kernel_0 on 0",
    ]


def test_device_is_restored_after_a_failure(run: Callable[[str], str]) -> None:
    code = """
hip.fail_next("hipModuleLaunchKernel")
try:
    f(on(HIP, 1), on(HIP, 1), 1)
except RuntimeError as error:
    print(error)
print(runtime.current_device().index)
runtime.set_current_device(1)
f(on(HIP, 0), on(HIP, 0), 1)
print(runtime.current_device().index)
"""
    assert run(code).splitlines() == [
        "f: kernel 'f_kernel_0' on device 1 (gfx942): hipModuleLaunchKernel failed: hipErrorLaunchFailure (719): "
        "unspecified launch failure",
        "0",
        "1",
    ]


def test_hidden_stream_is_the_frameworks_current_one(run: Callable[[str], str]) -> None:
    """tvm-ffi keeps it per device, and its callers set it from torch's current stream."""
    code = """
import ctypes, tvm_ffi
set_stream = ctypes.CDLL(None).TVMFFIEnvSetStream
set_stream.argtypes = [ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
inside.request.stream_slot = 5
set_stream(HIP, 1, 4711, None)
f(on(HIP, 1), on(HIP, 1), 1)
f(on(HIP, 0), on(HIP, 0), 1)
print(*(line.split()[-1] for line in hip.log() if line.startswith("launch")))
"""
    assert run(code) == "4711 0\n"


def test_current_device_is_shown(run: Callable[[str], str]) -> None:
    code = """
device = runtime.current_device()
print(device.name, device.arch, device.features, device.kind, device.emulated, device.compute_units, device.lds_bytes)
print(repr(device))
print(len(runtime.devices()), runtime.devices() is runtime.devices())
"""
    shown, text, count = run(code).splitlines()
    assert shown == "Fake Instinct 0 gfx942 ('sramecc+', 'xnack-') hip False 304 65536"
    assert text.startswith("<Device 0: Fake Instinct 0 (gfx942, hip, /")
    assert text.endswith("libhip.so)>")
    assert count == "2 True"
