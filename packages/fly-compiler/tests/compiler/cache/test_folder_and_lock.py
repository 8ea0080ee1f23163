# SPDX-License-Identifier: Apache-2.0
"""Only the user may write to the cache, and only one process makes an entry."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from flydsl.compile.cache.folder import CacheFolderError, check_parents, private_folder
from flydsl.compile.cache.lock import exclusive
from flydsl.runtime import folders


def test_a_new_folder_is_private(tmp_path):
    path = private_folder(tmp_path / "a" / "cache")
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert private_folder(path) == path


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_folder_that_others_may_write_to_is_refused(tmp_path, mode):
    path = tmp_path / "cache"
    path.mkdir()
    path.chmod(mode)
    with pytest.raises(CacheFolderError, match=f"may be written by others \\(mode {mode:04o}\\).*chmod go-w"):
        private_folder(path)


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "cache"
    path.write_text("")
    with pytest.raises(CacheFolderError, match=r"is not a folder"):
        private_folder(path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheFolderError, match=r"FLYDSL_RUNTIME_ENABLE_CACHE=0"):
        private_folder(tmp_path / "file" / "cache")


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_parent_that_others_may_write_to_is_refused(tmp_path, mode, monkeypatch):
    monkeypatch.setattr(folders, "_is_own_group", lambda group: False)
    path = private_folder(tmp_path / "open" / "below" / "cache")
    check_parents(path)
    (tmp_path / "open").chmod(mode)
    with pytest.raises(CacheFolderError, match=rf"lies in .*/open, which others may write to \(mode {mode:04o}\)"):
        check_parents(path)
    (tmp_path / "open").chmod(0o1777)  # as /tmp: nobody can rename what belongs to others
    check_parents(path)


def test_a_link_is_followed_to_where_it_leads(tmp_path):
    private_folder(tmp_path / "open" / "cache")
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "cache")
    with pytest.raises(CacheFolderError, match=r"lies in .*/open, which others may write to"):
        check_parents(tmp_path / "link")


def test_new_parents_are_writable_by_their_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        path = private_folder(tmp_path / "a" / "b" / "cache")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent, path.parent.parent)] == [
        0o700,
        0o755,
        0o755,
    ]


_HOLD = """
import sys
from pathlib import Path
from flydsl.compile.cache.lock import exclusive
with exclusive(Path(sys.argv[1]), timeout=5, what="holding"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_holder_gives_the_lock_up(tmp_path):
    path = tmp_path / "lock"
    command = [sys.executable, "-c", _HOLD, str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(TimeoutError, match=r"another process has been compiling for more than 0 s"),
            exclusive(path, timeout=0.2, what="compiling"),
        ):
            pass
        holder.kill()
        holder.wait()
        with exclusive(path, timeout=0, what="compiling"):
            pass
    finally:
        holder.kill()
        holder.communicate()


def test_the_lock_is_not_inherited(tmp_path):
    with exclusive(tmp_path / "lock", timeout=1, what="testing"):
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        with exclusive(tmp_path / "lock", timeout=0, what="testing"):
            assert child.poll() is None
    finally:
        child.kill()
        child.communicate()
