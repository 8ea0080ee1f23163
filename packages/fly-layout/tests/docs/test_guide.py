# SPDX-License-Identifier: Apache-2.0
"""The guide in ``docs/layout``: every block runs and gives what it shows, pictures are fresh, differences complete."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from contract.tables import rows

from flydsl.layout.cli import main

GUIDE = Path(__file__).parents[4] / "docs" / "layout"
PAGES = sorted(GUIDE.glob("*.md")) if GUIDE.is_dir() else []

pytestmark = pytest.mark.skipif(not PAGES, reason="the guide is not beside this package")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_blocks(page):
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(verbose=False)
    failures: list[str] = []
    for number, block in enumerate(blocks(page, "python")):
        assert block.startswith(">>>"), f"block {number} of {page.name} is no session"
        test = doctest.DocTestParser().get_doctest(block, names, f"{page.name}, block {number}", str(page), 0)
        runner.run(test, out=failures.append, clear_globs=False)
        names.update(test.globs)
    assert not failures, "".join(failures)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=lambda p: p.name)
def test_console_blocks(page, capsys):
    for block in blocks(page, "console"):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, expected = command.split("\n", 1)
            program, *arguments = shlex.split(line)
            assert program == "fly-layout"
            assert main(arguments) == 0
            assert capsys.readouterr().out == expected


def test_only_languages_that_are_executed_or_plain():
    for page in PAGES:
        languages = set(re.findall(r"^```(\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert languages <= {"python", "console"}, page


def test_pictures_are_fresh_and_used():
    done = subprocess.run(
        [sys.executable, str(GUIDE / "draw.py"), "--check"], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    used = {m for p in PAGES for m in re.findall(r"\(pictures/([\w-]+)\.svg\)", p.read_text(encoding="utf-8"))}
    assert used == {p.stem for p in (GUIDE / "pictures").glob("*.svg")}


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (GUIDE / target).exists(), f"{page.name}: {target}"


def test_every_difference_is_explained():
    text = (GUIDE / "differences.md").read_text(encoding="utf-8").replace("\\|", "|")
    for row in rows("differences.txt"):
        assert row.op in text
        assert " ; ".join(row.operands) in text, row
