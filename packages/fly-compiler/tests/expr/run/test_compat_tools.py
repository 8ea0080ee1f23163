# SPDX-License-Identifier: Apache-2.0
"""Code written for other implementations of the language: fly-opt, dumps and caches."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def test_fly_opt(tmp_path):
    tool = shutil.which("fly-opt")
    if tool is None:
        pytest.skip("fly-opt is not on the path")
    source = tmp_path / "in.mlir"
    source.write_text("func.func @f() { return }")
    for flag in ("--fly-canonicalize", "--fly-layout-lowering"):
        subprocess.run([tool, flag, source], check=True, capture_output=True)
    assert "--fly-canonicalize" in subprocess.run([tool, "--help"], check=True, capture_output=True, text=True).stdout


KERNEL = """
import numpy, flydsl.compiler as flyc, flydsl.expr as fx
@flyc.kernel
def k(x: fx.Tensor):
    x[fx.thread_idx.x] = 1.0
@flyc.jit
def launch(x: fx.Tensor):
    k(x).launch(grid=(1,), block=(64,))
launch(flyc.from_dlpack(numpy.empty(64, numpy.float32)))
"""


def run(tmp_path, **variables):
    """Run a small kernel in a process of its own, in which the variables are set."""
    script = tmp_path / "one.py"
    script.write_text(KERNEL)
    environment = {name: value for name, value in os.environ.items() if name != "FLYDSL_RUNTIME_CACHE_DIR"}
    environment |= {"HOME": str(tmp_path), **variables}
    return subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)


def test_dumps(tmp_path):
    run(tmp_path, FLYDSL_DUMP_IR="1", FLYDSL_DUMP_DIR=str(tmp_path / "dump"), FLYDSL_DEBUG_ENABLE_DEBUG_INFO="1")
    names = sorted(path.name for path in (tmp_path / "dump").rglob("*") if path.is_file())
    assert names[0] == "00_origin.mlir"
    assert names[-1].endswith("final_isa.s")


def test_caches(tmp_path):
    run(tmp_path, FLYDSL_RUNTIME_ENABLE_CACHE="0")
    assert not list(Path(tmp_path, ".flydsl").rglob("*.so"))
    run(tmp_path, ARCH="gfx942", FLYDSL_GPU_ARCH="gfx942", FLYDSL_COMPILE_OPT_LEVEL="3")
    assert [path for path in Path(tmp_path, ".flydsl", "cache").rglob("*") if path.is_file()]
