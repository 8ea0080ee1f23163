# SPDX-License-Identifier: Apache-2.0
"""What is refused before anything of a file runs: damage, what is no regular file, what others may write."""

from __future__ import annotations

import io
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import make_doubles as build
import pytest

from flydsl.runtime import ArtifactError, _file, load_artifact, read_note, seal_artifact
from flydsl.runtime.note import NO_HASH

ARGUMENTS = [build.scalar("n")]

# A library with a note, whose constructor leaves a file behind.
LOUD = """
#include <fcntl.h>
__attribute__((constructor)) static void run(void) { open(MARK, O_CREAT | O_WRONLY, 0600); }
__attribute__((section(".flydsl.note"), used)) static const char note[] = NOTE;
"""


def sealed_artifact(folder: Path, name: str = "add", *flags: str, **members: Any) -> Path:
    path = build.artifact(folder, build.note(name, ARGUMENTS, file_hash=NO_HASH, **members), *flags)
    seal_artifact(path)
    return path


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    return sealed_artifact(tmp_path)


def flipped(content: bytes, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def test_a_sealed_artifact_is_loaded(sealed: Path, hip: build.Hip) -> None:
    assert read_note(sealed)["file_hash"] not in (NO_HASH, None)
    load_artifact(sealed)(1)


def test_each_flipped_bit_is_noticed(sealed: Path) -> None:
    content, random = sealed.read_bytes(), Random(0)
    digits = content.index(b"sha256:", content.index(b"file_hash"))
    bits = {
        *range(64 * 8),
        *range((digits - 16) * 8, (digits + 72) * 8),
        *(random.randrange(len(content) * 8) for _ in range(500)),
    }
    accepted = []
    for bit in bits:
        sealed.write_bytes(flipped(content, bit))
        try:
            note = read_note(sealed)
        except ArtifactError:
            continue
        accepted.append((bit, note))
    # A flip in the member's name takes the claim away; see test_what_the_compiler_made_has_a_hash.
    name = range((digits - 13) * 8, (digits - 3) * 8)
    assert all(bit in name and "file_hash" not in note for bit, note in accepted)


def test_what_the_compiler_made_has_a_hash(tmp_path: Path) -> None:
    path = sealed_artifact(tmp_path, toolchain={"fly-compiler": "1"})
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"file_hash"', b'"file_hasi"'))
    with pytest.raises(ArtifactError, match="damaged, or made by an old fly-compiler: its note has no file_hash"):
        load_artifact(path)
    path.write_bytes(content.replace(b'"fly-compiler"', b'"fly-compiled"'))
    with pytest.raises(ArtifactError, match="damaged: its bytes do not have the hash that its note says"):
        load_artifact(path)


@pytest.mark.parametrize("claim", ["", "sha256:", "md5:" + "0" * 64, "sha256:" + "0" * 63, 3, ["sha256:"]])
def test_claims_that_are_no_hash(tmp_path: Path, claim: object) -> None:
    path = build.artifact(tmp_path, build.note("add", ARGUMENTS, file_hash=claim))
    with pytest.raises(ArtifactError, match="file_hash is not 'sha256:' with 64 hexadecimal digits"):
        load_artifact(path)
    with pytest.raises(ArtifactError, match="file_hash is not"):
        seal_artifact(path)


def test_other_notes_are_not_sealed(tmp_path: Path, doubles: Path) -> None:
    with pytest.raises(ArtifactError, match="no section"):
        seal_artifact(doubles / "libhip.so")
    with pytest.raises(ArtifactError, match="file_hash"):
        seal_artifact(build.artifact(tmp_path, build.note("add", ARGUMENTS)))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"schema": ' + "1" * 5000 + "}",
        '{"a": "\\ud800"',
        "\x7f",
        '{"schema": 1e999}',
        "nul",
        '{"a":1}x',
    ],
    ids=["deep", "long integer", "surrogate", "control", "infinite", "cut", "more"],
)
def test_texts_that_are_no_note(tmp_path: Path, text: str) -> None:
    # Some are too long for a macro.
    source, note = tmp_path / "note.c", tmp_path / "note.json"
    note.write_text(text)
    assembly = f'.section .flydsl.note,"a"\n.incbin "{note}"\n'
    source.write_text(f"__asm__({json.dumps(assembly)});\n")
    path = build.shared_object(source, tmp_path / "text.so", "-nostdlib")
    with pytest.raises(ArtifactError, match=r"its note is not JSON|has schema inf|its note has no"):
        read_note(path)


@pytest.mark.parametrize("members", [{"architectures": "gfx942"}, {"architectures": [1]}, {"entry": ["add"]}])
def test_members_of_other_types(tmp_path: Path, members: dict[str, Any]) -> None:
    good = build.note("add", [])
    path = build.artifact(tmp_path, good, text=json.dumps({**good, **members}))
    with pytest.raises(ArtifactError, match="damaged"):
        load_artifact(path)


def loud(folder: Path, written: dict[str, Any]) -> tuple[Path, Path]:
    """A library whose constructor makes a file, and that file."""
    source, mark = folder / "loud.c", folder / "mark"
    source.write_text(LOUD)
    macros = (f"-DNOTE={build.c_string(json.dumps(written))}", f"-DMARK={build.c_string(str(mark))}")
    return build.shared_object(source, folder / "loud.so", *macros), mark


def test_constructors_of_a_file_without_our_symbols_do_not_run(tmp_path: Path) -> None:
    path, mark = loud(tmp_path, build.note("add", []))
    with pytest.raises(ArtifactError, match="damaged: it exports no flydsl_artifact"):
        load_artifact(path)
    assert not mark.exists()


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646, 0o777])
def test_files_that_others_may_write(sealed: Path, mode: int, hip: build.Hip) -> None:
    sealed.chmod(mode)
    with pytest.raises(ArtifactError, match=rf"may be written by others \(mode 0{mode:o}\).*chmod go-w"):
        load_artifact(sealed)
    read_note(sealed)  # nothing runs for that
    sealed.chmod(0o755)
    load_artifact(sealed)(1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_of_another_user(sealed: Path) -> None:
    os.chown(sealed, 12345, 12345)
    with pytest.raises(ArtifactError, match="it belongs to user 12345, whose code would run in this process"):
        load_artifact(sealed)


@pytest.mark.parametrize("read", [read_note, load_artifact, seal_artifact])
def test_what_is_no_regular_file(tmp_path: Path, read: Callable[[Any], object]) -> None:
    fifo, link = tmp_path / "fifo.so", tmp_path / "link.so"
    os.mkfifo(fifo)
    link.symlink_to(fifo)
    local = socket.socket(socket.AF_UNIX)
    local.bind(str(tmp_path / "socket.so"))
    loop = tmp_path / "loop.so"
    loop.symlink_to(loop)
    long = tmp_path / ("x" * 300)
    with local:
        for path, kind in (
            (fifo, "a FIFO"),
            (link, "a FIFO"),
            (tmp_path / "socket.so", "a socket"),
            (tmp_path, "a folder"),
            ("/dev/zero", "a device"),
            ("/dev/tty", "a device"),
            (loop, "Too many levels of symbolic links"),
            (long, "File name too long"),
            ("a\0b", "null byte"),
        ):
            with pytest.raises(ArtifactError, match=f"cannot be read: .*{kind}"):
                read(path)


def test_a_link_to_an_artifact_is_followed(sealed: Path, hip: build.Hip) -> None:
    link = sealed.with_name("link.so")
    link.symlink_to(sealed)
    load_artifact(link)(1)


def test_names_that_the_loader_changes(sealed: Path) -> None:
    for token in ("$ORIGIN", "${ORIGIN}", "$LIB", "$PLATFORM"):
        folder = sealed.parent / token
        folder.mkdir()
        (folder / "add.so").write_bytes(sealed.read_bytes())
        with pytest.raises(ArtifactError, match=r"refused: the system's loader replaces \$ORIGIN"):
            load_artifact(folder / "add.so")


def test_huge_files(tmp_path: Path) -> None:
    path = tmp_path / "huge.so"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ArtifactError, match="the most is"):
        load_artifact(path)


def test_what_was_checked_is_what_is_loaded(
    sealed: Path, tmp_path: Path, hip: build.Hip, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another file takes the name after the checks."""
    (tmp_path / "other").mkdir()
    other, mark = loud(tmp_path / "other", build.note("add", ARGUMENTS))

    def check_and_swap(file: _file.OpenFile) -> None:
        other.rename(sealed)

    monkeypatch.setattr(_file, "refuse_untrusted", check_and_swap)
    load_artifact(sealed)(1)
    assert not mark.exists()
    assert len([line for line in hip.log() if line.startswith("launch")]) == 1


def test_a_loaded_file_that_is_written_over(sealed: Path, tmp_path: Path, hip: build.Hip) -> None:
    load_artifact(sealed)(1)
    (tmp_path / "other").mkdir()
    other = sealed_artifact(tmp_path / "other", "add", source_hash="sha256:1")
    content = other.read_bytes()
    # Other bytes in the same file: the old code would be called with the new note.
    os.utime(sealed, ns=(0, 0))
    with sealed.open("r+b") as file:
        file.write(content)
        file.truncate()
    with pytest.raises(ArtifactError, match="it was written over after this process had loaded it"):
        load_artifact(sealed)


def test_a_file_that_is_touched_while_it_is_loaded(
    sealed: Path, hip: build.Hip, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another process does that finds the same artifact in the cache: its times change, its bytes do not."""
    monkeypatch.setattr(_file, "refuse_untrusted", lambda file: os.utime(file.path, ns=(0, 0)))
    load_artifact(sealed)(1)
    assert len([line for line in hip.log() if line.startswith("launch")]) == 1


def test_a_file_that_is_written_to_while_it_is_loaded(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last = sealed.read_bytes()[-1]

    def check_and_write(file: _file.OpenFile) -> None:
        with file.path.open("r+b") as other:
            other.seek(-1, os.SEEK_END)
            other.write(bytes([last ^ 1]))
        os.utime(file.path, ns=(0, 0))

    monkeypatch.setattr(_file, "refuse_untrusted", check_and_write)
    with pytest.raises(ArtifactError, match="it was written to while it was being loaded"):
        load_artifact(sealed)


@pytest.mark.parametrize(
    ("flags", "has_room", "said"),
    [
        (os.ST_NOEXEC, True, ": it lies on a file system that is mounted noexec. Make a copy elsewhere"),
        (0, False, ": out of memory"),
        (0, True, ""),
    ],
)
def test_why_the_loader_does_not_map_a_file(
    sealed: Path, monkeypatch: pytest.MonkeyPatch, flags: int, has_room: bool, said: str
) -> None:
    """It says the same of a file system without execution and of a process without memory."""

    def fails(name: str, mode: int) -> None:
        raise OSError(f"{name}: failed to map segment from shared object")

    def mapped(*_: int) -> io.BytesIO:
        if not has_room:
            raise OSError(12, "Cannot allocate memory")
        return io.BytesIO()

    load_artifact(sealed_artifact(sealed.parent, "other"))  # the runtime's library is loaded in the usual way
    monkeypatch.setattr("ctypes.CDLL", fails)
    monkeypatch.setattr("mmap.mmap", mapped)
    monkeypatch.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_flag=flags))
    with pytest.raises(ArtifactError) as raised:
        load_artifact(sealed)
    assert str(raised.value) == f"{sealed}: cannot be loaded: failed to map segment from shared object{said}"


def test_each_load_gets_its_own_library_and_no_descriptor_is_left(tmp_path: Path, hip: build.Hip) -> None:
    before = set(os.listdir("/proc/self/fd"))
    for number in range(6):
        path = sealed_artifact(tmp_path, f"f{number}")
        load_artifact(path)(1)
        load_artifact(path)(1)  # the same library once more
        with pytest.raises(ArtifactError):
            load_artifact(tmp_path)
    assert set(os.listdir("/proc/self/fd")) <= before  # what tests before left may go meanwhile
    assert [line.split()[1] for line in hip.log() if line.startswith("launch")] == [
        f"f{number}_kernel_0" for number in range(6) for _ in range(2)
    ]
