# SPDX-License-Identifier: Apache-2.0
"""Texts of types, both ways."""

import pytest

from flydsl.expr.values.layout import typetext as tt


@pytest.mark.parametrize(
    "text",
    ["7", "-3", "?", "?{i64}", "?{div=8}", "?{i64 div=8}", "*", "1E0", "2E1E3", "?{div=2}E1E0", "(4,(2,?))", "(4)"],
)
def test_trees_round_trip(text):
    assert tt.print_tree(tt.parse_tree(text)) == text


def test_one_element_tuples_are_not_leaves():
    assert tt.rank_of(tt.parse_tree("(4)")) == 1
    assert tt.depth_of(tt.parse_tree("(4)")) == 1
    assert tt.rank_of(4) == 1
    assert tt.depth_of(4) == 0


def test_layouts():
    plain = tt.parse_layout("(4,(2,3)):(1,(12,4))")
    assert plain.shape == (4, (2, 3))
    assert plain.stride == (1, (12, 4))
    assert plain.inner is None
    composed = tt.parse_layout("S<3,3,3> o ?{div=4} o (8,64):(64,1)")
    assert (composed.inner, composed.offset, composed.shape) == ("S<3,3,3>", tt.Dynamic(32, 4), (8, 64))
    nested = tt.parse_layout("S<1,0,2> o 0 o [8:1 o 1 o 4:1]")
    assert nested.shape == 4
    assert nested.outer == "8:1 o 1 o 4:1"


def test_tensors():
    facts = tt.parse_tensor("!fly.memref<f16, shared, (4,8):(8,1), align<16>, S<3,4,3>>")
    assert (facts.element, facts.space, facts.layout) == ("f16", "shared", "(4,8):(8,1)")
    assert (facts.alignment, facts.swizzle) == (16, "S<3,4,3>")
    buffer = tt.parse_tensor("!fly.ptr<f4E2M1FN, #fly_rocdl.buffer_desc>")
    assert (buffer.space, buffer.alignment, buffer.layout) == ("#fly_rocdl.buffer_desc", 1, None)


@pytest.mark.parametrize(
    ("element", "size"),
    [("f32", 4), ("bf16", 2), ("i1", 1), ("f8E4M3FNUZ", 1), ("f4E2M1FN", 1), ("f6E3M2FN", 1), ("i64", 8)],
)
def test_element_bytes(element, size):
    assert tt.element_bytes(element) == size


def test_congruence():
    assert tt.congruent((4, (2, 3)), (1, (2, 9)))
    assert not tt.congruent((4, 8), (1, (2, 3)))
    assert tt.weakly_congruent((None, 3), (4, (2, 3)))
    assert not tt.weakly_congruent((1, 2, 3), (4, 8))
