# SPDX-License-Identifier: Apache-2.0
"""External functions: declared once, converted arguments, errors."""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr.extern import ffi


def test_declared_once_and_called():
    f = ffi("twice", ["float32", "int64"], "float32", is_pure=True)
    with kernel("f32", "i32") as k:
        result = f(fx.Float32(k.args[0]), fx.Int32(k.args[1]))
        f(1.0, 2)
        assert str(result.type) == "f32"
        text = k.ir()
    assert text.count("llvm.func @twice(f32, i64) -> f32") == 1
    assert text.count("llvm.call @twice") == 2
    assert "arith.extsi" in text


def test_void():
    with kernel() as k:
        assert ffi("ping", [], "void")() is None
        assert "llvm.call @ping() : () -> ()" in k.ir()


def test_errors():
    f = ffi("f", ["int32"], "void")
    with pytest.raises(RuntimeError, match=r"inside a @flyc.kernel"):
        f(1)
    with kernel():
        with pytest.raises(TypeError, match="takes 1 arguments, got 2"):
            f(1, 2)
        with pytest.raises(ValueError, match="'half' is no type"):
            ffi("g", ["half"], "void")(1)
        ffi("h", ["int32"], "void")(1)
        with pytest.raises(ValueError, match="was declared as"):
            ffi("h", ["int64"], "void")(1)
    with pytest.raises(TypeError, match="link_extern"):
        ffi("f", [], "void", bitcode_path="x.bc")
