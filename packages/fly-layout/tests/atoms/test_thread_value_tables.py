# SPDX-License-Identifier: Apache-2.0
"""The contract's examples of tiled copies and tiled MMAs, and its table of fragment layouts."""

from __future__ import annotations

import re

import pytest
from contract.tables import expected_text, is_failure, operand, rows

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError
from flydsl.layout.atoms import (
    copy_atom,
    lds_read_transpose,
    make_tiled_copy,
    make_tiled_mma,
    mfma,
    mfma_scale,
    universal_copy,
    universal_fma,
    wmma,
    wmma_scale,
)

TABLES = [r for r in rows("fly_ir_tables.txt") if r.op.startswith(("tiled_copy.", "tiled_mma.", "mma."))]


def tiled(name: str):
    """The operands as the contract abbreviates them: TCb, TMabc [perm tile], FM."""
    if name.startswith("TC"):
        return make_tiled_copy(universal_copy(int(name[2:]), 16), Layout("((2,4),4):((16,1),4)"), (4, 8))
    if name == "FM":
        return make_tiled_mma(universal_fma("f32"), Layout("(4,4,1):(1,4,0)"))
    match = re.fullmatch(r"TM(\d)(\d)(\d)(?: perm (.*))?", name)
    shape = tuple(int(d) for d in match.groups()[:3])
    permutation = fl.parse(match.group(4)) if match.group(4) else None
    return make_tiled_mma(mfma(16, 16, 16, "f16"), Layout(shape), permutation)


def compute(row):
    what = tiled(row.operands[0])
    attributes = dict(row.attributes)
    x = operand(row.operands[1])
    if row.op in ("tiled_copy.partition_src", "tiled_copy.partition_dst"):
        part = what.get_slice(operand(row.operands[2]))
        return part.partition_S(x) if row.op.endswith("src") else part.partition_D(x)
    if row.op == "tiled_copy.retile":
        return what.retile(x)
    if row.op == "tiled_mma.partition_shape":
        return what.partition_shape(attributes["operand_id"], x)
    if row.op == "tiled_mma.partition":
        return what.partition(attributes["operand_id"], x, operand(row.operands[2]))
    stages = int(attributes["stages"]) if "stages" in attributes else None
    return what.fragment_layout(attributes["operand_id"], x, stages)


@pytest.mark.parametrize("row", TABLES, ids=str)
def test_example(row):
    if is_failure(row.expected):
        with pytest.raises(LayoutError) as e:
            compute(row)
        assert str(e.value).startswith(row.expected.removeprefix("error: "))
        return
    result = compute(row)
    if row.operands[1].startswith("memref<") and isinstance(result, fl.CoordTensor):
        result = result.layout
    assert fl.to_dialect(result) == expected_text(row.expected)


# name, A (= B unless a third layout follows), C
FRAGMENTS = [
    (mfma(32, 32, 2, "f32"), "((32,2),1):((1,32),32)", "((32,2),(4,4)):((32,4),(1,8))"),
    (mfma(16, 16, 4, "f32"), "((16,4),1):((1,16),16)", "((16,4),(4,1)):((16,4),(1,16))"),
    (mfma(16, 16, 4, "f16"), "((16,4),1):((1,16),16)", "((16,4),(4,1)):((16,4),(1,16))"),
    (mfma(32, 32, 4, "bf16"), "((32,2),2):((1,64),32)", "((32,2),(4,4)):((32,4),(1,8))"),
    (mfma(16, 16, 8, "bf16"), "((16,4),2):((1,32),16)", "((16,4),(4,1)):((16,4),(1,16))"),
    (mfma(32, 32, 8, "f16"), "((32,2),4):((1,128),32)", "((32,2),(4,4)):((32,4),(1,8))"),
    (mfma(16, 16, 16, "i8", acc="i32"), "((16,4),4):((1,64),16)", "((16,4),(4,1)):((16,4),(1,16))"),
    (mfma(16, 16, 32, "f8E4M3FNUZ"), "((16,4),8):((1,128),16)", "((16,4),(4,1)):((16,4),(1,16))"),
    (mfma(32, 32, 16, "bf16"), "((32,2),8):((1,256),32)", "((32,2),(4,4)):((32,4),(1,8))"),
    (mfma_scale(16, 16, 128, "f8E4M3FN"), "((16,4),32):((1,512),16)", "((16,4),(4,1)):((16,4),(1,16))"),
    (mfma_scale(32, 32, 64, "f4E2M1FN"), "((32,2),32):((1,1024),32)", "((32,2),(4,4)):((32,4),(1,8))"),
    (wmma("gfx11", 16, 16, 16, "f16"), "((16,2),16):((1,0),16)", "((16,2),8):((16,1),2)"),
    (wmma("gfx11", 16, 16, 16, "i4", acc="i32"), "((16,2),16):((1,0),16)", "((16,2),8):((16,1),2)"),
    (wmma("gfx120x", 16, 16, 16, "bf16"), "((16,2),8):((1,128),16)", "((16,2),8):((16,8),1)"),
    (wmma("gfx120x", 16, 16, 32, "i4", acc="i32"), "((16,2),16):((1,256),16)", "((16,2),8):((16,8),1)"),
    (wmma("gfx1250", 16, 16, 4, "f32"), "((16,2),2):((1,32),16)", "((16,2),8):((16,8),1)"),
    (wmma("gfx1250", 16, 16, 32, "f16"), "((16,2),(8,2)):((1,128),(16,256))", "((16,2),8):((16,8),1)"),
    (wmma("gfx1250", 16, 16, 32, "f16", acc="f16"), "((16,2),(8,2)):((1,128),(16,256))",
     "((16,2),(4,2)):((16,8),(2,1))"),
    (wmma("gfx1250", 16, 16, 32, "i4", acc="i32"), "((16,2),(8,2)):((1,128),(16,256))", "((16,2),8):((16,8),1)"),
    (wmma("gfx1250", 16, 16, 64, "f8E5M2"), "((16,2),(8,4)):((1,128),(16,256))", "((16,2),8):((16,8),1)"),
    (wmma("gfx1250", 16, 16, 64, "i8", acc="i32"), "((16,2),(8,4)):((1,128),(16,256))", "((16,2),8):((16,8),1)"),
    (wmma("gfx1250", 16, 16, 128, "f8E4M3FN"), "((16,2),(8,8)):((1,128),(16,256))", "((16,2),8):((16,8),1)"),
    (wmma_scale(16, 16, 128, "f6E2M3FN"), "((16,2),(8,8)):((1,128),(16,256))", "((16,2),8):((16,8),1)"),
    (wmma_scale(32, 16, 128, "f4E2M1FN"), "(32,128):(1,32)", "((16,2),16):((16,16),1)"),
]  # fmt: skip


@pytest.mark.parametrize(("atom", "a", "c"), FRAGMENTS, ids=lambda x: str(x)[:40])
def test_fragment_layouts(atom, a, c):
    assert str(atom.layout_A_tv) == a
    square = atom.shape_mnk[0] == atom.shape_mnk[1]
    assert str(atom.layout_B_tv) == (a if square else "((16,2),(8,8)):((1,128),(16,256))")
    assert str(atom.layout_C_tv) == c


ATOMS = [
    (universal_copy(128, 16), "1:1", "(1,8):(1,1)", "(1,8):(1,1)"),
    (universal_copy(64, 32), "1:1", "(1,2):(1,1)", "(1,2):(1,1)"),
    (universal_copy(16, 32), "1:1", "(1,1):(1,1)", "(1,1):(1,1)"),
    (universal_copy(100, 8), "1:1", "(1,13):(1,1)", "(1,13):(1,1)"),
    (universal_copy(128, 4), "1:1", "(1,32):(1,1)", "(1,32):(1,1)"),
    (universal_copy(128, 1), "1:1", "(1,128):(1,1)", "(1,128):(1,1)"),
    (copy_atom("cdna4.buffer_load_async_lds<96>", 96, 8), "1:1", "(1,12):(1,1)", "(1,12):(1,1)"),
    (lds_read_transpose(4, 64), "16:1", "(16,16):(16,1)", "(16,(1,16)):(1,(1,16))"),
    (lds_read_transpose(8, 64), "16:1", "(16,8):(8,1)", "(16,(1,8)):(1,(1,16))"),
    (lds_read_transpose(6, 96), "16:1", "(16,16):(16,1)", "(16,(1,16)):(1,(1,16))"),
    (lds_read_transpose(16, 64), "16:1", "(16,4):(4,1)", "(16,(1,4)):(1,(1,16))"),
    (lds_read_transpose(8, 64, 4), "16:1", "(16,16):(16,1)", "(16,(2,8)):(2,(1,32))"),
]


@pytest.mark.parametrize(("atom", "threads", "source", "destination"), ATOMS, ids=lambda x: str(x)[:40])
def test_copy_atoms(atom, threads, source, destination):
    assert str(atom.thr_layout) == threads
    assert str(atom.layout_src_tv) == source
    assert str(atom.layout_dst_tv) == str(atom.layout_ref_tv) == destination


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mfma(16, 32, 8, "f16"), "M = N"),
        (lambda: mfma(16, 16, 2, "f16"), "multiple of 4"),
        (lambda: mfma(16, 16, 16, "f17"), "unknown element type"),
        (lambda: mfma_scale(16, 16, 64, "f8E4M3FN"), "16x16x128 or 32x32x64"),
        (lambda: wmma("gfx11", 16, 16, 32, "f16"), "gfx11 has 16x16x16"),
        (lambda: wmma("gfx12", 16, 16, 16, "f16"), "architectures are"),
        (lambda: wmma_scale(32, 16, 128, "f8E4M3FN"), "32x16x128 with f4E2M1FN"),
        (lambda: lds_read_transpose(16, 128), "expected (4, 64)"),
        (lambda: make_tiled_copy(universal_copy(64, 16), Layout("((2,4),3):((16,1),4)"), (4, 8)), "no multiple"),
        (lambda: make_tiled_copy(universal_copy(64, 16), Layout((fl.sym("T"), 4)), (4, 8)), "not static"),
        (lambda: make_tiled_mma(mfma(16, 16, 16, "f16"), Layout((2, 2))), "three modes"),
        (lambda: make_tiled_mma(mfma(16, 16, 16, "f16"), Layout((2, 2, 1)), (32,)), "one mode for each"),
    ],
)
def test_errors(call, words):
    with pytest.raises(LayoutError) as e:
        call()
    assert words in str(e.value)
