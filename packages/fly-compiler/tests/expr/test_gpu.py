# SPDX-License-Identifier: Apache-2.0
"""Indices, barriers and shuffles."""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr import gpu
from flydsl.frontend.control.for_loop import counts_up


def test_indices_are_computed_once():
    with kernel() as k:
        assert fx.thread_idx.x.dtype is fx.Int32
        assert fx.thread_idx.x.value is fx.thread_idx.x.value
        x, y, z = fx.block_idx
        assert [i.dtype for i in (x, y, z, fx.block_dim.y, fx.grid_dim.z)] == [fx.Int32] * 5
        assert [d.value for d in fx.block_dim] == [256, 1, 1]
        assert k.count("gpu.thread_id") == 1
        assert k.count("gpu.block_id") == 3
        with pytest.raises(AttributeError, match=r"has \.x, \.y and \.z"):
            _ = fx.thread_idx.w


def test_raw_indices():
    with kernel() as k:
        assert str(gpu.thread_id("x").type) == "index"
        assert str(gpu.block_id("y").type) == "index"
        with pytest.raises(ValueError, match="'x', 'y' or 'z'"):
            gpu.thread_id("w")
        k.ir()


@pytest.mark.parametrize(("arch", "lanes"), [("gfx942", 64), ("gfx950", 64), ("gfx1201", 32), ("gfx1250", 32)])
def test_wave_size_is_that_of_the_target(arch, lanes):
    with kernel(arch=arch) as k:
        assert fx.num_warp_threads() == lanes
        assert fx.lane_id().dtype is fx.Int32
        k.ir()


def test_block_size():
    with kernel(block=(64, 2, 1)):
        assert fx.known_block_size() == (64, 2, 1)
    with kernel(block=None), pytest.raises(RuntimeError, match="block size of this kernel is not static"):
        fx.known_block_size()


def test_extents_that_only_the_launch_knows():
    with kernel(block=None) as k:
        assert not fx.block_dim.x.is_static()
        assert fx.grid_dim.y.dtype is fx.Int32
        assert k.ir().count("llvm.amdgcn.implicitarg.ptr") == 2


def test_barrier():
    with kernel() as k:
        fx.barrier()
        gpu.barrier()
        assert k.count("gpu.barrier") == 2


@pytest.mark.parametrize("mode", ["xor", "up", "down", "idx"])
def test_shuffles_keep_the_type(mode):
    with kernel("f32", "vector<2xf16>", "i32") as k:
        x, v = fx.Float32(k.args[0]), fx.Vector(k.args[1])
        assert getattr(gpu, f"shuffle_{mode}")(x, 1, 64).dtype is fx.Float32
        assert gpu.shuffle(v, fx.Int32(k.args[2]), mode=mode).dtype is fx.Float16
        assert k.ir().count(f"gpu.shuffle  {mode}") == 2


def test_shuffle_modes_are_checked():
    with kernel("f32") as k, pytest.raises(ValueError, match="one of xor, up, down, idx"):
        gpu.shuffle(fx.Float32(k.args[0]), 1, 64, mode="rotate")


def test_shuffle_op():
    with kernel("f32") as k:
        assert str(gpu.ShuffleOp(k.args[0], 16, 64, mode="xor").shuffleResult.type) == "f32"


def test_spaces_and_dialect_names():
    with kernel() as k:
        assert gpu.smem_space(int=True) == int(gpu.AddressSpace.Workgroup) == 2
        assert "workgroup" in str(gpu.lds_space())
        assert gpu.subgroup_size is not None
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            _ = gpu.nonsense
        k.ir()


def test_a_shuffle_stays_within_the_wave():
    with kernel("f32", "i32", arch="gfx1201") as k:
        x = fx.Float32(k.args[0])
        fx.gpu.shuffle_xor(x, 1, 32)
        fx.gpu.shuffle_xor(x, 1, fx.Int32(k.args[1]))
        for width in (64, 0, fx.Int32(64), fx.Int32(64).ir_value()):
            with pytest.raises(ValueError, match=r"width is 1 to 32, the lanes .*num_warp_threads"):
                fx.gpu.shuffle_xor(x, 1, width)
        with pytest.raises(ValueError, match="width is 1 to 32"):
            fx.gpu.ShuffleOp(x, 1, 64)


def test_steps_made_of_the_grid_are_known_to_count_up():
    with kernel("i32", block=None) as k:
        step = fx.grid_dim.x * fx.block_dim.x * 4
        assert counts_up(step.ir_value())
        assert not counts_up((step * fx.Int32(k.args[0])).ir_value())
        assert not counts_up((step * -1).ir_value())
