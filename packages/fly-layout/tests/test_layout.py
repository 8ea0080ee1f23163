# SPDX-License-Identifier: Apache-2.0
"""The value itself: construction, evaluation, slicing, identity, errors."""

from __future__ import annotations

import copy
import pickle

import pytest

import flydsl.layout as fl
from flydsl.layout import ComposedLayout, CoordTensor, E, Layout, LayoutError, LayoutTypeError, Swizzle, make_layout


class TestConstruction:
    def test_forms(self):
        assert Layout((4, 8)) == Layout((4, 8), (1, 4)) == make_layout((4, 8), stride="left")
        assert make_layout((4, (2, 3)), stride="right") == Layout((4, (2, 3)), (6, (3, 1)))
        assert make_layout(8, 1) == Layout(8, 1) == Layout(8)
        assert make_layout(Layout(4, 2), Layout((2, 2))) == Layout((4, (2, 2)), (2, (1, 2)))
        assert Layout("(4,8)") == Layout((4, 8))
        assert Layout("((2,2),8):((1,16),2)") == Layout(((2, 2), 8), ((1, 16), 2))

    def test_index_types_become_ints(self):
        class Three:
            def __index__(self):
                return 3

        a = Layout((Three(), True), (1, Three()))
        assert a == Layout((3, 1), (1, 3))
        assert all(type(x) is int for x in a.shape + a.stride)

    @pytest.mark.parametrize(
        ("shape", "stride", "words"),
        [
            ((4, 8), (1,), "not congruent"),
            ((4, (2, 2)), (1, 2), "not congruent at mode [1]"),
            (4, (1, 2), "not congruent"),
            ((4, -1), (1, 4), "negative"),
            ((), (), "empty tuple"),
            ((4, ()), (1, ()), "empty tuple"),
            ([4, 8], [1, 4], "lists are not tuples"),
            (4.0, 1, "float"),
            ((4, None), (1, 2), "NoneType"),
            ((4, E(0)), (1, 2), "basis element"),
            ("S<2,0,3>", None, "is a Swizzle"),
        ],
    )
    def test_errors(self, shape, stride, words):
        with pytest.raises(LayoutError) as e:
            Layout(shape, stride)
        assert words in str(e.value)

    def test_kinds_of_parts_do_not_mix(self):
        with pytest.raises(LayoutTypeError, match="do not mix"):
            make_layout(Layout(4), 3)


class TestEvaluation:
    def test_coordinates(self):
        a = Layout("(4,(2,3)):(1,(12,4))")
        assert a(2, 5) == a((2, (1, 2))) == a(2, (1, 2)) == 22
        assert a(17) == 9
        assert a(100) == 60  # past the end, along the last mode
        assert a(-1) == -1
        assert Layout("(4,8):(8,1)")(-1) == -8

    def test_slices(self):
        a = Layout("(4,(2,3)):(1,(12,4))")
        assert a(None, (1, None)) == Layout("(4,3):(1,4)")
        assert a(None) == a
        assert fl.slice_and_offset((2, None), a) == (Layout("(2,3):(12,4)"), 2)
        with pytest.raises(LayoutError, match="weakly congruent"):
            a(None, 1, 2)

    def test_rank_mismatch(self):
        with pytest.raises(LayoutError, match=r"crd2idx\(\(1,2,3\), \(4,8\):\(8,1\)\)"):
            Layout("(4,8):(8,1)")(1, 2, 3)
        with pytest.raises(LayoutError, match="no coordinate"):
            Layout("(4,8):(8,1)")("x")

    def test_modes(self):
        a = Layout("(4,(2,3)):(1,(12,4))")
        assert a[1] == Layout("(2,3):(12,4)")
        assert a[[1, 0]] == Layout("2:12")
        assert list(a) == [Layout("4:1"), Layout("(2,3):(12,4)")]
        with pytest.raises(IndexError):
            a[2]

    def test_coords_and_indices(self):
        a = Layout("(2,(2,2)):(4,(2,1))")
        assert [a(c) for c in a.coords()] == list(a.indices()) == [a(i) for i in range(8)]

    def test_functions_of_the_dialect(self):
        a = Layout((8, 16), (1, 8))
        assert fl.crd2idx((3, 5), a) == 43
        assert fl.idx2crd(43, a) == (3, 5)
        assert make_layout(fl.make_shape(9, (4, 8)), fl.make_stride(1, (9, 36))) == Layout((9, (4, 8)))
        assert fl.get((3, (4, 5)), 1) == (4, 5)
        assert fl.slice(a, fl.make_coord(None, 2)) == Layout(8, 1)
        assert fl.zip((1, 2), (3, 4)) == ((1, 3), (2, 4))
        assert fl.select((3, 4, 5), indices=[0, 2]) == (3, 5)
        assert fl.group((3, 4, 5), begin=1, end=3) == (3, (4, 5))
        assert fl.block_product is fl.blocked_product
        assert (fl.get_shape(a), fl.get_stride(a)) == ((8, 16), (1, 8))

    def test_a_coordinate_layout_maps_to_coordinates(self):
        a = fl.make_identity_layout((4, (2, 3)))
        assert a(3, (1, 2)) == (3, (1, 2))
        assert a(23) == (3, (1, 2))


VALUES = [
    Layout("((2,2),8):((1,16),2)"),
    Layout("(4):(1)"),
    Layout((fl.sym("M", div=8), 4), (fl.dyn(width=64, div=2), 1)),
    fl.make_identity_layout((4, (2, 3))),
    Swizzle(3, 4, 3),
    fl.CoordSwizzle(2, 0, (0,), 1, (1,)),
    ComposedLayout(Swizzle(2, 0, 3), 5, ComposedLayout(Swizzle(1, 0, 2), 2, Layout("(8,8):(8,1)"))),
    CoordTensor((1, 2), fl.make_identity_layout((4, 8))),
    fl.make_tile(4, None, Layout("4:2"), (2, 2)),
    E(1, 0) * 3,
    fl.sym("M") * 4,
]


@pytest.mark.parametrize("value", VALUES, ids=str)
class TestValues:
    def test_text_reads_back(self, value):
        assert fl.parse(str(value)) == value

    def test_repr_evaluates(self, value):
        assert eval(repr(value), {n: getattr(fl, n) for n in fl.__all__}) == value

    def test_pickles_copies_and_hashes(self, value):
        for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert again == value
            assert hash(again) == hash(value)

    def test_is_immutable(self, value):
        for name in ("shape", "stride", "bits", "inner", "base", "modes", "path", "op", "anything"):
            with pytest.raises(AttributeError):
                setattr(value, name, 1)

    def test_differs_from_others(self, value):
        assert sum(value == other for other in VALUES) == 1
        assert value != 1


class TestComposed:
    def test_evaluates_from_the_outside_in(self):
        s, a = Swizzle(2, 0, 3), Layout("(8,8):(8,1)")
        c = ComposedLayout(s, 5, a)
        assert [c(i) for i in range(64)] == [s(5 + a(i)) for i in range(64)]

    def test_algebra_acts_on_the_outer_layout(self):
        c = fl.parse("S<2,0,3> o 0 o (8,8):(8,1)")
        assert str(fl.zipped_divide(c, (4, 2))) == "S<2,0,3> o 0 o ((4,2),(2,4)):((8,1),(32,2))"
        assert c.size() == 64
        assert c.rank == 2
        assert str(c[0]) == "S<2,0,3> o 0 o 8:8"

    def test_composition_with_a_swizzle(self):
        a = Layout("(8,8):(8,1)")
        c = fl.composition(Swizzle(3, 0, 3), a)
        assert [c(i) for i in range(64)] == [Swizzle(3, 0, 3)(a(i)) for i in range(64)]
        d = fl.composition(Layout("(8,8):(1,8)"), c)
        assert [d(i) for i in range(64)] == [Layout("(8,8):(1,8)")(c(i)) for i in range(64)]

    @pytest.mark.parametrize("text", ["S<3,0,3> o 0 o (8,8):(8,1)", "S<2,1,3> o 0 o (8,(4,2)):(8,(1,4))"])
    def test_inverse_of_the_whole_function(self, text):
        c = fl.parse(text)
        inverse = c.inverse()
        assert [inverse(c(i)) for i in range(c.size())] == list(range(c.size()))

    def test_a_swizzle_that_is_not_its_own_inverse_is_refused(self):
        with pytest.raises(LayoutError, match="its own inverse"):
            fl.parse("S<3,0,1> o 0 o (8,8):(8,1)").inverse()

    def test_slicing_moves_fixed_coordinates_into_the_offset(self):
        c = fl.parse("S<2,0,3> o 0 o (8,8):(8,1)")
        row = c(3, None)
        assert str(row) == "S<2,0,3> o 24 o 8:1"
        assert [row(i) for i in range(8)] == [c(3, i) for i in range(8)]


class TestMessages:
    """Each message has the operation, the arguments as text, and the condition."""

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda: fl.composition(Layout("(4,3):(3,1)"), Layout("5:2")), ["composition((4,3):(3,1), 5:2)", "divide"]),
            (lambda: fl.complement(Layout("(2,3):(1,1)"), 12), ["complement((2,3):(1,1), 12)", "overlap"]),
            (lambda: fl.complement(Layout("4:-1"), 12), ["complement(4:-1, 12)", "negative"]),
            (lambda: fl.complement(Layout("4:1"), (4, 6)), ["complement(4:1, (4,6))", "integer"]),
            (lambda: fl.left_inverse(Layout("(2,2):(2,3)")), ["left_inverse((2,2):(2,3))", "injective"]),
            (lambda: fl.left_inverse(Layout("(2,2):(2,5)")), ["left_inverse((2,2):(2,5))", "no multiple"]),
            (lambda: fl.logical_product(Layout("4:2"), Layout("3:1")), ["logical_product(4:2, 3:1)", "divide"]),
            (lambda: fl.blocked_product(Layout("4:2"), Layout("3:1")), ["blocked_product(4:2, 3:1)", "divide"]),
            (lambda: fl.logical_divide(Layout("(4,3):(3,1)"), 5), ["logical_divide((4,3):(3,1), 5)", "divide"]),
            (lambda: fl.zipped_divide(Layout("((4,3),2):((3,1),12)"), (5, 1)), ["zipped_divide(((4,3),2)", "[5|1]"]),
            (lambda: fl.get_stride(fl.parse("S<2,0,3> o 0 o 8:1")), ["get_stride(S<2,0,3> o 0 o 8:1)", "plain"]),
            (lambda: fl.composed_get_inner(Layout(4)), ["composed_get_inner(4:1)", "composed"]),
            (lambda: fl.make_shape(4, [8]), ["make_int_tuple(", "lists"]),
            (lambda: fl.logical_divide(Layout("8:1"), (2, 2)), ["logical_divide(8:1, [2|2])", "2 modes"]),
            (lambda: fl.recast_layout(Layout("8:3"), 8, 16), ["recast_layout(8:3, 8, 16)", "neither divides"]),
            (
                lambda: fl.recast_layout(fl.parse("S<3,0,3> o 0 o 8:1"), 8, 16),
                ["recast_layout(S<3,0,3> o 0 o 8:1, 8, 16)", "base"],
            ),
            (lambda: fl.idx2crd(3, Layout("(4,8):(0,1)")), ["idx2crd(3, 4:0)", "0"]),
            (lambda: fl.shape_div(10, 4), ["shape_div(10, 4)", "neither"]),
            (lambda: fl.int_tuple_div((1, 2), (0, 1)), ["int_tuple_div(1, 0)", "zero"]),
            (lambda: fl.get((3, 4), (5,)), ["get((3,4))", "out of range"]),
            (lambda: fl.take((3, 4), 0, 9), ["take((3,4), 0, 9)", "range"]),
            (lambda: fl.select((3, 4), []), ["select((3,4)", "no modes"]),
            (lambda: fl.slice_((3, 4), (1, 2)), ["slice((3,4), (1,2))", "nothing"]),
            (lambda: fl.append((3, 4), Layout("3:1")), ["append((3,4), 3:1)", "category"]),
            (lambda: fl.with_shape(Layout("8:1"), (3, 3)), ["with_shape(8:1, (3,3))", "sizes differ"]),
            (lambda: fl.inner_product((1, 2), 3), ["inner_product((1,2), 3)", "congruent"]),
            (lambda: fl.make_ordered_layout((4, 8), (0, 1, 2)), ["make_ordered_layout((4,8), (0,1,2))", "congruent"]),
            (lambda: fl.composition(7, 8), ["composition(7, 8)", "no layout"]),
            (lambda: Swizzle(2, 0, 3)((1, 2)), ["crd2idx((1,2), S<2,0,3>)", "one index"]),
            (lambda: fl.tile_to_shape(Layout((2, 2, 2)), (4, 4), 0), ["tile_to_shape(", "more modes"]),
        ],
    )
    def test_message(self, call, words):
        with pytest.raises(LayoutError) as e:
            call()
        for w in words:
            assert w in str(e.value), str(e.value)
