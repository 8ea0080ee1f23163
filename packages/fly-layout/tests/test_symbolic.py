# SPDX-License-Identifier: Apache-2.0
"""Symbolic integers: widths, divisibility, specialisation."""

from __future__ import annotations

import pickle

import pytest

from flydsl.layout import Layout as L
from flydsl.layout import LayoutError, composition, dyn, size, sym


def test_arithmetic_follows_the_dialect():
    m = sym("M", div=8)
    assert (m * 4).div == 32
    assert (m + 4).div == 4
    assert (m // 2).div == 1
    assert (m * sym("K", width=64)).width == 64
    assert m * 0 == 0
    assert m * 1 is m
    assert m + 0 is m
    assert 0 % m == 0
    assert m % 1 == 0


def test_anonymous_operands_make_anonymous_results():
    assert dyn(div=8) * 4 == dyn(div=32)
    assert (sym("M") + dyn()).name is None


def test_specialize_checks_what_was_declared():
    a = L((sym("M", div=8), 4), (4, 1))
    assert a.specialize(M=16) == L((16, 4), (4, 1))
    with pytest.raises(LayoutError, match="M = 12 is not a multiple of 8"):
        a.specialize(M=12)
    b = L((sym("N", extent=6), 4), (4, 1))
    assert b.specialize() == L((6, 4), (4, 1))
    with pytest.raises(LayoutError, match="extent is known to be 6"):
        b.specialize(N=7)
    with pytest.raises(LayoutError, match="not a multiple"):
        sym("N", extent=6, div=4)


def test_partial_specialisation_keeps_the_rest():
    a = L((sym("M"), sym("N")), (sym("N"), 1))
    half = a.specialize(N=32)
    assert half == L((sym("M"), 32), (32, 1))
    assert half.specialize(M=2) == L((2, 32), (32, 1))


def test_a_condition_that_composition_assumed_is_checked_when_specialised():
    r = composition(L((sym("M"), 8), (8, 1)), L(4, 2))
    assert [r.specialize(M=4)(i) for i in range(4)] == [L((4, 8), (8, 1))(2 * i) for i in range(4)]
    with pytest.raises(LayoutError, match="specialize: "):
        r.specialize(M=6)


def test_the_value_cannot_be_used_by_accident():
    m = sym("M")
    with pytest.raises(LayoutError, match="value of M is not known"):
        bool(m)
    with pytest.raises(LayoutError, match="not known"):
        range(m)
    with pytest.raises(TypeError):
        _ = m < 3


@pytest.mark.parametrize("name", ["", "1a", "o", "E0", "a b", "E12"])
def test_names_are_identifiers_that_the_text_form_can_hold(name):
    with pytest.raises(LayoutError, match="identifier"):
        sym(name)


@pytest.mark.parametrize(
    "value", [sym("M", div=4), dyn(width=64), sym("M") * 4 + 1, size(L((sym("M"), sym("N")), (1, 2)))], ids=str
)
def test_values_are_hashable_and_picklable(value):
    assert pickle.loads(pickle.dumps(value)) == value
    assert hash(pickle.loads(pickle.dumps(value))) == hash(value)
