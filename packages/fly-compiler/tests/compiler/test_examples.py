# SPDX-License-Identifier: Apache-2.0
"""Every example runs, on every architecture of the emulator, and checks itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, arch):
    # Its code is checked on every path, too, whichever the example takes.
    environment = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch, "FLYDSL_EMU_CHECK_CODE": "1"}
    done = subprocess.run([sys.executable, str(example)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASS") >= 3
    assert arch in done.stdout
    assert "traced at each call" not in done.stderr
