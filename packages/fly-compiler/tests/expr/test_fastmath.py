# SPDX-License-Identifier: Apache-2.0
"""Fast-math flags: specifications and which one an operation gets."""

import re

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.trace.fastmath import normalise

F = fx.arith.FastMathFlags


@pytest.mark.parametrize(
    ("spec", "flags"),
    [
        ("fast", F.fast),
        ("nnan,nsz", F.nnan | F.nsz),
        (F.nnan | F.ninf, F.nnan | F.ninf),
        (["nnan", F.nsz], F.nnan | F.nsz),
        ({"contract"}, F.contract),
        (None, F.none),
    ],
)
def test_specifications(spec, flags):
    assert normalise(spec) == flags


def test_wrong_specifications():
    with pytest.raises(ValueError, match="unknown fast-math flag 'quick'"):
        normalise("quick")
    with pytest.raises(TypeError, match="fast-math specification"):
        normalise(1.5)


def test_nesting_and_precedence():
    with kernel("f32", "i32", fastmath="contract") as k:
        x, i = fx.Float32(k.args[0]), fx.Int32(k.args[1])
        x + 1.0
        with fx.fastmath("nnan"):
            x * 2.0
            with fx.fastmath(None):
                x - 3.0
            x.addf(4.0, fastmath="nsz")
            i + 5
            fx.exp(x)
            fx.full(4, x, fx.Float32).reduce("add")
            x.to(fx.Float16)
        text = k.ir()
    assert re.search(r"arith.addf %arg0, %\w+ fastmath<contract>", text)
    assert re.search(r"arith.mulf %arg0, %\w+ fastmath<nnan>", text)
    assert re.search(r"arith.subf %arg0, %\w+ : f32", text)
    assert re.search(r"arith.addf %arg0, %\w+ fastmath<nsz>", text)
    assert "math.exp %arg0 fastmath<nnan>" in text
    assert re.search(r"vector.reduction <add>, %\w+ fastmath<nnan>", text)
    assert "arith.truncf %arg0 fastmath<nnan>" in text
    assert "arith.addi %arg1, %c5_i32 : i32" in text
