# SPDX-License-Identifier: Apache-2.0
"""Runs the unit-test programs, those of the algebra over its tables; they stand in the build tree, beside fly-opt."""

import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
BUILD_TREES = (PACKAGE.parents[1] / "build" / "fly-dialect" / "bin", *sorted(PACKAGE.glob("build/*/bin")))


@pytest.mark.parametrize("name", ["fly-algebra-table-tests", "fly-algebra-runtime-tests", "fly-foreign-atom-tests"])
def test_program(name: str) -> None:
    program = next((str(tree / name) for tree in BUILD_TREES if (tree / name).is_file()), shutil.which(name))
    assert program, f"{name} is neither in {', '.join(map(str, BUILD_TREES))} nor on PATH; build the package first"
    data = PACKAGE / "test" / "LayoutAlgebra" / "data"
    done = subprocess.run([program, str(data)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " 0 failed" in done.stdout + done.stderr, done.stdout[-400:]
