# SPDX-License-Identifier: Apache-2.0
"""The functions of the layout algebra inside a trace, on the reference values of the contract."""

import pytest
from tracing import kernel

import flydsl.expr as fx


def text(value):
    return str(value).split("<", 1)[1][:-1]


def layout(shape, stride):
    return fx.make_layout(shape, stride)


REFERENCE = {
    "composition": (lambda: fx.composition(layout((6, 2), (8, 2)), layout((4, 3), (3, 1))), "((2,2),3):((24,2),8)"),
    "complement": (lambda: fx.complement(layout(4, 1), 24), "6:4"),
    "right_inverse": (lambda: fx.right_inverse(layout((4, 8), (8, 1))), "(8,4):(4,1)"),
    "blocked_product": (
        lambda: fx.blocked_product(layout((2, 5), (5, 1)), layout((3, 4), (1, 3))),
        "((2,3),(5,4)):((5,10),(1,30))",
    ),
    "raked_product": (
        lambda: fx.raked_product(layout((2, 5), (5, 1)), layout((3, 4), (1, 3))),
        "((3,2),(4,5)):((10,5),(30,1))",
    ),
    "zipped_divide": (lambda: fx.zipped_divide(layout((4, 8), (8, 1)), (2, 4)), "((2,4),(2,2)):((8,1),(16,4))"),
    "recast_layout": (lambda: fx.recast_layout(layout((4, 8), (8, 1)), 16, 32), "(4,4):(4,1)"),
    "shape_div": (lambda: fx.shape_div((6, 8), 12), "(1,4)"),
    "make_ordered_layout": (lambda: fx.make_ordered_layout((4, 6, 10), (2, 0, 1)), "(4,6,10):(60,1,6)"),
    "make_ordered_layout_0": (lambda: fx.make_ordered_layout((4, 6), 0), "(4,6):(1,4)"),
    "make_layout_like": (lambda: fx.make_layout_like(layout((4, 8), (16, 2))), "(4,8):(8,1)"),
    "make_fragment_layout_like": (lambda: fx.make_fragment_layout_like(layout((4, 8), (8, 1))), "(4,8):(1,4)"),
    "make_identity_layout": (lambda: fx.make_identity_layout((4, (2, 3))), "(4,(2,3)):(1E0,(1E1E0,1E1E1))"),
    "crd2idx": (lambda: fx.crd2idx((3, 5), layout((8, 16), (1, 8))), "43"),
    "idx2crd": (lambda: fx.idx2crd(43, layout((8, 16), (1, 8))), "(3,5)"),
    "get_flat_coord": (lambda: fx.get_flat_coord(3, layout(((2, 2), 4), ((1, 2), 4))), "(3,0)"),
    "size": (lambda: fx.size(layout((8, 16), (1, 8))), "128"),
    "cosize": (lambda: fx.cosize(layout((4, 8), (16, 1))), "56"),
    "coalesce": (lambda: fx.coalesce(layout((2, (1, 6)), (1, (6, 2)))), "12:1"),
    "left_inverse": (lambda: fx.left_inverse(layout((4, 8), (8, 1))), "(8,4):(4,1)"),
    "logical_divide": (lambda: fx.logical_divide(layout(12, 1), layout(4, 1)), "(4,3):(1,4)"),
    "tiled_divide": (lambda: fx.tiled_divide(layout((4, 8), (8, 1)), (2, 4)), "((2,4),2,2):((8,1),16,4)"),
    "flat_divide": (lambda: fx.flat_divide(layout((4, 8), (8, 1)), (2, 4)), "(2,4,2,2):(8,1,16,4)"),
    "logical_product": (lambda: fx.logical_product(layout(4, 1), layout(3, 1)), "(4,3):(1,4)"),
    "select": (lambda: fx.select((3, 4, 5, 6), [2, 0]), "(5,3)"),
    "select_keyword": (lambda: fx.select((3, 4, 5, 6), indices=[0, 2]), "(3,5)"),
    "take": (lambda: fx.take((3, 4, 5, 6), 1, 3), "(4,5)"),
    "group": (lambda: fx.group((3, 4, 5, 6), begin=1, end=3), "(3,(4,5),6)"),
    "append": (lambda: fx.append((3, 4), 1, n=4), "(3,4,1,1)"),
    "prepend": (lambda: fx.prepend(layout((4, 8), (8, 1)), layout(3, 32)), "(3,4,8):(32,8,1)"),
    "zip": (lambda: fx.zip((1, 2), (3, 4)), "((1,3),(2,4))"),
    "slice": (lambda: fx.slice((3, (4, 5)), (None, (1, None))), "(3,5)"),
    "dice": (lambda: fx.dice((3, (4, 5)), (None, (1, None))), "4"),
    "int_tuple_add": (lambda: fx.int_tuple_add((7, 9), (2, 4)), "(9,13)"),
    "int_tuple_product_each": (lambda: fx.int_tuple_product_each((2, (3, 4))), "(2,12)"),
    "ceil_div": (lambda: fx.ceil_div((12, 6), (4, 3)), "(3,2)"),
    "basis": (lambda: fx.make_layout((4, 8), (fx.E(0), fx.E(1) * 2)), "(4,8):(1E0,2E1)"),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_values(name):
    build, expected = REFERENCE[name]
    with kernel() as k:
        assert text(build()) == expected
        k.ir()


def test_objects():
    with kernel() as k:
        a = layout((4, (2, 3)), (1, (12, 4)))
        assert (a.rank, a.depth, a.is_leaf, a.is_static) == (2, 2, False, True)
        assert a.shape.to_py_value() == (4, (2, 3))
        assert a.stride == (1, (12, 4))
        assert text(a[1]) == "(2,3):(12,4)"
        assert text(a[[1, 1]]) == "3:4"
        assert str(a(2, (1, 0))) == "IntTuple<14>"
        assert text(a(None, 0)) == "4:1"
        assert fx.rank(a) == 2
        assert fx.depth(a) == 2
        assert fx.rank((1, 2, 3)) == 3
        assert fx.depth(5) == 0
        t = fx.make_shape(9, (4, 8))
        assert t[1].unpack() == (4, 8)
        assert t[0].get_static_leaf_int == 9
        assert [s.unpack() for s in t] == [9, (4, 8)]
        with pytest.raises(IndexError, match="out of range"):
            t[5]
        with pytest.raises(TypeError, match="rank and depth"):
            fx.rank([1, 2])
        k.ir()


def test_swizzles_and_composed_layouts():
    with kernel() as k:
        s = fx.static(fx.SwizzleType.get(3, 4, 3))
        assert (s.mask, s.base, s.shift) == (3, 4, 3)
        c = fx.make_composed_layout(s, layout((8, 64), (64, 1)))
        assert c.outer.shape == (8, 64)
        assert c.offset == 0
        assert c.inner.base == 4
        assert c.is_static
        assert str(c) == "ComposedLayout<S<3,4,3> o 0 o (8,64):(64,1)>"
        with pytest.raises(TypeError, match="has no stride"):
            _ = c.stride
        cs = fx.static(fx.CoordSwizzleType.get(2, 0, [0], 1, [1]))
        assert (cs.mask, cs.base_row, cs.mode_row, cs.base_col, cs.mode_col) == (2, 0, [0], 1, [1])
        k.ir()


def test_dynamic_leaves():
    with kernel("i32", "i64", "index") as k:
        n, m = fx.Int32(k.args[0]), fx.Int64(k.args[1])
        shape = fx.make_shape(n, (4, m))
        assert str(shape) == "IntTuple<(?,(4,?{i64}))>"
        first, (four, last) = shape.unpack()
        assert first.dtype is fx.Int32
        assert four == 4
        assert last.dtype is fx.Int64
        assert str(fx.make_shape(k.args[2])) == "IntTuple<?{i64}>"
        a = fx.make_layout((n, 4), (4, 1))
        assert not a.is_static
        assert not a.is_static_shape
        assert a.is_static_stride
        assert (fx.size(a) + 1).dtype is fx.Int32
        assert fx.get_scalar(fx.size(a)).dtype is fx.Int32
        assert fx.elem_less((n, 1), (5, 3)).dtype is fx.Boolean
        with pytest.raises(ValueError, match="has dynamic leaves"):
            fx.static("!fly.layout<?:1>")
        k.ir()


def test_tiles():
    with kernel("i32") as k:
        assert fx.make_tile(4, None, (2, 3)).unpack() == (4, 0, (2, 3))
        assert fx.make_tile(4, 8).rank == 2
        assert fx.make_tile(4).rank == 1
        assert fx.make_tile((2, 3)).unpack() == ((2, 3),)
        assert text(fx.make_tile(layout(4, 2), 3).unpack()[0]) == "4:2"
        with pytest.raises(ValueError, match="extents of a tile are static"):
            fx.make_tile(fx.Int32(k.args[0]))
        with pytest.raises(ValueError, match="int, None, a nested tuple or a static layout"):
            fx.make_tile("x")


MISTAKES = [
    (lambda: fx.make_layout((4, 8), 1), ValueError, "profile mismatch"),
    (lambda: fx.logical_divide(layout(12, 1), 4), TypeError, r"write \(4,\) for one mode"),
    (lambda: fx.slice((3, 4), (1, 2)), ValueError, "leaves no mode open"),
    (lambda: fx.slice(layout((4, 8), (8, 1)), (None, 1, 2)), ValueError, "profile mismatch"),
    (lambda: fx.composition(layout(4, 1), "x"), TypeError, "Layout, a Tile or a Python tuple"),
    (lambda: fx.make_shape(2**40), ValueError, "does not fit a static leaf"),
    (lambda: fx.make_shape(()), ValueError, r"\(\) is none"),
    (lambda: fx.make_shape(None), ValueError, "None is only meaningful"),
    (lambda: fx.make_shape("x"), TypeError, "integers and nested tuples"),
    (lambda: fx.make_shape(fx.Float32(1.0)), TypeError, "made of integers, got Float32"),
    (lambda: fx.take((1, 2), 1, 5), IndexError, "rank 2"),
    (lambda: fx.take((1, 2), 1, 1), IndexError, "are none"),
    (lambda: fx.select((1, 2), []), IndexError, "no mode"),
    (lambda: fx.select((1, 2), [3]), IndexError, "mode 3"),
    (lambda: fx.append((1, 2), 3, n=1), ValueError, "less than the rank 2"),
    (lambda: fx.recast_layout(layout(4, 1), fx.Float16, fx.Float32), TypeError, r"write fx\.Float16\.width"),
    (lambda: fx.get_scalar((1, 2)), ValueError, "one leaf"),
    (lambda: fx.cosize((1, 2)), TypeError, "takes a layout or a tensor"),
    (lambda: fx.make_fragment_like(layout((4, 8), (8, 1))), ValueError, "needs dtype="),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_are_python_exceptions(number):
    build, kind, message = MISTAKES[number]
    with kernel(), pytest.raises(kind, match=message):
        build()


def test_a_refusal_of_the_dialect_names_the_line():
    with kernel(), pytest.raises(ValueError, match=r"test_algebra\.py:\d+"):
        fx.composition(layout((4, 8), (8, 1)), layout(5, 1))


def test_host_layouts_are_accepted():
    import flydsl.layout as host

    with kernel() as k:
        outer = host.make_layout((4, 8), (8, 1))
        assert str(fx.zipped_divide(outer, host.make_tile(2, 4))) == "Layout<((2,4),(2,2)):((8,1),(16,4))>"
        assert fx.rank(outer) == 2
        assert fx.size(outer) == 32
        k.ir()
