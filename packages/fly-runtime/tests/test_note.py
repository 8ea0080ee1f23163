# SPDX-License-Identifier: Apache-2.0
"""Reading notes from files, good and bad, without loading them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import make_doubles as build
import pytest

from flydsl.runtime import ArtifactError, read_note


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return build.artifact(tmp_path, build.note("add", [build.tensor("a"), build.scalar("n")]))


def test_note_is_read(good: Path) -> None:
    note = read_note(good)
    assert note["name"] == "add"
    assert [argument["name"] for argument in note["arguments"]] == ["a", "n"]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"nothing\.so: cannot be read: No such file"):
        read_note(tmp_path / "nothing.so")


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="cannot be read"):
        read_note(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"MZ not for us", "not an ELF file"),
        (b"\x7fELF\x02\x01", "truncated: the ELF header"),
        (b"\x7fELF\x01\x01" + b"\0" * 100, "not a 64-bit little-endian"),
        (b"\x7fELF\x02\x01" + b"\0" * 100, "not a shared object"),
    ],
)
def test_foreign_bytes(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "foreign.so"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=message):
        read_note(path)


def test_every_truncation_is_noticed(good: Path) -> None:
    whole = good.read_bytes()
    for length in {*range(0, len(whole), 97), len(whole) - 1}:
        good.write_bytes(whole[:length])
        with pytest.raises(ArtifactError, match=r"add\.so: (truncated|the file is empty|not an artifact)"):
            read_note(good)


def test_any_damage_is_a_clean_error_or_harmless(good: Path) -> None:
    """Bytes changed at random, most of them in the headers and tables that say where things are."""
    whole = good.read_bytes()
    tables = len(whole) - 64 * 40
    random = Random(0)
    refused = 0
    for _ in range(600):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            position = random.choice(
                (random.randrange(64), random.randrange(tables, len(whole)), random.randrange(len(whole)))
            )
            damaged[position] = random.randrange(256)
        good.write_bytes(damaged)
        try:
            read_note(good)
        except ArtifactError:
            refused += 1
    assert refused > 50


def test_other_shared_object(doubles: Path) -> None:
    with pytest.raises(ArtifactError, match=r"not a FlyDSL artifact: the shared object has no section \.flydsl\.note"):
        read_note(doubles / "libhip.so")


def test_executable_is_no_shared_object(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 0; }")
    build.run([build.compiler("gcc", "clang-22", "cc"), "-no-pie", str(source), "-o", str(tmp_path / "main")])
    with pytest.raises(ArtifactError, match="not a shared object"):
        read_note(tmp_path / "main")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "its note is not JSON"),
        ("[1]", "its note is not a JSON object"),
        ('{"schema": 2}', "its note has schema 2, this fly-runtime reads 1"),
        ('{"schema": 1, "name": "add"}', "its note has no entry, arguments, kernels, architectures"),
    ],
)
def test_bad_notes(tmp_path: Path, text: str, message: str) -> None:
    path = build.artifact(tmp_path, build.note("add", []), text=text)
    with pytest.raises(ArtifactError, match=message):
        read_note(path)
