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

SIGNATURES = """
import flydsl.compiler as flyc
import flydsl.expr as fx

@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Int32, width: fx.Constexpr[int] = 2) -> None:
    i = fx.thread_idx.x
    reveal_type(i)
    reveal_type(x[i])
    reveal_type(x[i, 0])
    reveal_type(x[None, 0])
    reveal_type(fx.exp(x[0]))
    reveal_type(fx.absi(n))
    reveal_type(fx.isnan(x[0]))
    reveal_type(fx.powf(x[0], 2.0))

@flyc.kernel(known_block_size=(4, 1, 1))
def bare(x: fx.Tensor) -> None: ...

@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32) -> None:
    kernel(x, n).launch(grid=1, block=4)

class Module:
    @flyc.jit
    def __call__(self, x: fx.Tensor) -> None: ...

reveal_type(kernel)
reveal_type(bare)
reveal_type(launch)
reveal_type(launch([1.0], 3))
"""

# Each call is right, but for those that say `wrong`; `Foreign` stands for a tensor or stream of torch.
CALLS = """
import flydsl.compiler as flyc
import flydsl.expr as fx

class Foreign: ...

@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Int32, width: fx.Constexpr[int] = 2) -> None: ...

@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32, width: fx.Constexpr[int] = 2, stream: fx.Stream = fx.Stream(None)) -> None:
    kernel(x, n).launch(grid=1, block=4, stream=stream)
    kernel(x, n + 1, width=width)
    kernel(x, 3, width)
    kernel(x, n, unit_attrs=["a"])
    kernel(x, n, 4, value_attrs={}, unit_attrs=[])
    kernel(x)  # wrong
    kernel(x, n, width, 4)  # wrong
    kernel(x, n, height=4)  # wrong
    kernel(x, n, width="a")  # wrong

class Module:
    @flyc.jit
    def __call__(self, x: fx.Tensor) -> None: ...
    @flyc.jit
    def forward(self, x: fx.Tensor, n: fx.Int32) -> None: ...
    @flyc.kernel
    def body(self, x: fx.Tensor, n: fx.Int32) -> None: ...

@flyc.jit
def counted(x: fx.Tensor, n: fx.Int32 | int) -> None: ...

x = Foreign()
counted(x, n=3)
counted(x, n="three")  # wrong
launch(x, 3)
launch(x, 3, 4)
launch(x, 3, 4, Foreign())
launch(x, 3, width=4)
launch(x, 3, stream=Foreign())
launch(x, 3, width=4, stream=None)
launch()  # wrong
launch(x)  # wrong
launch(x, 3, 4, None, 5)  # wrong
launch(x, 3, height=4)  # wrong
launch(x, 3, width="a")  # wrong
Module()(x)
Module()(x, 3)  # wrong
Module().forward(x, 3)
Module().forward(x)  # wrong
Module().body(x, 3)
Module().body(x)  # wrong
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


@pytest.mark.slow
def test_signatures_are_kept(tmp_path):
    file = tmp_path / "signatures.py"
    file.write_text(SIGNATURES)
    result = mypy(tmp_path, file)
    assert result.returncode == 0, result.stdout
    revealed = [re.sub(r"[a-z_]\w*\.", "", one) for one in re.findall(r'Revealed type is "(.*)"', result.stdout)]
    assert revealed == [
        "Int32",
        "Numeric",
        "Numeric",
        "Tensor",
        "Numeric",
        "Int32",
        "Boolean",
        "Numeric",
        "KernelFunction[[x: Tensor, n: Int32, width: int =]]",
        "KernelFunction[[x: Tensor]]",
        "JitFunction[[x: Tensor, n: Int32], None]",
        "None",
    ], result.stdout


@pytest.mark.slow
def test_calls_are_checked(tmp_path):
    file = tmp_path / "calls.py"
    file.write_text(CALLS)
    result = mypy(tmp_path, file)
    flagged = {int(line) for line in re.findall(r"calls.py:(\d+): error", result.stdout)}
    assert flagged == {line for line, text in enumerate(CALLS.split("\n"), 1) if "# wrong" in text}, result.stdout
