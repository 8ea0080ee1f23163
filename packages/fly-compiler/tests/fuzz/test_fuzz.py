# SPDX-License-Identifier: Apache-2.0
"""Nothing that Python code can do ends the interpreter: long runs by `pytest -m fuzz`, each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
API = HERE.parent / "expr" / "fuzz_api.py"


def survive(*command, timeout):
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", *map(str, command)], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(10, 30))
def test_functions_of_the_language(seed):
    survive(API, seed, 5000, "lower", timeout=600)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(10, 30))
def test_whole_programs(seed):
    survive(HERE / "fuzz_compiler.py", seed, 300, timeout=900)


def test_some_whole_programs():
    assert "'compiled'" in survive(HERE / "fuzz_compiler.py", 2, 40, timeout=600)
