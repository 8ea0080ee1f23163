# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat

import pytest

from flydsl.utils.file import atomic_write


@pytest.mark.parametrize(("mode", "content"), [("w", "grün\n"), ("wb", b"\x00\xff")])
def test_the_file_is_replaced_when_the_block_ends(tmp_path, mode, content):
    path = tmp_path / "file"
    path.write_text("before")
    with atomic_write(path, mode=mode) as file:
        file.write(content)
        assert path.read_text() == "before"
    assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_exception_nothing_has_changed(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("before")

    def fail_half_way():
        with atomic_write(path, mode="w") as file:
            file.write("half")
            raise error

    with pytest.raises(error):
        fail_half_way()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_encoding(tmp_path):
    with atomic_write(tmp_path / "file", mode="w", encoding="utf-16") as file:
        file.write("a")
    assert (tmp_path / "file").read_bytes() == "a".encode("utf-16")


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(OSError), atomic_write(tmp_path / "none" / "file", mode="w"):  # noqa: PT011
        pass
    with pytest.raises(ValueError, match="mode 'w' or 'wb', not 'r'"), atomic_write(tmp_path / "file", mode="r"):
        pass
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError), atomic_write(folder, mode="w") as file:  # noqa: PT011
        file.write("x")
    assert os.listdir(tmp_path) == ["folder"]
