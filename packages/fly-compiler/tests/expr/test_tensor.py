# SPDX-License-Identifier: Apache-2.0
"""Pointers and tensors."""

import pytest
from tracing import kernel

import flydsl.expr as fx

MATRIX = "!fly.memref<f32, global, (16,32):(32,1), align<16>>"
POINTER = "!fly.ptr<f16, global, align<16>>"


def test_facts():
    with kernel(MATRIX) as k:
        t = fx.Tensor(k.args[0])
        assert (t.dtype, t.memspace, t.alignment, t.leading_dim, t.rank) == (
            fx.Float32,
            fx.AddressSpace.Global,
            16,
            1,
            2,
        )
        assert t.shape == (16, 32)
        assert t.stride == (32, 1)
        assert str(t.layout) == "Layout<(16,32):(32,1)>"
        assert isinstance(t.iter, fx.Pointer)
        assert t.iter.alignment == 16
        k.ir()


def test_element_access():
    with kernel(MATRIX, "i32") as k:
        t, i = fx.Tensor(k.args[0]), fx.Int32(k.args[1])
        assert t[i, 3].dtype is fx.Float32
        assert t[i].dtype is fx.Float32
        t[i, 3] = 1
        t[0, i] = fx.Float32(2.0)
        assert k.count("fly.memref.load") == 2
        assert k.count("fly.memref.store") == 2
        with pytest.raises(TypeError, match="cannot store Int32 in a tensor of Float32"):
            t[0, 0] = i
        with pytest.raises(ValueError, match="profile mismatch"):
            t[0, 0, 0]
        with pytest.raises(TypeError, match=r"t\[None\]"):
            t[None]
        with pytest.raises(TypeError, match="None for the modes to keep"):
            t[0, :]


def test_tensors_and_pointers_are_not_iterated():
    with kernel(MATRIX, POINTER) as k:
        for value in (fx.Tensor(k.args[0]), fx.Pointer(k.args[1])):
            with pytest.raises(TypeError, match=r"not iterable|cannot be iterated"):
                list(value)


def test_slices():
    with kernel(MATRIX, "i32") as k:
        t = fx.Tensor(k.args[0])
        row = t[fx.Int32(k.args[1]), None]
        assert row.shape == 32
        assert row.rank == 1
        column = t[None, 3]
        assert column.stride == 32
        column.store(fx.full(16, 0.0, fx.Float32))
        t[None, 4] = fx.full(16, 1.0, fx.Float32)
        with pytest.raises(ValueError, match="profile mismatch"):
            t[None, 1, 2]
        k.ir()


def test_register_tensors():
    with kernel() as k:
        r = fx.make_rmem_tensor((4, 2), fx.Float16)
        assert str(r) == "Tensor<f16, register, (4,2):(1,4)>"
        r.fill(0)
        v = r.load()
        assert v.shape == (4, 2)
        assert v.dtype is fx.Float16
        r.store(v + v)
        fx.memref_store_vec(fx.memref_load_vec(r), r)
        assert fx.memref_load_vec(r).shape == (8,)
        assert fx.make_rmem_tensor(fx.make_layout(8, 1), fx.Uint8).load().dtype is fx.Uint8
        with pytest.raises(TypeError, match="takes a numeric class"):
            fx.make_rmem_tensor(4, "f32")
        with pytest.raises(ValueError, match="cannot store 4 elements in a tensor of 8"):
            r.store(fx.full(4, 0, fx.Float16))
        with pytest.raises(TypeError, match="cannot store a vector of Float32 in a tensor of Float16"):
            r.store(fx.full(8, 0, fx.Float32))
        k.ir()


def test_dynamic_shapes_have_no_vector():
    with kernel("!fly.memref<f32, global, ?:1>", "i32") as k:
        t = fx.Tensor(k.args[0])
        with pytest.raises(ValueError, match="needs a static shape"):
            t.load()
        with pytest.raises(ValueError, match="static plain layout"):
            fx.make_rmem_tensor(fx.Int32(k.args[1]), fx.Float32)


def test_fragments():
    with kernel(MATRIX) as k:
        t = fx.Tensor(k.args[0])
        assert str(fx.make_fragment_like(t)) == "Tensor<f32, register, (16,32):(1,16)>"
        assert fx.make_fragment_like(t, fx.Boolean).dtype is fx.Boolean
        k.ir()


def test_coordinate_tensors():
    with kernel("i32") as k:
        c = fx.make_view((0, 0), fx.make_identity_layout((4, 8)))
        assert c[1, 2] == (1, 2)
        part = fx.zipped_divide(c, (2, 4))[(None, None), (1, fx.Int32(k.args[0]))]
        assert part[0, 0].rank == 2
        with pytest.raises(TypeError, match="coordinate tensor"):
            _ = c.dtype
        with pytest.raises(TypeError, match="cannot be written"):
            c[0, 0] = 1
        k.ir()


def test_legacy_allocation():
    with kernel() as k:
        kind = fx.MemRefType.get(fx.T.f32, fx.LayoutType.get(4, 1), fx.AddressSpace.Register)
        r = fx.memref_alloca(kind, fx.make_layout(4, 1))
        fx.memref_store(1.0, r, 2)
        assert fx.memref_load(r, 2).dtype is fx.Float32
        k.ir()


def test_pointers():
    with kernel(POINTER, "i32") as k:
        p = fx.Pointer(k.args[0])
        assert (p.dtype, p.address_space, p.alignment) == (fx.Float16, fx.AddressSpace.Global, 16)
        assert (p + 4).alignment == 8
        assert (p + fx.Int32(k.args[1])).alignment == 2
        assert (8 + p).alignment == 16
        assert (p - 4).alignment == 8
        assert p[3].dtype is fx.Float16
        p[3] = 1.5
        assert p.load(fx.Float16x8).shape == (8,)
        p.store(fx.full(8, 0, fx.Float16))
        q = fx.recast_iter(fx.Uint8, p)
        assert q.dtype is fx.Uint8
        assert q.alignment == 16
        assert q[0].dtype is fx.Uint8
        assert p.view(fx.make_layout((4, 8), (8, 1))).shape == (4, 8)
        assert fx.ptrtoint(p).dtype is fx.Int64
        assert str(p.llvm_ptr.type) == "!llvm.ptr<1>"
        back = fx.inttoptr(fx.PointerType.get(fx.Float32, fx.AddressSpace.Global, 4), fx.ptrtoint(p))
        assert back.dtype is fx.Float32
        swizzled = fx.apply_swizzle(fx.get_dyn_shared(fx.Float16), fx.static(fx.SwizzleType.get(3, 4, 3)))
        assert swizzled.memspace == fx.AddressSpace.Shared
        assert str(swizzled.facts.swizzle) == "S<3,4,3>"
        assert fx.ptrtoint(swizzled).dtype is fx.Int32
        k.ir()


def test_pointer_mistakes():
    with kernel(POINTER) as k:
        p = fx.Pointer(k.args[0])
        with pytest.raises(TypeError, match="cannot store BFloat16 through a pointer to Float16"):
            p.store(fx.BFloat16(1.0))
        with pytest.raises(TypeError, match="numeric class such as"):
            fx.recast_iter(int, p)
        with pytest.raises(ValueError, match="no integer address"):
            fx.ptrtoint(fx.make_rmem_tensor(4, fx.Float32).iter)
        with pytest.raises(ValueError, match="one integer"):
            fx.add_offset(p, (1, 2))
        with pytest.raises(TypeError, match="takes a pointer"):
            fx.ptr_load(3)


def test_address_spaces():
    from flydsl.expr.rocdl.enum import TargetAddressSpace

    assert fx.is_generic_address_space(fx.AddressSpace.Shared, fx.AddressSpace.Shared)
    assert fx.is_target_address_space(TargetAddressSpace.BufferDesc, TargetAddressSpace.BufferDesc)
    assert not fx.is_generic_address_space(TargetAddressSpace.BufferDesc, fx.AddressSpace.Global)
    assert [s.value for s in fx.AddressSpace] == [0, 1, 2, 3]
