# SPDX-License-Identifier: Apache-2.0
"""Copy atoms, tiled copies and fx.copy."""

import pytest
from tracing import kernel

import flydsl.expr as fx

MATRIX = "!fly.memref<f32, global, (?,?):(?{i64},1)>"
TILE = "!fly.memref<bf16, global, (64,128):(128,1), align<16>>"


def test_atoms():
    with kernel() as k:
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        assert str(atom) == "CopyAtom<!fly.universal_copy<32>, 32>"
        assert atom.val_bits == 32
        assert str(atom.thr_layout) == "Layout<1:1>"
        assert str(atom.layout_src_tv) == "Layout<(1,1):(1,1)>"
        wide = fx.make_copy_atom(fx.UniversalCopy(128), 16)
        assert str(wide.layout_ref_tv) == "Layout<(1,8):(1,1)>"
        fx.make_copy_atom(fx.UniversalCopy128b(), fx.T.bf16)
        fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Float32, fx.rocdl.SyncScope.Agent), fx.Float32)
        k.ir()


def test_atom_mistakes():
    with kernel():
        with pytest.raises(TypeError, match=r"write UniversalCopy32b|takes a copy operation"):
            fx.make_copy_atom(fx.UniversalCopy32b, fx.Float32)
        with pytest.raises(TypeError, match="numeric class, an MLIR type or a number of bits"):
            fx.make_copy_atom(fx.UniversalCopy32b(), "f32")
        with pytest.raises(ValueError, match="positive number of bits"):
            fx.UniversalCopy(0)
        with pytest.raises(ValueError, match="floats have add, max and min"):
            fx.UniversalAtomicAnd(fx.Float32)
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        with pytest.raises(ValueError, match=r"'soffset' is no state field of fly.universal_copy; it has no state"):
            atom.set_value("soffset", 1)


def test_vector_add_in_one_dimension():
    with kernel("!fly.memref<f32, global, ?:1>", "!fly.memref<f32, global, ?:1>") as k:
        a, c = (fx.logical_divide(fx.Tensor(x), fx.make_layout(256, 1)) for x in k.args)
        a, c = (fx.logical_divide(fx.slice(t, (None, fx.block_idx.x)), fx.make_layout(1, 1)) for t in (a, c))
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        r = fx.make_rmem_tensor(1, fx.Float32)
        fx.copy_atom_call(atom, fx.slice(a, (None, fx.thread_idx.x)), r)
        fx.memref_store_vec(fx.memref_load_vec(r) + fx.memref_load_vec(r), r)
        fx.copy_atom_call(atom, r, fx.slice(c, (None, fx.thread_idx.x)))
        assert k.count("fly.copy_atom_call") == 2


def test_predicated_copy_in_two_dimensions():
    with kernel(MATRIX, "i32", "i32") as k:
        t, m, n = fx.Tensor(k.args[0]), fx.Int32(k.args[1]), fx.Int32(k.args[2])
        thr, val = fx.make_layout((4, 64), (64, 1)), fx.make_layout((1, 4), (4, 1))
        copy = fx.make_tiled_copy_tv(fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32), thr, val)
        tile = fx.flat_divide(t, (4, 256))[None, None, fx.block_idx.x, fx.block_idx.y]
        coords = fx.make_view((0, 0), fx.make_identity_layout((m, n)))
        ctile = fx.flat_divide(coords, (4, 256))[None, None, fx.block_idx.x, fx.block_idx.y]
        mine = copy.get_slice(fx.thread_idx.x)
        source, where = mine.partition_S(tile), mine.partition_S(ctile)
        fragment = fx.make_fragment_like(source)
        pred = fx.make_rmem_tensor((1, 1), fx.Boolean)
        pred[0, 0] = fx.elem_less(where[((0, 0), 0, 0)], (m, n))
        fx.copy(copy, source, fragment, pred=pred)
        assert k.count("fly.copy") == 1


@pytest.mark.parametrize("shape", [8, (8, 2), (1, 1, 2)])
def test_a_predicate_of_another_extent_is_refused(shape):
    """Its elements would be taken for other repetitions of the atom than its author meant."""
    with kernel() as k:
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        source, target = (fx.make_rmem_tensor(((4, 8), 1), fx.Float32) for _ in range(2))
        fx.copy(atom, source, target, pred=fx.make_rmem_tensor((8, 1), fx.Boolean))
        with pytest.raises(ValueError, match=r"predicate of (shape|rank)"):
            fx.copy(atom, source, target, pred=fx.make_rmem_tensor(shape, fx.Boolean))
        k.ir()


def test_make_layout_tv():
    with kernel("i32") as k:
        tiler, layout = fx.make_layout_tv(fx.make_layout((32, 8), (8, 1)), fx.make_layout((1, 8), (8, 1)))
        assert tiler == (32, 64)
        assert fx.size(layout) == 2048
        with pytest.raises(ValueError, match="static thread layout"):
            fx.make_layout_tv(fx.make_layout(fx.Int32(k.args[0]), 1), fx.make_layout(1, 1))


def test_tiled_copy():
    with kernel(TILE) as k:
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.BFloat16)
        tv = fx.make_tiled_copy_tv(atom, fx.make_layout((16, 16), (16, 1)), fx.make_layout((1, 8), (8, 1)))
        part = tv.get_slice(fx.thread_idx.x).partition_D(fx.Tensor(k.args[0]))
        assert part.shape == ((8, 1), 4, 1)
        assert tv.tile_mn.unpack() == (16, 128)
        assert str(tv.layout_tv_tiled) == "Layout<((16,16),8):((128,1),16)>"
        assert str(tv.layout_src_tv_tiled) == str(tv.layout_dst_tv_tiled) == "Layout<((16,16),(8,1)):((128,1),(16,0))>"
        assert str(tv.atom) == str(atom)
        fragment = fx.make_fragment_like(part)
        assert str(fragment.layout) == "Layout<((8,1),4,1):((1,0),8,0)>" or fragment.shape == ((8, 1), 4, 1)
        assert tv.thr_slice(0).retile(fragment).rank == 3
        fx.copy(tv, part, fragment)
        k.ir()


def test_one_atom_moves_what_it_moves():
    with kernel(TILE) as k:
        row = fx.logical_divide(fx.Tensor(k.args[0])[0, None], fx.make_layout(4, 1))
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.BFloat16)
        with pytest.raises(ValueError, match=r"moves 128 bits, but the source has 4 x BFloat16 \(64 bits\)"):
            fx.copy_atom_call(atom, row[None, 0], fx.make_rmem_tensor(8, fx.BFloat16))
        narrow = fx.make_copy_atom(fx.UniversalCopy64b(), fx.BFloat16)
        with pytest.raises(ValueError, match="the destination has 8 x BFloat16"):
            fx.copy_atom_call(narrow, row[None, 0], fx.make_rmem_tensor(8, fx.BFloat16))


def test_copy_mistakes():
    with kernel(TILE) as k:
        t = fx.Tensor(k.args[0])
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.BFloat16)
        r = fx.make_rmem_tensor(8, fx.BFloat16)
        with pytest.raises(ValueError, match="different ranks"):
            fx.copy(atom, t, r)
        with pytest.raises(TypeError, match="destination of copy is a tensor"):
            fx.copy(atom, t, 3)
        with pytest.raises(TypeError, match="takes a copy atom or a tiled copy"):
            fx.copy(3, t, t)
        with pytest.raises(TypeError, match=r"pred is a tensor of fx\.Boolean"):
            fx.copy(atom, r, r, pred=r)
        with pytest.raises(ValueError, match="predicate of rank 3"):
            fx.copy(atom, r, r, pred=fx.make_rmem_tensor((1, 1, 1), fx.Boolean))
        with pytest.raises(TypeError, match=r"Layout, a Tile or a Python tuple|takes a \(thread, value\) layout"):
            fx.make_tiled_copy(atom, 3, (4, 8))


def test_buffer_copies_carry_state():
    with kernel(TILE, "i32") as k:
        b = fx.rocdl.make_buffer_tensor(fx.Tensor(k.args[0]))
        assert b.memspace is fx.rocdl.TargetAddressSpace.BufferDesc
        atom = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.BFloat16)
        row = fx.logical_divide(b[0, None], fx.make_layout(8, 1))
        r = fx.make_rmem_tensor(8, fx.BFloat16)
        fx.copy(atom, row[None, 0], r, soffset=fx.Int32(k.args[1]))
        text = k.ir()
    assert "fly.atom.set_value(" in text
    assert '"soffset"' in text
    assert "fly_rocdl.cdna3.buffer_copy<128>" in text


def test_gather_and_scatter():
    with kernel("!fly.ptr<f32, global>") as k:
        p = fx.Pointer(k.args[0])
        offsets = fx.make_rmem_tensor((2, 3), fx.Int32)
        offsets.fill(0)
        data = fx.make_rmem_tensor(((4, 2), 3), fx.Float32)
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        fx.gather(atom, p, offsets, data)
        fx.scatter(atom, data, p, offsets)
        assert k.count("fly.copy_atom_call") == 12
