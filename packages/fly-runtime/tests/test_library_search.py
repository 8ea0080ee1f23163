# SPDX-License-Identifier: Apache-2.0
"""Finding a device library: each step, each setting, and what is said about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import make_doubles as build
import pytest

Python = Callable[..., subprocess.CompletedProcess[str]]

SHOW = "import json; from flydsl.runtime import hardware; print(json.dumps(hardware.describe()))"
# A process in which fly-emulator is not installed, as the machine may have it.
WITHOUT_EMULATOR = "from flydsl.runtime import _library; _library._emulator_library = lambda: None\n"


def describe(python: Python, **settings: str) -> dict[str, Any]:
    done = python(SHOW, **settings)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture
def rocm(tmp_path: Path, doubles: Path) -> Path:
    """A ROCm installation with a HIP library of version 6."""
    (tmp_path / "rocm" / "lib").mkdir(parents=True)
    shutil.copy(doubles / "libhip.so", tmp_path / "rocm" / "lib" / "libamdhip64.so.6")
    return tmp_path / "rocm"


def test_library_given_by_hand(python: Python, doubles: Path) -> None:
    report = describe(python, FLYDSL_HIP_LIBRARY=str(doubles / "libhip.so"))
    assert (report["kind"], report["library"], report["version"]) == ("hip", str(doubles / "libhip.so"), None)
    (attempt,) = report["attempts"]
    assert attempt == {
        "step": "FLYDSL_HIP_LIBRARY",
        "place": str(doubles / "libhip.so"),
        "outcome": "found, 1 device",
    }
    report = describe(python, FLYDSL_HIP_LIBRARY=str(doubles / "libemulator.so"))
    assert (report["kind"], report["version"]) == ("emulator", "9.9.9")


def test_rocm_path(python: Python, rocm: Path) -> None:
    report = describe(python, ROCM_PATH=str(rocm), FAKE_ARCHS="gfx950,gfx950")
    assert report["library"] == str(rocm / "lib" / "libamdhip64.so.6")
    outcomes = {(attempt["step"], Path(attempt["place"]).name): attempt["outcome"] for attempt in report["attempts"]}
    assert outcomes["already loaded", "libamdhip64.so.7"] == "not loaded"
    assert "No such file" in outcomes["ROCM_PATH", "libamdhip64.so.7"]
    assert outcomes["ROCM_PATH", "libamdhip64.so.6"] == "found, 2 devices"


def test_library_of_the_framework_comes_first(python: Python, rocm: Path, tmp_path: Path, doubles: Path) -> None:
    """A copy that the process has loaded already wins over the one of ROCM_PATH."""
    mine = tmp_path / "libamdhip64.so.7"
    subprocess.run(["cp", doubles / "libhip.so", mine], check=True)
    code = f"import ctypes; ctypes.CDLL({str(mine)!r}, mode=ctypes.RTLD_GLOBAL)\n{SHOW}"
    done = python(code, ROCM_PATH=str(rocm), LD_LIBRARY_PATH=str(tmp_path))
    report = json.loads(done.stdout)
    assert report["library"] == str(mine), report


def test_loaders_default(python: Python, rocm: Path) -> None:
    report = describe(python, LD_LIBRARY_PATH=str(rocm / "lib"))
    assert report["attempts"][-1] == {
        "step": "loader's default",
        "place": "libamdhip64.so.6",
        "outcome": "found, 1 device",
    }
    assert {"step": "ROCM_PATH", "place": "", "outcome": "ROCM_PATH is not set"} in report["attempts"]


def test_hip_without_devices_gives_way_to_the_emulator(python: Python, tmp_path: Path, doubles: Path) -> None:
    (tmp_path / "lib").mkdir()
    library = build.fake_hip(tmp_path / "lib" / "libamdhip64.so.7", "-DNO_DEVICE")
    code = f"""
from flydsl.runtime import _library
_library._emulator_library = lambda: {str(doubles / "libemulator.so")!r}
{SHOW}
"""
    report = json.loads(python(code, ROCM_PATH=str(tmp_path)).stdout)
    assert report["library"] == str(doubles / "libemulator.so")
    assert {
        "step": "ROCM_PATH",
        "place": str(library),
        "outcome": "opened, but hipGetDeviceCount failed: hipErrorUnknown (100): unknown error",
    } in report["attempts"]
    report = json.loads(python(code, ROCM_PATH=str(tmp_path), FLYDSL_DEVICE="hip").stdout)
    assert report["library"] is None


def test_emulator_of_the_python_package(python: Python, doubles: Path) -> None:
    code = f"""
from flydsl.runtime import _library
_library._emulator_library = lambda: {str(doubles / "libemulator.so")!r}
{SHOW}
"""
    report = json.loads(python(code).stdout)
    assert report["kind"] == "emulator"
    assert report["attempts"][-1]["step"] == "flydsl.emulator"
    assert report["attempts"][0]["step"] == "already loaded"  # hardware was looked for first
    report = json.loads(python(code, FLYDSL_DEVICE="Emulator").stdout)
    assert [attempt["step"] for attempt in report["attempts"]] == ["flydsl.emulator"]


def test_emulator_is_found_but_not_imported(python: Python, tmp_path: Path, doubles: Path) -> None:
    package = tmp_path / "flydsl" / "emulator"
    (package / "lib").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('the runtime imported the emulator')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{SHOW}"
    done = python(code, FLYDSL_DEVICE="emulator")
    assert "FileNotFoundError: the emulator's shared library is missing; tried" in done.stderr
    library = shutil.copy(doubles / "libemulator.so", package / "lib" / "libfly_emulator.so")
    report = json.loads(python(code, FLYDSL_DEVICE="emulator").stdout)
    assert report["library"] == str(library)
    other = str(doubles / "libemulator.so")
    report = json.loads(python(code, FLYDSL_DEVICE="emulator", FLYDSL_EMULATOR_LIBRARY=other).stdout)
    assert report["library"] == other
    done = python(code, FLYDSL_EMULATOR_LIBRARY="/nowhere/lib.so")
    assert "tried /nowhere/lib.so. FLYDSL_EMULATOR_LIBRARY names it" in done.stderr


def test_nothing_found(python: Python) -> None:
    done = python(WITHOUT_EMULATOR + "from flydsl import runtime; runtime.current_device()", FLYDSL_DEVICE="hip")
    assert "flydsl.runtime.errors.DeviceError: no device: none of these places has a library" in done.stderr
    for place in ("already loaded: libamdhip64.so.7: not loaded", "ROCM_PATH: ROCM_PATH is not set", "/opt/rocm/lib/"):
        assert place in done.stderr
    assert "FLYDSL_DEVICE=hip limits the search" in done.stderr


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"FLYDSL_DEVICE": "gpu"}, "FLYDSL_DEVICE=gpu: expected hip, cuda or emulator"),
        ({"FLYDSL_HIP_LIBRARY": "/nowhere/libhip.so"}, "FLYDSL_HIP_LIBRARY: /nowhere/libhip.so: cannot open"),
        ({"FLYDSL_HIP_LIBRARY": "libm.so.6"}, "it is no HIP library"),
        ({"FLYDSL_HIP_LIBRARY": "libemulator.so", "FLYDSL_DEVICE": "hip"}, "it is the emulator and FLYDSL_DEVICE=hip"),
        ({"FLYDSL_HIP_LIBRARY": "libhip.so", "FLYDSL_DEVICE": "emulator"}, "it is not the emulator"),
    ],
)
def test_settings_that_cannot_work(python: Python, doubles: Path, settings: dict[str, str], message: str) -> None:
    library = settings.get("FLYDSL_HIP_LIBRARY", "")
    if (doubles / library).is_file():
        settings = {**settings, "FLYDSL_HIP_LIBRARY": str(doubles / library)}
    done = python("from flydsl import runtime; runtime.current_device()", **settings)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.parametrize("variable", ["FLYDSL_HIP_LIBRARY", "FLYDSL_CUDA_LIBRARY"])
def test_nobody_waits_at_what_is_no_file(python: Python, tmp_path: Path, variable: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, why in ((tmp_path / "fifo", "it is no regular file"), (tmp_path, "it is a folder")):
        done = python("from flydsl import runtime; runtime.current_device()", **{variable: str(path)})
        assert done.returncode == 1
        assert f"{variable}: {path}: {why}" in done.stderr


def test_a_failed_search_is_not_remembered(python: Python, doubles: Path) -> None:
    code = f"""
import os
from flydsl import runtime
try:
    runtime.current_device()
except ValueError as error:
    print(error)
del os.environ["FLYDSL_DEVICE"]
os.environ["FLYDSL_HIP_LIBRARY"] = {str(doubles / "libhip.so")!r}
print(runtime.current_device().kind)
"""
    assert python(code, FLYDSL_DEVICE="nonsense").stdout.splitlines()[-1] == "hip"


def test_choice_is_logged_once(python: Python, doubles: Path) -> None:
    code = """
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
from flydsl import runtime
runtime.current_device()
runtime.devices()
"""
    library = doubles / "libemulator.so"
    done = python(code, FLYDSL_HIP_LIBRARY=str(library))
    hint = "FLYDSL_EMU_SANITIZE=all has it look for wrong accesses, races and missing waits"
    assert done.stderr == f"flydsl emulated device (no AMD GPU is used): gfx942, from {library}; {hint}\n"
    done = python(code, FLYDSL_HIP_LIBRARY=str(library), FLYDSL_EMU_SANITIZE="race")
    assert done.stderr == f"flydsl emulated device (no AMD GPU is used): gfx942, from {library}\n"


@pytest.mark.parametrize("asked_for", [False, True])
def test_at_a_terminal_it_says_that_it_emulates(asked_for: bool) -> None:
    """Who has set up no log, and did not ask for the emulator, learns it all the same."""
    ours, theirs = os.openpty()
    settings = {name: value for name, value in os.environ.items() if not name.startswith("FLYDSL_")}
    if asked_for:
        settings["FLYDSL_DEVICE"] = "emulator"
    code = "from flydsl import runtime; runtime.current_device(); runtime.devices()"
    with os.fdopen(ours, "rb"):
        done = subprocess.run([sys.executable, "-c", code], env=settings, stderr=theirs, timeout=600, check=False)
        os.set_blocking(ours, False)
        os.close(theirs)
        try:
            printed = os.read(ours, 4096).decode()
        except OSError:  # nothing was written
            printed = ""
    assert done.returncode == 0
    assert printed.count("FLYDSL_EMU_SANITIZE=all") == printed.count("emulated device") == (0 if asked_for else 1)
