# SPDX-License-Identifier: Apache-2.0
"""How CUDA's sanitizers are asked, and what is made of their answers, with a program in their place."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"

# Ahead of `replay` the options; the launches are the folders in the file behind the "@".
FAKE = f"""#!{sys.executable}
import sys, time
from pathlib import Path
tool = sys.argv[sys.argv.index("--tool") + 1]
given = sys.argv[sys.argv.index("replay") + 1]
paths = Path(given[1:]).read_text().splitlines() if given[0] == "@" else [given]
status = 0
def say(*lines):
    for line in lines:
        print("=========" + line, flush=True)
say(" COMPUTE-SANITIZER")
for name in (Path(path).name for path in paths):
    print("LAUNCH " + name, flush=True)
    if name == "hangs" and tool == "memcheck":
        time.sleep(60)
    if name == "dies" and tool == "memcheck":
        sys.exit(3)
    if (name == "races" and tool == "racecheck") or name == tool + "_bug":
        say(f" Error: Race reported between Write access at {{name}}+0x10", "     and Read access at 0x20", "")
        status = 9
    print("DONE " + name, flush=True)
say(f" ERROR SUMMARY: {{status // 9}} errors")
sys.exit(status)
"""


@pytest.fixture
def sanitize(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("cuda_sanitize")
    program = tmp_path / "bin" / "compute-sanitizer"
    program.parent.mkdir()
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    found = {tool: f"{tool}_bug" for tool in module.TOOLS}
    tried = dict.fromkeys(module.TOOLS, ("no_bug",))
    planted = SimpleNamespace(FINDS=found, TRIED=tried, plant=lambda folder: None)
    monkeypatch.setitem(sys.modules, "cuda_planted", planted)
    monkeypatch.setattr(module, "wanted_functions", lambda: {"norm.forward:norm_kernel"})
    return module


def launches(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "launches"
    for name in (*names, "left", "kernels"):
        (folder / name).mkdir(parents=True)
    for name in names:
        (folder / name / "launch.json").write_text(json.dumps({"kernels": [f"norm_{name}"]}))
    (folder / "kernels" / "1.txt").write_text(
        "".join(f"norm_{name} flydsl.kernels.norm.forward:norm_kernel\n" for name in names)
    )
    return folder


def ran(
    sanitize: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], *names: str, seconds: float = 60.0
) -> tuple[int, str]:
    status = sanitize.run(launches(tmp_path, *names), tmp_path / "out", seconds)
    return status, capsys.readouterr().out


def test_a_clean_run(sanitize: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"launch{number}" for number in range(20)]
    status, said = ran(sanitize, tmp_path, capsys, *names)
    assert status == 0, said
    for tool in sanitize.TOOLS:
        assert f"== {tool}: 20 of 20 launches, 0 findings" in said
        assert f"{tool} has something to say of {tool}_bug; not of no_bug" in said
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["done"] == dict.fromkeys(sanitize.TOOLS, 20)


def test_a_finding_is_one_of_its_launch(
    sanitize: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = ran(sanitize, tmp_path, capsys, "good", "races")
    assert status == 1
    assert "== racecheck: 2 of 2 launches, 1 findings" in said
    assert "races: 1 findings, of which the first:\nError: Race reported between Write access at races+0x10" in said
    assert "== memcheck: 2 of 2 launches, 0 findings" in said


def test_behind_a_launch_that_ends_a_process_the_others_run(
    sanitize: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sanitize, "PROCESSES", dict.fromkeys(sanitize.TOOLS, 1))
    status, said = ran(sanitize, tmp_path, capsys, "one", "dies", "two", "three")
    assert status == 1
    assert "== memcheck: 3 of 4 launches" in said
    assert "memcheck: a process ended with 3 at dies" in said
    assert "memcheck: 1 launches were not reached, as dies" in said


def test_what_hangs_is_ended_and_said(sanitize: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = ran(sanitize, tmp_path, capsys, "hangs", "good", seconds=4.0)
    assert status == 1
    assert "memcheck: 1 launches were not reached, as hangs" in said


def test_a_tool_that_does_not_look(
    sanitize: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sys.modules["cuda_planted"].FINDS["initcheck"] = "no_bug"  # type: ignore[attr-defined]
    status, said = ran(sanitize, tmp_path, capsys, "good")
    assert status == 1
    assert "initcheck does not find no_bug" in said


def test_a_kernel_that_nothing_launches(
    sanitize: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sanitize, "wanted_functions", lambda: {"norm.forward:norm_kernel", "gemm.new_gemm:new"})
    status, said = ran(sanitize, tmp_path, capsys, "good")
    assert status == 1
    assert "MISSING: gemm.new_gemm:new was in no launch" in said


def test_what_was_called_and_not_kept_is_said(
    sanitize: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = launches(tmp_path, "good-0123")
    (folder / "left" / "good-0123").write_text("wrote nothing")  # in one process; another one kept it
    (folder / "left" / "softmax-4567").write_text("100000000000 bytes")
    sanitize.run(folder, tmp_path / "out", 60.0)
    said = capsys.readouterr().out
    assert "not kept: softmax-4567: 100000000000 bytes" in said
    assert "not kept: good-0123" not in said


def test_several_findings_and_their_places(sanitize: ModuleType) -> None:
    seen = sanitize.read(
        "========= COMPUTE-SANITIZER\n"
        "LAUNCH a\n"
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at norm_kernel+0x70\n"
        "=========     by thread (63,0,0) in block (0,0,0)\n"
        "========= \n"
        "========= Invalid __global__ read of size 4 bytes\n"
        "=========     at norm_kernel+0x90\n"
        "DONE a\n"
        "LAUNCH b\n"
        "WRONG b: 3 bytes of piece 0, of 9, are not as they were\n"
        "DONE b\n"
        "LAUNCH c\n"
        "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
        "========= ERROR SUMMARY: 2 errors\n"
    )
    assert (seen.begun, seen.done) == (["a", "b", "c"], {"a", "b"})
    assert [name for name, _ in seen.findings] == ["a", "a", "b"]
    assert "at norm_kernel+0x70" in seen.findings[0][1]
    assert "63,0,0" not in seen.findings[1][1]
