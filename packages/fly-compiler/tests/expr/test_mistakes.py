# SPDX-License-Identifier: Apache-2.0
"""Mistakes of new users, and what they are told."""

import numpy
import pytest
from tracing import kernel

import flydsl.expr as fx


def test_functions_of_other_libraries():
    with kernel("f32") as k:
        x = fx.Float32(k.args[0])
        for value in (x, x.ir_value(), fx.full(4, x, fx.Float32)):
            with pytest.raises(TypeError, match=r"numpy.exp computes on the host, .*; use fx.exp"):
                numpy.exp(value)
        with pytest.raises(TypeError, match=r"numpy.multiply .*; use operators"):
            numpy.float32(2) * x
        with pytest.raises(TypeError, match=r"numpy.maximum .*; use fx.maximumf"):
            numpy.maximum(x, x)
        torch = pytest.importorskip("torch", reason="the mistake is made with torch")
        with pytest.raises(TypeError, match=r"torch.sqrt computes on the host, .*; use fx.sqrt"):
            torch.sqrt(x)


def test_tensors_are_no_sequences():
    with kernel("!fly.memref<f32, global, (?,8):(8,1)>") as k:
        t = fx.Tensor(k.args[0])
        assert t
        with pytest.raises(TypeError, match=r"fx.rank\(t\) counts its modes"):
            len(t)
        with pytest.raises(TypeError, match="index it in a loop over range"):
            list(t)
        with pytest.raises(TypeError, match="sliced with None"):
            t[0:2, 1]


def test_widths_of_copies():
    for bits in (8, 16, 32, 64, 96, 128, 256):
        fx.UniversalCopy(bits)
    for bits in (0, 48, 24, -8):
        with pytest.raises(ValueError, match="UniversalCopy moves"):
            fx.UniversalCopy(bits)


def test_assumptions():
    with kernel("i32", "i64", "f32") as k:
        n, m = fx.Int32(k.args[0]), fx.Int64(k.args[1])
        rows = fx.assume(n, 8)
        assert str(fx.make_layout((4, rows), (rows, 1))) == "Layout<(4,?{div=8}):(?{div=8},1)>"
        assert str(fx.assume(m, 4)) == "IntTuple<?{i64 div=4}>"
        assert (rows + 1).dtype is fx.Int32
        assert fx.assume(16, 8) == 16
        k.ir()
        with pytest.raises(ValueError, match="12 is no multiple of 8"):
            fx.assume(12, 8)
        with pytest.raises(TypeError, match="about integers, got Float32"):
            fx.assume(fx.Float32(k.args[2]), 8)
