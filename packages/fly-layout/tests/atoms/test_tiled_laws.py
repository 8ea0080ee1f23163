# SPDX-License-Identifier: Apache-2.0
"""Partitions are exact: every element of a tensor belongs to exactly one (thread, value), and inverses find it."""

from __future__ import annotations

import pytest

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError
from flydsl.layout.atoms import (
    make_layout_tv,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
    make_tiled_copy_tv,
    make_tiled_mma,
    matrix_instruction,
    mfma,
    universal_copy,
    wmma,
)

ROW = fl.make_layout((64, 64), stride="right")


def held(part):
    return [part(i) for i in range(part.size())]


@pytest.mark.parametrize(
    ("thr", "val", "bits"),
    [
        ("(16,8):(8,1)", "(1,8):(8,1)", 128),
        ("(8,32):(32,1)", "(1,2):(0,1)", 32),
        ("(4,8):(1,4)", "(2,4):(4,1)", 64),
        ("32:1", "4:1", 16),
    ],
)
class TestCopies:
    def test_partition_is_exact(self, thr, val, bits):
        copy = make_tiled_copy_tv(universal_copy(bits, 16), Layout(thr), Layout(val))
        tensor = ROW if copy.tile_mn.rank == 2 else Layout(4096)
        for partition in ("partition_S", "partition_D"):
            parts = [held(getattr(copy.get_slice(t), partition)(tensor)) for t in range(copy.threads)]
            assert sorted(x for p in parts for x in p) == list(range(4096))

    def test_inverse_finds_the_owner(self, thr, val, bits):
        copy = make_tiled_copy_tv(universal_copy(bits, 16), Layout(thr), Layout(val))
        for t in range(copy.threads):
            for v in range(copy.layout_tv_tiled[1].size()):
                index = copy.layout_tv_tiled(t, v)
                assert copy.invert()(index) == t + copy.threads * v

    def test_layout_tv_is_the_inverse_of_the_raked_product(self, thr, val, bits):
        tiler, tv = make_layout_tv(Layout(thr), Layout(val))
        raked = fl.raked_product(Layout(thr), Layout(val))
        assert fl.product(tiler) == raked.size() == tv.size()
        assert [raked(tv(i)) for i in range(tv.size())] == list(range(tv.size()))


MMAS = [
    make_tiled_mma(mfma(16, 16, 16, "f16"), Layout("(2,2,1)")),
    make_tiled_mma(mfma(16, 16, 16, "f16"), Layout("(2,2,1):(2,1,0)")),
    make_tiled_mma(mfma(32, 32, 8, "bf16"), Layout("(1,2,1)")),
    make_tiled_mma(mfma(16, 16, 16, "f16"), Layout("(2,2,1)"), (32, Layout("(16,2):(2,1)"), None)),
    make_tiled_mma(wmma("gfx120x", 16, 16, 16, "f16"), Layout("(2,1,2)")),
    make_tiled_mma(matrix_instruction("gfx942", "v_mfma_f32_16x16x16_f16").as_atom(), Layout("(1,4,1)")),
]


@pytest.mark.parametrize("mma", MMAS, ids=str)
class TestMmas:
    @pytest.mark.parametrize("operand", "ABC")
    def test_every_element_has_as_many_owners_as_waves_share_it(self, mma, operand):
        count = dict.fromkeys(range(4096), 0)
        for t in range(mma.threads):
            for x in held(mma.partition(operand, ROW, t)):
                count[x] += 1
        groups = [mma.atom_layout[i].size() for i in range(3)]
        shared = {"A": groups[1], "B": groups[0], "C": groups[2]}[operand]
        assert set(count.values()) == {shared}

    @pytest.mark.parametrize("operand", "ABC")
    def test_tv_layout_is_the_partition_of_the_tile(self, mma, operand):
        m, n, k = mma.tile_size_mnk
        tile = Layout({"A": (m, k), "B": (n, k), "C": (m, n)}[operand])
        tv = mma.tv_layout(operand)
        for t in range(0, mma.threads, 7):
            assert [tv(t, v) for v in range(tv[1].size())] == held(mma.partition(operand, tile, t))

    @pytest.mark.parametrize("operand", "ABC")
    def test_tv_layout_of_a_tensor_is_the_partition_of_the_tensor(self, mma, operand):
        m, n, k = mma.tile_size_mnk
        rows, columns = {"A": (m, k), "B": (n, k), "C": (m, n)}[operand]
        tensor = Layout((2 * rows, 3 * columns), (3 * columns, 1))
        tv = mma.tv_layout(operand, tensor)
        for t in range(0, mma.threads, 7):
            assert [tv(t, v) for v in range(tv[1].size())] == held(mma.partition(operand, tensor, t))

    def test_product_of_the_fragments_is_the_product_of_the_matrices(self, mma):
        """Each lane's A and B values meet in the same K as the matrices' do, for C to be complete."""
        m, n, k = mma.tile_size_mnk
        a_of, b_of, c_of = (mma.tv_layout(x) for x in "ABC")
        assert {a_of(i) // m for i in range(a_of.size())} == {b_of(i) // n for i in range(b_of.size())} == set(range(k))
        assert {c_of(i) for i in range(c_of.size())} == set(range(m * n))

    def test_copies_of_the_operands_partition_as_the_mma_does(self, mma):
        atom = universal_copy(16, 16)
        for make, operand in ((make_tiled_copy_A, "A"), (make_tiled_copy_B, "B"), (make_tiled_copy_C, "C")):
            copy = make(atom, mma)
            for t in (0, 1, 17, mma.threads - 1):
                assert sorted(held(copy.get_slice(t).partition_S(ROW))) == sorted(held(mma.partition(operand, ROW, t)))


def test_inverse_of_a_shared_operand_is_refused():
    mma = MMAS[0]
    assert mma.invert("C").size() == 32 * 32
    with pytest.raises(LayoutError, match="no bijection"):
        mma.invert("A")


def test_a_composed_layout_keeps_its_swizzle():
    copy = make_tiled_copy_tv(universal_copy(128, 16), Layout("(16,8):(8,1)"), Layout("(1,8):(8,1)"))
    lds = fl.composition(fl.Swizzle(3, 3, 3), ROW)
    part = copy.get_slice(5).partition_D(lds)
    plain = copy.get_slice(5).partition_D(ROW)
    assert held(part) == [fl.Swizzle(3, 3, 3)(x) for x in held(plain)]
