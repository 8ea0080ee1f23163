# SPDX-License-Identifier: Apache-2.0
"""The README, the guide and the example run, and print what they show but for the figures."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

PACKAGE = Path(__file__).parents[1]
GUIDE = PACKAGE.parents[1] / "docs" / "autotune.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


# Estimates move with every change of code generation; which configuration is the best does not.
_FIGURE = re.compile(r"[0-9.e-]+(?= ms)")


def run_page(page, tmp_path, monkeypatch, capfd):
    """Run the Python blocks of a page in order; a text block right behind one is what it prints."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    names = {"__name__": page.stem}
    for number, match in enumerate(_BLOCK.finditer(text)):
        # A file per block, its lines those of the page: kernels are compiled from their source.
        file = tmp_path / f"{page.stem}_{number}.py"
        file.write_text("\n" * (text.count("\n", 0, match.start()) + 1) + match[1])
        exec(compile(file.read_text(), str(file), "exec"), names)
        printed = capfd.readouterr().out
        if match[2] is not None:
            assert _FIGURE.sub("…", printed) == _FIGURE.sub("…", match[2])
    return names


def test_readme(tmp_path, monkeypatch, capfd):
    names = run_page(PACKAGE / "README.md", tmp_path, monkeypatch, capfd)
    assert torch.equal(names["b"], 2 * names["a"])


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of this checkout")
@pytest.mark.skipif(os.environ.get("FLYDSL_GPU_ARCH", "gfx942") != "gfx942", reason="it shows a device of gfx942")
def test_guide(tmp_path, monkeypatch, capfd):
    run_page(GUIDE, tmp_path, monkeypatch, capfd)


def test_example():
    (example,) = (PACKAGE / "examples").glob("[0-9]*.py")
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASS") == 4
