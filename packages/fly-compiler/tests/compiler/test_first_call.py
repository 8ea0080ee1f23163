# SPDX-License-Identifier: Apache-2.0
"""What the first call of a process does not wait for: modules that it has no use of. Each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

KERNEL = """
import sys
sys.modules["torch"] = None
import numpy as np
import flydsl.compiler as flyc, flydsl.expr as fx

@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Int32):
    i = fx.thread_idx.x
    if i < n:
        fx.device_assert(n > 0)
        x[i] = fx.Float32(i) + BODY

@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32):
    kernel(x, n).launch(grid=1, block=64)

x = np.zeros(64, np.float32)
"""


def run(program: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def source(tmp_path):
    """A program in a file, as functions that are traced are."""

    def write(program: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(program)
        return f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"

    return write


NOT_NEEDED = (
    "flydsl.expr.nvgpu.tensor_maps",
    "flydsl.expr.ops.epilogue",
    "flydsl.expr.ops.pipeline",
    "flydsl.expr.ops.tile_walk",
    "flydsl.expr.ops.type_classes",
    "flydsl.layout.atoms.tiled_mma",
)


def test_modules_that_a_small_kernel_does_not_need(source):
    program = (
        KERNEL.replace("BODY", "1.0") + f"launch(x, 64)\nprint([one for one in {NOT_NEEDED} if one in sys.modules])"
    )
    assert run(source(program)) == "[]\n"


def test_names_whose_files_come_later():
    """All names are there, by attribute and by import, and the same object each time."""
    program = """
import flydsl.expr as fx
from flydsl.expr import Epilogue, Pipeline, TileWalk
from flydsl.expr.nvgpu import make_tensor_map
assert fx.Pipeline is Pipeline and fx.TileWalk is TileWalk and fx.Epilogue is Epilogue
assert fx.nvgpu.make_tensor_map is make_tensor_map
space = {}
exec("from flydsl.expr import *", space)
assert set(fx.__all__) <= set(space), set(fx.__all__) - set(space)
assert space["Pipeline"] is Pipeline
for module in (fx, fx.nvgpu):
    assert all(hasattr(module, name) for name in module.__all__)
    assert not hasattr(module, "no_such_name")
from flydsl.expr.ops import epilogue, pipeline, tile_walk, type_classes
files = {"epilogue": epilogue, "pipeline": pipeline, "tile_walk": tile_walk, "type_classes": type_classes}
assert fx._LATER == {name: file for file, module in files.items() for name in module.__all__}
"""
    assert run(program) == ""
