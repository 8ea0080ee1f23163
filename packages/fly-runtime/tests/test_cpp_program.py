# SPDX-License-Identifier: Apache-2.0
"""A C++ program that links an artifact, without Python in its process."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import make_doubles as build
import pytest
from make_doubles import scalar, tensor


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cpp")
    arguments = [tensor("a"), tensor("b"), tensor("c"), scalar("n")]
    artifact = build.artifact(folder, build.note("vector_add", arguments))
    return build.cpp_program(folder, artifact)


def run(program: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program], env={**os.environ, **settings}, capture_output=True, text=True, timeout=600)


def test_program_runs(program: Path, doubles: Path) -> None:
    done = run(program, FLYDSL_HIP_LIBRARY=str(doubles / "libhip.so"))
    description, result = done.stdout.splitlines()
    assert json.loads(description)["devices"][0]["arch"] == "gfx942:sramecc+:xnack-"
    assert result == "0 of 1000 wrong"
    assert done.returncode == 0


def test_program_without_a_device_says_where_it_looked(program: Path) -> None:
    done = run(program, FLYDSL_DEVICE="hip")
    assert done.returncode == 1
    assert json.loads(done.stdout)["library"] is None
    assert "no device: none of these places has a library with a device" in done.stderr
