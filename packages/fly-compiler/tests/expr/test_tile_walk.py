# SPDX-License-Identifier: Apache-2.0
"""Orders of tiles, on numbers: permutations for every shape, their layouts, and what they are for."""

import itertools

import pytest

import flydsl.expr as fx

SHAPES = [(1, 1), (3, 5), (8, 8), (7, 16), (16, 6), (13, 11), (1, 9), (24, 4)]


def order(walk):
    return [walk(index) for index in range(walk.size)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("group", "along", "xcds"), list(itertools.product((0, 1, 3, 4, 40), (0, 1), (1, 2, 8))))
def test_every_tile_once(shape, group, along, xcds):
    walk = fx.TileWalk(shape, group=group, along=along, xcds=xcds)
    assert sorted(order(walk)) == list(itertools.product(*map(range, shape)))


def test_groups_are_walked_across():
    walk = fx.TileWalk((3, 5), group=2, along=1)
    assert order(walk)[:7] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2)]
    assert order(walk)[-3:] == [(0, 4), (1, 4), (2, 4)]  # the last group has one column
    assert order(fx.TileWalk((4, 2), group=2)) == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 0), (2, 1), (3, 1)]


@pytest.mark.parametrize("shape", [(16, 6), (7, 9)])
def test_a_die_has_a_run_of_its_own(shape):
    plain = order(fx.TileWalk(shape, group=3, along=1))
    dealt = order(fx.TileWalk(shape, group=3, along=1, xcds=8))
    runs = [dealt[die::8] for die in range(8)]
    assert [one for run in runs for one in run] == plain
    assert max(map(len, runs)) - min(map(len, runs)) <= 1


@pytest.mark.parametrize(("group", "along", "xcds"), [(0, 0, 1), (4, 1, 1), (2, 0, 1), (4, 0, 8), (2, 1, 8), (8, 1, 4)])
def test_the_layout_is_the_same_order(group, along, xcds):
    walk = fx.TileWalk((16, 8), group=group, along=along, xcds=xcds)
    layout = walk.layout()
    assert [layout(index) for index in range(walk.size)] == [row + 16 * column for row, column in order(walk)]


@pytest.mark.parametrize(
    ("walk", "why"),
    [(fx.TileWalk((6, 8), group=4), "whole groups"), (fx.TileWalk((3, 5), xcds=8), "equal runs")],
)
def test_what_is_no_layout(walk, why):
    with pytest.raises(ValueError, match=why):
        walk.layout()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"shape": (0, 4)}, "1 or more tiles"), ({"shape": (4,)}, "tiles along M, tiles along N"),
        ({"shape": (4, 4), "group": -1}, "group is an int of 0 or more, got -1"),
        ({"shape": (4, 4), "xcds": 0}, "xcds is an int of 1 or more"), ({"shape": (4, 4), "group": True}, "group is"),
        ({"shape": (4, 4), "along": 2}, r"along is 0 \(M\) or 1 \(N\), got 2"),
    ],
)  # fmt: skip
def test_refusals(options, why):
    with pytest.raises(ValueError, match=why):
        fx.TileWalk(**options)
