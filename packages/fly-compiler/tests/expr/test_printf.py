# SPDX-License-Identifier: Apache-2.0
"""`fx.printf` and `fx.device_assert`: what they trace to."""

import re

import pytest
from tracing import kernel

import flydsl.expr as fx


def printed(text):
    return re.findall(r'fly.print[^"]*"([^"]*)"', text)


def test_formats():
    with kernel("i32", "f32") as k:
        i, f = fx.Int32(k.args[0]), fx.Float32(k.args[1])
        fx.printf("tid={} val={} {}", i, f, "text")
        fx.printf(i, 3, f)
        fx.printf(i, format_str="{}!")
        fx.printf("v={}", fx.full(2, f, fx.Float32))
        fx.printf("plain")
        fx.printf(fx.make_shape(4, (i, 2)))
        assert printed(k.ir()) == ["tid={} val={} text", "{} 3 {}", "{}!", "v=[{}, {}]", "plain", "(4, ({}, 2))"]
        with pytest.raises(ValueError, match="2 placeholders for 1 values"):
            fx.printf("{} {}", i)
        with pytest.raises(ValueError, match="print its parts"):
            fx.printf("{}", fx.Struct[fx.Int32, fx.Int32](i, i))


def test_narrow_floats_are_widened():
    with kernel("f8E4M3FNUZ") as k:
        fx.printf("{}", fx.Float8E4M3FNUZ(k.args[0]))
        assert "arith.extf" in k.ir()


def test_device_assertions():
    with kernel("i32") as k:
        i = fx.Int32(k.args[0])
        fx.device_assert(i < 3, "i is {}", i)
        fx.device_assert(fx.Boolean(True), "never")
        text = k.ir()
        assert text.count("scf.if") == 1
        assert "fly.assertion" in text
        assert printed(text) == ["i is {}"]
        with pytest.raises(AssertionError, match=r"test_printf.py:\d+: four"):
            fx.device_assert(fx.Int32(4) < 3, "four")
    with pytest.raises(RuntimeError, match="inside a @flyc"):
        fx.device_assert(True)
