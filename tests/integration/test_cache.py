# SPDX-License-Identifier: Apache-2.0
"""The disk cache outlives what happens to it: killed compiles, truncated and foreign files, wrong permissions."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CALL = """
import numpy
from kernels import scale
a, b = numpy.arange(10, dtype="float32"), numpy.zeros(10, "float32")
scale(a, b, 2.0, 10)
assert (b == a * 2).all()
print("right")
"""


def start(folder, **extra):
    environment = {**os.environ, "FLYDSL_RUNTIME_CACHE_DIR": str(folder), **extra}
    return subprocess.Popen(
        [sys.executable, "-c", CALL],
        cwd=Path(__file__).parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def call(folder, **extra):
    process = start(folder, **extra)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def right(folder, **extra):
    code, out, err = call(folder, **extra)
    assert code == 0, err
    assert "right" in out


def artifacts(folder):
    return sorted(folder.rglob("*.so"))


@pytest.fixture
def folder(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    return cache


def test_second_process_takes_the_first_one_s_file(folder):
    right(folder)
    (artifact,) = artifacts(folder)
    before = artifact.stat()
    right(folder)
    assert artifact.stat().st_ino == before.st_ino  # its time says when it was used last


@pytest.mark.parametrize("delay", [0.2, 0.4, 0.6, 0.8, 1.0, 1.4])
def test_killed_during_a_compile(folder, delay):
    process = start(folder)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    right(folder)


def test_two_processes_at_once(folder):
    processes = [start(folder) for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        assert "right" in out
    assert len(artifacts(folder)) == 1


@pytest.mark.parametrize("spoil", ["truncated", "foreign", "empty"])
def test_damaged_file_is_replaced(folder, spoil):
    right(folder)
    (artifact,) = artifacts(folder)
    good = artifact.read_bytes()
    artifact.write_bytes({"truncated": good[: len(good) // 2], "foreign": b"not an artifact", "empty": b""}[spoil])
    right(folder)
    (artifact,) = artifacts(folder)
    assert len(artifact.read_bytes()) == len(good)


def test_folder_that_others_may_write_to_is_refused(folder):
    folder.chmod(0o777)
    code, _, err = call(folder)
    assert code != 0
    assert str(folder) in err
    assert "chmod" in err


def test_new_folder_is_private(tmp_path):
    folder = tmp_path / "new"
    right(folder)
    assert folder.stat().st_mode & 0o077 == 0


def test_other_architecture_compiles_again(folder):
    right(folder, FLYDSL_GPU_ARCH="gfx942")
    right(folder, FLYDSL_GPU_ARCH="gfx950")
    assert len(artifacts(folder)) == 2
