# SPDX-License-Identifier: Apache-2.0
"""The dialect's partitions against the descriptions of `flydsl.layout`: two implementations of one algebra."""

import pytest
from tracing import kernel

import flydsl.expr as fx
import flydsl.layout as host
from flydsl.expr.values.layout import trees
from flydsl.expr.values.layout.host import to_host

TILINGS = [
    (((1, 1, 1), (0, 0, 0)), False),
    (((2, 2, 1), (1, 2, 0)), False),
    (((2, 2, 1), (2, 1, 0)), False),
    (((1, 2, 2), (0, 1, 2)), False),
    (((1, 1, 1), (0, 0, 0)), True),
]


@pytest.mark.parametrize(("atom_layout", "permuted"), TILINGS)
@pytest.mark.parametrize("operand", ["A", "B", "C"])
def test_tiled_mma(atom_layout, permuted, operand):
    with kernel("i32") as k:
        modes = (None, fx.make_layout((16, 2), (2, 1)), None) if permuted else None
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        mma = fx.make_tiled_mma(atom, fx.make_layout(*atom_layout), modes)
        described = mma.described
        axes = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}[operand]
        extents = tuple(described.tile_size_mnk[i] * 2 for i in axes)
        tensor = fx.make_view(0, fx.make_layout(extents, (1, extents[0])))
        part = fx.tiled_mma_partition(operand, mma, tensor, fx.Int32(k.args[0]))
        expected = described.partition(operand, host.make_layout(extents, (1, extents[0])), 0)
        assert trees.spelled(part.shape_tree) == str(host.text_of(expected.shape))
        assert trees.spelled(part.layout_facts.stride) == host.text_of(expected.plain().stride)
        k.ir()


@pytest.mark.parametrize("operand", ["A", "B", "C"])
def test_tv_layouts_name_every_element(operand):
    with kernel() as k:
        mma = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        layout = to_host(getattr(mma, f"tv_layout_{operand}_tiled").parsed)
        axes = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}[operand]
        m, n = (mma.described.tile_size_mnk[i] for i in axes)
        found = {layout((t, v)) for t in range(256) for v in range(host.size(layout[1]))}
        assert found == set(range(m * n))
        k.ir()


@pytest.mark.parametrize("side", ["S", "D"])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_tiled_copy(side, bits):
    with kernel("i32") as k:
        thr, val = fx.make_layout((32, 8), (8, 1)), fx.make_layout((1, 8), (8, 1))
        copy = fx.make_tiled_copy_tv(fx.make_copy_atom(fx.UniversalCopy(bits), fx.Float16), thr, val)
        tensor = fx.make_view(0, fx.make_layout((64, 128), (128, 1)))
        part = getattr(copy.get_slice(fx.Int32(k.args[0])), f"partition_{side}")(tensor)
        theirs = getattr(copy.described.get_slice(0), f"partition_{side}")(host.make_layout((64, 128), (128, 1)))
        assert trees.spelled(part.shape_tree) == host.text_of(theirs.shape)
        assert trees.spelled(part.layout_facts.stride) == host.text_of(theirs.plain().stride)
        k.ir()


def test_fragments_for_copies_of_an_mma():
    with kernel("!fly.memref<f16, global, (64,32):(32,1), align<16>>") as k:
        tile = fx.Tensor(k.args[0])
        mma = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        for make, fragment in (
            (fx.make_tiled_copy_A, mma.make_fragment_A),
            (fx.make_tiled_copy_B, mma.make_fragment_B),
        ):
            copy = make(fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16), mma).get_slice(fx.thread_idx.x)
            source, target = copy.partition_S(tile), copy.retile(fragment(tile))
            assert source.shape.to_py_value() == target.shape.to_py_value()
            fx.copy(copy.tiled_copy, source, target)
        assert fx.make_tiled_copy_C(_word(), mma).tile_mn.unpack() == (32, 32)
        k.ir()


def _word():
    return fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
