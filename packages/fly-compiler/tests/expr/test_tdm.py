# SPDX-License-Identifier: Apache-2.0
"""The tensor data mover: gathers of rows, atoms built from a tensor, and prefetches."""

import re

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.expr.rocdl import cdna5, tdm_ops

TENSOR = "!fly.memref<f16, global, (256,128):(128,1)>"
DYNAMIC = "!fly.memref<f16, global, (256,?):(?{i64},1)>"


def lds(elements):
    return fx.SharedAllocator().allocate(fx.Array[fx.Float16, elements]).peek()


def constants(text):
    """Return the number that each constant of the module stands for."""
    return {name: int(value) for name, value in re.findall(r"(%\S+) = arith.constant (-?\d+) : i32", text)}


def words(text, width):
    """Return the words of every vector of `width` integers, as numbers where they are constants."""
    known = constants(text)
    rows = re.findall(rf"vector.from_elements (.*) : vector<{width}xi32>", text)
    return [[known.get(one, one) for one in row.split(", ")] for row in rows]


def test_gather_of_rows_by_wide_numbers():
    with kernel(TENSOR, "i32", arch="gfx1250") as k:
        t, n = fx.Tensor(k.args[0]), fx.Int32(k.args[1])
        desc = tdm_ops.make_tensor_gather_descriptor(
            t, lds(4096).ptr, [3, 5, 7, n], 64, 1000, 2000, 512, elem_bytes=2, pad_interval=64, pad_amount=8
        )
        tdm_ops.tensor_load_gather(desc)
        moved = tdm_ops.update_tensor_gather_descriptor_addr64(desc, n, n, 64)
        tdm_ops.tensor_store_gather(tdm_ops.update_tensor_gather_descriptor_addr_lo(moved, n), cache_policy=1)
        text = k.ir()
    group1 = words(text, 8)[0]
    # 2-byte elements, padding of 4 dwords every 32; extents and stride as given; 4 rows of 64 elements.
    assert group1[1:5] == [1000 << 16, 2000 << 16, 64 << 16, 4]
    assert group1[5] == 512
    mode, rows = words(text, 4)[0][0], words(text, 4)[1]
    assert mode & 0xFFFFFFFF == 0xC0000001
    assert rows[:3] == [3, 5, 7]
    assert (1 << 16 | 1 << 20 | 4 << 22 | 3 << 25) in constants(text).values()
    assert "rocdl.tensor.load.to.lds" in text
    assert "rocdl.tensor.store.from.lds" in text


def test_gather_of_rows_by_narrow_numbers():
    with kernel(TENSOR, arch="gfx1250") as k:
        t = fx.Tensor(k.args[0])
        desc = tdm_ops.make_tensor_gather_descriptor(
            t, lds(4096).ptr, list(range(1, 10)), 64, 128, 256, 128, index_size=16, gather_tile_dim1=5
        )
        tdm_ops.tensor_load_gather(desc)
        text = k.ir()
    groups = words(text, 4)
    assert groups[0][0] & 0xFFFFFFFF == 0x80000001
    assert groups[1] == [1 | 2 << 16, 3 | 4 << 16, 5 | 6 << 16, 7 | 8 << 16]
    assert groups[2] == [9, 0, 0, 0]
    assert words(text, 8)[0][4] == 5


def test_refused_gathers():
    with kernel(TENSOR, arch="gfx1250") as k:
        t, target = fx.Tensor(k.args[0]), lds(64).ptr
        with pytest.raises(ValueError, match="1 to 8 rows of 32-bit numbers, got 9"):
            tdm_ops.make_tensor_gather_descriptor(t, target, range(9), 64, 128, 256, 128)
        with pytest.raises(ValueError, match="16 or 32 bits"):
            tdm_ops.make_tensor_gather_descriptor(t, target, [1], 64, 128, 256, 128, index_size=8)
    with kernel(TENSOR) as k, pytest.raises(ValueError, match="needs the tensor data mover of gfx1250"):
        tdm_ops.make_tensor_gather_descriptor(fx.Tensor(k.args[0]), lds(64).ptr, [1], 64, 128, 256, 128)


def test_atom_of_a_tensor():
    with kernel(TENSOR, arch="gfx1250") as k:
        atom, coordinates = cdna5.make_tiled_tdm_atom(
            cdna5.TensorLoad(), fx.Tensor(k.args[0]), fx.make_layout((64, 32), (32, 1)), (64, 32)
        )
        assert "shape = [64, 32]" in str(atom)
        assert str(coordinates) == "Tensor<(0,0), (256,128):(1E1,1E0)>"
        tiles = fx.zipped_divide(coordinates, (64, 32))
        shared = fx.zipped_divide(lds(2048).view(fx.make_layout((64, 32), (32, 1))), (64, 32))
        ours, theirs = cdna5.tdm_partition(atom, 0, fx.make_layout(1, 1), shared, tiles)
        assert str(ours.layout) == "Layout<((2048,1),(1,1)):((1,0),(0,0))>"
        assert str(theirs.layout) == "Layout<(((32,64),1),(4,4)):(((1E0,1E1),0),(64E1,32E0))>"
        fx.copy(atom.set_value("boundary_check", (1, 0)), theirs[None, (1, 2)], ours[None, 0])
        k.ir()


def test_four_waves_share_a_tile():
    with kernel(DYNAMIC, "i32", arch="gfx1250") as k:
        layout = fx.make_layout((64, 32), (32, 1))
        atom, coordinates = rocdl.make_tiled_tdm_atom(
            rocdl.TensorStore(), fx.Tensor(k.args[0]), layout, (64, 32), num_warps=4, init_boundary_check=False
        )
        tiles = fx.zipped_divide(coordinates, (64, 32))
        shared = fx.zipped_divide(lds(2048).view(layout), (64, 32))
        ours, theirs = rocdl.tdm_partition(atom, rocdl.wave_id(), fx.make_layout(4, 1), shared, tiles)
        assert str(ours.layout) == "Layout<((512,1),(1,1)):((1,0),(0,0))>"
        assert str(theirs.shape) == "IntTuple<(((32,16),1),(4,?))>"
        fx.copy(atom, ours[None, 0], theirs[None, (0, fx.Int32(k.args[1]))])
        k.ir()


def test_refused_atoms():
    with kernel(TENSOR, arch="gfx1250") as k:
        t = fx.Tensor(k.args[0])
        with pytest.raises(ValueError, match="num_warps"):
            cdna5.make_tiled_tdm_atom(cdna5.TensorLoad(), t, fx.make_layout((64, 32), (32, 1)), (64, 32), num_warps=3)
        with pytest.raises(TypeError, match="takes TensorLoad"):
            cdna5.make_tiled_tdm_atom(fx.UniversalCopy32b(), t, fx.make_layout((64, 32), (32, 1)), (64, 32))
    with kernel(TENSOR) as k, pytest.raises(ValueError, match="data mover of gfx1250"):
        cdna5.make_tiled_tdm_atom(cdna5.TensorLoad(), fx.Tensor(k.args[0]), fx.make_layout((64, 32), (32, 1)), (64, 32))


def test_prefetch():
    with kernel(TENSOR, arch="gfx1250") as k:
        # 64 rows of 128 bytes are 64 lines: one per thread.
        tdm_ops.l2_prefetch_tile(fx.Tensor(k.args[0]), (0, 0), (64, 64), (128, 1), block_threads=64)
        assert k.count("llvm.amdgcn.global.prefetch") == 1
        tdm_ops.l2_prefetch_tile(
            fx.Tensor(k.args[0]), (0, 0), (64, 64), (128, 1), num_warps=1, wave_id=0, thread_id=fx.lane_id()
        )
        assert k.count("llvm.amdgcn.global.prefetch") == 3
