# SPDX-License-Identifier: Apache-2.0
"""Hazards that hardware does not wait for: each rule with one wait state too few, and with just enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from assembly import aligned_words, kernel_f

from flydsl.emulator import Report
from flydsl.emulator.device import Emulator, EmulatorError, Module


class Hazard(NamedTuple):
    """`later` has to stay `states` wait states behind `earlier`: on gfx942 and on gfx950 (0: no such instruction)."""

    earlier: str
    later: str
    states: tuple[int, int]
    what: str
    lint: bool = False  # with one wait state it is a matter of the lint


M16 = "v_mfma_f32_16x16x16_f16 v[32:35], v[16:17], v[18:19], v[32:35]"  # 4 passes
M32 = "v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[18:19], v[32:47]"  # 8 passes
M4 = "v_mfma_f32_4x4x4_16b_f16 v[32:35], v[16:17], v[18:19], v[32:35]"  # 2 passes
S32 = "v_mfma_f32_32x32x2_f32 v[32:47], v16, v18, v[32:47]"  # 16 passes, not of the XDL unit
D16 = "v_mfma_f64_16x16x4_f64 v[32:39], v[16:17], v[18:19], v[32:39]"
D4 = "v_mfma_f64_4x4x4_4b_f64 v[32:33], v[16:17], v[18:19], v[32:33]"
SPARSE = "v_smfmac_f32_16x16x32_f16 v[32:35], v[16:17], v[20:23], v24"  # 4 passes
STORE = "global_store_dwordx4 v1, v[4:7], s[10:11]"

HAZARDS = {
    "matrix result read, 2 passes": Hazard(M4, "v_mov_b32 v8, v33", (5, 5), "read before"),
    "matrix result read, 4 passes": Hazard(M16, "v_mov_b32 v8, v33", (7, 8), "read before"),
    "matrix result read, 8 passes": Hazard(M32, "v_add_f32 v8, v1, v40", (11, 12), "read before"),
    "matrix result read, f32": Hazard(S32, "v_mov_b32 v8, v33", (18, 18), "read before"),
    "matrix result read, sparse": Hazard(SPARSE, "v_mov_b32 v8, v33", (7, 8), "read before"),
    "matrix result read, f64": Hazard(D16, "v_mov_b32 v8, v33", (11, 19), "read before"),
    "matrix result read, small f64": Hazard(D4, "v_mov_b32 v8, v33", (6, 6), "read before"),
    "matrix result stored": Hazard(M16, "global_store_dword v1, v32, s[10:11]", (7, 8), "read before"),
    "matrix result stored, f64": Hazard(D16, "global_store_dword v1, v32, s[10:11]", (18, 18), "read before"),
    "matrix result to LDS": Hazard(M16, "ds_write_b32 v1, v35", (7, 8), "read before"),
    "matrix result as an address": Hazard(M16, "ds_read_b32 v9, v35", (7, 8), "read before"),
    "AccVGPR result read": Hazard(
        "v_mfma_f32_16x16x16_f16 a[0:3], v[16:17], v[18:19], a[0:3]", "v_accvgpr_read_b32 v8, a1", (7, 8), "read before"
    ),
    "matrix result overwritten": Hazard(M16, "v_mov_b32 v33, 0", (7, 8), "overwritten before"),
    "matrix result overwritten by a load": Hazard(M16, "ds_read_b32 v33, v1", (7, 8), "overwritten before"),
    "matrix result as a factor": Hazard(
        M16, "v_mfma_f32_16x16x16_f16 v[48:51], v[32:33], v[18:19], v[48:51]", (7, 8), "factor of the next"
    ),
    "f64 result as a factor": Hazard(
        D16, "v_mfma_f64_16x16x4_f64 v[48:55], v[32:33], v[18:19], v[48:55]", (11, 19), "factor of the next"
    ),
    "a part of a matrix result as C": Hazard(
        M32, "v_mfma_f32_16x16x16_f16 v[48:51], v[16:17], v[18:19], v[32:35]", (9, 10), "part of the result"
    ),
    "matrix C overwritten": Hazard(
        "v_mfma_f32_16x16x16_f16 v[48:51], v[16:17], v[18:19], v[32:35]", "v_mov_b32 v33, 0", (3, 3), "still read"
    ),
    "f64 matrix, then f64 FMA": Hazard(D4, "v_fma_f64 v[8:9], v[4:5], v[4:5], v[4:5]", (2, 2), "f64 multiply-add"),
    "vector ALU, then a matrix": Hazard("v_mov_b32 v16, 0", M16, (2, 2), "just written", True),
    "vector ALU to C": Hazard("v_mov_b32 v33, 0", M16, (2, 2), "just written", True),
    "EXEC, then a matrix": Hazard("v_cmpx_eq_u32 v0, v0", M16, (4, 4), "wrote EXEC"),
    "dot product read": Hazard("v_dot2_f32_f16 v8, v4, v5, v8", "v_mov_b32 v9, v8", (3, 3), "dot product is read"),
    "dot product as a factor": Hazard(
        "v_dot2_f32_f16 v8, v4, v5, v8", "v_dot2_f32_f16 v9, v8, v5, v9", (3, 3), "dot product is read"
    ),
    "dot product overwritten": Hazard("v_dot2_f32_f16 v8, v4, v5, v8", "v_mov_b32 v8, 0", (3, 3), "overwritten"),
    "transcendental use": Hazard("v_exp_f32 v8, v4", "v_add_f32 v9, v8, v4", (1, 1), "transcendental"),
    "SDWA into a part": Hazard(
        "v_add_u16_sdwa v8, v4, v5 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0",
        "v_mov_b32 v9, v8", (1, 1), "written in part",
    ),
    "op_sel into the upper half": Hazard(
        "v_mad_f16 v8, v4, v5, v6 op_sel:[0,0,0,1]", "v_mov_b32 v9, v8", (1, 1), "written in part"
    ),
    "a byte of fp8": Hazard("v_cvt_sr_fp8_f32 v8, v4, v5 op_sel:[0,0,1,0]", "v_mov_b32 v9, v8", (1, 1), "in part"),
    "VCC as a carry": Hazard("v_cmp_eq_u32 vcc, v0, v1", "v_cndmask_b32 v8, v4, v5, vcc", (2, 2), "just written", True),
    "SGPR of a readlane": Hazard("v_readfirstlane_b32 s12, v0", "v_add_u32 v8, s12, v4", (2, 2), "just written", True),
    "SGPR, then memory": Hazard("v_readfirstlane_b32 s10, v20", "global_load_dword v8, v1, s[10:11]", (5, 5), "memory"),
    "SGPR as a buffer offset": Hazard(
        "v_readfirstlane_b32 s20, v20", "buffer_load_dword v8, v1, s[24:27], s20 offen", (5, 5), "memory instruction"
    ),
    "lane select": Hazard("v_readfirstlane_b32 s12, v20", "v_readlane_b32 s13, v0, s12", (4, 4), "selects a lane"),
    "VCC, then v_div_fmas": Hazard(
        "v_div_scale_f32 v8, vcc, v4, v5, v4", "v_div_fmas_f32 v9, v4, v5, v6", (4, 4), "v_div_fmas"
    ),
    "VGPR, then DPP": Hazard("v_mov_b32 v8, v4", "v_mov_b32_dpp v9, v8 row_shr:1", (2, 2), "DPP reads"),
    "EXEC, then DPP": Hazard("v_cmpx_eq_u32 v0, v0", "v_mov_b32_dpp v9, v8 row_shr:1", (5, 5), "DPP comes"),
    "VGPR, then readlane": Hazard("v_mov_b32 v8, v4", "v_readlane_b32 s12, v8, 0", (1, 1), "a lane is read"),
    "EXEC, then readfirstlane": Hazard("v_cmpx_eq_u32 v0, v0", "v_readfirstlane_b32 s12, v8", (4, 4), "wrote EXEC"),
    "VGPR, then a swap of rows": Hazard("v_mov_b32 v8, v4", "v_permlane16_swap_b32 v8, v9", (0, 2), "permlane"),
    "EXEC, then a swap of rows": Hazard("v_cmpx_eq_u32 v0, v0", "v_permlane32_swap_b32 v8, v9", (0, 4), "v_cmpx"),
    "M0, then a load to LDS": Hazard(
        "s_mov_b32 m0, 0", "buffer_load_dword v1, s[24:27], 0 offen lds", (1, 1), "M0 is used"
    ),
    "M0, then addtid": Hazard("s_mov_b32 m0, 0", "ds_write_addtid_b32 v4", (1, 1), "M0 is used"),
    "M0, then s_movrels": Hazard("s_mov_b32 m0, 0", "s_movrels_b32 s12, s13", (1, 1), "M0 is used"),
    "store data overwritten": Hazard(STORE, "v_mov_b32 v6, 0", (2, 2), "store of more"),
    "buffer store data overwritten": Hazard(
        "buffer_store_dwordx3 v[4:6], v1, s[24:27], 0 offen", "v_mov_b32 v6, 0", (2, 2), "store of more"
    ),
    "setreg, then getreg": Hazard(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", "s_getreg_b32 s12, hwreg(HW_REG_MODE)", (2, 2), "read right"
    ),
    "setreg twice": Hazard(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
        (2, 2), "twice in a row",
    ),
}  # fmt: skip

#: Pairs that look alike and are none.
CLEAN = {
    "C is the whole result": (M16, M16),
    "a transcendental after a transcendental": ("v_exp_f32 v8, v4", "v_log_f32 v9, v8"),
    "a narrow store": ("global_store_dwordx2 v1, v[4:5], s[10:11]", "v_mov_b32 v5, 0"),
    "a buffer store with a scalar offset": ("buffer_store_dwordx4 v[4:7], v1, s[24:27], s20 offen", "v_mov_b32 v5, 0"),
    "another register": (M16, "v_mov_b32 v8, v36"),
    "matrix C overwritten by a load, which comes later": (
        "v_mfma_f32_16x16x16_f16 v[48:51], v[16:17], v[18:19], v[32:35]", "ds_read_b32 v33, v1"
    ),
    "the same dot product, accumulating": ("v_dot2_f32_f16 v8, v4, v5, v8", "v_dot2_f32_f16 v8, v4, v5, v8"),
    "an SGPR of the scalar ALU": ("s_mov_b32 s10, s10", "global_load_dword v8, v1, s[10:11]"),
    "another hardware register": (
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", "s_getreg_b32 s12, hwreg(HW_REG_HW_ID)"
    ),
}  # fmt: skip

SETUP = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_mov_b32 s20, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[24:25], s[10:11]
  s_mov_b32 s26, 4096
  s_mov_b32 s27, 0x00027000
  v_mov_b32 v20, s10
  s_nop 15
"""
BETWEEN = {
    "s_nop": lambda states: "  s_nop 7\n" * (states // 8) + (f"  s_nop {states % 8 - 1}\n" if states % 8 else ""),
    "instructions": lambda states: "  s_mov_b32 s14, s15\n" * states,
    "a taken branch": lambda states: (
        "  s_branch .Lgo\n  s_trap 2\n.Lgo:\n" + "  s_nop 0\n" * (states - 1) if states else ""
    ),
}


@pytest.fixture
def run(emulator: Emulator, build: Callable[..., Module]) -> Callable[[str, str], list[dict[str, Any]]]:
    def find(code: str, arch: str) -> list[dict[str, Any]]:
        source = kernel_f(SETUP + code + "  s_waitcnt vmcnt(0) lgkmcnt(0)\n", arch, lds=1024, vgprs=72, accum=64)
        kernel = build(source, arch, "asm", ("-g",)).kernel("f")
        emulator.set_sanitizers("hazard", "lint")
        try:
            kernel(1, 64, aligned_words(1024), aligned_words(1024))
        except EmulatorError:
            assert emulator.reports()
        finally:
            emulator.set_sanitizers()
        return emulator.reports()

    return find


def wanted(case: Hazard, arch: str) -> int:
    states = case.states[arch == "gfx950"]
    if states == 0:
        pytest.skip(f"{arch} has no such instruction")
    return states


@pytest.mark.parametrize("name", sorted(HAZARDS))
def test_one_wait_state_too_few(run: Callable[..., list[dict[str, Any]]], arch: str, name: str) -> None:
    case = HAZARDS[name]
    states = wanted(case, arch)
    for between in BETWEEN.values():
        code = f"  {case.earlier}\n{between(states - 1)}  {case.later}\n"
        (report,) = run(code, arch)
        assert report["sanitizer"] == ("lint" if case.lint else "hazard")
        assert case.what in report["what"]
        assert f"{states - 1} wait state" in report["what"]
        assert f"{states} are needed" in report["what"]
        assert report["instruction"].split()[0].startswith(case.later.split()[0])
        assert report["other_instruction"].split()[0].startswith(case.earlier.split()[0])
        lines = [Report.of(report).line, int(report["other_source"].rpartition(":")[2])]
        assert lines[0] > lines[1] > 0


@pytest.mark.parametrize("name", sorted(HAZARDS))
def test_just_enough_wait_states(run: Callable[..., list[dict[str, Any]]], arch: str, name: str) -> None:
    case = HAZARDS[name]
    states = wanted(case, arch)
    for between in BETWEEN.values():
        assert run(f"  {case.earlier}\n{between(states)}  {case.later}\n", arch) == []


@pytest.mark.parametrize("name", sorted(CLEAN))
def test_what_hardware_takes_care_of(run: Callable[..., list[dict[str, Any]]], arch: str, name: str) -> None:
    assert run("  {}\n  {}\n".format(*CLEAN[name]), arch) == []


@pytest.mark.parametrize("name", sorted(name for name, case in HAZARDS.items() if case.lint))
def test_what_published_assembly_does_is_a_lint(run: Callable[..., list[dict[str, Any]]], arch: str, name: str) -> None:
    """LLVM keeps two wait states; kernels that are known to run right keep one, and nobody none."""
    (report,) = run(f"  {HAZARDS[name].earlier}\n  {HAZARDS[name].later}\n", arch)
    assert report["sanitizer"] == "hazard"


def test_a_result_that_another_one_replaced(run: Callable[..., list[dict[str, Any]]], arch: str) -> None:
    """All of the first result is gone; that the last C lies where half of it was does not matter."""
    operands = "v[16:17], v[18:19]"
    code = f"  {M16}\n  v_mfma_f32_16x16x16_f16 v[32:35], {operands}, 0\n"
    code += f"  v_mfma_f32_16x16x16_f16 v[34:37], {operands}, v[32:35]\n"
    assert run(code + f"  v_mfma_f32_16x16x16_f16 v[48:51], {operands}, v[34:37]\n", arch) == []


def test_over_the_back_edge_of_a_loop(run: Callable[..., list[dict[str, Any]]], arch: str) -> None:
    """The first trip is clean: the matrix instruction at the end of one reaches the store at the start of the next."""
    code = f"  s_mov_b32 s12, 2\n.Lloop:\n  global_store_dword v1, v32, s[10:11]\n{{}}  {M16}\n"
    code += "  s_sub_u32 s12, s12, 1\n"
    code += "  s_cmp_lg_u32 s12, 0\n{}  s_cbranch_scc1 .Lloop\n"
    (report,) = run(code.format("", ""), arch)
    assert "3 wait states between the two" in report["what"]
    assert run(code.format("", "  s_nop 5\n"), arch) == []


def test_each_wave_has_its_own_path(emulator: Emulator, build: Callable[..., Module], arch: str) -> None:
    """Wave 1 alone jumps over the wait states; which wave is named, whatever the order."""
    code = f"""
  v_cmp_gt_u32 vcc, 64, v0
  s_nop 15
  {M16}
  s_cbranch_vccz .Lshort
  s_nop 15
.Lshort:
  v_mov_b32 v8, v33
"""
    kernel = build(kernel_f(SETUP + code, arch), arch, "asm", ()).kernel("f")
    for seed in range(6):
        emulator.set_seed(seed)
        emulator.set_sanitizers("hazard")
        with pytest.raises(EmulatorError, match="1 wait state between"):
            kernel(1, 128, np.zeros(64, np.uint32), np.zeros(64, np.uint32))
        emulator.set_sanitizers()
        assert [report["wave"] for report in emulator.reports()] == [1]
