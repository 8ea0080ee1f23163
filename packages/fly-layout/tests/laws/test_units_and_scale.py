# SPDX-License-Identifier: Apache-2.0
"""Modes of extent 1 do not decide whether a composition exists; wide layouts are cheap, deep ones are refused."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import given
from strategies import layouts

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError, flatten

RANK = 256


def without_units(layout: Layout) -> Layout:
    leaves = [(s, d) for s, d in zip(flatten(layout.shape), flatten(layout.stride)) if s != 1]
    if not leaves:
        return Layout(1, 0)
    return Layout(tuple(s for s, _ in leaves), tuple(d for _, d in leaves))


@given(layouts(), layouts())
def test_units_do_not_decide_existence(a, b):
    try:
        expected = fl.composition(without_units(a), b)
    except LayoutError:
        return
    found = fl.composition(a, b)
    assert all(found(i) == expected(i) for i in range(b.size()) if all_inside(a, b, i))


def all_inside(a: Layout, b: Layout, i: int) -> bool:
    return 0 <= b(i) < a.size()


@pytest.mark.parametrize("trailing", [(), (1,), (1, 1), ((1, 1),)])
def test_a_trailing_unit_is_divided(trailing):
    strides = fl.int_tuple.transform_leaves(lambda _: 5, trailing) if trailing else ()
    a = Layout(((5, 5, 4), *trailing), ((1, 5, 25), *strides)) if trailing else Layout((5, 5, 4), (1, 5, 25))
    assert str(fl.logical_divide(a, Layout(6, 4))) == "(6,(4,5)):(4,(1,24))"


def test_a_last_unit_still_says_how_to_go_on():
    assert str(fl.composition(Layout((4, 1), (1, 100)), Layout(8, 1))) == "(4,2):(1,100)"


def test_symbolic_operands_agree():
    n = fl.sym("n")
    a = Layout((4, 3, n, 1), (1, 5, 100, 7))
    assert str(fl.composition(a, Layout(4, 1))) == str(fl.composition(Layout((4, 3, n), (1, 5, 100)), Layout(4, 1)))


def calls(function) -> int:
    """The function calls and returns that an evaluation takes, which unlike its time do not vary."""
    count = 0

    def trace(*_):
        nonlocal count
        count += 1

    sys.setprofile(trace)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def permuted(rank: int) -> Layout:
    order = list(range(rank))
    random.Random(1).shuffle(order)
    return Layout((2,) * rank, tuple(1 << i for i in order))


@pytest.mark.parametrize(
    "operation",
    [fl.right_inverse, fl.left_inverse, fl.coalesce, lambda a: fl.composition(a, Layout((2,) * a.rank)), fl.cosize],
)
def test_calls_grow_with_the_rank(operation):
    small, large = (calls(lambda rank=rank: operation(permuted(rank))) for rank in (RANK // 4, RANK))
    assert large < 6 * small


def test_wide_compositions_are_right():
    a = permuted(RANK)
    r = fl.composition(a, Layout((2,) * RANK))
    assert r == a
    assert fl.composition(fl.left_inverse(a), a).coalesce() == Layout(1 << RANK, 1)


def nested(depth: int):
    value = 4
    for _ in range(depth):
        value = (value,)
    return value


@pytest.mark.parametrize("depth", [65, 1000, 100000])
@pytest.mark.parametrize(
    "make",
    [
        lambda t: Layout(t),
        lambda t: Layout(t, t),
        lambda t: Layout((t, fl.sym("n"))),
        lambda t: fl.make_layout(t),
    ],
)
def test_depth_is_refused_with_a_reason(make, depth):
    with pytest.raises(LayoutError, match="deeper than 64 levels"):
        make(nested(depth))
