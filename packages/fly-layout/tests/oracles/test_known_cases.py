# SPDX-License-Identifier: Apache-2.0
"""Cases that implementations of CuTe's Python layouts are commonly tested on, held to the operations' laws."""

from __future__ import annotations

import itertools

import pytest
from laws.strategies import decided

import flydsl.layout as fl
from flydsl.layout import Layout

LAYOUTS = [
    Layout(1, 0), Layout(1, 1), Layout(4, 0), Layout(4, 1), Layout(4, 2), Layout((1, 1), (0, 0)),
    Layout((3, 7), (0, 0)), Layout((2, 4)), Layout((2, 4, 6)), Layout((2, 4, 6), (1, 6, 2)),
    Layout((2, 1, 6), (1, 7, 2)), Layout((2, 1, 6), (4, 7, 8)),
    Layout((2, 4), (4, 1)), Layout((2, 4), (0, 2)), Layout((2, 4, 6), (24, 6, 1)), Layout((2, 1, 3), (2, 4, 4)),
    Layout((8, 4), (1, 8)), Layout((8, 4), (4, 1)), Layout((2, 4, 6), (1, 2, 8)), Layout((2, 4, 6), (4, 1, 8)),
    Layout((4, 2), (1, 16)), Layout((2, 4, 8), (8, 1, 64)), Layout(((2, 2), (2, 2)), ((1, 4), (8, 32))),
    Layout((2, (3, 4)), (3, (1, 6))), Layout((4, 6), (1, 6)), Layout((4, 10), (1, 10)), Layout((2, (4, 6))),
    Layout(((2, 2, 2), (2, 2, 2)), ((1, 16, 4), (8, 2, 32))),
]  # fmt: skip


@pytest.mark.parametrize("a", LAYOUTS, ids=str)
def test_single(a):
    c = fl.coalesce(a)
    assert c.size() == a.size()
    assert all(c(i) == a(i) for i in range(a.size()))
    r = fl.right_inverse(a)
    assert all(a(r(i)) == i for i in range(r.size()))
    if fl.analysis.is_injective(fl.filter(a)):
        m = fl.complement(a)
        assert {a(i) for i in range(a.size())} & {m(i) for i in range(m.size())} <= {0}
    if fl.analysis.is_injective(a):
        left = fl.left_inverse(a)
        assert all(left(a(i)) == i for i in range(a.size()))


COMPOSITIONS = [
    ((1, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (1, 0)), ((1, 1), (1, 1)), ((4, 1), (4, 1)), ((4, 2), (4, 1)),
    ((4, 1), (4, 2)), ((4, 0), (4, 1)), ((4, 1), (4, 0)), ((1, 0), (4, 1)), ((4, 1), (1, 0)), ((4, 1), (2, 1)),
    ((4, 2), (2, 1)), ((4, 1), (2, 2)), ((4, 2), (2, 2)), ((12, 1), ((4, 3), (1, 4))), ((12, 2), ((4, 3), (1, 4))),
    ((12, 1), ((4, 3), (3, 1))), ((12, 2), ((4, 3), (3, 1))), ((12, 1), ((2, 3), (2, 4))),
    (((4, 3), (1, 4)), ((4, 3), (1, 4))), (((4, 3), (1, 4)), (12, 1)), (((4, 3), (1, 4)), (6, 2)),
    (((4, 3), (1, 4)), ((6, 2), (2, 1))), (((4, 3), (3, 1)), ((4, 3), (1, 4))), (((4, 3), (3, 1)), (12, 1)),
    (((4, 3), (3, 1)), (6, 2)), (((4, 3), (3, 1)), ((6, 2), (2, 1))),
    (((8, 8), (1, 8)), (((2, 2, 2), (2, 2, 2)), ((1, 16, 4), (8, 2, 32)))),
    (((8, 8), (8, 1)), (((2, 2, 2), (2, 2, 2)), ((1, 16, 4), (8, 2, 32)))),
    ((((2, 2, 2), (2, 2, 2)), ((1, 16, 4), (8, 2, 32))), (8, 4)), ((((4, 2),), ((1, 16),)), ((4, 2), (2, 1))),
    (((2, 2), (2, 1)), ((2, 2), (2, 1))), (((4, 8, 2), (1, 4, 32)), ((2, 2, 2), (2, 8, 1))),
    (((4, 8, 2), (2, 8, 1)), ((2, 2, 2), (1, 8, 2))), (((4, 8, 2), (2, 8, 1)), ((4, 2, 2), (2, 8, 1))),
    (((4, 6, 8), (1, 4, 7)), (6, 1)), (((4, 6, 8, 10), (2, 3, 5, 7)), (6, 12)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), COMPOSITIONS, ids=str)
def test_composition(a, b):
    a, b = Layout(*a), Layout(*b)
    try:
        r = fl.composition(a, b)
    except fl.LayoutError:
        # Refused only where no layout of B's profile is A after B.
        assert not representable(a, b)
        return
    assert all(r(i) == a(b(i)) for i in range(r.size()))
    assert r.size() == b.size()


def representable(a, b):
    """True when every mode of B by itself goes through A as a strided or coalescible sequence."""
    for s, d in zip(fl.flatten(b.shape), fl.flatten(b.stride)):
        values = [a(i * d) for i in range(s)]
        if not any(
            values == [Layout((m, s // m), (x, y))(i) for i in range(s)]
            for m in range(1, s + 1)
            if s % m == 0
            for x, y in itertools.product({values[min(1, s - 1)]}, {values[m] if m < s else 0})
        ):
            return False
    return True


def test_int_tuples():
    assert fl.product((2, (3, 4))) == 24
    assert fl.inner_product((1, 2), (3, 2)) == 7
    assert fl.inner_product(((2, 3), 4), ((2, 1), 2)) == 15
    assert fl.shape_div((3, 4), 6) == (1, 2)
    assert fl.shape_div((3, 4), 12) == (1, 1)
    assert fl.shape_div((3, 4), 36) == (1, 1)
    assert fl.shape_div(((3, 4), 6), 36) == ((1, 1), 2)
    assert fl.shape_div((6, (3, 4)), 36) == (1, (1, 2))
    assert fl.prefix_product(2) == 1
    assert fl.prefix_product((3, 2, 4)) == (1, 3, 6)
    assert fl.prefix_product(((2, 3), (2, 1, 2), (5, 2, 1))) == ((1, 2), (6, 12, 12), (24, 120, 240))
    assert fl.suffix_product(((2, 3), 4)) == ((12, 4), 1)
    for shape in ((2, 3), ((2, 3), 4), (3, (2, (2, 2)))):
        for i in range(fl.product(shape)):
            assert fl.crd2idx(fl.idx2crd(i, shape), shape) == i
    assert fl.crd2crd(5, (2, (2, 2))) == (1, (0, 1))
    assert fl.elem_scale((2, 3), (4, (5, 2))) == (8, 30)
    assert fl.lex_less((1, 2), (1, 3))
    assert not fl.lex_less((1, 2), (1, 2))
    assert fl.colex_less((3, 1), (0, 2))
    assert fl.zip_((1, (2, 3)), (4, 5)) == ((1, 4), ((2, 3), 5))
    assert fl.replace((1, 2, 3), 1, (7, 8)) == (1, (7, 8), 3)
    assert fl.compatible(24, (4, 6))
    assert not fl.compatible((4, 6), 24)
    assert fl.tuple_max((1, (7, 3))) == 7
    assert fl.unflatten((1, 2, 3), (0, (0, 0))) == (1, (2, 3))


@pytest.mark.slow
def test_all_small_layouts_exhaustively():
    """Every layout with three leaves of extents 1 to 4 and strides 0 to 8, against every 1-D layout of up to 6."""
    checked = 0
    for shape in itertools.product(range(1, 5), repeat=3):
        for stride in itertools.product((0, 1, 2, 3, 4, 8), repeat=3):
            a = Layout(shape, stride)
            for s, d in itertools.product(range(1, 7), range(7)):
                b = Layout(s, d)
                try:
                    r = fl.composition(a, b)
                except fl.LayoutError:
                    continue
                assert all(r(i) == a(b(i)) for i in range(s) if decided(a, b(i)))
                checked += 1
    assert checked > 300_000
