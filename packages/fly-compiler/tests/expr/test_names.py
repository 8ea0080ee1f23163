# SPDX-License-Identifier: Apache-2.0
"""Names of the language under every path that code imports them from: one object each."""

import importlib

import pytest
from tracing import kernel

import flydsl.expr as fx


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (
            "flydsl.expr.typing",
            "Tensor Vector Float32 Int8x4 IntTuple Layout Pointer Constexpr T Types VectorAlias",
        ),
        ("flydsl.expr.numeric", "Float32 Int4 Numeric NumericMeta Boolean as_numeric"),
        ("flydsl.expr.primitive", "make_layout copy gemm const_expr printf UniversalCopy128b get_dyn_shared"),
        ("flydsl.expr.derived", "make_rmem_tensor make_tiled_copy_tv make_layout_tv gather"),
        ("flydsl.expr.struct", "Storage Arena Array struct union is_struct_type is_composite_type"),
        ("flydsl.expr.enum", "AtomicOp AtomicOrdering SyncScope"),
        ("flydsl.expr.llvm", "atomic_add atomic_cas atomic_fmax memory_fence generic_load generic_store"),
        ("flydsl.expr.utils.arith", "ArithValue fastmath max"),
        ("flydsl.expr.arith", "max min ceildiv maxnumf minnumf fastmath cmpi cmpf index_cast"),
        ("flydsl.expr.gpu", "SharedAllocator Storage thread_idx shuffle Tuple3D"),
    ],
)
def test_paths(module, names):
    found = importlib.import_module(module)
    for name in names.split():
        assert getattr(found, name) is getattr(fx, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = found.nonsense


def test_extension_paths():
    coop = importlib.import_module("flydsl.extension.coop")
    assert coop is fx.coop
    assert importlib.import_module("flydsl.extension.coop.universal") is fx.coop.universal
    assert importlib.import_module("flydsl.extension.random") is fx.random


def test_rocdl_names():
    from flydsl.expr.rocdl import experimental, inline_asm, universal

    rocdl = fx.rocdl
    assert [name for name in rocdl.__all__ if not hasattr(rocdl, name)] == []
    for name in ("BufferCopy128b", "MFMA", "WMMA", "make_buffer_tensor", "s_waitcnt", "BufferCopyLDS", "UniversalCopy"):
        assert hasattr(universal, name)
    assert inline_asm.cvt_pk_bf16_f32 is rocdl.cvt_pk_bf16_f32
    for name in ("sched_bank", "sched_vgpr", "sched_sgpr", "sched_agpr"):
        with pytest.raises(NotImplementedError, match="sched_group_barrier"):
            getattr(experimental, name)(1, 2)


def test_rocdl_files_say_what_they_have():
    """The table of names that `fx.rocdl` imports at their first use is that of its files."""
    shared = ("buffer", "intrinsic", "newer_ops", "schedule", "sparse_mma")  # they have names for other files too
    for file, names in fx.rocdl._NAMES.items():
        found = importlib.import_module(f"flydsl.expr.rocdl.{file}")
        assert set(names.split()) <= set(found.__all__)
        assert file in shared or set(names.split()) == set(found.__all__)
        assert all(getattr(fx.rocdl, name) is getattr(found, name) for name in names.split())


def test_types_of_the_dialect_are_instances():
    with kernel("!fly.memref<f32, global, (8,8):(8,1)>") as k:
        tensor = fx.Tensor(k.args[0])
        assert isinstance(tensor.type, fx.MemRefType)
        assert isinstance(tensor.layout.type, fx.LayoutType)
        assert not isinstance(tensor.type, fx.LayoutType)
        for op, made in (
            (fx.UniversalCopy(32), fx.CopyOpUniversalCopyType.get(32)),
            (fx.UniversalAtomicAdd(fx.Float32), fx.CopyOpUniversalAtomicType.get("add", fx.Float32)),
        ):
            assert fx.CopyAtomType.get(op, 32) == fx.CopyAtomType.get(made, 32) == fx.make_copy_atom(op, 32).type
        fma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32)).type
        assert fma == fx.MmaAtomType.get(fx.MmaOpUniversalFMAType.get(fx.Float32))
        coordinates = fx.make_view((0, 0), fx.make_identity_layout((4, 8)))
        assert coordinates.type == fx.CoordTensorType.get((0, 0), coordinates.layout)


def test_values_convert_by_names_of_operations():
    with kernel("f16", "i8") as k:
        halves = fx.full(4, fx.Float16(k.args[0]), fx.Float16)
        assert halves.extf(fx.T.f32).dtype is fx.Float32
        assert halves.extf(fx.T.vec(4, fx.T.f32)).truncf(fx.Float16).dtype is fx.Float16
        bytes_ = fx.full(4, fx.Int8(k.args[1]), fx.Int8)
        assert bytes_.extui(fx.T.i32).trunci(fx.T.i16).dtype is fx.Int16
        assert bytes_.with_signedness(False).dtype is fx.Uint8
        assert "arith.extui" in k.ir()


def test_values_are_wrapped_without_running_python():
    """The bindings make these where an exception would end the process, and Python may raise one at any line."""
    from flydsl.expr.values.arith_value import ArithValue

    assert not {"__init__", "__new__"} & set(vars(ArithValue))


def test_later_instructions():
    rocdl = fx.rocdl
    with kernel("i32", "f32") as k:
        i, f = k.args
        rocdl.sdot4(fx.T.i32, i, i, i, clamp=True)
        rocdl.rsq(fx.T.f32, f)
        rocdl.wave_barrier()
        text = k.ir()
        for name in ("llvm.amdgcn.sdot4", "llvm.amdgcn.rsq", "llvm.amdgcn.wave.barrier"):
            assert name in text
        with pytest.raises(TypeError, match="a result type and 3 operands, got 1"):
            rocdl.udot8(fx.T.i32, i)
        with pytest.raises(ValueError, match="needs gfx1250"):
            rocdl.disable_xdl_arb_stall()
        with pytest.raises(ValueError, match="needs gfx950"):
            rocdl.cvt_scalef32_pk_fp4_f32(fx.T.i32, 0, f, f, 1.0, 0)
    with kernel("i32", "f32", arch="gfx950") as k:
        i, f = k.args
        packed = rocdl.cvt_scalef32_pk_fp4_f32(fx.T.i32, 0, f, 1.0, 1.0, 2)
        rocdl.cvt_scalef32_pk_f32_fp4(fx.T.vec(2, fx.T.f32), packed, 2.0, 2)
        k.ir()
        with pytest.raises(TypeError, match="from 0 to 3"):
            rocdl.cvt_scalef32_pk_bf16_fp4(fx.T.vec(2, fx.T.bf16), packed, 2.0, 4)
    with kernel(arch="gfx1250") as k:
        rocdl.disable_xdl_arb_stall()
        v, acc = fx.full(16, 0, fx.Int32), fx.full(8, 0.0, fx.Float32)
        kind = fx.T.vec(8, fx.T.f32)
        acc = rocdl.wmma_scale_f32_16x16x128_f8f6f4(kind, v, v, acc, fx.Int32(127), fx.Int32(127), fmtA=0, fmtB=4)
        rocdl.wmma_f32_16x16x128_fp8_fp8(kind, v, v, acc, modC=1)
        text = k.ir()
        assert "rocdl.wmma.scale.f32.16x16x128.f8f6f4" in text
        with pytest.raises(TypeError, match="modC is part of the instruction"):
            rocdl.wmma_f32_16x16x128_fp8_fp8(kind, v, v, acc, modC=acc)


def test_slices_know_their_tiling():
    with kernel() as k:
        copy = fx.make_tiled_copy_tv(
            fx.make_copy_atom(fx.UniversalCopy(64), fx.Float16),
            fx.make_layout((4, 16), (16, 1)),
            fx.make_layout((1, 4), (4, 1)),
        )
        mine = copy.get_slice(fx.thread_idx.x)
        assert str(mine.tile_mn) == str(copy.tile_mn)
        assert str(mine.layout_src_tv_tiled) == str(copy.layout_src_tv_tiled)
        assert mine.get_slice(3).thr_idx == 3
        mma = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        part = mma.thr_slice(0)
        assert part.tile_size_mnk.to_py_value() == (32, 32, 16)
        assert str(part.tv_layout_C_tiled) == str(mma.tv_layout_C_tiled)
        k.ir()
