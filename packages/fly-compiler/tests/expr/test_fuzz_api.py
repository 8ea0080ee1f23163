# SPDX-License-Identifier: Apache-2.0
"""Nothing that Python code can call ends the interpreter: a short fuzz run, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("seed", [1, 2])
def test_the_interpreter_survives(seed):
    command = [sys.executable, str(Path(__file__).with_name("fuzz_api.py")), str(seed), "1200"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr[-2000:]
    assert int(result.stdout.split()[0]) > 100
