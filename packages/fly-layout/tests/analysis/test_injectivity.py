# SPDX-License-Identifier: Apache-2.0
"""Overlap is decided exactly, with a witness, and without enumerating the domain."""

from __future__ import annotations

import pytest
from cost import lines
from hypothesis import given
from laws.strategies import gapped_layouts, layouts

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError, parse
from flydsl.layout.analysis import find_overlap, is_bijective, is_injective


@given(layouts())
def test_agrees_with_enumeration(a):
    image = [a(i) for i in range(a.size())]
    found = find_overlap(a)
    assert (found is None) == (len(set(image)) == len(image))
    if found is not None:
        assert found.first != found.second
        assert a(found.first) == a(found.second) == found.index
    assert is_bijective(a) == (sorted(image) == list(range(len(image))))


@given(gapped_layouts())
def test_swizzled(a):
    c = fl.composition(fl.Swizzle(2, 1, 3), a)
    assert is_injective(c)


def test_swizzle_onto_a_full_period_is_bijective():
    assert is_bijective(parse("S<3,0,3> o 0 o (8,8):(8,1)"))
    assert not is_bijective(parse("S<3,0,3> o 0 o (8,7):(8,1)"))


@pytest.mark.parametrize(
    ("text", "injective"),
    [
        ("(1048576,1048576):(1,1048576)", True),
        ("(1099511627776,2):(1,1099511627775)", False),
        ("(1048576,1048576):(1000003,999983)", False),
        ("(1000,1048576):(1000003,999983)", True),
        ("(8,(1048576,4)):(4,(32,1))", True),
        ("(4,1073741824,3):(0,1,5)", False),
    ],
)
def test_large_layouts_cost_what_small_ones_cost(text, injective):
    layout = parse(text)
    assert lines(lambda: is_injective(layout), 10_000) > 0
    assert is_injective(layout) is injective


def test_basis_strides():
    assert is_injective(fl.make_identity_layout((4, (2, 3))))
    overlap = find_overlap(parse("(4,2):(1E0,2E0)"))
    assert str(overlap) == "(2,0) and (0,1) both map to (2)"


def test_composed_with_something_else_is_enumerated():
    assert find_overlap(parse("(2,2):(1,1) o 0 o 4:1")).index == 1
    with pytest.raises(LayoutError, match="can be enumerated"):
        find_overlap(parse("(2,2):(1,1) o 0 o 4194304:1"))


def test_what_is_not_known_is_refused():
    with pytest.raises(LayoutError, match="not static"):
        find_overlap(parse("(M,4):(4,1)"))
    with pytest.raises(LayoutError, match="no layout"):
        find_overlap((4, 8))
    with pytest.raises(LayoutError, match="gave up"):
        find_overlap(Layout((1 << 30,) * 6, (999999999989, 999999999961, 999999999959, 999999999937, 999999999899, 1)))
