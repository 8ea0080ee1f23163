# SPDX-License-Identifier: Apache-2.0
"""What editors and type checkers see: `fx.` completes, and mypy accepts the examples and knows what it can know."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import flydsl.compiler
import flydsl.expr as fx

ROOT = Path(__file__).resolve().parents[2]

CONFIGURATION = """
[mypy]
check_untyped_defs = True
namespace_packages = True
explicit_package_bases = True
follow_imports = silent
[mypy-flydsl._mlir.*,tvm_ffi.*,torch.*,ml_dtypes.*,numpy.*]
ignore_missing_imports = True
"""

KNOWN = """
import flydsl.compiler as flyc
import flydsl.expr as fx

def helper(n: fx.Constexpr[int], flag: fx.Constexpr[bool]) -> None:
    reveal_type(n)
    reveal_type(flag)
    reveal_type(fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32).val_bits)
    reveal_type(fx.num_warp_threads())
    fx.no_such_function()
"""


def test_completion():
    listed = set(dir(fx))
    assert {"make_layout", "copy", "gemm", "rocdl", "coop", "Float32", "Float32x4", "thread_idx"} <= listed
    assert "jit" in dir(flydsl.compiler)


def mypy(tmp_path, *files):
    pytest.importorskip("mypy", reason="mypy is not installed")
    configuration = tmp_path / "mypy.ini"
    configuration.write_text(CONFIGURATION)
    # Source trees; what is installed mypy finds by itself.
    roots = [str(Path(package).parent) for package in flydsl.__path__ if "site-packages" not in package]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([*roots, str(ROOT / "examples")])}
    command = [sys.executable, "-m", "mypy", "--config-file", configuration, "--cache-dir", tmp_path / "cache", *files]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.slow
def test_examples(tmp_path):
    result = mypy(tmp_path, *sorted((ROOT / "examples").glob("*.py")))
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
def test_what_is_known(tmp_path):
    file = tmp_path / "known.py"
    file.write_text(KNOWN)
    result = mypy(tmp_path, file)
    revealed = re.findall(r"Revealed type is \"(?:builtins\.)?(\w+)\"", result.stdout)
    assert revealed == ["int", "bool", "int", "int"], result.stdout
    assert 'Module has no attribute "no_such_function"' in result.stdout
