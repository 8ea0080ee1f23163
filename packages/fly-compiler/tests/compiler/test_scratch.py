# SPDX-License-Identifier: Apache-2.0
"""The scratch folder: of the process that made it, made anew when it is gone, swept when its maker was killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

from flydsl.compile import pipeline, scratch
from flydsl.compile.scratch import scratch_folder


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    """The tests have their own folder for temporary files, and no scratch folder at first."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "_current", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield
    if scratch._current is not None:
        scratch._current.close()


def in_child(function):
    """What a forked process found: true or false; it ends as usual processes do."""
    child = os.fork()
    if child == 0:
        fine = False
        try:
            fine = bool(function())
            scratch._remove_own()  # what the interpreter does at its end
        finally:
            os._exit(0 if fine else 1)
    return os.waitpid(child, 0)[1] == 0


def test_one_folder_per_process():
    assert scratch_folder() == scratch_folder()
    assert scratch_folder().stat().st_mode & 0o777 == 0o700


def test_a_child_has_its_own_and_leaves_the_parent_s():
    mine = scratch_folder()
    (mine / "file").touch()
    assert in_child(lambda: scratch_folder() != mine and (mine / "file").exists())
    assert (mine / "file").exists()
    assert scratch_folder() == mine
    assert [path.name for path in mine.parent.iterdir()] == [mine.name]


def test_it_is_made_anew_when_it_is_gone():
    first = scratch_folder()
    shutil.rmtree(first)
    second = scratch_folder()
    assert second.is_dir()
    shutil.rmtree(second)
    second.mkdir()  # somebody else's, by the same name
    assert scratch_folder() != second


def test_closed_descriptors_are_made_up_for(tmp_path):
    """Daemons close all; other files get the numbers, and stay open here and in children."""
    first = scratch_folder()
    number = scratch._current.descriptor
    os.close(number)
    assert scratch_folder() != first
    assert not first.exists()  # nobody held it any more

    taken = scratch._current.descriptor
    with open(tmp_path / "file", "wb") as file:
        os.dup2(file.fileno(), taken)
        second = scratch_folder()
        assert os.path.samestat(os.fstat(taken), os.fstat(file.fileno()))
        os.dup2(file.fileno(), scratch._current.descriptor)
        assert in_child(lambda: os.fstat(taken) and os.write(taken, b"x") and scratch_folder() != second)
    os.close(taken)


def test_a_parent_that_ends_first_does_not_take_the_child_s():
    held = scratch._make()
    child_held = in_child(lambda: scratch_folder() != held.path and held.is_there())
    os.close(held.descriptor)
    assert child_held


LEAVE_BEHIND = """
import os, signal, sys
from flydsl.compile.scratch import scratch_folder
(scratch_folder() / "file").touch()
print(scratch_folder(), flush=True)
if sys.argv[1] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif sys.argv[1] == "wait":
    sys.stdin.read()
"""


def start(how, **pipes):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LEAVE_BEHIND), how], stdout=subprocess.PIPE, text=True, **pipes
    )


def test_what_a_killed_process_left_is_swept_and_what_others_use_is_not(tmp_path):
    alive = start("wait", stdin=subprocess.PIPE)
    used = alive.stdout.readline().strip()
    killed = start("kill")
    left = killed.communicate()[0].strip()
    assert killed.returncode == -signal.SIGKILL
    assert os.path.exists(os.path.join(left, "file"))
    strange = tmp_path / "flydsl-scratch-file"
    strange.touch()
    (tmp_path / "flydsl-scratch-link").symlink_to(tmp_path)
    mine = scratch_folder()
    assert not os.path.exists(left)
    assert os.path.exists(os.path.join(used, "file"))
    assert strange.exists()
    alive.communicate("")
    assert not os.path.exists(used)  # it ended as usual, and took it away itself
    assert mine.is_dir()


def test_an_unusable_place(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="nowhere"):
        scratch_folder()


@pytest.mark.parametrize(
    ("name", "said"),
    [("file", r"TMPDIR=.*/file is no folder"), ("nowhere", r"/nowhere: No such file or directory"), ("folder", None)],
)
def test_why_nothing_can_be_written(tmp_path, monkeypatch, name, said):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / name))
    reason = scratch.why_unwritable()
    assert reason is None if said is None else re.search(said, reason)


@pytest.mark.parametrize("facts", [{"f_bavail": 100}, {"f_favail": 0}])
@pytest.mark.parametrize(
    ("text", "is_explained"), [("linking failed: no message", True), ("cannot write '/x'", True), ("no atom", False)]
)
def test_a_full_disk_is_named(tmp_path, monkeypatch, facts, text, is_explained):
    """What linkers say of it is nothing."""
    full = SimpleNamespace(**{"f_bavail": 1 << 30, "f_frsize": 4096, "f_files": 100, "f_favail": 9, **facts})
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    said = pipeline._explained(text)
    assert said.startswith(text)
    assert (f"No space left on device: {tmp_path}" in said) == is_explained


def test_a_limit_of_files_is_named(monkeypatch):
    assert scratch.why_unwritable() is None
    monkeypatch.setattr("resource.getrlimit", lambda _: (4096, -1))
    assert "File too large: this process may write files of 4096 bytes at most" in pipeline._explained(
        "cannot write 'x'"
    )


def test_parent_and_child_compile_after_a_fork(tmp_path):
    """Without a disk cache, so that every artifact is made and loaded in the scratch folder."""
    script = tmp_path / "forks.py"
    script.write_text(
        textwrap.dedent("""
        import os
        import sys

        import numpy as np

        import flydsl.compiler as flyc
        import flydsl.expr as fx

        @flyc.kernel
        def add_kernel(x: fx.Tensor, n: fx.Constexpr[int]):
            x[fx.thread_idx.x] = x[fx.thread_idx.x] + n

        @flyc.jit
        def add(x: fx.Tensor, n: fx.Constexpr[int]):
            add_kernel(x, n).launch(grid=1, block=64)

        def right(n):
            x = np.zeros(64, np.int32)
            add(x, n)
            return (x == n).all()

        assert right(1)
        children = []
        for number in range(3):
            child = os.fork()
            if child == 0:
                sys.exit(0 if right(1) and right(10 + number) else 1)  # the interpreter's whole end
            children.append(child)
        assert right(2)
        assert all(os.waitpid(child, 0)[1] == 0 for child in children)
        assert right(1) and right(3)
        """)
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "FLYDSL_RUNTIME_ENABLE_CACHE": "0"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("flydsl-scratch-")]
