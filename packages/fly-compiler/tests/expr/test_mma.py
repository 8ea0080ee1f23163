# SPDX-License-Identifier: Apache-2.0
"""MMA atoms, tiled MMAs and fx.gemm."""

import pytest
from tracing import kernel

import flydsl.expr as fx

A = "!fly.memref<f16, global, (64,64):(64,1), align<16>>"


def test_atoms():
    with kernel() as k:
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        assert atom.shape_mnk == (16, 16, 16)
        assert str(atom.thr_layout) == "Layout<64:1>"
        assert str(atom.layout_A_tv) == "Layout<((16,4),4):((1,64),16)>"
        assert str(atom.layout_C_tv) == "Layout<((16,4),(4,1)):((16,4),(1,16))>"
        fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 4, fx.Float32))
        fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
        k.ir()


def test_tiled_mma():
    with kernel(A) as k:
        mma = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        assert mma.tile_size_mnk == (32, 32, 16)
        assert str(mma.thr_layout_vmnk) == "Layout<(64,2,2,1):(1,64,128,0)>"
        tile = fx.Tensor(k.args[0])
        thr = mma.get_slice(fx.thread_idx.x)
        assert thr.partition_A(tile).shape == (4, 2, 4)
        assert mma.make_fragment_A(tile).shape == (4, 2, 4)
        assert mma.make_fragment_B(tile, stages=3).shape == (4, 2, 4, 3)
        assert fx.tiled_mma_partition_shape(fx.MmaOperand.C, mma, (64, 64)) == ((4, 1), 2, 2)
        assert mma.permutation_mnk.unpack() == (0, 0, 0)
        assert str(mma.mma_atom.shape_mnk) == "(16, 16, 16)"
        k.ir()


def test_gemm():
    with kernel(A, A, "!fly.memref<f32, global, (64,64):(64,1)>") as k:
        mma = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        a, b, c = (fx.Tensor(x) for x in k.args)
        ra, rb, rc = mma.make_fragment_A(a), mma.make_fragment_B(b), mma.make_fragment_C(c)
        rc.fill(0)
        fx.gemm(mma, rc, ra, rb, rc)
        fx.gemm(mma, rc, ra, rb, rc, traversal_order=fx.GemmTraversalOrder.KMN_Serpentine)
        fx.gemm(mma, rc, ra, rb, rc, traversal_layout=fx.make_layout(16, 1))
        assert k.count("fly.gemm") == 3
        seen = []
        fx.gemm(mma, rc, ra, rb, rc, atom_callback=lambda atom, at: seen.append(at) or atom)
        assert k.count("fly.mma_atom_call") == 16
        assert seen[:3] == [(0, 0, 0), (0, 1, 0), (1, 0, 0)]
        with pytest.raises(TypeError, match="must return an MMA atom"):
            fx.gemm(mma, rc, ra, rb, rc, atom_callback=lambda atom, at: None)
        with pytest.raises(ValueError, match="not both"):
            fx.gemm(
                mma, rc, ra, rb, rc, traversal_order=fx.GemmTraversalOrder.MNK, traversal_layout=fx.make_layout(16, 1)
            )
        with pytest.raises(ValueError, match="ranks d 3, a 1"):
            fx.gemm(mma, rc, fx.make_rmem_tensor(4, fx.Float16), rb, rc)
        with pytest.raises(ValueError, match="K of a and b differ: 4 and 2"):
            fx.gemm(mma, rc, ra, fx.make_rmem_tensor((4, 2, 2), fx.Float16), rc)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: fx.rocdl.MFMA(16, 16, 8, fx.Float16), "MFMA has no 16x16x8 for Float16; it has"),
        (lambda: fx.rocdl.MFMA(16, 32, 16, fx.Float16), "MFMA has no 16x32x16"),
        (lambda: fx.rocdl.MFMA(16, 16, 16, fx.Float16, fx.Float16), "accumulates in Float32, not Float16"),
        (lambda: fx.rocdl.MFMA(16, 16, 16, fx.Int32), "MFMA has no Int32 operands"),
        (lambda: fx.rocdl.MFMA(16, 16, 16, fx.Float64), "MFMA has no 16x16x16 for Float64; it has 4x4x4, 16x16x4"),
        (lambda: fx.rocdl.MFMA(16, 16, 4, fx.Float64, fx.Float32), "accumulates in Float64, not Float32"),
        (
            lambda: fx.rocdl.MFMA(16, 16, 4, fx.Float32, xf32=True),
            "no 16x16x4 for xf32; it has 16x16x8, 32x32x4",
        ),
        (lambda: fx.rocdl.MFMA(16, 16, 8, fx.Float16, xf32=True), "xf32 is for Float32, not Float16"),
        (
            lambda: fx.rocdl.MFMA(16, 16, 4, fx.Float16, blocks=2),
            "does not work on 2 blocks; 32x32x4 on 2",
        ),
        (lambda: fx.rocdl.MFMA(16, 16, 32, fx.Float8E5M2, elem_ty_b=fx.Float8E5M2FNUZ), "MFMA does not mix"),
        (
            lambda: fx.rocdl.SMFMAC(16, 16, 16, fx.Float16),
            "no 16x16x16 for Float16; it has 16x16x32",
        ),
        (lambda: fx.rocdl.SMFMAC(16, 16, 32, fx.Float32), "SMFMAC has no Float32"),
        (lambda: fx.rocdl.SMFMAC(16, 16, 64, fx.Int8, index_set=2), "index_set is an int from 0 to 1"),
        (lambda: fx.rocdl.MFMAScale(16, 16, 64, fx.Float8E4M3FN), "16x16x128 and 32x32x64"),
        (lambda: fx.rocdl.MFMAScale(16, 16, 128, fx.Float16), "MFMAScale takes"),
        (lambda: fx.rocdl.MFMAScale(16, 16, 128, fx.Float8E5M2, opsel_a=4), "opsel_a is an int from 0 to 3"),
        (lambda: fx.rocdl.WMMA(16, 16, 16, fx.Float16), "gfx942 has no WMMA; it has fx.rocdl.MFMA"),
        (lambda: fx.rocdl.BufferCopyLDS64b(), "BufferCopyLDS moves 32 or 128 bits, not 64"),
        (lambda: fx.rocdl.LDSReadTrans(16, 128), "LDSReadTrans has"),
        (lambda: fx.rocdl.BufferAtomicAdd(fx.Int32), "max and min of integer values, not add of Int32"),
    ],
)
def test_operations_that_do_not_exist(build, message):
    with kernel(), pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("arch", "build", "message"),
    [
        (
            "gfx942",
            lambda: fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 32, fx.Float16)),
            "needs gfx950.*gfx942; use MFMA 16x16x16",
        ),
        ("gfx950", lambda: fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 32, fx.Float8E4M3FNUZ)), "use the OCP formats"),
        ("gfx942", lambda: fx.make_mma_atom(fx.rocdl.MFMAScale(16, 16, 128, fx.Float4E2M1FN)), "needs gfx950"),
        ("gfx1201", lambda: fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), "use fx.rocdl.WMMA"),
        ("gfx942", lambda: fx.make_copy_atom(fx.rocdl.BufferCopyLDS128b(), 32), "use BufferCopyLDS32b"),
        ("gfx942", lambda: fx.make_copy_atom(fx.rocdl.LDSReadTrans16_64b(), 16), "needs gfx950"),
        (
            "gfx942",
            lambda: fx.make_mma_atom(fx.rocdl.MFMA(4, 4, 4, fx.Float16)),
            "several blocks; say blocks=16",
        ),
        ("gfx942", lambda: fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 8, fx.BFloat16)), "needs gfx908.*use MFMA 16x16x16"),
        ("gfx942", lambda: fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 64, fx.Int8)), "needs gfx950.*use MFMA 16x16x32"),
        ("gfx950", lambda: fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 8, fx.Float32, xf32=True)), "needs gfx940.*16x16x4"),
        ("gfx942", lambda: fx.make_mma_atom(fx.rocdl.SMFMAC(16, 16, 64, fx.Float16)), "use SMFMAC 16x16x32"),
        ("gfx950", lambda: fx.make_mma_atom(fx.rocdl.SMFMAC(16, 16, 64, fx.Float8E5M2FNUZ)), "use the OCP formats"),
        ("gfx1201", lambda: fx.make_mma_atom(fx.rocdl.SMFMAC(16, 16, 32, fx.Float16)), "needs cdna"),
        ("gfx1201", lambda: fx.rocdl.WMMA(16, 16, 32, fx.Float16), "gfx1201 has no WMMA 16x16x32 of Float16"),
    ],
)
def test_operations_of_other_architectures(arch, build, message):
    """Atoms that the target lacks may be made, as code for several chips does; their use is refused."""
    with kernel(arch=arch):
        with pytest.raises(ValueError, match=message):
            use(build())
        tiled = [build(), fx.make_tiled_mma(build())] if "MFMA " in message else []
        for atom in tiled:
            with pytest.raises(ValueError, match=message):
                fx.gemm(atom, None, None, None, None)


def use(atom):
    call = fx.copy_atom_call if isinstance(atom, fx.CopyAtom) else fx.mma_atom_call
    call(atom, *[None] * (2 if call is fx.copy_atom_call else 4))


@pytest.mark.parametrize(
    ("arch", "args"),
    [
        ("gfx1100", (16, 16, 16, "BFloat16")),
        ("gfx1100", (16, 16, 16, "Float16", "Float16")),
        ("gfx1201", (16, 16, 16, "BFloat16", "BFloat16")),
        ("gfx1201", (16, 16, 16, "Int8")),
        ("gfx1201", (16, 16, 16, "Float8E4M3FN")),
        ("gfx1250", (16, 16, 32, "BFloat16")),
        ("gfx1250", (16, 16, 128, "Float8E5M2")),
    ],
)
def test_wmma(arch, args):
    with kernel(arch=arch) as k:
        dims, types = args[:3], [getattr(fx, name) for name in args[3:]]
        atom = fx.make_mma_atom(fx.rocdl.WMMA(*dims, *types))
        assert atom.shape_mnk == dims
        assert str(atom.thr_layout) == "Layout<32:1>"
        k.ir()


def test_fragments_need_static_tiles():
    with kernel("!fly.memref<f16, global, (?,16):(16,1)>") as k:
        mma = fx.make_tiled_mma(fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout(1, 1))
        with pytest.raises(ValueError, match=r"shape \(\?,16\), but registers need one that is"):
            mma.make_fragment_A(fx.Tensor(k.args[0]))
