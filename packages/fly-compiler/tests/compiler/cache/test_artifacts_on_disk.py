# SPDX-License-Identifier: Apache-2.0
"""The disk cache end to end: artifacts are found, replaced when damaged, and never a bother to another process."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from programs import WITHOUT_TORCH

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile.cache import CacheFolderError, store
from flydsl.runtime import load_artifact

PROGRAM = (
    WITHOUT_TORCH
    + """
import sys
import numpy as np
import flydsl.compiler as flyc, flydsl.expr as fx

@flyc.kernel
def kernel(x: fx.Tensor, value: fx.Constexpr[int]):
    x[fx.block_idx.x] = float(value)

@flyc.jit
def fill(x: fx.Tensor, value: fx.Constexpr[int]):
    kernel(x, value).launch(grid=(4,))

x = np.zeros(4, np.float32)
run = flyc.compile(fill, x, int(sys.argv[1]))
fill(x, int(sys.argv[1]))
print(run.origin, run.path, x.tolist(), fill.cache_info(), sep="|")
"""
)


@pytest.fixture
def program(tmp_path):
    """Start a process that compiles and runs; its cache is that of the test."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)

    def start(value=3, **environment):
        command = [sys.executable, str(path), str(value)]
        variables = {**os.environ, **environment}
        return subprocess.Popen(
            command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    return start


def outcome(process):
    """Origin, path and content of a finished process."""
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    origin, path, content, info = out.strip().split("|")
    return origin, Path(path), content, info


def test_a_second_process_finds_the_artifact(program):
    first, path, content, _ = outcome(program())
    second, again, same, info = outcome(program())
    assert (first, second) == ("compiled", "disk")
    assert (path, content) == (again, same)
    assert "hits=1, misses=0, currsize=1, disk_size=1" in info
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", ["empty", "half", "foreign", "another", "noise"])
def test_damaged_entries_are_replaced(damage):
    def again(value=3):
        x = torch.zeros(4)
        # A jit function of its own looks at the disk, as another process does.
        run = flyc.compile(flyc.jit(fill.original), x, value)
        assert x.tolist() == [value] * 4
        return run.origin, run.path

    origin, path = again()
    assert origin == "compiled"
    data, other = path.read_bytes(), again(4)[1].read_bytes()
    spoilt = {
        "empty": b"",
        "half": data[: len(data) // 2],
        "foreign": Path(sys.executable).read_bytes(),
        "another": other,
        "noise": b"x" * 999,
    }[damage]
    path.unlink()  # this process has the old file mapped
    path.write_bytes(spoilt)
    assert again() == ("compiled", path)
    assert again() == ("disk", path)


def test_two_processes_compile_once(program):
    outcomes = [outcome(process) for process in [program(7), program(7), program(7)]]
    assert sorted(one[0] for one in outcomes) == ["compiled", "disk", "disk"]
    assert len({one[1] for one in outcomes}) == 1


def test_a_process_killed_while_compiling_leaves_a_usable_cache(program, tmp_path):
    process = program(5)
    cache = tmp_path / "cache"
    deadline = time.monotonic() + 60
    while not list(cache.glob("*/*.lock")) and time.monotonic() < deadline:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.communicate()
    assert outcome(program(5))[2] == "[5.0, 5.0, 5.0, 5.0]"
    assert outcome(program(5))[0] == "disk"


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 1.8, 2.4])
def test_a_process_killed_at_any_time_leaves_a_usable_cache(program, delay):
    process = program(6)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert outcome(program(6))[2] == "[6.0, 6.0, 6.0, 6.0]"


def test_run_only(program):
    process = program(3, FLYDSL_RUNTIME_RUN_ONLY="1")
    assert "RUN_ONLY=1, but the cache folder" in process.communicate(timeout=600)[1]
    outcome(program(3))
    assert outcome(program(3, FLYDSL_RUNTIME_RUN_ONLY="1"))[0] == "disk"
    process = program(4, FLYDSL_RUNTIME_RUN_ONLY="1")
    assert "there is no artifact of fill() for these arguments" in process.communicate(timeout=600)[1]


@flyc.kernel
def kernel(x: fx.Tensor, value: fx.Constexpr[int]):
    x[fx.block_idx.x] = float(value)


@flyc.jit
def fill(x: fx.Tensor, value: fx.Constexpr[int]):
    kernel(x, value).launch(grid=(4,))


def test_without_a_disk_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    x = torch.zeros(4)
    fill(x, 11)
    assert x.tolist() == [11.0] * 4
    assert fill.cache_info() is None
    run = flyc.compile(fill, x, 11)
    assert run.export(tmp_path / "fill.so").read_bytes() == run.path.read_bytes()
    assert not (tmp_path / "cache").exists()


def test_compile_only_writes_and_runs_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("COMPILE_ONLY", "1")
    x = torch.zeros(4)
    assert fill(x, 12) is None
    assert x.tolist() == [0.0] * 4
    assert flyc.compile(fill, x, 12) is None
    assert len(list((tmp_path / "cache").glob("fill_*/*.so"))) == 1


def test_a_folder_that_others_may_write_to_is_refused(monkeypatch, tmp_path):
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(open_folder))
    with pytest.raises(CacheFolderError, match="may be written by others"):
        fill(torch.zeros(4), 13)


def test_a_folder_that_nothing_can_be_added_to_is_no_obstacle(monkeypatch, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "file" / "cache"))
    x = torch.zeros(4)
    fill(x, 14)
    assert x.tolist() == [14.0] * 4
    assert "nothing is cached on disk" in caplog.text
    assert "FLYDSL_RUNTIME_CACHE_DIR" in caplog.text
    monkeypatch.setenv("COMPILE_ONLY", "1")
    with pytest.raises(CacheFolderError, match="cannot use the cache folder"):
        fill(x, 14)


def test_a_full_disk_is_no_obstacle(monkeypatch, tmp_path, caplog):
    @contextlib.contextmanager
    def full(path, **_):
        class Full(io.BytesIO):
            def write(self, data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        yield Full()

    monkeypatch.setattr(store, "atomic_write", full)
    x = torch.zeros(4)
    fill(x, 15)
    assert x.tolist() == [15.0] * 4
    assert "No space left on device" in caplog.text
    assert not list((tmp_path / "cache").glob("fill_*/*.so"))
    monkeypatch.setenv("COMPILE_ONLY", "1")
    with pytest.raises(CacheFolderError, match="No space left on device"):
        fill(x, 15)


def test_the_architecture_is_part_of_the_key(monkeypatch, tmp_path):
    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.delenv("FLYDSL_GPU_ARCH", raising=False)
    for arch in ("gfx942", "gfx950"):
        monkeypatch.setenv("ARCH", arch)
        fill(torch.zeros(4), 14)
    assert len(list((tmp_path / "cache").glob("fill_*/*.so"))) == 2


def test_hints_are_part_of_the_key(monkeypatch, tmp_path):
    monkeypatch.setenv("COMPILE_ONLY", "1")
    for hints in ({}, {"waves_per_eu": 2}, {"anything": "else"}):
        with flyc.CompilationContext.compile_hints(hints):
            fill(torch.zeros(4), 15)
    assert len(list((tmp_path / "cache").glob("fill_*/*.so"))) == 3


@pytest.fixture
def interfered(monkeypatch):
    """`interfered(what)`: calls `what(path)` between any two steps with an artifact, as other processes may act."""

    def install(what):
        for name in ("read_note", "load_artifact"):
            real = getattr(store, name)
            monkeypatch.setattr(store, name, lambda path, real=real: (what(Path(path)), real(path))[1])

    return install


@pytest.mark.parametrize("what", ["removed", "damaged", "replaced", "truncated", "a FIFO"])
def test_others_at_the_artifacts_at_every_step(interfered, tmp_path, what):
    x = torch.zeros(4)
    other = flyc.compile(flyc.jit(fill.original), x, 31).path.read_bytes()
    flyc.jit(fill.original)(x, 32)  # a warm cache, first

    def interfere(path):
        if not path.is_relative_to(tmp_path / "cache") or not path.is_file():
            return
        content = {"damaged": path.read_bytes()[:-1] + b"?", "replaced": other, "truncated": other[:999]}.get(what)
        path.unlink()
        if what == "a FIFO":
            os.mkfifo(path)
        elif content is not None:
            path.write_bytes(content)

    interfered(interfere)
    for value in (32, 33, 33):
        fill_again = flyc.jit(fill.original)
        fill_again(x, value)
        assert x.tolist() == [value] * 4
        assert flyc.compile(fill_again, x, value).export(tmp_path / "export.so").exists()


@pytest.mark.parametrize("how", ["removed", "damaged", "replaced"])
def test_what_the_cache_has_lost_is_exported_all_the_same(tmp_path, how):
    x = torch.zeros(4)
    other = flyc.compile(flyc.jit(fill.original), x, 21)
    run = flyc.compile(flyc.jit(fill.original), x, 22)
    content = {"damaged": run.path.read_bytes()[:-1] + b"?", "replaced": other.path.read_bytes()}.get(how)
    run.path.unlink()
    if content is not None:
        run.path.write_bytes(content)
    load_artifact(run.export(tmp_path / "fill.so"))(x)
    assert x.tolist() == [22.0] * 4


def test_what_is_lost_and_would_be_another_is_not_exported(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SHIFT", 0)
    x = torch.zeros(4)
    run = flyc.compile(shifted, x)
    run.path.unlink()
    monkeypatch.setattr(sys.modules[__name__], "SHIFT", 5)
    with pytest.raises(RuntimeError, match=r"is gone, and cannot be made again.*Compile it again"):
        run.export(tmp_path / "shifted.so")
    assert not (tmp_path / "shifted.so").exists()


SHIFT = 0


@flyc.kernel
def shifted_kernel(x: fx.Tensor):
    x[fx.block_idx.x] = float(SHIFT)


@flyc.jit
def shifted(x: fx.Tensor):
    shifted_kernel(x).launch(grid=(4,))
