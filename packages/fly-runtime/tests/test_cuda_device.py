# SPDX-License-Identifier: Apache-2.0
"""Calls on NVIDIA GPUs (a test double of the CUDA driver's library with two devices), each in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import make_doubles as build
import pytest

Python = Callable[..., subprocess.CompletedProcess[str]]
Run = Callable[..., str]

PROLOGUE = """
import ctypes, os, shutil, sys, threading
import numpy as np
import make_doubles as build
from dlpack_tensors import CPU, CUDA, CUDA_HOST, HIP, MANAGED, Tensor
from flydsl import runtime
from flydsl.runtime import _library

cuda = build.Hip(os.environ["FLYDSL_CUDA_LIBRARY"])
f = runtime.load_artifact(os.environ["ARTIFACT"])
inside = build.Inside(os.environ["ARTIFACT"])
memory = np.zeros(64, np.float32)

def on(device, index=0):
    return Tensor(memory.ctypes.data, (4,), device=(device, index))

def failing(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        print(f"{type(error).__name__}, {getattr(error, 'launched', None)}: {error}")

def launches():
    return [line for line in cuda.log() if line.startswith("launch")]

cuda.reset()
"""

ARGUMENTS = [build.tensor("a"), build.tensor("b"), build.scalar("n")]
ASSERTION = {"kind": "assert", "format": "x > 0", "types": [], "where": "kernel.py:7"}
LAUNCH = "launch f_kernel_0 on 0: grid 1 1 1 block 64 1 1 cluster 1 1 1 shared 0 stream 0"


@pytest.fixture
def run(python: Python, tmp_path: Path, doubles: Path) -> Run:
    def in_process(
        code: str,
        *flags: str,
        archs: tuple[str, ...] = ("gfx942", "sm_90a", "sm_80"),
        library: str = "libcuda.so",
        **members: object,
    ) -> str:
        settings = {name: str(members.pop(name)) for name in list(members) if name.isupper()}
        path = build.artifact(tmp_path, build.note("f", ARGUMENTS, archs, **members), *flags)
        done = python(PROLOGUE + code, FLYDSL_CUDA_LIBRARY=str(doubles / library), ARTIFACT=str(path), **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return in_process


def test_a_call(run: Run) -> None:
    """The PTX of the device's architecture is loaded in the primary context, once, and launched there."""
    code = """
f(on(CUDA), on(CUDA), 1)
f(on(CUDA), on(CUDA), 1)
print(*cuda.log(), sep="\\n")
"""
    assert run(code).splitlines() == ["retain 0", "load on 0 in mode 2: object:sm_90a", LAUNCH, LAUNCH]


def test_current_device_is_shown(run: Run) -> None:
    code = """
device = runtime.current_device()
print(device.name, device.arch, device.features, device.kind, device.emulated, device.warp_size, device.compute_units,
      device.lds_bytes, device.max_threads, [one.arch for one in runtime.devices()])
print(repr(device).replace(os.environ["FLYDSL_CUDA_LIBRARY"], "LIBRARY"))
print(runtime.get_device_runtime().kind, runtime.get_device_runtime().device_count())
"""
    assert run(code).splitlines() == [
        "Fake H0 sm_90a () cuda False 32 132 232448 1024 ['sm_90a', 'sm_80']",
        "<Device 0: Fake H0 (sm_90a, cuda, LIBRARY)>",
        "cuda 2",
    ]


def test_target_is_that_of_the_device(python: Python, doubles: Path) -> None:
    code = "from flydsl.runtime import device; print(device.get_rocm_arch(), device.get_warp_size())"
    assert python(code, FLYDSL_CUDA_LIBRARY=str(doubles / "libcuda.so")).stdout == "sm_90a 32\n"


@pytest.mark.parametrize(
    ("capability", "archs", "loaded"),
    [
        ("90", ("sm_90a",), "sm_90a"),
        ("90", ("sm_80", "sm_90a"), "sm_80"),  # PTX of before, and the first that fits
        ("89", ("sm_90a", "sm_90", "sm_80"), "sm_80"),
        ("100", ("sm_90a", "sm_90"), "sm_90"),
        ("100", ("sm_90a", "gfx942"), None),
        ("80", ("sm_90", "sm_90a"), None),
    ],
)
def test_code_for_the_device(run: Run, capability: str, archs: tuple[str, ...], loaded: str | None) -> None:
    out = run(
        "failing(f, on(CUDA), on(CUDA), 1); print(*cuda.log(), sep='\\n')", archs=archs, FAKE_CAPABILITIES=capability
    )
    name = {"90": "sm_90a", "89": "sm_89", "100": "sm_100a", "80": "sm_80"}[capability]
    if loaded is None:
        text = f"f: the artifact has code for {', '.join(archs)}, but device 0 is {name}; compile it for {name}"
        assert out.startswith(f"DeviceError, False: {text}\n")
    else:
        assert f"object:{loaded}\n" in out
        assert LAUNCH in out


def test_machine_code_is_for_its_chip(run: Run) -> None:
    """Text that begins as an ELF file does; without a suffix it runs on chips of one generation."""
    code = "failing(f, on(CUDA), on(CUDA), 1); print(len(launches()))"
    flag = '-DCODE_OBJECTS={"sm_80", "\\177ELF", 4}, '
    for capability, count in (("86", 1), ("90", 0)):
        out = run(code, flag, FAKE_CAPABILITIES=capability)
        assert out.endswith(f"{count}\n"), out


def test_tensors_elsewhere_are_refused(run: Run) -> None:
    code = """
failing(f, on(CUDA), memory[:4], 1)
failing(f, on(HIP), on(CUDA), 1)
failing(f, on(CUDA), on(CUDA, 2), 1)
failing(f, on(CUDA, 1), on(CUDA, 0), 1)
print(cuda.log())
"""
    assert run(code).splitlines() == [
        "ValueError, False: f(): argument 2 ('b'): expected a tensor on one of the 2 CUDA devices, got one on the CPU",
        "ValueError, False: f(): argument 1 ('a'): expected a tensor on one of the 2 CUDA devices, got one on "
        "HIP device 0",
        "ValueError, False: f(): argument 2 ('b'): expected all tensors on one device (argument 1 ('a') is on "
        "CUDA device 0), got a tensor on CUDA device 2",
        "ValueError, False: f(): argument 2 ('b'): expected all tensors on one device (argument 1 ('a') is on "
        "CUDA device 1), got a tensor on CUDA device 0",
        "[]",
    ]


def test_memory_that_the_device_shares_with_the_host(run: Run) -> None:
    code = """
f(on(CUDA_HOST), on(CUDA, 1), 1)
f(on(MANAGED), on(CUDA_HOST), 1)
print(*(line.split(":")[0] for line in launches()), sep="\\n")
"""
    assert run(code).splitlines() == ["launch f_kernel_0 on 1", "launch f_kernel_0 on 0"]


def test_contexts_of_the_caller_are_as_before(run: Run) -> None:
    """None is current at first, as torch leaves a thread; one that is not the primary one has no module of ours."""
    code = """
def shown():
    f(on(CUDA, 1), on(CUDA, 1), 1)
    first = cuda.current()
    f(on(CUDA), on(CUDA), 1)
    print(first, cuda.current())

shown()
thread = threading.Thread(target=shown); thread.start(); thread.join()
cuda.fake_enter_own_context()
shown()
address = ctypes.c_void_p()
buffer = runtime.DeviceBuffer(64)
runtime.synchronize_device()
print(f.max_active_blocks(0, 64, 100), cuda.current())
runtime.set_current_device(1)
print(cuda.current(), runtime.current_device().index)
print(*sorted({line.split(":")[0] for line in launches()}), sep="\\n")
"""
    assert run(code).splitlines() == [
        "-1 0",  # device 0 is the one of a thread that has no context
        "-1 0",
        "-2 -2",
        "3 -2",
        "1 1",
        "launch f_kernel_0 on 0",
        "launch f_kernel_0 on 1",
    ]


def test_plain_c_calls_use_the_current_device(run: Run) -> None:
    code = """
values = [ctypes.c_uint64(memory.ctypes.data)] * 2
words = (ctypes.c_uint64 * 8)()
slots = (ctypes.c_void_p * 6)(*[ctypes.addressof(words)] * 6)
print(inside.call_slots("f", slots), cuda.current())
cuda.fake_leave_contexts()
runtime.set_current_device(1)
print(inside.call_slots("f", slots), cuda.current())
print(*launches(), sep="\\n")
"""
    assert run(code).splitlines() == ["0 0", "0 1", LAUNCH, LAUNCH.replace("on 0", "on 1")]


def test_hidden_stream_is_the_frameworks_current_one(run: Run) -> None:
    code = """
import tvm_ffi
set_stream = ctypes.CDLL(None).TVMFFIEnvSetStream
set_stream.argtypes = [ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
inside.request.stream_slot = 5
set_stream(CUDA, 1, 4711, None)
f(on(CUDA, 1), on(CUDA, 1), 1)
f(on(CUDA, 0), on(CUDA, 0), 1)
print(*(line.split()[-1] for line in launches()))
"""
    assert run(code) == "4711 0\n"


def test_shared_memory(run: Run) -> None:
    """What the code does not reserve of the kernel's need is asked for at each launch, beyond 48 KiB too."""
    kernels = [{"name": "f_kernel_0", "lds_bytes": 200_000}]
    code = """
inside.request.shared = 32
f(on(CUDA), on(CUDA), 1)
f.max_active_blocks(0, 64, 32)
inside.request.shared = 32449
failing(f, on(CUDA), on(CUDA), 1)
print(*(line for line in cuda.log() if "shared" in line or "occupancy" in line), sep="\\n")
"""
    refusal = (
        "ValueError, False: f: kernel 'f_kernel_0': LDS of 200000 static and 32449 dynamic bytes is more than "
        "the 232448 that a workgroup may have on sm_90a"
    )
    assert run(code, kernels=kernels).splitlines() == [
        refusal,
        LAUNCH.replace("shared 0", "shared 199008"),
        "occupancy of 64 threads and 199008 bytes",
    ]
    code = code.replace("32449", "32")
    lines = run(code, kernels=kernels, FAKE_STATIC_SHARED="200000").splitlines()
    assert lines[0] == LAUNCH.replace("shared 0", "shared 32")


def test_clusters(run: Run) -> None:
    code = """
inside.request.grid[:] = (8, 4, 1)
for cluster in ((2, 1, 1), (8, 2, 1), (3, 1, 1), (8, 4, 1), (0, 1, 1)):
    inside.request.cluster[:] = cluster
    failing(f, on(CUDA), on(CUDA), 1)
print(*launches(), sep="\\n")
"""
    assert run(code).splitlines() == [
        "ValueError, False: f: kernel 'f_kernel_0': grid (8, 4, 1) is no multiple of the cluster (3, 1, 1)",
        "ValueError, False: f: kernel 'f_kernel_0': cluster (8, 4, 1) is not of 1 to 16 blocks",
        "ValueError, False: f: kernel 'f_kernel_0': cluster (0, 1, 1) is not of 1 to 16 blocks",
        LAUNCH.replace("grid 1 1 1", "grid 8 4 1").replace("cluster 1 1 1", "cluster 2 1 1"),
        LAUNCH.replace("grid 1 1 1", "grid 8 4 1").replace("cluster 1 1 1", "cluster 8 2 1"),
    ]


def test_kernels_that_wait_by_themselves(run: Run) -> None:
    """They are launched so that they may begin while the launches before them end, from CUDA 12.3 on."""
    code = """
f(on(CUDA), on(CUDA), 1)
inside.request.grid[0] = inside.request.cluster[0] = 2
f(on(CUDA), on(CUDA), 1)
print(*(line for line in cuda.log() if line[:5] in ("launc", "progr")), sep="\\n")
"""
    kernels = [{"name": "f_kernel_0", "block": [64, 1, 1], "lds_bytes": 1024, "griddepcontrol_wait": True}]
    in_cluster = LAUNCH.replace("grid 1", "grid 2").replace("cluster 1", "cluster 2")
    assert run(code, kernels=kernels).splitlines() == ["programmatic 1", LAUNCH, "programmatic 1", in_cluster]
    assert run(code, kernels=kernels, FAKE_DRIVER_VERSION="12020").splitlines() == [LAUNCH, in_cluster]
    assert run(code).splitlines() == [LAUNCH, in_cluster]


def test_a_driver_without_clusters(run: Run, doubles: Path) -> None:
    build.fake_cuda(doubles / "libcuda_11.so", "-DNO_CLUSTERS")
    code = """
inside.request.cluster[0] = 2
inside.request.grid[0] = 2
failing(f, on(CUDA), on(CUDA), 1)
inside.request.cluster[0] = 1
f(on(CUDA), on(CUDA), 1)
print(len(launches()))
"""
    text, count = run(code, library="libcuda_11.so").splitlines()
    assert text.startswith("DeviceError, False: f: kernel 'f_kernel_0' on device 0 (sm_90a): ")
    assert "libcuda_11.so has no function cuLaunchKernelEx; the driver of CUDA 12 or newer is needed" in text
    assert count == "1"


def test_grid_limits_are_the_devices(run: Run) -> None:
    code = """
inside.request.grid[:] = (2**31 - 1, 1, 1)
f(on(CUDA), on(CUDA), 1)
inside.request.grid[:] = (1, 65536, 1)
failing(f, on(CUDA), on(CUDA), 1)
print(len(launches()))
"""
    assert run(code).splitlines() == [
        "ValueError, False: f: kernel 'f_kernel_0': grid (1, 65536, 1) of blocks (64, 1, 1) is beyond the "
        "device's limits of (2147483647, 65535, 65535) blocks",
        "1",
    ]


def test_ptx_that_the_driver_refuses(run: Run) -> None:
    code = """
cuda.fail_next("cuModuleLoadDataEx", 218)
failing(f, on(CUDA), on(CUDA), 1)
f(on(CUDA), on(CUDA), 1)
print(len(launches()), cuda.fake_capture_mode())
"""
    assert run(code).splitlines() == [
        "DeviceError, False: f: loading the sm_90a code object on device 0 (sm_90a): cuModuleLoadDataEx failed: "
        "CUDA_ERROR_INVALID_PTX (218): some failure",
        "ptxas application ptx input, line 7; error : Unknown symbol 'f00'",
        "1 0",
    ]


AHEAD = """
import time
runtime.set_current_device(0)
library = _library.load()
"""
NOTHING = "load on 0 in mode 2: .version 7.0"
LOADED = "load on 0 in mode 2: object:sm_90a"


def test_loading_ahead(run: Run) -> None:
    """Python goes on while a thread loads; the call waits for that, and loads nothing itself."""
    code = f"""{AHEAD}
started = time.monotonic()
runtime.load_artifact(os.environ["ARTIFACT"]).load_ahead()
print(time.monotonic() - started < 0.4, cuda.log())
f(on(CUDA), on(CUDA), 1)
print(time.monotonic() - started >= 0.5, *cuda.log(), sep="\\n")
"""
    assert run(code, FAKE_LOAD_MILLISECONDS=500).splitlines() == [
        "True ['retain 0']", "True", "retain 0", LOADED, LAUNCH,
    ]  # fmt: skip


def test_the_driver_s_compiler_is_loaded_once(run: Run) -> None:
    code = f"""{AHEAD}
runtime.load_driver_compiler()
runtime.load_driver_compiler()
library.flydsl_finish_loading()
print(*cuda.log(), sep="\\n")
"""
    lines = run(code).splitlines()
    assert lines[:2] == ["retain 0", NOTHING]
    assert sum(".version" in line for line in lines) == 1


def test_nothing_is_loaded_ahead_without_a_context(run: Run) -> None:
    """Neither before a device is used, nor in a thread that has none: making one takes a part of the GPU's memory."""
    code = """
library = _library.load()
def ahead():
    runtime.load_artifact(os.environ["ARTIFACT"]).load_ahead()
    runtime.load_driver_compiler()
    library.flydsl_finish_loading()
ahead()
runtime.set_current_device(0)
thread = threading.Thread(target=ahead)
thread.start()
thread.join()
print(cuda.log())
"""
    assert run(code) == "['retain 0']\n"


@pytest.mark.parametrize(
    "begin",
    [
        'runtime.load_artifact(os.environ["ARTIFACT"]).load_ahead()',
        'runtime.load_ptx_ahead("sm_90a", b"object:sm_90a")',
    ],
    ids=["artifact", "PTX"],
)
def test_what_fails_ahead_is_the_call_s(run: Run, begin: str) -> None:
    """One failure is mended by the call, which loads again; one that comes again is raised by it."""
    code = f"""{AHEAD}
def ahead():
    cuda.fail_next("cuModuleLoadDataEx", 218)
    {begin}
    library.flydsl_finish_loading()
ahead()
cuda.fail_next("cuModuleLoadDataEx", 218)
failing(f, on(CUDA), on(CUDA), 1)
ahead()
f(on(CUDA), on(CUDA), 1)
print(len(launches()))
"""
    first, *_, last = run(code).splitlines()
    assert first.startswith("DeviceError, False: f: loading the sm_90a code object on device 0 (sm_90a): ")
    assert last == "1"


def test_the_process_ends_behind_what_is_loaded_ahead(run: Run) -> None:
    """A driver that is at work while it is taken down crashes, so Python's end waits; a fork waits, too."""
    code = f"""{AHEAD}
import atexit
def loaded():
    print(len([line for line in cuda.log() if line.startswith("load")]), flush=True)
atexit.register(loaded)  # runs behind what is registered later
runtime.load_artifact(os.environ["ARTIFACT"]).load_ahead()
time.sleep(0.1)
child = os.fork()
if child == 0:
    f(on(CUDA), on(CUDA), 1)
    os._exit(len([line for line in cuda.log() if line.startswith("load")]))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.environ["FAKE_LOAD_MILLISECONDS"] = "300"
runtime.load_driver_compiler()
"""
    assert run(code, FAKE_LOAD_MILLISECONDS=500).splitlines() == ["1", "2"]


def test_ptx_is_loaded_before_its_artifact_is(run: Run) -> None:
    """Python goes on meanwhile; the artifact takes the module, and another one with the same code loads its own."""
    code = f"""{AHEAD}
started = time.monotonic()
runtime.load_ptx_ahead("sm_90a", b"object:sm_90a")
print(time.monotonic() - started < 0.4)
f(on(CUDA), on(CUDA), 1)
print(time.monotonic() - started >= 0.5, *cuda.log(), sep="\\n")
other = shutil.copy(os.environ["ARTIFACT"], os.environ["ARTIFACT"] + ".copy")
runtime.load_artifact(other)(on(CUDA), on(CUDA), 1)
print(*cuda.log()[3:], sep="\\n")
"""
    assert run(code, FAKE_LOAD_MILLISECONDS=500).splitlines() == [
        "True", "True", "retain 0", LOADED, LAUNCH, LOADED, LAUNCH,
    ]  # fmt: skip


def test_ptx_ahead_is_for_its_device_and_its_code(run: Run) -> None:
    """Code that differs at its end, or that was loaded on another device, is not taken for the artifact's."""
    code = f"""{AHEAD}
runtime.load_ptx_ahead("sm_90a", b"object:sm_90a ")
runtime.load_ptx_ahead("sm_90a", b"object:sm_90")
library.flydsl_finish_loading()
f(on(CUDA), on(CUDA), 1)
runtime.load_ptx_ahead("sm_90a", b"object:sm_90a")
library.flydsl_finish_loading()
f(on(CUDA, 1), on(CUDA, 1), 1)
print(*[line for line in cuda.log() if line.startswith(("load", "launch"))][2:], sep="\\n")
"""
    lines = run(code, FAKE_CAPABILITIES="90,90").splitlines()
    other = [line.replace("on 0", "on 1") for line in (LOADED, LAUNCH)]
    assert lines == [LOADED, LAUNCH, LOADED, *other]


def test_ptx_ahead_for_another_device_is_left_alone(run: Run) -> None:
    """The driver would refuse it; the call says what there is code for."""
    code = f"""{AHEAD}
for arch in ("sm_100a", "gfx942", ""):
    runtime.load_ptx_ahead(arch, b"object")
library.flydsl_finish_loading()
print(cuda.log())
"""
    assert run(code) == "['retain 0']\n"


def test_a_thread_that_cannot_begin_leaves_ptx_to_the_call(run: Run) -> None:
    """Without memory for a thread's stack nothing is ahead, and nobody waits for it."""
    code = f"""{AHEAD}
import resource
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), resource.RLIM_INFINITY))
runtime.load_ptx_ahead("sm_90a", b"object:sm_90a")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(cuda.log())
f(on(CUDA), on(CUDA), 1)
print(*cuda.log(), sep="\\n")
"""
    assert run(code).splitlines() == ["['retain 0']", "retain 0", LOADED, LAUNCH]


def test_a_fork_behind_ptx_ahead_waits_for_it_and_has_none(run: Run) -> None:
    """A child has no thread that would load, and modules of its parent are not its own."""
    code = f"""{AHEAD}
runtime.load_ptx_ahead("sm_90a", b"object:sm_90a")
time.sleep(0.1)
child = os.fork()
if child == 0:
    f(on(CUDA), on(CUDA), 1)
    os._exit(len([line for line in cuda.log() if line.startswith("load")]))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
f(on(CUDA), on(CUDA), 1)
print(len([line for line in cuda.log() if line.startswith("load")]))
"""
    assert run(code, FAKE_LOAD_MILLISECONDS=500).splitlines() == ["2", "1"]


def test_ptx_of_which_no_artifact_comes_is_forgotten(run: Run) -> None:
    """Its text, when many have come behind it."""
    code = f"""{AHEAD}
runtime.load_ptx_ahead("sm_90a", b"object:sm_90a")
for number in range(64):
    runtime.load_ptx_ahead("sm_90a", b"%d" % number)
library.flydsl_finish_loading()
f(on(CUDA), on(CUDA), 1)
print(sum(line == {LOADED!r} for line in cuda.log()))
"""
    assert run(code) == "2\n"


def test_classes_of_failures(run: Run) -> None:
    code = """
f(on(CUDA), on(CUDA), 1)
for function, error in (("cuLaunchKernel", 719), ("cuLaunchKernel", 2), ("cuLaunchKernel", 701)):
    cuda.fail_next(function, error)
    failing(f, on(CUDA), on(CUDA), 1)
cuda.fail_next("cuMemAlloc_v2", 2)
failing(runtime.DeviceBuffer, 64)
cuda.fail_next("cuStreamSynchronize", 719)
failing(runtime.synchronize)
print(len(launches()))
"""
    kept = "(CUDA keeps this failure: a new process is needed before the device can be used)"
    where = "f: kernel 'f_kernel_0' on device 0 (sm_90a)"
    failed = f"failed: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure {kept}"
    assert run(code).splitlines() == [
        f"LaunchError, True: {where}: cuLaunchKernel {failed}",
        f"OutOfMemoryError, True: {where}: cuLaunchKernel failed: CUDA_ERROR_OUT_OF_MEMORY (2): some failure",
        f"OutOfMemoryError, True: {where}: cuLaunchKernel failed: CUDA error (701): some failure",
        "OutOfMemoryError, False: cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY (2): some failure",
        f"LaunchError, True: cuStreamSynchronize {failed}",
        "4",
    ]


def test_what_kernels_say(run: Run) -> None:
    code = """
cuda.speak(1)
failing(f, on(CUDA), on(CUDA), 1)
inside.request.stream_slot = 5
import tvm_ffi
set_stream = ctypes.CDLL(None).TVMFFIEnvSetStream
set_stream.argtypes = [ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
set_stream(CUDA, 0, 4712, None)  # the double takes it for a stream under capture
cuda.speak(1)
cuda.reset()
f(on(CUDA), on(CUDA), 1)
print(cuda.log())
failing(runtime.synchronize)
"""
    failed = "LaunchError, True: kernel.py:7: x > 0"
    stream = LAUNCH.replace("stream 0", "stream 4712")
    assert run(code, messages=[ASSERTION]).splitlines() == [failed, f"['{stream}']", failed]


def test_memory_and_copies(run: Run) -> None:
    code = """
buffer = runtime.DeviceBuffer(1000)
buffer.write(b"flydsl", 5)
print(buffer.read(0, 12), buffer.device)
runtime.set_current_device(1)
print(runtime.DeviceBuffer(8).device)
"""
    assert run(code) == "b'\\x00\\x00\\x00\\x00\\x00flydsl\\x00' 0\n1\n"


def test_tensor_maps(run: Run, tmp_path: Path, python: Python, doubles: Path) -> None:
    boxes = [
        build.tensor("out", shape=(8, 8), stride=(8, 1)),
        build.tensor("a", shape=(64, 32), stride=(32, 1)),
    ]
    path = build.artifact(tmp_path, build.note("map", boxes, ("sm_90a", "gfx942")), "-DTENSOR_MAP")
    code = """
f = runtime.load_artifact(os.environ["MAP"])
rows = ctypes.c_uint32.in_dll(ctypes.CDLL(os.environ["MAP"]), "box_rows")
tensors = [Tensor(memory.ctypes.data, shape, device=(CUDA, 0)) for shape in ((8, 8), (64, 32))]
f(*tensors)
print(*(line for line in cuda.log() if line.startswith("map")))
rows.value = 257
failing(f, *tensors)
print(len(launches()))
"""
    lines = run(code, MAP=str(path)).splitlines()
    assert lines[0] == "map type 7 rank 2: dims 32 64 stride 128 box 8 8 steps 1 1 options 0 0 0 0"
    assert lines[1].startswith("ValueError, False: map: cuTensorMapEncodeTiled failed: CUDA_ERROR_INVALID_VALUE")
    assert lines[2].startswith(
        "of the tensor map of extents (32, 64) and strides in bytes (128), in boxes of (8, 257). "
    )
    assert lines[3] == "1"
    code = """
import numpy as np
from flydsl import runtime
try:
    runtime.load_artifact(PATH)(np.zeros((8, 8), np.float32), np.zeros((64, 32), np.float32))
except runtime.DeviceError as error:
    print(error)
""".replace("PATH", repr(str(path)))
    out = python(code, FLYDSL_HIP_LIBRARY=str(doubles / "libemulator.so")).stdout
    assert out.startswith("map: a tensor map is for a CUDA device, but device 0 (gfx942, emulated) is served by ")


SWEEP = """
search = 0
while True:
    search += 1
    cuda.fail_nth(search)
    try:
        runtime.devices()
        break
    except runtime.DeviceError as error:
        assert "cu" in str(error), error
cuda.reset()
outcomes = set()
number = 0
while True:
    number += 1
    path = shutil.copy(os.environ["ARTIFACT"], f"copy{number}.so")
    def one():
        g = runtime.load_artifact(path)
        cuda.reset()
        cuda.fail_nth(number, 2 if number % 2 else 1)
        try:
            g(on(CUDA, 1), on(CUDA, 1), 1)
            outcomes.add("")
        except (runtime.DeviceError, MemoryError) as error:
            outcomes.add(type(error).__name__)
        finished[0] = not cuda.fail_nth(0)
        assert len(launches()) <= 1, cuda.log()
        assert cuda.current() in (-1, 1), cuda.current()  # 1: the driver refused to give the context back
        cuda.fake_leave_contexts()
        cuda.reset()
        g(on(CUDA, 1), on(CUDA, 1), 1)
        assert len(launches()) == 1 and cuda.current() == -1 and cuda.fake_capture_mode() == 0
    finished = [None]
    thread = threading.Thread(target=one); thread.start(); thread.join()
    assert finished[0] is not None, number
    if finished[0]:
        break
print(search > 30, number > 15, sorted(outcomes))
"""


def test_each_call_of_the_driver_fails_in_turn(run: Run) -> None:
    """From the search for devices to the reading of messages: nothing is launched twice, and the next call works."""
    assert run(SWEEP, messages=[ASSERTION]) == "True True ['', 'DeviceError', 'LaunchError', 'OutOfMemoryError']\n"


def test_doctor(python: Python, doubles: Path) -> None:
    library = str(doubles / "libcuda.so")
    done = python(["-m", "flydsl.runtime", "doctor"], FLYDSL_CUDA_LIBRARY=library)
    assert done.returncode == 0, done.stdout
    assert f"in use   {library} (CUDA's driver, for CUDA 13.0)" in done.stdout
    assert "Fake H0, sm_90a, 132 multiprocessors, warps of 32, 16.0 GiB, 227 KiB shared memory per block" in done.stdout
    assert "target   sm_90a" in done.stdout
    report = json.loads(python(["-m", "flydsl.runtime", "doctor", "--json"], FLYDSL_CUDA_LIBRARY=library).stdout)
    assert (report["problems"], report["device"]["kind"], report["device"]["version"]) == ([], "cuda", "13.0")


def test_choice_of_the_library(python: Python, tmp_path: Path, doubles: Path) -> None:
    """By itself: HIP, then CUDA, then the emulator; a target of one vendor leaves the other out."""
    (tmp_path / "lib").mkdir()
    shutil.copy(doubles / "libcuda.so", tmp_path / "lib" / "libcuda.so.1")
    code = """
import json, sys
from flydsl.runtime import _library, hardware
_library._emulator_library = lambda: EMULATOR
try:
    report = hardware.describe()
except ValueError as error:
    print(error)
    sys.exit()
print(report["kind"], json.dumps(report["attempts"]))
""".replace("EMULATOR", repr(str(doubles / "libemulator.so")))

    def kind(**settings: str) -> str:
        return python(code, **{"LD_LIBRARY_PATH": str(tmp_path / "lib"), **settings}).stdout.split(" [")[0].strip()

    assert kind() == "cuda"
    assert kind(FLYDSL_DEVICE="cuda") == kind(FLYDSL_DEVICE="CUDA", FLYDSL_GPU_ARCH="gfx942") == "cuda"
    assert kind(FLYDSL_DEVICE="hip") == "None"
    assert kind(FLYDSL_DEVICE="emulator") == "emulator"
    assert kind(FLYDSL_GPU_ARCH="gfx950") == kind(ARCH="gfx942") == "emulator"
    assert kind(FLYDSL_GPU_ARCH="sm_90a") == "cuda"
    assert kind(FAKE_CAPABILITIES="") == "emulator"
    assert kind(FAKE_CAPABILITIES="", FLYDSL_GPU_ARCH="sm_90a") == "None"
    hip, cuda = str(doubles / "libhip.so"), str(doubles / "libcuda.so")
    assert kind(FLYDSL_HIP_LIBRARY=hip) == "hip"
    assert kind(FLYDSL_HIP_LIBRARY=hip, FLYDSL_DEVICE="cuda", FLYDSL_CUDA_LIBRARY=cuda) == "cuda"
    assert kind(FLYDSL_HIP_LIBRARY=hip, FLYDSL_DEVICE="hip", FLYDSL_CUDA_LIBRARY=cuda) == "hip"
    both = kind(FLYDSL_HIP_LIBRARY=hip, FLYDSL_CUDA_LIBRARY=cuda)
    assert both.startswith("FLYDSL_HIP_LIBRARY and FLYDSL_CUDA_LIBRARY are both set: FLYDSL_DEVICE=hip or FLYDSL_DEVI")
    shown = python(code, FLYDSL_CUDA_LIBRARY=hip).stdout
    assert "opened, but it is no CUDA driver: it exports no cuInit and cuDeviceGetCount" in shown
