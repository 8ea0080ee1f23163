# SPDX-License-Identifier: Apache-2.0
"""What the tests of the compiler share: a private cache, and traces of small functions."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager
from flydsl.compiler.diagnostics import explain_name_error, forget_unbound
from flydsl.frontend.control.region import settle
from flydsl.frontend.rewrite import rewrite_function
from flydsl.trace.context import Trace, call_traced


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    """No test sees artifacts of another, nor the user's."""
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def hopper(private_cache, monkeypatch):
    """Programs are compiled for sm_90a, and nothing is called."""
    monkeypatch.delenv("ARCH", raising=False)
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "sm_90a")
    monkeypatch.setenv("COMPILE_ONLY", "1")


class Traced:
    """The result of tracing a function as the body of a `func.func`."""

    def __init__(self, function, types, *, decorated=True):
        context = ir.Context()
        context.enable_multithreading(False)
        forget_unbound()
        with context, Trace(context, arch="gfx942"), ir.Location.unknown():
            self.module = ir.Module.create()
            inputs = [one.ir_type for one in types]
            with ir.InsertionPoint(self.module.body):
                host = ir.Operation.create(
                    "func.func",
                    regions=1,
                    attributes={
                        "sym_name": ir.StringAttr.get("f"),
                        "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, [])),
                    },
                )
            block = host.regions[0].blocks.append(*inputs)
            with ir.InsertionPoint(block):
                body = rewrite_function(function, decorated=decorated)
                arguments = [one(value) for one, value in zip(types, block.arguments, strict=True)]
                try:
                    self.result = call_traced(body, *arguments)
                except NameError as error:
                    explain_name_error(error)
                    raise
                finally:
                    settle(self.module)
                ir.Operation.create("func.return")
            self.module.operation.verify()
            PassManager.parse("builtin.module(canonicalize,cse)").run(self.module.operation)
        self.text = str(self.module)


@pytest.fixture
def trace():
    """Trace a function: `trace(function, [Int32, …])`; `.text` is the canonicalised module."""
    return Traced


def use(value):
    """Keep a value alive in the traced module."""
    operand = value if isinstance(value, ir.Value) else value.ir_value()
    ir.Operation.create("gpu.printf", operands=[operand], attributes={"format": ir.StringAttr.get("%d")})


@pytest.fixture(name="use")
def use_fixture():
    """A function that keeps a value alive in the traced module."""
    return use


@pytest.fixture
def run_script(tmp_path):
    """Run a Python script in a process of its own: `run_script(text, VARIABLE="value")`."""

    def run(text, **variables):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text))
        environment = {**os.environ, **variables}
        if "torch" not in text:
            # tvm-ffi imports it where it finds it, which takes longer than all the rest.
            (tmp_path / "torch.py").write_text("raise ImportError('not in this test')")
        return subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, check=False, env=environment, timeout=600
        )

    return run
