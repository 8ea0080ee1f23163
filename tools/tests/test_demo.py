# SPDX-License-Identifier: Apache-2.0
"""The demo's table and exit code, on examples that are written here."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[1] / "demo.py"

GOOD = """
    import os

    CASES = [8, 16]

    def run_case(case):
        return dict(kernel="copy", shape=f"({case},)", dtype="float32", arch=os.environ["ARCH"], device="none",
                    max_error=0.0, tolerance=1e-6, passed=True)
"""


def run_demo(folder, **files):
    for name, text in files.items():
        (folder / f"01_{name}.py").write_text(textwrap.dedent(text))
    command = [sys.executable, str(DEMO), "--examples", str(folder), "--arch", "gfx942"]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_all_rows_pass(tmp_path):
    done = run_demo(tmp_path, good=GOOD)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASS") == 2
    assert "2 passed, 0 failed" in done.stdout


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (GOOD.replace("passed=True", "passed=False"), "FAIL"),
        ("CASES = [1]\ndef run_case(case): raise ValueError('the tile is odd')", "the tile is odd"),
        ("raise ImportError('no such layer')", "no such layer"),
        ("import os\nos._exit(3)", "exit code 3"),
    ],
)
def test_a_failing_row_fails_the_demo(tmp_path, bad, said):
    done = run_demo(tmp_path, bad=bad, good=GOOD)
    assert done.returncode == 1
    assert said in done.stdout
    assert "FAIL" in done.stdout


def test_no_examples_is_a_failure(tmp_path):
    done = run_demo(tmp_path)
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr
