# SPDX-License-Identifier: Apache-2.0
"""The hash of the tool chain is remembered in the cache folder, and never that of other files."""

from __future__ import annotations

import os

import pytest

from flydsl.compile.cache import toolchain


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A tool chain of one old file, with an empty memory."""
    sources, cache = tmp_path / "sources", tmp_path / "cache"
    sources.mkdir()
    cache.mkdir(mode=0o700)
    file = sources / "one.py"
    file.write_text("a = 1\n")
    monkeypatch.setattr(toolchain, "_PYTHON_PACKAGES", ("sources",))
    monkeypatch.setattr(toolchain, "_locations", lambda name: [sources] if name == "sources" else [])
    monkeypatch.setattr(toolchain, "_found", [])
    monkeypatch.setattr(toolchain, "_YOUNG_NS", -(10**18))
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(cache))
    return file


def in_a_new_process():
    """Return the hash as a new process finds it, and whether it had to read the sources."""
    toolchain._found.clear()
    found = toolchain.toolchain_hash.__wrapped__()
    return found, bool(toolchain._found)


def remembered(tmp_path):
    found = in_a_new_process()
    toolchain.remember_toolchain(tmp_path / "cache")
    return found[0]


def test_known_files_are_not_read_again(source, tmp_path):
    first = remembered(tmp_path)
    assert in_a_new_process() == (first, False)


def test_an_edit_of_the_same_size_and_time_is_seen(source, tmp_path):
    first = remembered(tmp_path)
    facts = source.stat()
    while source.stat().st_ctime_ns == facts.st_ctime_ns:  # the clock of some file systems ticks every 10 ms
        source.write_text("a = 2\n")
        os.utime(source, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    second, read = in_a_new_process()
    assert read
    assert second != first


def test_new_files_are_seen(source, tmp_path):
    first = remembered(tmp_path)
    (source.parent / "two.py").write_text("")
    second, read = in_a_new_process()
    assert read
    assert second != first


def test_young_files_are_not_remembered(source, tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "_YOUNG_NS", 10**18)
    remembered(tmp_path)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_damaged_memory_is_not_believed(source, tmp_path):
    first = remembered(tmp_path)
    (path,) = (tmp_path / "cache").iterdir()
    text = path.read_text()
    for index in range(0, len(text) - 1, 7):
        path.write_text(text[:index] + ("0" if text[index] != "0" else "1") + text[index + 1 :])
        assert in_a_new_process() == (first, True)
    path.write_bytes(b"\xff" * 100)
    assert in_a_new_process() == (first, True)


def test_a_memory_that_others_may_write_is_not_believed(source, tmp_path):
    first = remembered(tmp_path)
    (path,) = (tmp_path / "cache").iterdir()
    path.chmod(0o666)
    assert in_a_new_process() == (first, True)


def test_without_the_cache_nothing_is_looked_up(source, tmp_path, monkeypatch):
    first = remembered(tmp_path)
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")
    assert in_a_new_process() == (first, True)
