# SPDX-License-Identifier: Apache-2.0
"""Whose folders may decide what a process runs: those that nobody else can change, nor put another one in place of."""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

import pytest

from flydsl.runtime import folders
from flydsl.runtime.folders import make_private_folder, refusal, refusal_above

SOMEBODY = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give things away")


def itself(path: Path, *, of_root: bool = False) -> str:
    return refusal(path, "folder of tests", "FLYDSL_TESTS", of_root=of_root) or ""


def above(path: Path) -> str:
    return refusal_above(path, "folder of tests", "FLYDSL_TESTS") or ""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder, three folders below one of the test's."""
    path = tmp_path / "a" / "b" / "c"
    make_private_folder(path)
    return path


@pytest.mark.parametrize("umask", [0, 0o077])
def test_a_new_folder_is_its_owners(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_private_folder(tmp_path / "a" / "b")
        make_private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755 & ~umask
    assert itself(tmp_path / "a" / "b") == above(tmp_path / "a" / "b") == ""


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o1777])
def test_a_folder_that_others_may_write_to(tree: Path, mode: int) -> None:
    tree.chmod(mode)
    assert itself(tree).startswith(f"the folder of tests {tree} may be written by others (mode {mode:04o})")
    assert f"`chmod go-w {tree}`" in itself(tree)
    assert "FLYDSL_TESTS" in itself(tree)


def test_what_is_no_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert itself(tmp_path / "fifo").endswith("is not a folder")
    for use in (itself, above):
        with pytest.raises(FileNotFoundError):
            use(tmp_path / "nothing")


@as_root
def test_the_folder_of_somebody_else(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(tree, SOMEBODY, -1)
    assert f"{tree} belongs to user {SOMEBODY}, who could change what this process runs" in itself(tree)
    assert above(tree) == ""
    monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)
    assert itself(tree) == above(tree) == ""
    os.chown(tree, 0, -1)
    assert "belongs to user 0" in itself(tree)
    assert itself(tree, of_root=True) == ""


@pytest.mark.parametrize("which", ["a", "a/b"])
@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_folder_above_that_others_may_write_to(tmp_path: Path, tree: Path, which: str, mode: int) -> None:
    (tmp_path / which).chmod(mode)
    said = above(tree)
    assert f"lies in {tmp_path / which}, which others may write to (mode {mode:04o})" in said
    assert f"`chmod go-w {tmp_path / which}`" in said
    assert "Set FLYDSL_TESTS to a folder below one of yours" in said
    (tmp_path / which).chmod(0o1777)  # as /tmp: nobody can rename what belongs to others
    assert above(tree) == ""


def test_a_folder_above_that_a_group_may_write_to(tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").chmod(0o775)
    monkeypatch.setattr(folders, "_is_own_group", lambda group: True)
    assert above(tree) == ""
    monkeypatch.setattr(folders, "_is_own_group", lambda group: False)
    assert "which others may write to (mode 0775)" in above(tree)


def test_an_access_list_names_others(tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_is_own_group", lambda group: True)
    nobody = 0xFFFFFFFF
    # The owner, SOMEBODY, the group, the mask, all others: tag, rights, user; acl(5) and linux/posix_acl_xattr.h.
    entries = [(1, 7, nobody), (2, 7, SOMEBODY), (4, 5, nobody), (16, 7, nobody), (32, 5, nobody)]
    content = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in entries)
    try:
        os.setxattr(tmp_path / "a", "system.posix_acl_access", content)
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")
    assert f"lies in {tmp_path / 'a'}, which others may write to (mode 0775)" in above(tree)


@as_root
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o1777])
def test_a_folder_above_of_somebody_else(tmp_path: Path, tree: Path, mode: int) -> None:
    """The owner may rename what is in it, sticky or not."""
    os.chown(tmp_path / "a", SOMEBODY, -1)
    (tmp_path / "a").chmod(mode)
    assert f"lies in {tmp_path / 'a'}, which belongs to user {SOMEBODY}" in above(tree)


def test_each_link_counts_with_the_folder_in_which_it_stands(tmp_path: Path, tree: Path) -> None:
    """It is neither above the name nor above the place: a link there leads from the one to the other."""
    middle = tmp_path / "middle"
    middle.mkdir()
    (middle / "second").symlink_to(tree)
    (tmp_path / "first").symlink_to("middle/../middle/second")
    assert above(tmp_path / "first") == ""
    middle.chmod(0o777)
    assert f"lies in {middle}, which others may write to" in above(tmp_path / "first")
    middle.chmod(0o755)
    (tmp_path / "a").chmod(0o777)
    assert f"lies in {tmp_path / 'a'}, which others may write to" in above(tmp_path / "first")


@as_root
def test_the_link_of_somebody_else_in_a_sticky_folder(tmp_path: Path, tree: Path) -> None:
    """Who owns it may make another one in its place."""
    sticky = tmp_path / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    (sticky / "link").symlink_to(tree)
    assert above(sticky / "link") == ""
    os.chown(sticky / "link", SOMEBODY, -1, follow_symlinks=False)
    assert f"is found through {sticky / 'link'}, which belongs to user {SOMEBODY}" in above(sticky / "link")


def test_a_relative_name_counts_with_the_working_folder(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert above(Path("c")) == above(Path("../b/./c")) == ""
    (tmp_path / "a").chmod(0o777)
    assert f"the folder of tests c lies in {tmp_path / 'a'}" in above(Path("c"))


def test_an_absolute_name_needs_no_working_folder(tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert above(tree) == ""


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(OSError, match="symbolic links"):
        above(tmp_path / "one")
