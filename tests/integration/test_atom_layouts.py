# SPDX-License-Identifier: Apache-2.0
"""The thread-value layouts of the dialect's atoms are those of fly-layout's tables."""

import pytest

import flydsl.layout as fl
from flydsl._mlir import ir
from flydsl._mlir.dialects import fly, fly_rocdl  # noqa: F401
from flydsl.layout.atoms import (
    copy_atom,
    lds_read_transpose,
    make_tiled_mma,
    mfma,
    mfma_scale,
    universal_copy,
    universal_fma,
    wmma,
)
from flydsl.layout.atoms import wmma_scale as scaled_wmma

MFMA = (
    [(16, k, t) for t in ("f16", "bf16") for k in (16, 32)]
    + [(32, k, t) for t in ("f16", "bf16") for k in (8, 16)]
    + [(16, 4, "f32"), (32, 2, "f32"), (16, 8, "bf16"), (32, 4, "bf16"), (16, 32, "i8"), (32, 16, "i8")]
    + [(m, k, t) for t in ("f8E4M3FNUZ", "f8E5M2FNUZ") for m, k in ((16, 32), (32, 16))]
)
SCALED = ("f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
WMMA = [
    *(("gfx11", 16, t, acc) for t, acc in (("f16", "f32"), ("bf16", "f32"), ("i8", "i32"), ("i4", "i32"))),
    *(("gfx120x", 16, t, acc) for t, acc in (("f16", "f32"), ("bf16", "f32"), ("i8", "i32"), ("f8E4M3FN", "f32"))),
    ("gfx120x", 32, "i4", "i32"),
    ("gfx1250", 4, "f32", "f32"),
    *(("gfx1250", 32, t, acc) for t, acc in (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("bf16", "bf16"))),
    *(("gfx1250", k, t, acc) for k in (64, 128) for t in ("f8E4M3FN", "f8E5M2") for acc in ("f32", "f16")),
    ("gfx1250", 64, "i8", "i32"),
]

FMA = universal_fma("f32")
MFMA_16, MFMA_32 = (f"!fly_rocdl.cdna3.mfma<{shape}, (f16, f16) -> f32>" for shape in ("16x16x16", "32x32x8"))


def mma_type(spelling: str) -> fly.MmaAtomType:
    return fly.MmaAtomType(ir.Type.parse(f"!fly.mma_atom<{spelling}>"))


def text(layout: ir.Type) -> str:
    return str(layout).removeprefix("!fly.layout<").removesuffix(">")


def assert_same(dialect: fly.MmaAtomType, table: fl.atoms.MmaAtom) -> None:
    assert tuple(map(int, dialect.shape_mnk)) == table.shape_mnk
    assert text(dialect.thr_layout) == fl.text_of(table.thr_layout)
    for operand in "ABCD":
        found = text(getattr(dialect, f"layout_{operand}_tv"))
        assert found == fl.text_of(table.layout_tv(operand)), (table.name, operand)


@pytest.fixture(autouse=True)
def context():
    with ir.Context() as context, ir.Location.unknown():
        yield context


@pytest.mark.parametrize(("m", "k", "elem"), MFMA)
def test_mfma(m: int, k: int, elem: str) -> None:
    acc = "i32" if elem == "i8" else "f32"
    table = mfma(m, m, k, elem, acc=acc)
    assert_same(mma_type(f"!fly_rocdl.{table.name}"), table)


@pytest.mark.parametrize("shape", [(16, 16, 128), (32, 32, 64)])
@pytest.mark.parametrize("elem_a", SCALED)
def test_scaled_mfma(shape: tuple[int, int, int], elem_a: str) -> None:
    table = mfma_scale(*shape, elem_a, SCALED[-1])
    spelling = table.name.removesuffix(">") + ", opselA = 0, opselB = 0>"
    assert_same(mma_type(f"!fly_rocdl.{spelling}"), table)


@pytest.mark.parametrize(("arch", "k", "elem", "acc"), WMMA)
def test_wmma(arch: str, k: int, elem: str, acc: str) -> None:
    table = wmma(arch, 16, 16, k, elem, acc=acc)
    spelling = table.name.removesuffix(">") + ", signA = false, signB = false, clamp = false>"
    assert_same(mma_type(f"!fly_rocdl.{spelling}"), table)


@pytest.mark.parametrize(("m", "elem"), [(16, "f8E4M3FN"), (16, "f6E2M3FN"), (32, "f4E2M1FN")])
def test_scaled_wmma(m: int, elem: str) -> None:
    table = scaled_wmma(m, 16, 128, elem)
    keys = "opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 32"
    assert_same(mma_type(f"!fly_rocdl.{table.name.removesuffix('>')}, {keys}>"), table)


def test_universal_fma() -> None:
    table = universal_fma("f32")
    assert_same(mma_type(f"!fly.{table.name}"), table)


@pytest.mark.parametrize(
    ("spelling", "table"),
    [
        *((f"!fly.universal_copy<{bits}>", universal_copy(bits, 16)) for bits in (16, 32, 64, 128)),
        ("!fly_rocdl.cdna3.buffer_copy<128>", copy_atom("cdna3.buffer_copy<128>", 128, 16)),
        ("!fly_rocdl.cdna3.buffer_copy_lds<32>", copy_atom("cdna3.buffer_copy_lds<32>", 32, 8)),
        ("!fly_rocdl.cdna4.buffer_load_async_lds<96>", copy_atom("cdna4.buffer_load_async_lds<96>", 96, 8)),
        *(
            (f"!fly_rocdl.cdna4.lds_read_trans<trans = {g}b, {bits}>", lds_read_transpose(g, bits))
            for g, bits in ((4, 64), (8, 64), (6, 96), (16, 64))
        ),
    ],
    ids=str,
)
def test_copy(spelling: str, table: fl.atoms.CopyAtom) -> None:
    dialect = fly.CopyAtomType(ir.Type.parse(f"!fly.copy_atom<{spelling}, {table.val_bits}>"))
    assert text(dialect.thr_layout) == fl.text_of(table.thr_layout)
    for side in ("src", "dst", "ref"):
        assert text(getattr(dialect, f"layout_{side}_tv")) == fl.text_of(getattr(table, f"layout_{side}_tv"))


@pytest.mark.parametrize(
    ("atom", "table", "atoms", "permutation"),
    [
        (MFMA_16, mfma(16, 16, 16, "f16"), "(2,2,1):(1,2,0)", None),
        (MFMA_16, mfma(16, 16, 16, "f16"), "(2,1,3):(3,0,1)", (64, None, 48)),
        (MFMA_32, mfma(32, 32, 8, "f16"), "(1,4,1):(0,1,0)", (None, fl.Layout((32, 4), (4, 1)), None)),
        (f"!fly.{FMA.name}", FMA, "(16,8,1):(8,1,0)", (fl.Layout((16, 2), (2, 1)), 24, None)),
        (f"!fly.{FMA.name}", FMA, "(5,3,2):(6,2,1)", None),
    ],
)
def test_tiled_mma(atom: str, table: fl.atoms.MmaAtom, atoms: str, permutation: tuple | None) -> None:
    tiled = make_tiled_mma(table, fl.parse(atoms), permutation)
    tile = fl.to_dialect(fl.Tile(permutation or (None, None, None)))
    dialect = fly.TiledMmaType(
        ir.Type.parse(f"!fly.tiled_mma<!fly.mma_atom<{atom}>, !fly.layout<{atoms}>, !fly.tile<{tile}>>")
    )
    assert dialect.threads == tiled.threads
    assert dialect.tile_size_mnk == tiled.tile_size_mnk
    assert text(dialect.thr_layout_vmnk) == fl.text_of(tiled.thr_layout_vmnk)
    for operand in "ABC":
        assert text(getattr(dialect, f"tv_layout_{operand}_tiled")) == fl.text_of(tiled.tv_layout(operand)), operand


def test_a_tiled_mma_of_dynamic_permutation_has_no_tile() -> None:
    dialect = fly.TiledMmaType(
        ir.Type.parse(
            f"!fly.tiled_mma<!fly.mma_atom<!fly.{FMA.name}>, !fly.layout<(2,2,1):(1,2,0)>, !fly.tile<[?|*|*]>>"
        )
    )
    with pytest.raises(ValueError, match="permutation must be static"):
        dialect.tile_size_mnk
    with pytest.raises(ValueError, match="permutation must be static"):
        dialect.tv_layout_A_tiled
