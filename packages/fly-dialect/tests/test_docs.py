# SPDX-License-Identifier: Apache-2.0
"""docs/dialect/ is what ODS and the passes make of it today."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
GENERATOR = PACKAGE / "tools" / "docs" / "generate.py"


@pytest.mark.skipif(not (PACKAGE.parents[1] / "docs").is_dir(), reason="the package stands alone, without docs/")
def test_pages_are_up_to_date() -> None:
    command = [sys.executable, str(GENERATOR), "--check"]
    trees = (PACKAGE.parents[1] / "build" / "fly-dialect" / "bin", *sorted(PACKAGE.glob("build/*/bin")))
    found = next((tree / "fly-opt" for tree in trees if (tree / "fly-opt").is_file()), shutil.which("fly-opt"))
    if found:
        command += ["--fly-opt", str(found)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr + f"\nrun {GENERATOR}"
