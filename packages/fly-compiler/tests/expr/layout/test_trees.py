# SPDX-License-Identifier: Apache-2.0
"""Trees of integers."""

import pytest
from tracing import kernel

import flydsl.expr as fx
import flydsl.layout as host
from flydsl.expr.values.layout import trees
from flydsl.expr.values.layout.host import from_host, to_host


def test_one_element_tuples_are_not_leaves():
    assert (trees.rank_of((4,)), trees.depth_of((4,))) == (1, 1)
    assert (trees.rank_of(4), trees.depth_of(4)) == (1, 0)
    assert trees.leaves_of(((4,), (2, None))) == [4, 2, None]
    assert trees.product_of((4, (2, 3))) == 24


def test_static():
    assert trees.is_static((4, (None, trees.BasisLeaf(1, [0]))))
    assert not trees.is_static((4, (2, trees.Dynamic())))
    assert not trees.is_static(trees.BasisLeaf(trees.Dynamic(), [0]))


def test_congruence():
    assert trees.congruent((4, (2, 3)), (1, (2, 9)))
    assert not trees.congruent((4, 8), (1, (2, 3)))
    assert trees.weakly_congruent((None, 3), (4, (2, 3)))
    assert not trees.weakly_congruent((1, 2, 3), (4, 8))


@pytest.mark.parametrize(
    "value",
    [
        host.Layout((4, (2, 3)), (1, (12, 4))),
        host.make_identity_layout((4, (2, 3))),
        host.ComposedLayout(host.Swizzle(3, 3, 3), 4, host.Layout((8, 64), (64, 1))),
        host.ComposedLayout(host.Layout(8, 1), 1, host.ComposedLayout(host.Layout(8, 1), 1, host.Layout(4, 1))),
        host.CoordSwizzle(3, 0, (0,), 1, (1,)),
        host.Tile((4, None, (2, host.Layout((2, 2), (1, 4))))),
    ],
    ids=str,
)
def test_values_of_the_host_both_ways(value):
    with kernel():
        traced = from_host(value)
        assert to_host(traced._facts) == value
        assert str(traced) == f"{type(value).__name__}<{host.to_dialect(value)}>"


def test_symbolic_values_of_the_host_are_refused():
    with kernel(), pytest.raises(ValueError, match="symbolic leaves"):
        fx.get_shape(host.Layout((4, host.sym("n")), (1, 4)))


def test_a_linear_index_of_the_run_time_is_no_tuple():
    """Its width was taken for a coordinate of mode 0."""
    with kernel("i32") as k:
        tensor = fx.make_rmem_tensor((4, 8), fx.Float32)
        assert tensor[fx.Int32(k.args[0])].dtype is fx.Float32
        k.ir()


def test_operands_of_other_types_are_refused_by_the_dialect():
    with kernel():
        with pytest.raises(TypeError, match=r"tile_to_shape takes layout or composed_layout here, not a value of type"):
            fx.tile_to_shape(fx.make_rmem_tensor(4, fx.Float32), 8, 0)
        with pytest.raises(ValueError, match=r"^composition: .*operands: .*layout"):
            fx.composition(fx.make_layout((4, 6), (1, 5)), fx.make_layout(3, 3))
