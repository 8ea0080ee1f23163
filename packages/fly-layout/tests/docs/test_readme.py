# SPDX-License-Identifier: Apache-2.0
"""The examples in the README run."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

from flydsl.layout.cli import main

README = Path(__file__).parents[2] / "README.md"


def test_python_example():
    block = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    failures: list[str] = []
    test = doctest.DocTestParser().get_doctest(block, {}, "README", str(README), 0)
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in re.findall(r"^\$ fly-layout (.*)$", README.read_text(), re.MULTILINE):
        assert main(shlex.split(line)) == 0
    assert (tmp_path / "tiles.svg").read_text().startswith("<svg")
