# SPDX-License-Identifier: Apache-2.0
"""`FLYDSL_COMPILE_LLVM_DIR`: the last step by another LLVM."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile.external_llvm import ExternalLLVMError

_FOUND = shutil.which("mlir-opt-22")
PREFIX = Path(_FOUND).resolve().parents[1] if _FOUND else Path("/usr/lib/llvm-22")


@pytest.fixture
def add_one():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(block=(8,))

    return launch


@pytest.mark.skipif(not (PREFIX / "bin" / "mlir-opt").exists(), reason="no mlir-opt of an LLVM is installed")
def test_code_of_another_llvm_runs(add_one, monkeypatch):
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", str(PREFIX))
    x = np.zeros(8, np.float32)
    add_one(x)
    assert (x == 1).all()
    kernel = add_one.report(x).kernels[0]
    assert kernel["vgpr"] > 0
    monkeypatch.delenv("FLYDSL_COMPILE_LLVM_DIR")
    assert add_one.report(x).origin == "compiled"  # the tool is part of the key


def fake_llvm(folder, text):
    binaries = folder / "llvm" / "bin"
    binaries.mkdir(parents=True)
    program = binaries / "mlir-opt"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return str(folder / "llvm")


def test_a_prefix_without_the_tool(add_one, monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", str(tmp_path))
    with pytest.raises(ExternalLLVMError, match=r"there is no program .*bin/mlir-opt\. Set it to the prefix"):
        add_one(np.zeros(8, np.float32))


def test_a_tool_that_fails_or_gives_something_else(add_one, monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", fake_llvm(tmp_path, "echo cannot >&2; exit 3"))
    with pytest.raises(ExternalLLVMError, match=r"(?s)mlir-opt .* failed with status 3:\ncannot"):
        add_one(np.zeros(8, np.float32))
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", fake_llvm(tmp_path / "other", "echo 'module {}'"))
    with pytest.raises(ExternalLLVMError, match="gave no device binary"):
        add_one(np.zeros(8, np.float32))


def test_options_become_flags(add_one, monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", fake_llvm(tmp_path, 'echo "$@" >&2; exit 1'))
    add_one.compile_hints["llvm_options"] = {"amdgpu-sched-strategy": "max-ilp", "enable-misched": True}
    with pytest.raises(ExternalLLVMError, match="--amdgpu-sched-strategy=max-ilp --enable-misched=true"):
        add_one(np.zeros(8, np.float32))


def test_assembly_alone_cannot_be_dumped(add_one, monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_COMPILE_LLVM_DIR", fake_llvm(tmp_path, "exit 1"))
    monkeypatch.setenv("FLYDSL_DEBUG_DUMP_ASM", "1")
    with pytest.raises(RuntimeError, match="unset one of the two"):
        add_one(np.zeros(8, np.float32))
