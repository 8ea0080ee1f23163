# SPDX-License-Identifier: Apache-2.0
"""Python integers beside operands that cannot hold them: the right result, or an error; never a wrapped comparison."""

import operator

import numpy as np
import pytest
from tracing import kernel

import flydsl.compiler as flyc
import flydsl.expr as fx

INTEGERS = ["Int8", "Uint8", "Int16", "Uint16", "Int32", "Uint32", "Int64", "Uint64"]
LITERALS = [-(2**63), -(2**31) - 1, -(2**31), -300, -1, 0, 5, 200, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("name", INTEGERS)
def test_constants_compare_as_python_does_or_are_refused(name):
    """A constant of each class at the ends of its range, against literals around the ends of all ranges."""
    cls = getattr(fx, name)
    low = -(1 << (cls.width - 1)) if cls.signed else 0
    refused = 0
    for number in (low, 0, 1, low + (1 << cls.width) - 1):
        for literal in LITERALS:
            for compare in COMPARISONS:
                for swapped in (False, True):
                    operands = (literal, cls(number)) if swapped else (cls(number), literal)
                    expected = compare(literal, number) if swapped else compare(number, literal)
                    try:
                        found = bool(compare(*operands))
                    except OverflowError:
                        refused += 1
                    else:
                        assert found == expected, (number, literal, compare)
    # What no type of 64 bits holds beside all numbers of the class: negative numbers, or those beyond 2**63.
    lost = {"Uint32": 3 + 2, "Uint64": 5}.get(name, 2)
    assert refused == lost * 4 * len(COMPARISONS) * 2


CASES = [("Uint32", -1), ("Uint64", -1), ("Int64", 2**63), ("Int32", 2**64 - 1), ("Int8", 2**63)]


@pytest.mark.parametrize(("name", "literal"), CASES)
@pytest.mark.parametrize(
    "op", [operator.lt, operator.eq, operator.floordiv, operator.mod, operator.truediv, fx.max, fx.min]
)
@pytest.mark.parametrize("vector", [False, True])
def test_what_sees_the_value_is_refused(name, literal, op, vector):
    cls = getattr(fx, name)
    with kernel(cls.mnemonic) as traced:
        value = cls(traced.args[0])
        value = fx.full(2, value, value.dtype) if vector else value
        for operands in ((value, literal), (literal, value)):
            with pytest.raises(OverflowError, match=f"does not hold {literal}|does not fit"):
                op(*operands)


@pytest.mark.parametrize("op", [fx.ceildiv, fx.truncdiv, fx.fmod])
def test_functions_that_see_the_value(op):
    with kernel("i32") as traced, pytest.raises(OverflowError, match="does not hold -3"):
        op(fx.Uint32(traced.args[0]), -3)


def test_what_sees_only_the_bits_is_right():
    """`x - 1` of unsigned numbers, masks and hashes: modulo 2**width a literal of the other sign is its bits."""

    @flyc.kernel
    def bits(x: fx.Tensor, y: fx.Tensor):
        value = x[0]
        y[0] = value + -1
        y[1] = value * -3
        y[2] = value & -2
        y[3] = value ^ 0xFFFFFFFFFFFFFFFF

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        bits(x, y).launch(grid=1, block=1)

    x, y = np.array([77], np.uint64), np.zeros(4, np.uint64)
    launch(x, y)
    assert y.tolist() == [(77 + -1) % 2**64, (77 * -3) % 2**64, 77 & (2**64 - 2), 77 ^ (2**64 - 1)]


def test_raw_values_take_literals_that_fit_their_type():
    with kernel("i32") as traced:
        raw = traced.args[0]
        for fits in (raw == 0xFFFFFFFF, raw + 0x80000000, raw & -1, raw < 2**31 - 1):
            assert fits is not None
        for op in (operator.lt, operator.ge):
            with pytest.raises(OverflowError, match="raw i32 and 2147483648"):
                op(raw, 2**31)
        for op in (operator.add, operator.eq):
            with pytest.raises(OverflowError, match="raw i32 and 4294967296"):
                op(raw, 2**32)


@pytest.mark.parametrize(
    "make", [lambda n: fx.full(2, n, fx.Int8), lambda n: fx.Int8x2([0, n]), lambda n: fx.Int8x2(n)]
)
def test_lanes_hold_what_they_are_given(make):
    with kernel():
        make(255), make(-128), make(3.0)
        with pytest.raises(OverflowError, match="cannot store 256 in a vector of Int8"):
            make(256)
        with pytest.raises(ValueError, match=r"cannot store 2\.5 in a vector of Int8 without its fraction"):
            make(2.5)
