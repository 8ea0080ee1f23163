# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions: classes are kept, extremes fold and promote."""

import math

import pytest
from tracing import kernel

import flydsl.expr as fx

UNARY = [
    "absf",
    "ceil",
    "floor",
    "trunc",
    "round",
    "roundeven",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
]


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_keep_class_and_shape(name):
    function = getattr(fx, name)
    with kernel("f32", "vector<4xf16>") as k:
        assert function(fx.Float32(k.args[0])).dtype is fx.Float32
        result = function(fx.Vector(k.args[1], (2, 2)))
        assert result.shape == (2, 2)
        assert result.dtype is fx.Float16
        assert str(function(k.args[0]).type) == "f32"
        assert str(function(1.0, fastmath="fast").type) == "f32"
        assert "fastmath<fast>" in k.ir()


@pytest.mark.parametrize("name", ["absi", "ctlz", "cttz", "ctpop"])
def test_integer_functions(name):
    with kernel("i32") as k:
        assert getattr(fx, name)(fx.Uint32(k.args[0])).dtype is fx.Uint32
        assert f"math.{name}" in k.ir()


def test_operand_kinds_are_checked():
    with kernel("i32"):
        with pytest.raises(TypeError, match="exp takes a float, got Int32; convert it first"):
            fx.exp(fx.Int32(1))
        with pytest.raises(TypeError, match="ctpop takes an integer, got Float32"):
            fx.ctpop(fx.Float32(1.0))
        with pytest.raises(TypeError, match="not 'str'"):
            fx.exp("x")


def test_several_operands():
    with kernel("f32", "vector<4xf32>", "i32") as k:
        x, v, i = fx.Float32(k.args[0]), fx.Vector(k.args[1]), fx.Int32(k.args[2])
        assert fx.fma(x, 2.0, v).shape == (4,)
        assert fx.clampf(v, 0.0, 1.0).shape == (4,)
        assert fx.powf(x, 2.0).dtype is fx.Float32
        assert fx.atan2(x, x).dtype is fx.Float32
        assert fx.copysign(v, -1.0).shape == (4,)
        assert fx.fpowi(v, i).shape == (4,)
        assert fx.ipowi(i, 3).dtype is fx.Int32
        assert [type(r) for r in fx.sincos(x)] == [fx.Float32] * 2
        assert fx.maximumf(x, v).shape == (4,)
        assert fx.maxnumf(x, 1.0).dtype is fx.Float32
        assert fx.minnumf(x, x).dtype is fx.Float32
        k.ir()


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "isnormal"])
def test_predicates(name):
    with kernel("f32", "vector<4xf32>") as k:
        assert getattr(fx, name)(fx.Float32(k.args[0])).dtype is fx.Boolean
        result = getattr(fx, name)(fx.Vector(k.args[1]))
        assert result.dtype is fx.Boolean
        assert result.shape == (4,)
        k.ir()


def test_extremes_fold():
    assert fx.max(1, [5, (3,)], 2).value == 5
    assert fx.min(1.5, 2).value == 1.5
    assert fx.min(1.5, 2).dtype is fx.Float32
    assert math.isnan(fx.max(1.0, float("nan")).value)
    assert math.copysign(1, fx.max(-0.0, 0.0).value) == 1
    assert math.copysign(1, fx.min(0.0, -0.0).value) == -1
    assert fx.max(True).dtype is fx.Int32
    assert fx.max(fx.Uint8(3), fx.Int16(-1)).dtype is fx.Int16


def test_extremes_refuse():
    with pytest.raises(ValueError, match="at least one operand"):
        fx.max()
    with pytest.raises(TypeError, match="not defined for Index"):
        fx.max(fx.Index(1), fx.Index(2))
    with pytest.raises(TypeError, match="not defined for Float8E5M2"):
        fx.max(fx.Float8E5M2(1.0), fx.Float8E4M3FN(1.0))
    with pytest.raises(TypeError, match="not defined for Float8E5M2"):
        fx.min(fx.Float8E5M2(1.0))


def test_dynamic_extremes():
    with kernel("f32", "i32", "vector<4xf32>") as k:
        x, i, v = fx.Float32(k.args[0]), fx.Int32(k.args[1]), fx.Vector(k.args[2])
        assert fx.max(x, 0).dtype is fx.Float32
        assert fx.max(v, x, 1).shape == (4,)
        fx.max(i, 3)
        fx.min(fx.Uint32(i), fx.Uint32(2))
        text = k.ir()
    for op in ("arith.maximumf", "arith.maxsi", "arith.minui"):
        assert op in text


def test_ceildiv():
    assert fx.ceildiv(7, 2).value == 4
    assert fx.ceildiv(-7, 2).value == -3
    with pytest.raises(ZeroDivisionError):
        fx.ceildiv(1, 0)
    with pytest.raises(OverflowError, match="does not fit Int32"):
        fx.ceildiv(-(2**31), -1)
    with pytest.raises(TypeError, match="takes integers"):
        fx.ceildiv(1.0, 2)
    with pytest.raises(TypeError, match="Index"):
        fx.ceildiv(fx.Index(1), 2)
    with kernel("i32") as k:
        fx.ceildiv(fx.Int32(k.args[0]), 4)
        fx.ceildiv(fx.Uint32(k.args[0]), fx.Uint32(4))
        text = k.ir()
    assert "arith.ceildivsi" in text
    assert "arith.ceildivui" in text


def test_shrui_keeps_the_type():
    assert fx.shrui(fx.Int32(-1), 28).value == 15
    with kernel("i32", "vector<4xi32>") as k:
        assert fx.shrui(fx.Int32(k.args[0]), 1).dtype is fx.Int32
        assert fx.shrui(fx.Vector(k.args[1]), 1).shape == (4,)
        k.ir()
