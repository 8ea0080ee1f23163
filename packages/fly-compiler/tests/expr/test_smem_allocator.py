# SPDX-License-Identifier: Apache-2.0
"""The older LDS allocator."""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.utils.smem_allocator import SmemAllocator, SmemPtr, check_smem_capacity


def test_arrays_share_one_symbol():
    with kernel("i32") as k:
        allocator = SmemAllocator(None, arch="gfx942", global_sym_name="smem0")
        first = allocator.allocate_array(fx.T.f16, 100)
        second = allocator.allocate_array(fx.Float32, 8)
        assert (first.byte_offset, second.byte_offset, allocator.ptr) == (0, 208, 240)
        base = allocator.get_base()
        pointer = second(base)
        pointer.store(fx.Float32(1.0), [fx.Int32(k.args[0])])
        assert str(pointer.load([0]).type) == "f32"
        pointer._view_cache = None
        with pytest.raises(RuntimeError, match="was not finalized"):
            k.scope.check_finalized()
        with ir.InsertionPoint(k.scope.gpu_module.operations[0]):
            allocator.finalize()
        k.scope.check_finalized()
        text = k.ir()
    assert (
        "memref.global @smem0 : memref<256xi8, #gpu.address_space<workgroup>> = uninitialized {alignment = 1024" in text
    )
    with pytest.raises(RuntimeError, match="was finalized already"):
        allocator.finalize()


def test_sizes_are_collected_before_anything_is_traced():
    allocator = SmemAllocator(None, arch="gfx950", global_sym_name="smem1")
    allocator.allocate_array(fx.T.f16, 10)
    assert allocator.allocate_array(fx.T.f32, 4).byte_offset == 32
    with kernel() as k:
        allocator.get_base()
        with ir.InsertionPoint(k.scope.gpu_module.operations[0]):
            allocator.finalize()
        k.ir()
    with kernel() as k:  # each specialisation has a module, and an array, of its own
        assert not allocator.finalized
        allocator.finalized = False
        allocator.get_base()
        with ir.InsertionPoint(k.scope.gpu_module.operations[0]):
            allocator.finalize()
        allocator.finalized = False
        assert allocator.finalized  # one array in one module
        k.ir()
    allocator.finalized = False
    allocator.allocate(16)


def test_capacity():
    check_smem_capacity(65536, "gfx942")
    check_smem_capacity(100_000, "gfx950")
    with pytest.raises(RuntimeError, match="is more than the 65536"):
        check_smem_capacity(65537, "gfx942")


def test_shapes():
    with kernel("memref<1024xi8, #gpu.address_space<workgroup>>") as k:
        p = SmemPtr(k.args[0], 64, fx.Float32, (4, 8))
        p.store(fx.full(4, 1, fx.Float32), [1, 4])
        with pytest.raises(IndexError, match="3 indices"):
            p.load([0, 0, 0])
        assert "vector.store" in k.ir()
