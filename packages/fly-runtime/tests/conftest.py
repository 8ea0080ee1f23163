# SPDX-License-Identifier: Apache-2.0
"""The tests run on a test double of the emulator's library; what needs another library runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import make_doubles as build

from flydsl import runtime

SETTINGS = ("FLYDSL_DEVICE", "FLYDSL_HIP_LIBRARY", "FLYDSL_CUDA_LIBRARY", "FLYDSL_EMU_DEVICES", "ROCM_PATH", "ARCH",
            "FLYDSL_GPU_ARCH", "HSA_OVERRIDE_GFX_VERSION", "FAKE_ARCHS", "FAKE_CAPABILITIES", "FLYDSL_RUNTIME_KIND",
            "FLYDSL_COMPILE_BACKEND")  # fmt: skip


# tvm-ffi imports torch wherever it is installed, which takes longer than all else that these processes do.
WITHOUT_TORCH = "import sys; sys.modules['torch'] = None\n"


def pytest_configure() -> None:
    # Before anything asks for a device: the choice is made once per process.
    for name in SETTINGS:
        os.environ.pop(name, None)


@pytest.fixture(scope="session")
def doubles() -> Iterator[Path]:
    """A folder with the test doubles: libhip.so, libhip_without_launch.so, libemulator.so and libcuda.so."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        build.fake_hip(path / "libhip.so")
        build.fake_hip(path / "libhip_without_launch.so", "-DNO_LAUNCH")
        build.fake_hip(path / "libemulator.so", "-DEMULATOR")
        build.fake_cuda(path / "libcuda.so")
        yield path


@pytest.fixture(scope="session")
def _chosen(doubles: Path) -> Path:
    """Choose the double of the emulator as this process's device library."""
    path = doubles / "libemulator.so"
    os.environ["FLYDSL_HIP_LIBRARY"] = str(path)
    try:
        assert runtime.current_device().kind == "emulator"
    finally:
        del os.environ["FLYDSL_HIP_LIBRARY"]
    return path


@pytest.fixture
def hip(_chosen: Path) -> build.Hip:
    """The double of the emulator, with an empty log."""
    library = build.Hip(_chosen)
    library.reset()
    return library


@pytest.fixture
def make(tmp_path: Path, hip: build.Hip) -> Callable[..., tuple[runtime.Artifact, build.Inside]]:
    """Builds and loads an artifact from its arguments: `make("add", [tensor("a")])`."""

    def build_and_load(
        name: str, arguments: list[dict[str, Any]], **members: Any
    ) -> tuple[runtime.Artifact, build.Inside]:
        path = build.artifact(tmp_path, build.note(name, arguments, **members))
        return runtime.load_artifact(path), build.Inside(path)

    return build_and_load


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python code, or a module with arguments, in a process of its own with some settings."""

    def run(code: str | list[str], **settings: str) -> subprocess.CompletedProcess[str]:
        command = ["-c", WITHOUT_TORCH + code] if isinstance(code, str) else code
        return subprocess.run(
            [sys.executable, *command],
            env={**os.environ, **settings, "PYTHONPATH": str(Path(__file__).parent)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
        )

    return run
