# SPDX-License-Identifier: Apache-2.0
"""Raw memory instructions, and the tensor data mover of gfx1250."""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.expr.rocdl import cdna5, tdm_ops

TENSOR = "!fly.memref<f16, global, (64,128):(128,1)>"


def test_raw_buffer_accesses():
    with kernel(TENSOR, "i32") as k:
        rsrc = buffer_ops.create_buffer_resource(fx.Tensor(k.args[0]))
        v = rocdl.raw_ptr_buffer_load(fx.Float32x4, rsrc, fx.Int32(k.args[1]))
        assert str(v.type) == "vector<4xf32>"
        rocdl.raw_ptr_buffer_store(fx.Vector(v), rsrc, 16, soffset=4)
        rocdl.raw_ptr_buffer_atomic_fadd(fx.Float32(1.0), rsrc, 0)
        rocdl.raw_ptr_buffer_atomic_fmax(fx.Float32(1.0), rsrc, 0)
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 64]).peek().ptr
        rocdl.buffer_load_to_lds(rsrc, lds, 0)
        assert k.count("rocdl.raw.ptr.buffer.load.lds") == 1
        with pytest.raises(ValueError, match="gfx942 has 1, 2, 4 bytes per lane"):
            rocdl.buffer_load_to_lds(rsrc, lds, 0, size_bytes=16)


def test_transposed_reads():
    with kernel(arch="gfx950") as k:
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 1024]).peek().ptr
        assert str(rocdl.lds_transpose_load(fx.T.f16x4, lds, 8, 2).type) == "vector<4xf16>"
        assert str(rocdl.lds_transpose_load(fx.T.i8x8, lds, 8, 1).type) == "vector<8xi8>"
        rocdl.asyncmark()
        rocdl.wait_asyncmark(1)
        k.ir()
        with pytest.raises(ValueError, match="elements of 1 or 2 bytes"):
            rocdl.lds_transpose_load(fx.T.f32x2, lds, 0, 4)
    with kernel(), pytest.raises(ValueError, match="needs gfx950"):
        rocdl.asyncmark()


def test_waits_for_copies_are_for_places_in_lds():
    with kernel(TENSOR, arch="gfx950") as k:
        room = fx.SharedAllocator()
        first, second = (room.allocate(fx.Array[fx.Float16, 64]).peek().ptr for _ in range(2))
        rocdl.wait_for_copies(first, fx.make_view(second, fx.make_layout(64, 1)))
        assert k.count("fly.wait_for_copies") == 2
        rocdl.barrier_after_copies(first)
        assert k.count("fly.wait_for_copies") == 3
        assert k.count("rocdl.s.barrier") == 1
        with pytest.raises(ValueError, match="is for memory in LDS, not for global memory"):
            rocdl.wait_for_copies(fx.Tensor(k.args[0]))
        with pytest.raises(TypeError, match="takes pointers or tensors in LDS, got 3"):
            rocdl.wait_for_copies(3)
        with pytest.raises(ValueError, match="there is none"):
            rocdl.wait_for_copies()
    with kernel(arch="gfx1201"), pytest.raises(ValueError, match="wait_for_copies needs"):
        rocdl.wait_for_copies(first)


def test_a_barrier_for_lds_alone():
    with kernel(arch="gfx1201") as k:
        rocdl.lds_barrier()
        assert k.count("rocdl.s.barrier") == 1
        assert k.count("llvm.fence") == 2
    with kernel(arch="sm_90a"), pytest.raises(ValueError, match="lds_barrier is for AMD GPUs"):
        rocdl.lds_barrier()


def test_padding_codes():
    assert tdm_ops.compute_padding_encoding(64, 8) == (4, 3)
    assert tdm_ops.compute_padding_encoding(32, 4, 32) == (4, 3)
    for interval, amount in ((3, 8), (64, 1), (1, 2), (2048, 8)):
        with pytest.raises(ValueError, match="cannot be encoded"):
            tdm_ops.compute_padding_encoding(interval, amount)


@pytest.mark.parametrize(
    ("shape", "warps", "expected"),
    [
        ((128, 64), 1, ([1, 1], [128, 64])),
        ((128, 64), 4, ([4, 1], [32, 64])),
        ((2, 64), 8, ([2, 4], [1, 16])),
        ((1, 2), 8, ([1, 8], [1, 1])),
    ],
)
def test_warp_distribution(shape, warps, expected):
    assert tdm_ops.compute_warp_distribution(shape, warps) == expected


def test_descriptors():
    with kernel(TENSOR, "i32", arch="gfx1250") as k:
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 4096]).peek().ptr
        i = fx.Int32(k.args[1])
        t = fx.Tensor(k.args[0])
        desc = tdm_ops.make_tensor_descriptor_2d(
            t, lds, (i, 0), (64, 128), (128, 1), (32, 64), pad_interval=64, pad_amount=8, num_warps=4
        )
        tdm_ops.tensor_load_2d(desc)
        tdm_ops.tensor_store_2d(tdm_ops.update_tensor_descriptor_2d_addr64(desc, fx.ptrtoint(t.iter)))
        tdm_ops.tensor_wait(0)
        low, high = tdm_ops.add_addr_with_carry(i, i, 4)
        assert low.dtype is high.dtype is fx.Int32
        text = k.ir()
        with pytest.raises(ValueError, match="1, 2, 4 or 8 bytes"):
            tdm_ops.make_tensor_descriptor_2d(t, lds, (0, 0), (64, 128), (128, 1), (32, 64), elem_bytes=3)
    assert "rocdl.tensor.load.to.lds.d2" in text
    with kernel(), pytest.raises(ValueError, match="tensor data mover of gfx1250"):
        tdm_ops.tensor_wait()


def test_the_wave_of_a_descriptor_can_be_given():
    """Then the kernel asks for it once, wherever descriptors are made."""
    for given, asked in ((False, 2), (True, 1)):
        with kernel(TENSOR, "i32", arch="gfx1250") as k:
            lds = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 4096]).peek().ptr
            wave = rocdl.wave_id() if given else None
            for _ in range(2):
                tdm_ops.make_tensor_descriptor_2d(
                    fx.Tensor(k.args[0]), lds, (0, 0), (64, 128), (128, 1), (32, 64), num_warps=4, wave=wave
                )
            assert k.ir().count("rocdl.readfirstlane") == asked


def test_cluster_loads():
    with kernel("!fly.ptr<i32, global>", arch="gfx1250") as k:
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 64]).peek().ptr
        rocdl.cluster_load_async_to_lds(fx.Pointer(k.args[0]), lds, 16, mask=3)
        rocdl.cluster.cluster_barrier()
        assert [i.dtype for i in rocdl.cluster.compute_cluster_position()] == [fx.Int32] * 2
        assert rocdl.cluster_workgroup_id_x().dtype is fx.Int32
        assert "rocdl.cluster.load.async.to.lds.b128" in k.ir()
        with pytest.raises(ValueError, match="1, 4, 8 or 16 bytes"):
            rocdl.cluster_load_async_to_lds(fx.Pointer(k.args[0]), lds, 2)
    with kernel(), pytest.raises(ValueError, match="needs the workgroup clusters of gfx1250"):
        rocdl.cluster.cluster_wait()


def test_tdm_atom_of_a_tensor():
    with kernel("!fly.memref<f16, global, (?,?):(?{i64},1)>", "i32", arch="gfx1250") as k:
        t, n = fx.Tensor(k.args[0]), fx.Int32(k.args[1])
        atom = rocdl.make_tdm_atom(t, (n, None), num_warps=4)
        assert atom.val_bits == 16
        text = k.ir()
        with pytest.raises(ValueError, match="3 strides for rank 2"):
            rocdl.make_tdm_atom(t, (n, n), (1, 2, 3), num_warps=1)
        with pytest.raises(ValueError, match="'extent_7' is no state field"):
            atom.set_value("extent_7", 0)
        with pytest.raises(TypeError, match="a tensor in global memory"):
            rocdl.make_tdm_atom(3, (n,), num_warps=1)
    assert '"extent_0"' in text
    assert '"stride_0"' in text
    assert '"extent_1"' not in text


def test_tdm_atom():
    with kernel(arch="gfx1250") as k:
        atom = fx.make_copy_atom(cdna5.TDM(2, 4, 64, 8), fx.Float16)
        atom.set_value({"extent_0": 64, "imm_offset": fx.Int64(0)})
        k.ir()
        with pytest.raises(ValueError, match="moves a whole tile"):
            _ = atom.layout_src_tv
    for arguments, message in (((0, 1), "rank 1 to 5"), ((2, 3), "power of two"), ((2, 1, 64, 0), "both zero")):
        with pytest.raises(ValueError, match=message):
            cdna5.TDM(*arguments)
    with kernel():
        atom = fx.make_copy_atom(cdna5.TDM(2, 1), fx.Float16)
        with pytest.raises(ValueError, match="needs gfx1250"):
            fx.copy(atom, None, None)
