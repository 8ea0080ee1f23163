# SPDX-License-Identifier: Apache-2.0
"""The command that runs a checker on code objects: each once, and nothing passes for lack of an answer."""

import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import check_objects

CHECKER = """
import sys, time
text = open(sys.argv[1], "rb").read()
open(sys.argv[0] + ".log", "a").write("looked\\n")
if b"slow" in text:
    time.sleep(60)
if b"wrong" in text:
    print("a wait is missing")
    sys.exit(1)
"""


def code_object(content):
    """What `images_in` takes for one: a header of ELF for AMDGPU, and sections where the content ends."""
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<H", header, 18, 224)
    struct.pack_into("<Q", header, 40, 64 + len(content))
    return bytes(header) + content


@pytest.fixture
def checker(tmp_path):
    path = tmp_path / "checker.py"
    path.write_text(CHECKER)
    return path


def run(monkeypatch, checker, folder, *options):
    monkeypatch.setattr(sys, "argv", ["check_objects.py", str(checker), "--objects", str(folder), *options])
    return check_objects.main()


@pytest.mark.parametrize(
    ("contents", "status", "said"),
    [
        ([b"good", b"good", b"fine"], 0, "3 kernels in 2 objects: 0 with findings, 0 took too long"),
        ([b"good", b"wrong", b"wrong"], 1, "3 kernels in 2 objects: 1 with findings, 0 took too long"),
        ([b"good", b"slow"], 1, "2 kernels in 2 objects: 0 with findings, 1 took too long"),
        ([], 1, "nothing was checked"),
    ],
)
def test_each_object_is_checked_once(monkeypatch, capsys, tmp_path, checker, contents, status, said):
    folder = tmp_path / "objects"
    folder.mkdir()
    (folder / "notes.txt").write_text("no code object")
    for number, content in enumerate(contents):
        (folder / f"{number}.so").write_bytes(b"an artifact " + code_object(content))
    assert run(monkeypatch, checker, folder, "--seconds", "2") == status
    printed = capsys.readouterr().out
    assert said in printed
    assert ("a wait is missing" in printed) == (b"wrong" in contents)
    log = checker.with_name("checker.py.log")
    assert (log.read_text().count("looked") if log.exists() else 0) == len(set(contents))


def test_a_case_that_does_not_compile_is_reported(monkeypatch, capsys, tmp_path, checker):
    cases = [("gfx950 good", [code_object(b"good")]), ("gfx950 bad", ValueError("no waves divide the tile"))]
    monkeypatch.setattr(check_objects, "compile_all", lambda arch, only, jobs: iter(cases))
    monkeypatch.setattr(
        sys, "argv", ["check_objects.py", str(checker), "--arch", "gfx950", "--keep", str(tmp_path / "kept")]
    )
    assert check_objects.main() == 1
    printed = capsys.readouterr().out
    assert "gfx950 bad: ValueError: no waves divide the tile" in printed
    assert "1 kernels in 1 objects: 0 with findings, 0 took too long, 1 not compiled" in printed
    assert len(list((tmp_path / "kept").glob("*.hsaco"))) == 1
