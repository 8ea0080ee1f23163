# SPDX-License-Identifier: Apache-2.0
"""Errors are in the user's terms: what, file, line, the line itself, a caret."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.diagnostics import Diagnostic, DSLCompileError, Frame, frames_of


def test_plain_message():
    assert str(DSLCompileError("it is wrong")) == "it is wrong"


def test_frames_run_from_the_kernel_to_the_operation(tmp_path):
    path = tmp_path / "k.py"
    path.write_text("def kernel():\n    helper(1)\n\ndef helper(x):\n    bad(x)\n")
    frames = (Frame(str(path), 5, 5), Frame(str(path), 2, 5))
    text = str(DSLCompileError(Diagnostic("no such layout", ("see this", "x" * 300), frames)))
    lines = text.splitlines()
    assert lines[0] == "no such layout"
    assert lines[1] == "  note: see this"
    assert len(lines[2]) == len("  note: ") + 200
    assert lines[3:] == [
        "",
        "DSL Traceback (most recent operation last):",
        f'  File "{path}", line 2',
        "    helper(1)",
        "    ^",
        f'  File "{path}", line 5',
        "    bad(x)",
        "    ^",
    ]


def test_regions_are_left_out_of_notes():
    text = str(Diagnostic("m", ('see current operation: "scf.for"(%1) ({ a\n lot of \n text }) : (i32) -> ()',)))
    assert '"scf.for"(%1) ({...}) : (i32) -> ()' in text


def test_locations_of_mlir():
    location = 'loc(callsite("a.py":3:5 at callsite("b.py":7:1 at "b.py":9:2)))'
    assert frames_of(location) == (Frame("a.py", 3, 5), Frame("b.py", 7, 1), Frame("b.py", 9, 2))
    assert frames_of(None) == ()


SCRIPT = """
import torch
import flydsl.compiler as flyc, flydsl.expr as fx

def helper(n):
    if n:
        fx.barrier()

@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Int32):
    helper(n)

@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32):
    kernel(x, n).launch(grid=(4,))

launch(torch.zeros(4), 3)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_an_uncaught_error_shows_the_users_frames_only(script):
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "-" * 40 + "\nDSLCompileError: if needs a Boolean condition, got Int32" in done.stderr
    assert (
        textwrap.dedent(
            f"""\
        DSL Traceback (most recent operation last):
          File "{script}", line 11
            helper(n)
            ^
          File "{script}", line 6
            if n:
        """
        )
        in done.stderr
    )
    assert "jit_function.py" not in done.stderr
    assert "<call of" not in done.stderr


def test_the_whole_traceback_on_request(script, monkeypatch):
    monkeypatch.setenv("FLYDSL_DEBUG_SHOW_STACKTRACE", "1")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert "jit_function.py" in done.stderr


def test_errors_of_traced_python_stay_what_they_are():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        raise LookupError("mine")

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch()

    with pytest.raises(LookupError, match="mine"):
        launch(torch.zeros(4))


def test_a_value_of_another_function_is_refused_with_its_line():
    leaked = []

    @flyc.kernel
    def kernel(x: fx.Tensor, n: fx.Int32):
        leaked.append(n)
        x[fx.block_idx.x] = fx.Float32(leaked[0])

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch()
        kernel(x, n).launch()

    with pytest.raises(DSLCompileError) as caught:
        launch(torch.zeros(4), 3)
    assert f'File "{__file__}"' in str(caught.value)


def test_too_much_lds_names_the_budget():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        allocator = fx.SharedAllocator()
        allocator.allocate(fx.Array[fx.Float32, 30000])
        allocator.allocate(fx.Array[fx.Float32, 30000])

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch()

    budget = r"(?s)kernel 'kernel_0' needs \d+ bytes of LDS, but gfx9.. has (65536|163840) .*120000 bytes  Array"
    with pytest.raises(RuntimeError, match=budget):
        launch(torch.zeros(4))
