# SPDX-License-Identifier: Apache-2.0
"""Runs the lit tests of `test/`, each as a test of its own, so that pytest reports and distributes them."""

import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).resolve().parents[1] / "test"
TESTS = sorted(
    path.relative_to(SUITE)
    for path in (*SUITE.rglob("*.mlir"), *SUITE.glob("*/data/*.txt"))
    if path.stem not in ("elem_less", "equal")  # tables of values, which LayoutAlgebra/data/lit.local.cfg excludes too
)


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_lit(test: Path, tmp_path: Path) -> None:
    command = [
        sys.executable, "-c", "from lit.main import main; main()",
        "-v", "--param", f"exec_root={tmp_path}", str(SUITE / test),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
