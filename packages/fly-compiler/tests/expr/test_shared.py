# SPDX-License-Identifier: Apache-2.0
"""LDS: allocators and typed storage."""

import pytest
from tracing import kernel

import flydsl.expr as fx


@fx.struct
class Pair:
    a: fx.Float32
    n: fx.Constexpr[int]
    b: fx.Array[fx.Float16, 8]


def test_static_allocations_are_symbols():
    with kernel("i32") as k:
        allocator = fx.SharedAllocator()
        array = allocator.allocate(fx.Array[fx.Float32, 64]).peek()
        i = fx.Int32(k.args[0])
        array[i] = 1
        array[-1] = array[0] + array[i]
        assert array.view(fx.make_layout((8, 8), (8, 1))).alignment == 16
        assert len(array) == 64
        assert allocator.is_static
        assert allocator.allocated_bytes == 256
        text = k.ir()
        with pytest.raises(IndexError, match="index 64 is out of range"):
            array[64]
        with pytest.raises(RuntimeError, match=r"no base_ptr.*static=False"):
            _ = allocator.base_ptr
    assert "allocBytes = 256 : i64" in text
    assert "allocAlign = 16 : i64" in text
    assert text.index("fly.make_ptr") < text.index("fly.ptr.store")
    assert [(a.size, a.alignment) for a in k.scope.lds] == [(256, 16)]


def test_each_leaf_of_a_struct_is_one_symbol():
    with kernel() as k:
        storage = fx.SharedAllocator().allocate(fx.Struct["p":Pair, "u" : fx.Union["x" : fx.Int32, "y" : fx.Int64]])
        assert [a.name.split(".", 1)[1] for a in k.scope.lds] == ["p.a", "p.b", "u"]
        storage.p.a.poke(2.5)
        assert storage.p.a.peek().dtype is fx.Float32
        storage.u.y.poke(3)
        assert storage.u.x.peek().dtype is fx.Int32
        with pytest.raises(AttributeError, match="has no field 'z'"):
            _ = storage.p.z
        with pytest.raises(AttributeError, match="known while tracing"):
            _ = storage.p.n
        with pytest.raises(TypeError, match="is a union: read one of its fields"):
            storage.u.peek()
        with pytest.raises(RuntimeError, match="no single address"):
            _ = storage.ptr
        k.ir()


def test_struct_values_in_memory():
    point = fx.Struct["x" : fx.Int32, "y" : fx.Float32]
    with kernel() as k:
        storage = fx.SharedAllocator(static=False).allocate(point)
        storage.poke(point(1, 2))
        value = storage.peek()
        assert isinstance(value, point)
        assert value.y.dtype is fx.Float32
        assert storage.y.ptr.alignment == 4
        array = fx.Array[point, 4](storage.ptr)
        array[2] = point(3, 4)
        assert isinstance(array[2], point)
        with pytest.raises(TypeError, match="only arrays of numbers have a tensor view"):
            array.view(fx.make_layout(4, 1))
        k.ir()


def test_dynamic_allocations_are_offsets():
    with kernel() as k:
        allocator = fx.SharedAllocator(static=False)
        first = allocator.allocate(fx.Array[fx.Int8, 5])
        second = allocator.allocate(100, alignment=64)
        assert not allocator.is_static
        assert allocator.allocated_bytes == 164
        assert k.scope.dynamic_lds_bytes == 164
        assert second.ptr.alignment == 64
        assert first.ptr.alignment == 1024
        k.ir()
        assert k.count("fly.get_dyn_shared") == 1


def test_one_allocator_per_kernel():
    with pytest.raises(RuntimeError, match=r"inside a @flyc.kernel"):
        fx.SharedAllocator()
    with kernel():
        fx.SharedAllocator()
        with pytest.raises(RuntimeError, match="a kernel has at most one"):
            fx.SharedAllocator()


def test_sizes_are_checked():
    with kernel():
        allocator = fx.SharedAllocator()
        with pytest.raises(ValueError, match="positive, got 0"):
            allocator.allocate(0)
        with pytest.raises(TypeError, match="'Int4' cannot be stored"):
            allocator.allocate(fx.Int4)


@pytest.mark.parametrize(("arch", "limit"), [("gfx942", 65536), ("gfx950", 163840)])
def test_the_budget_of_the_target(arch, limit):
    with kernel(arch=arch) as k:
        allocator = fx.SharedAllocator()
        allocator.allocate(fx.Array[fx.Float32, limit // 4])
        with pytest.raises(RuntimeError) as caught:
            allocator.allocate(fx.Array[fx.Float16, 8])
        message = str(caught.value)
    assert f"needs {limit + 16} bytes of LDS, but {arch} has {limit}" in message
    assert f"Array[Float32, {limit // 4}]" in message
    assert "test_shared.py:" in message
    assert k.scope.name == "kernel"


def test_storage_survives_control_flow():
    from flydsl.trace.protocol import construct_from_ir_values, extract_to_ir_values

    with kernel() as k:
        storage = fx.SharedAllocator().allocate(Pair)
        values = extract_to_ir_values(storage)
        assert len(values) == 2
        back = construct_from_ir_values(storage, values)
        assert back.a.peek().dtype is fx.Float32
        k.ir()
