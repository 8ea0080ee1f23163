# SPDX-License-Identifier: Apache-2.0
"""Real code objects on the real emulator, each test in a process of its own. Skipped where fly-emulator isn't."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import make_doubles as build
import pytest

Python = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("flydsl.emulator") is None, reason="the wheel fly-emulator is not installed"
    ),
    pytest.mark.skipif(shutil.which("clang-22") is None, reason="clang-22 is not installed"),
]

PROLOGUE = """
import sys
sys.modules["torch"] = None  # as in conftest.py
import numpy as np
from flydsl import runtime
add = runtime.load_artifact(sys.argv[1])
rng = np.random.default_rng(0)
a, b = rng.normal(size=1000).astype(np.float32), rng.normal(size=1000).astype(np.float32)
c = np.zeros(1000, np.float32)
"""


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build.vector_add(tmp_path_factory.mktemp("emulated"))


@pytest.fixture
def run(python: Python, artifact: Path) -> Callable[..., str]:
    def in_process(code: str, **settings: str) -> str:
        done = python(["-c", PROLOGUE + code, str(artifact)], **{"FLYDSL_DEVICE": "emulator", **settings})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return in_process


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("name", ["ARCH", "FLYDSL_GPU_ARCH", "FLYDSL_EMU_DEVICES"])
def test_result(run: Callable[..., str], arch: str, name: str) -> None:
    code = """
add(a, b, c, 1000)
print(runtime.current_device().arch, runtime.current_device().emulated, np.array_equal(c, a + b))
"""
    assert run(code, **{name: arch}) == f"{arch} True True\n"


def test_any_size(run: Callable[..., str]) -> None:
    code = """
for n in (0, 1, 63, 64, 65, 1000):
    c[:] = -1
    add(a, b, c, n)
    assert np.array_equal(c[:n], (a + b)[:n]) and (c[n:] == -1).all(), n
"""
    run(code)


def test_views(run: Callable[..., str]) -> None:
    code = """
base = np.zeros(100, np.float32)
add(a[3:53], b[10:60], base[25:75], 50)
assert np.array_equal(base[25:75], a[3:53] + b[10:60])
assert not base[:25].any() and not base[75:].any()
"""
    run(code)


def test_read_only_inputs(run: Callable[..., str]) -> None:
    code = """
a.flags.writeable = False
add(a, b, c, 1000)
assert np.array_equal(c, a + b)
"""
    run(code)


@pytest.mark.parametrize(("arguments", "tensor"), [("a[:999], b, c, 1000", "a"), ("a, b, c[:900], 1000", "c")])
def test_n_larger_than_a_tensor(run: Callable[..., str], arguments: str, tensor: str) -> None:
    """The report names the kernel, the tensor and the line; the process lives on and the next call works."""
    code = f"""
try:
    add({arguments})
except RuntimeError as error:
    print(error)
add(a, b, c, 1000)
assert np.array_equal(c, a + b)
"""
    text = run(code)
    assert text.startswith("vector_add: kernel 'vector_add_kernel_0' on device 0 (gfx942, emulated): ")
    assert "vector_add_kernel.c:1" in text
    assert f"'{tensor}'" in text or f" {tensor} " in text or f"{tensor}[" in text


def test_negative_n(run: Callable[..., str]) -> None:
    code = """
try:
    add(a, b, c, -1000)
except ValueError as error:
    print(error)
"""
    assert run(code) == "vector_add: kernel 'vector_add_kernel_0': grid (-14, 1, 1) has a negative extent\n"


def test_two_devices(run: Callable[..., str]) -> None:
    code = """
for index, device in enumerate(runtime.devices()):
    runtime.set_current_device(index)
    c[:] = 0
    add(a, b, c, 1000)
    print(runtime.current_device().index, device.arch, np.array_equal(c, a + b))
"""
    assert run(code, FLYDSL_EMU_DEVICES="gfx942,gfx950") == "0 gfx942 True\n1 gfx950 True\n"


def test_no_code_for_the_device(python: Python, tmp_path: Path) -> None:
    path = build.vector_add(tmp_path, ("gfx942",))
    done = python(["-c", PROLOGUE + "add(a, b, c, 1000)", str(path)], FLYDSL_DEVICE="emulator", ARCH="gfx950")
    assert "vector_add: the artifact has code for gfx942, but device 0 is gfx950" in done.stderr


def test_many_threads(run: Callable[..., str]) -> None:
    """Some threads share inputs, so that memory is registered more than once at a time."""
    code = """
from concurrent.futures import ThreadPoolExecutor
def work(number):
    result = np.zeros(1000, np.float32)
    for n in range(number, 200 + number):
        add(a, b[number:], result, n)
        assert np.array_equal(result[:n], a[:n] + b[number:][:n])
    return number
with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(work, range(8))))
"""
    assert run(code) == "28\n"


def test_doctor(python: Python) -> None:
    done = python(["-m", "flydsl.runtime", "doctor", "--json"], FLYDSL_DEVICE="emulator")
    report = json.loads(done.stdout)
    assert (done.returncode, report["problems"], report["device"]["kind"]) == (0, [], "emulator")


def test_cpp_program(tmp_path: Path, artifact: Path) -> None:
    """Without Python, the emulator is found beside the runtime."""
    program = build.cpp_program(tmp_path, Path(shutil.copy(artifact, tmp_path)))
    done = subprocess.run([program], env={**os.environ, "FLYDSL_DEVICE": "emulator"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("0 of 1000 wrong\n")
    assert json.loads(done.stdout.splitlines()[0])["kind"] == "emulator"
