# SPDX-License-Identifier: Apache-2.0
"""Definedness follows lanes: through DPP, readlane, permutes, swaps, selects, packed and matrix instructions.

Each kernel defines v4 in lanes 0 to 31 only, moves it, and stores lanes 0 to 31 of the result (v5). Whether that is a
finding depends on where those lanes came from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

HEAD = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v6, v1
  s_mov_b64 exec, 0xffffffff
  v_mov_b32 v4, 1.0
  s_mov_b64 exec, -1
"""
TAIL = """
  s_mov_b64 exec, 0xffffffff
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v5, s[6:7]
"""

MOVES = [
    ("v_mov_b32_dpp v5, v4 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", True, None),
    ("v_mov_b32_dpp v5, v4 row_mirror row_mask:0xf bank_mask:0xf", True, None),
    ("v_mov_b32_dpp v5, v4 wave_rol:1 row_mask:0xf bank_mask:0xf", False, None),  # lane 31 reads lane 32
    ("v_mov_b32 v5, 0\n  v_mov_b32_dpp v5, v4 row_shr:1 row_mask:0xf bank_mask:0xf", True, None),
    ("v_readlane_b32 s8, v4, 3\n  v_mov_b32 v5, s8", True, None),
    ("v_readlane_b32 s8, v4, m0\n  v_mov_b32 v5, s8", False, None),  # M0 was never written
    ("v_readlane_b32 s8, v4, 33\n  v_mov_b32 v5, s8", False, None),
    ("v_readfirstlane_b32 s8, v4\n  v_mov_b32 v5, s8", True, None),
    ("ds_swizzle_b32 v5, v4 offset:swizzle(REVERSE,32)", True, None),
    ("ds_bpermute_b32 v5, v6, v4", True, None),
    ("v_xor_b32 v6, 0x80, v6\n  ds_bpermute_b32 v5, v6, v4", False, None),  # lane l reads lane l ^ 32
    ("v_xor_b32 v6, 0x80, v6\n  ds_permute_b32 v5, v6, v4", False, None),
    ("v_mov_b32 v5, 0\n  v_permlane16_swap_b32 v4, v5\n  v_mov_b32 v5, v4", True, "gfx950"),
    ("v_mov_b32 v5, 0\n  v_permlane32_swap_b32 v5, v4", True, "gfx950"),
    ("v_permlane32_swap_b32 v7, v4\n  v_mov_b32 v5, v4", False, "gfx950"),  # v7 was never written
    ("s_mov_b64 vcc, 0\n  v_cndmask_b32 v5, v4, v9, vcc", True, None),  # v9 was never written, and is not chosen
    ("s_mov_b64 vcc, 2\n  v_cndmask_b32 v5, v4, v9, vcc", False, None),
    ("v_pk_add_f32 v[8:9], v[4:5], v[4:5] op_sel_hi:[0,0]\n  v_mov_b32 v5, v9", True, None),
    ("v_pk_add_f32 v[8:9], v[4:5], v[4:5]\n  v_mov_b32 v5, v9", False, None),
    ("v_pk_fma_f32 v[8:9], v[4:5], v[4:5], v[4:5] op_sel:[0,1,0] op_sel_hi:[0,0,0]\n  v_mov_b32 v5, v8", False, None),
    ("v_pk_mov_b32 v[8:9], v[4:5], v[4:5] op_sel:[0,0]\n  v_mov_b32 v5, v9", True, None),
    ("v_accvgpr_write_b32 a0, v4\n  v_accvgpr_read_b32 v5, a0", True, None),
    ("v_mov_b32 v5, v7", False, None),
    # Through LDS: what was stored there undefined is no finding, and stays undefined.
    ("ds_write_b32 v1, v4\n  ds_read_b32 v5, v1\n  s_waitcnt lgkmcnt(0)", True, None),
    ("ds_write_b32 v1, v4\n  v_xor_b32 v6, 0x80, v1\n  ds_read_b32 v5, v6\n  s_waitcnt lgkmcnt(0)", False, None),
    ("ds_write_b32 v1, v4\n  ds_write_b32 v1, v6\n  v_xor_b32 v6, 0x80, v1\n"
     "  ds_read_b32 v5, v6\n  s_waitcnt lgkmcnt(0)", True, None),
    ("ds_write2_b32 v1, v4, v7 offset1:64\n  ds_read2_b32 v[8:9], v1 offset1:64\n  s_waitcnt lgkmcnt(0)\n"
     "  v_mov_b32 v5, v8", True, None),
    ("ds_write2_b32 v1, v4, v7 offset1:64\n  ds_read2_b32 v[8:9], v1 offset1:64\n  s_waitcnt lgkmcnt(0)\n"
     "  v_mov_b32 v5, v9", False, None),
    ("ds_write_b8 v1, v7 offset:2\n  ds_write_b16 v1, v4\n  ds_write_b8 v1, v4 offset:3\n  ds_read_b32 v5, v1\n"
     "  s_waitcnt lgkmcnt(0)", False, None),
    # Halves of a dword: put together by permutes and bit fields, used one by one.
    ("s_mov_b32 s8, 0xffff\n  v_bfi_b32 v8, s8, v1, v7\n  v_cvt_f32_f16 v5, v8", True, None),
    ("s_mov_b32 s8, 0xffff\n  v_bfi_b32 v8, s8, v1, v7\n  v_cvt_f32_f16_sdwa v5, v8 dst_sel:DWORD src0_sel:WORD_1",
     False, None),
    ("s_mov_b32 s8, 0x05040100\n  v_perm_b32 v8, v1, v7, s8\n  v_lshrrev_b32 v5, 16, v8", True, None),
    ("s_mov_b32 s8, 0x05040100\n  v_perm_b32 v8, v1, v7, s8\n  v_and_b32 v5, 0xffff, v8", False, None),
    ("s_mov_b32 s8, 0x05040100\n  v_perm_b32 v8, v1, v7, s8\n  s_mov_b32 s9, 0x07060100\n"
     "  v_perm_b32 v5, v8, v1, s9", True, None),
    ("s_mov_b32 s8, 0x05040100\n  v_perm_b32 v8, v1, v7, s8\n  v_mov_b32 v9, v8\n  v_pk_add_f16 v10, v9, v9\n"
     "  v_pk_add_f16 v5, v10, v10 op_sel:[1,1] op_sel_hi:[1,1]", True, None),
    ("s_mov_b32 s8, 0x05040100\n  v_perm_b32 v8, v1, v7, s8\n  v_pk_add_f16 v5, v8, v8", False, None),
    ("s_mov_b32 s8, 0x05040100\n  v_perm_b32 v8, v1, v7, s8\n  s_mov_b64 vcc, -1\n"
     "  v_cndmask_b32 v8, v1, v8, vcc\n  v_and_b32 v5, 0xffff0000, v8", True, None),
    ("v_lshl_or_b32 v8, v1, 16, v7\n  v_and_b32 v5, 0xffff0000, v8", False, None),  # v7's high half is in it too
    ("v_and_b32 v8, 0xffff, v7\n  v_lshl_or_b32 v8, v1, 16, v8\n  v_and_b32 v5, 0xffff0000, v8", True, None),
    # Lane masks, of which a part was never written, spilled to a lane and from there to an AccVGPR.
    ("s_and_b32 s8, s30, 1\n  s_nop 4\n  v_writelane_b32 v7, s8, 3\n  v_accvgpr_write_b32 a1, v7\n"
     "  v_accvgpr_read_b32 v8, a1\n  v_readlane_b32 s9, v8, 3\n  s_and_b32 s9, s9, 2\n  v_mov_b32 v5, s9", True, None),
    ("s_and_b32 s8, s30, 1\n  s_nop 4\n  v_writelane_b32 v7, s8, 3\n  v_accvgpr_write_b32 a1, v7\n"
     "  v_accvgpr_read_b32 v8, a1\n  v_readlane_b32 s9, v8, 3\n  s_and_b32 s9, s9, 3\n  v_mov_b32 v5, s9", False, None),
    ("s_and_b32 s8, s30, 1\n  s_nop 4\n  v_writelane_b32 v7, s8, 3\n  v_writelane_b32 v7, 5, 3\n"
     "  v_readlane_b32 s9, v7, 3\n  v_mov_b32 v5, s9", True, None),
    ("v_mov_b32 v5, 0\n  v_mov_b32 v5, ttmp14", False, None),  # how compilers mark it
]  # fmt: skip


@pytest.mark.parametrize(("code", "clean", "only"), MOVES)
def test_moves(check: Callable[..., list[dict[str, Any]]], arch: str, code: str, clean: bool, only: str | None) -> None:
    if only not in (None, arch):
        pytest.skip(f"{arch} has no such instruction")
    reports = check(f"{HEAD}  {code}\n{TAIL}", arch, vgprs=128, accum=64, lds=1024)
    assert [report["sanitizer"] for report in reports] == ([] if clean else ["init"]), reports
    if not clean:
        assert reports[0]["instruction"].startswith("global_store_dword")


MATRIX = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_mov_b32 exec_lo, {defined}
  s_mov_b32 exec_hi, {defined}
  {define}
  s_mov_b64 exec, -1
  v_mov_b32 v12, 0
  v_mov_b32 v13, 0
  v_mov_b32 v14, 0
  v_mov_b32 v15, 0
  s_mov_b32 exec_lo, {active}
  s_mov_b32 exec_hi, {active}
  v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[8:9], v[12:15]
  s_mov_b32 exec_lo, {stored}
  s_mov_b32 exec_hi, 0
  s_waitcnt lgkmcnt(0)
  s_nop 7
  global_store_dword v1, v12, s[6:7]
"""
A, B = "v_mov_b32 v4, 0\n  v_mov_b32 v5, 0", "v_mov_b32 v8, 0\n  v_mov_b32 v9, 0"
FULL = "0xffffffff"


def matrix(a: str = A, b: str = B, *, defined: str = FULL, stored: str = "0xffff", partial: str = "") -> str:
    """`a` and `b` run where `defined` says (a mask of half a wave, for both halves), then all of A or B if `partial`
    is the other one; lanes that are not defined are off in the matrix instruction.
    """
    code = MATRIX.format(define=f"{a}\n  {b}", defined=defined, active=defined, stored=stored)
    return code.replace("  v_mov_b32 v12, 0", f"  {partial}\n  v_mov_b32 v12, 0")


def first_found(reports: list[dict[str, Any]]) -> str | None:
    return reports[0]["instruction"].split()[0] if reports else None


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (matrix(), None),
        (matrix(b="v_mov_b32 v8, 0"), "v_mfma_f32_16x16x16_f16"),  # v9 in active lanes
        # Columns 8 to 15 of B are undefined, in lanes that are off. D's columns lie in the same lanes.
        (matrix(defined="0x00ff00ff", partial=A, stored="0x00ff"), None),
        (matrix(defined="0x00ff00ff", partial=A, stored="0xffff"), "global_store_dword"),
        # Row 0 of A, then row 5: lanes 0 to 15 of the first register hold row 0 of D.
        (matrix(defined="0xfffefffe", partial=B), "global_store_dword"),
        (matrix(defined="0xffdfffdf", partial=B), None),
    ],
)
def test_matrix_instructions_read_all_lanes(
    check: Callable[..., list[dict[str, Any]]], arch: str, code: str, found: str | None
) -> None:
    """EXEC is nothing to them: an undefined lane that is off spoils its row or column of the result."""
    assert first_found(check(code, arch)) == found


def test_uninitialised_accumulator(check: Callable[..., list[dict[str, Any]]], arch: str) -> None:
    reports = check(matrix().replace("v_mov_b32 v14, 0", "s_nop 0"), arch)
    assert reports[0]["sanitizer"] == "init"
    assert "accumulator" in reports[0]["what"]
    assert "v14" in reports[0]["what"]
