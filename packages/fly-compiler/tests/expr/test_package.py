# SPDX-License-Identifier: Apache-2.0
"""The names of `flydsl.expr`, and what importing it must not do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import flydsl.expr as fx


def test_every_public_name_exists():
    assert [name for name in fx.__all__ if not hasattr(fx, name)] == []


@pytest.mark.parametrize(
    "name", ["rocdl", "coop", "random", "buffer_ops", "utils", "extern", "arith", "math", "gpu", "vector"]
)
def test_sub_modules(name):
    assert getattr(fx, name).__name__ == f"flydsl.expr.{name}"


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = fx.nonsense


def test_import_is_lean():
    unwanted = ("torch", "flydsl.expr.rocdl", "flydsl.expr.coop", "flydsl.compiler", "flydsl.layout.atoms")
    code = f"import sys, flydsl.expr; print([m for m in {unwanted} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_copies_of_buffers_are_known_where_buffers_are_made():
    """Whatever else of `fx.rocdl` a program has used: a file of it is imported when one of its names is."""
    code = """
import flydsl.expr as fx
from flydsl.expr.ops.atom_types import UniversalCopy, copy_of_space

fx.rocdl.make_buffer_tensor
print(type(copy_of_space(fx.rocdl.TargetAddressSpace.BufferDesc)(32)).__name__, copy_of_space(None) is UniversalCopy)
"""
    environment = os.environ | {"FLYDSL_GPU_ARCH": "gfx942"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert result.stdout.split() == ["BufferCopy", "True"], result.stderr


TILED = """
import sys
import flydsl.expr as fx
from tracing import kernel

with kernel():
    mma = fx.make_tiled_mma(fx.rocdl.MFMA(16, 16, 16, fx.Float16), fx.make_layout((2, 2, 1), (1, 2, 0)))
    copies = fx.make_tiled_copy_A(fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16), mma)
    mma.get_slice(fx.thread_idx.x), copies.get_slice(fx.thread_idx.x)
print([name for name in sys.modules if name.startswith("flydsl.layout")])
"""


def test_tilings_are_lean():
    """To import the layouts of the host would be most of what tracing a first kernel takes."""
    folder = str(Path(__file__).parent)
    result = subprocess.run([sys.executable, "-c", TILED], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.strip() == "[]"


def test_compatibility_paths():
    from flydsl.expr import arith, buffer_ops, const_expr, gpu, math, range_constexpr, rocdl, vector
    from flydsl.expr.numeric import Float32
    from flydsl.expr.typing import T

    assert const_expr(3) == 3
    assert list(range_constexpr(2)) == [0, 1]
    assert Float32 is fx.Float32
    assert fx.block_product.__name__ == "blocked_product"
    assert all((arith, buffer_ops, gpu, math, rocdl, vector, T))
    assert T.f32 is fx.Float32
    assert T.i8x16 is fx.Int8x16
    with pytest.raises(AttributeError, match="T has no type"):
        _ = T.f8x3


def test_typst(capsys):
    from tracing import kernel

    with kernel():
        fx.utils.print_typst(fx.make_layout((2, 4), (4, 1)))
        assert "#table(columns: 4" in capsys.readouterr().out
        text = fx.utils.typst(fx.make_tiled_mma(fx.rocdl.MFMA(16, 16, 16, fx.Float16)))
        assert text.count("T63 V3") == 3
        with pytest.raises(TypeError, match="draws layouts"):
            fx.utils.print_typst(3)
