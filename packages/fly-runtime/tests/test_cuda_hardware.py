# SPDX-License-Identifier: Apache-2.0
"""Calls on a real NVIDIA GPU: Hopper, with torch. Skipped elsewhere.

`tools/dev test --device cuda` brings the artifacts there (FLYDSL_TEST_ARTIFACTS); without them clang makes them.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import make_doubles as build
import pytest

from flydsl import runtime

torch: Any = pytest.importorskip("torch", reason="torch is not installed in this environment")


def _is_hopper() -> bool:
    return bool(torch.cuda.is_available() and torch.version.cuda and torch.cuda.get_device_capability() == (9, 0))


pytestmark = pytest.mark.skipif(not _is_hopper(), reason="there is no Hopper GPU (with a torch for CUDA)")


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Artifacts by name: doubles/cuda_kernels.c and doubles/tensor_map.ptx say what each does."""
    given = os.environ.get("FLYDSL_TEST_ARTIFACTS")
    if given is None:
        return build.cuda_artifacts(tmp_path_factory.mktemp("artifacts"))
    return {path.parent.name: path for path in Path(given).glob("*/*.so")}


@pytest.fixture
def load(paths: dict[str, Path]) -> Callable[[str], tuple[runtime.Artifact, build.Request]]:
    """An artifact and what its host function launches, with a grid for 1000 elements."""

    def loaded(name: str) -> tuple[runtime.Artifact, build.Request]:
        artifact = runtime.load_artifact(paths[name])
        request = build.Inside(paths[name]).request
        request.grid[:], request.block[:], request.cluster[:] = (16, 1, 1), (64, 1, 1), (1, 1, 1)
        request.shared, request.stream_slot, request.launches = 0, -1, 1
        return artifact, request

    return loaded


def operands(seed: int = 0) -> tuple[Any, Any, Any]:
    """Two random vectors, and a poisoned one for their sum."""
    torch.manual_seed(seed)
    a, b = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
    return a, b, torch.full((1000,), float("nan"), device="cuda")


def is_sum(a: Any, b: Any, c: Any) -> bool:
    return bool(torch.equal(c.double(), (a.double() + b.double()).float().double()))


def python(code: str, **settings: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_device_is_that_of_torch() -> None:
    device = runtime.current_device()
    properties = torch.cuda.get_device_properties(0)
    assert (device.kind, device.arch, device.name, device.compute_units, device.warp_size, device.lds_bytes) == (
        "cuda",
        "sm_90a",
        properties.name,
        properties.multi_processor_count,
        32,
        232448,
    )


def test_sum(load: Callable[[str], Any]) -> None:
    add, _ = load("add")
    a, b, c = operands()
    add(a, b, c, 777)
    assert is_sum(a[:777], b[:777], c[:777])
    assert torch.isnan(c[777:]).all()


def test_the_hosts_memory_is_refused(load: Callable[[str], Any]) -> None:
    add, _ = load("add")
    a, b, c = operands()
    with pytest.raises(
        ValueError, match=r"argument 2 \('b'\): expected a tensor on the one CUDA device, got one on the CPU"
    ):
        add(a, b.cpu(), c, 1000)
    assert torch.isnan(c).all()


def test_streams_are_those_of_torch(load: Callable[[str], Any]) -> None:
    """What is launched follows what torch has given the stream, and what torch gives it next follows that."""
    add, request = load("add")
    request.stream_slot = 4
    a, b, c = operands()
    side = torch.cuda.Stream()
    large = torch.randn(4096, 4096, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for _ in range(20):
            large = (large @ large).tanh()
        a += large[0, :1000]  # late
        add(a, b, c, 1000)
        total = c * 2
    side.synchronize()
    assert torch.equal(total, (a + b) * 2)


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_graphs(paths: dict[str, Path], tmp_path: Path, mode: str) -> None:
    """The first call of all, inside of a capture: loading the code is allowed there; replays see new values."""
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import make_doubles as build, torch
from flydsl import runtime
path = {str(paths["add"])!r}
add, request = runtime.load_artifact(path), build.Inside(path).request
request.grid[0], request.stream_slot = 16, 4
a, b = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
c = torch.full((1000,), float("nan"), device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, capture_error_mode={mode!r}):
    add(a, b, c, 1000)
torch.cuda.synchronize()
assert torch.isnan(c).all()
for _ in range(3):
    a.normal_()
    graph.replay()
    assert torch.equal(c, a + b)
print("good")
"""
    assert python(code) == "good\n"


def test_a_thread_without_a_context(load: Callable[[str], Any]) -> None:
    add, _ = load("add")
    a, b, c = operands()
    torch.cuda.synchronize()
    found: list[object] = []

    def work() -> None:
        add(a, b, c, 1000)
        buffer = runtime.DeviceBuffer(64)
        buffer.write(b"flydsl", 3)
        runtime.synchronize_device()
        found.append(buffer.read(3, 6))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [b"flydsl"]
    assert is_sum(a, b, c)


def test_without_torch(paths: dict[str, Path]) -> None:
    """The runtime alone: its own memory, addresses as arguments of the plain C convention."""
    code = f"""
import ctypes, struct, sys
sys.modules["torch"] = None
sys.path.insert(0, {str(Path(__file__).parent)!r})
import make_doubles as build
from flydsl import runtime
path = {str(paths["add"])!r}
runtime.load_artifact(path)
inside = build.Inside(path)
inside.request.grid[0] = 16
buffers = [runtime.DeviceBuffer(4000) for _ in range(3)]
for buffer in buffers[:2]:
    buffer.write(struct.pack("1000f", *range(1000)))
values = [ctypes.c_uint64(buffer.address) for buffer in buffers] + [ctypes.c_uint64(1000), ctypes.c_uint64(0)]
slots = (ctypes.c_void_p * 5)(*map(ctypes.addressof, values))
assert inside.call_slots("add", slots) == 0
runtime.synchronize()
assert list(struct.unpack("1000f", buffers[2].read())) == [2.0 * i for i in range(1000)]
print("good")
"""
    assert python(code) == "good\n"


@pytest.mark.parametrize("words", [64, 12_288, 12_289, 50_000])
def test_dynamic_shared_memory(load: Callable[[str], Any], words: int) -> None:
    """Up to 200 000 bytes of a block's 232 448."""
    reverse, request = load("reverse")
    request.grid[:], request.block[:], request.shared = (4, 1, 1), (256, 1, 1), 4 * words
    a = torch.randn(4, 50_000, device="cuda")
    flat = a.view(-1)[: 4 * words].view(4, words)
    expected = flat.flip(1).clone()
    reverse(a, words)
    assert torch.equal(flat, expected)
    request.shared = 232449
    with pytest.raises(ValueError, match="more than the 232448 that a workgroup may have on sm_90a"):
        reverse(a, words)
    assert reverse.max_active_blocks(0, 256, 100_000) == 2


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_clusters(load: Callable[[str], Any], size: int) -> None:
    cluster, request = load("cluster")
    request.grid[:], request.cluster[:] = (32, 1, 1), (size, 1, 1)
    seen = torch.full((64,), -1, dtype=torch.int32, device="cuda")
    cluster(seen)
    blocks = torch.arange(32, dtype=torch.int32)
    assert torch.equal(seen.cpu().view(32, 2), torch.stack([torch.full_like(blocks, size), blocks % size], 1))


def test_tensor_map(load: Callable[[str], Any]) -> None:
    box, request = load("map")
    request.grid[:] = (1, 1, 1)
    a, out = torch.randn(64, 32, device="cuda"), torch.full((8, 8), float("nan"), device="cuda")
    box(out, a)
    assert torch.equal(out, a[16:24, 8:16])


def test_what_kernels_print_and_assert(load: Callable[[str], Any], capsys: pytest.CaptureFixture[str]) -> None:
    speak, request = load("speak")
    request.grid[:], request.block[:] = (2, 1, 1), (32, 1, 1)
    a = torch.ones(1000, device="cuda")
    speak(a, 50)
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == sorted(f"block {i // 32} thread {i % 32}" for i in range(50))
    a[33] = -1
    with pytest.raises(runtime.LaunchError, match=r"kernel\.py:7: a\[33\] >= 0"):
        speak(a, 50)
    a[33] = 1
    speak(a, 50)  # the context lives


def test_ptx_that_the_driver_refuses(load: Callable[[str], Any]) -> None:
    broken, _ = load("broken")
    with pytest.raises(runtime.DeviceError, match=r"(?s)CUDA_ERROR_INVALID_PTX \(218\).*line \d+") as caught:
        broken(*operands(), 1000)
    assert not caught.value.launched


def test_memory_that_runs_out() -> None:
    with pytest.raises(runtime.OutOfMemoryError, match=r"cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY \(2\)"):
        runtime.DeviceBuffer(1 << 42)
    assert runtime.DeviceBuffer(64).read() == bytes(64)


def test_a_kernel_that_fails(paths: dict[str, Path]) -> None:
    code = f"""
import torch
from flydsl import runtime
wild = runtime.load_artifact({str(paths["wild"])!r})
try:
    wild(torch.zeros(1000, device="cuda"))
    runtime.synchronize()
except runtime.LaunchError as error:
    print(error.launched, error)
"""
    out = python(code)
    assert out.startswith("True ")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS (700)" in out
    assert "a new process is needed" in out


def test_doctor() -> None:
    out = python("from flydsl.runtime.__main__ import main; main(['doctor'])")
    assert "(CUDA's driver, for CUDA " in out
    assert "target   sm_90a" in out
    assert out.endswith("all is well\n")


def test_handle_of_a_module(paths: dict[str, Path]) -> None:
    """The handle of a loaded module is the driver's: it finds the kernel there."""
    artifact = runtime.load_artifact(paths["add"])
    module = artifact.load_module(0)
    function = ctypes.c_void_p()
    driver = ctypes.CDLL("libcuda.so.1")
    find = driver.cuModuleGetFunction
    find.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_char_p]
    assert find(ctypes.byref(function), module, b"add_kernel_0") == 0
    assert function.value
