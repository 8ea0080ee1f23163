# SPDX-License-Identifier: Apache-2.0
"""`python -m flydsl.runtime doctor` and its neighbours."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import make_doubles as build

Python = Callable[..., subprocess.CompletedProcess[str]]


def test_all_is_well(python: Python, doubles: Path) -> None:
    library = str(doubles / "libemulator.so")
    done = python(["-m", "flydsl.runtime", "doctor"], FLYDSL_HIP_LIBRARY=library)
    assert done.returncode == 0, done.stdout
    assert f"in use   {library} (the emulator, version 9.9.9: no AMD GPU is used)" in done.stdout
    assert f"setting  FLYDSL_HIP_LIBRARY={library}" in done.stdout
    assert "waves of 64, 16.0 GiB, 64 KiB LDS (emulated)" in done.stdout
    assert done.stdout.endswith("all is well\n")


def test_json(python: Python, doubles: Path) -> None:
    done = python(["-m", "flydsl.runtime", "doctor", "--json"], FLYDSL_HIP_LIBRARY=str(doubles / "libhip.so"))
    report = json.loads(done.stdout)
    assert report["problems"] == []
    assert report["target"] == "gfx942"
    assert report["device"]["kind"] == "hip"
    assert report["wheels"]["fly-runtime"]


def test_no_device(python: Python) -> None:
    done = python(["-m", "flydsl.runtime", "doctor"], FLYDSL_DEVICE="hip")
    assert done.returncode == 1
    assert "already loaded: libamdhip64.so.7: not loaded" in done.stdout
    assert "PROBLEM  no library with a device" in done.stdout


def test_bad_settings(python: Python) -> None:
    done = python(["-m", "flydsl.runtime", "doctor"], FLYDSL_DEVICE="gpu")
    assert done.returncode == 1
    assert "PROBLEM  FLYDSL_DEVICE=gpu: expected hip, cuda or emulator" in done.stdout
    assert "setting  FLYDSL_DEVICE=invalid: environment variable FLYDSL_DEVICE='gpu': expected one of" in done.stdout
    done = python(["-m", "flydsl.runtime", "doctor"], ARCH="gfx942", FLYDSL_GPU_ARCH="gfx950")
    assert done.returncode == 1
    assert done.stdout.count("PROBLEM") == 1
    assert "PROBLEM  environment variables ARCH='gfx942' and FLYDSL_GPU_ARCH='gfx950' mean the same" in done.stdout


def test_note(python: Python, tmp_path: Path) -> None:
    path = build.artifact(tmp_path, build.note("add", []))
    assert json.loads(python(["-m", "flydsl.runtime", "note", str(path)]).stdout)["name"] == "add"
    done = python(["-m", "flydsl.runtime", "note", "missing.so"])
    assert (done.returncode, done.stderr) == (1, "missing.so: cannot be read: No such file or directory\n")


def test_env(python: Python) -> None:
    done = python(["-m", "flydsl.runtime", "env"], FLYDSL_DEVICE="hip")
    assert "FLYDSL_DEVICE: Run on an AMD GPU, an NVIDIA GPU or the emulator" in done.stdout
    assert "now 'hip'" in done.stdout
