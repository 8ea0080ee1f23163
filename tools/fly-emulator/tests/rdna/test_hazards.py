# SPDX-License-Identifier: Apache-2.0
"""Hazards of gfx11 and gfx12, at the last distance that LLVM 22 calls one and at the first that it does not."""

from __future__ import annotations

import numpy as np
import pytest

from flydsl.emulator import sanitize
from rdna.harness import WAVES, Runner

EXP = "v_exp_f32 v50, v10"
USE = "v_add_f32 v51, v50, v50"
OTHER = "v_mov_b32 v52, 0"
WAIT = "s_waitcnt_depctr 0xfff"  # va_vdst(0)
EXEC = "s_mov_b64 exec, -1"
OLD, NEW, BOTH = "v_mov_b32 v50, 1.0", "v_mov_b32 v51, 1.0", "v_add_f32 v53, v50, v51"
COMPARE = "v_cmpx_le_u32 0, v10"
PERMUTE = "v_permlane16_b32 v50, v10, s20, s21"

#: code, architectures with the hazard, widths of waves, the later and the earlier instruction
PLANTED = {
    "transcendental": ([EXP, USE], {"gfx1100"}, {32, 64}, "v_add_f32", "v_exp_f32"),
    "transcendental, five between": ([EXP, *[OTHER] * 5, USE], {"gfx1100"}, {32, 64}, "v_add_f32", "v_exp_f32"),
    "transcendental, one of its kind between": (
        [EXP, "v_rcp_f32 v52, v10", USE], {"gfx1100"}, {32, 64}, "v_add_f32", "v_exp_f32",
    ),
    "transcendental to transcendental": (
        [EXP, "v_log_f32 v51, v50"], {"gfx1100"}, {32, 64}, "v_log_f32", "v_exp_f32",
    ),
    "half before EXEC": ([OLD, EXEC, NEW, BOTH], {"gfx1100"}, {64}, "v_add_f32", "v_mov_b32"),
    "half before EXEC, two between, four before the use": (
        [OLD, OTHER, EXEC, OTHER, NEW, *[OTHER] * 4, BOTH], {"gfx1100"}, {64}, "v_add_f32", "v_mov_b32",
    ),
    "permute behind compare": ([COMPARE, PERMUTE], {"gfx1100", "gfx1201"}, {32, 64}, "v_permlane16", "v_cmpx"),
    "permute behind compare and v_nop": (
        [COMPARE, "v_nop", PERMUTE], {"gfx1100", "gfx1201"}, {32, 64}, "v_permlane16", "v_cmpx",
    ),
}  # fmt: skip
# Scalar registers; `mask`, `wait` and so on are replaced by what the architecture and the width call it.
CHOOSE = "v_cndmask_b32 v50, v10, v10, {mask}"
READ = "v_mov_b32 v51, s24"
SCALAR_WRITE, VECTOR_WRITE = "s_mov_b32 s24, 5", "v_readfirstlane_b32 s24, v10"
PLANTED_SCALARS = {
    "written by the scalar ALU behind a mask": ([CHOOSE, SCALAR_WRITE, READ], {("gfx1100", 64), ("gfx1201", 0)}),
    "and read by the scalar ALU": (
        [CHOOSE, SCALAR_WRITE, "s_add_co_i32 s25, s24, 1"], {("gfx1100", 64), ("gfx1201", 0)},
    ),
    "written by the vector ALU": ([CHOOSE, VECTOR_WRITE, READ], {("gfx1100", 64), ("gfx1201", 0)}),
    "others between": ([CHOOSE, SCALAR_WRITE, *[OTHER] * 20, READ], {("gfx1100", 64), ("gfx1201", 0)}),
    "a wait for others": ([CHOOSE, SCALAR_WRITE, "{va_sdst}", READ], {("gfx1100", 64), ("gfx1201", 0)}),
    "read as a number before": ([READ, SCALAR_WRITE, READ], {("gfx1201", 0)}),
    "VCC": (
        ["v_cndmask_b32 v50, v10, v10, {vcc}", "v_cmp_gt_u32 {vcc}, 7, v10", "v_cndmask_b32 v51, v10, v10, {vcc}"],
        {("gfx1100", 64), ("gfx1201", 0)},
    ),
}  # fmt: skip
SOUND_SCALARS = {
    "waited for": [CHOOSE, SCALAR_WRITE, "{sa_sdst}", READ],
    "written by the vector ALU, waited for": [CHOOSE, VECTOR_WRITE, "{va_sdst}", READ],
    "written by the vector ALU, read by the scalar ALU": [CHOOSE, VECTOR_WRITE, "s_add_co_i32 s25, s24, 1"],
    "written before it is read": [SCALAR_WRITE, READ],
    "another register": [CHOOSE, "s_mov_b32 s26, 5", "v_mov_b32 v51, s26"],
    "VCC, waited for": [
        "v_cndmask_b32 v50, v10, v10, {vcc}", "v_cmp_gt_u32 {vcc}, 7, v10", "{va_vcc}",
        "v_cndmask_b32 v51, v10, v10, {vcc}",
    ],
}  # fmt: skip
SOUND = {
    "transcendental, six between": [EXP, *[OTHER] * 6, USE],
    "transcendental, two of its kind between": [EXP, "v_rcp_f32 v52, v10", "v_rcp_f32 v54, v10", USE],
    "transcendental, waited for": [EXP, WAIT, USE],
    "transcendental, memory between": [EXP, "ds_store_b32 v1, v10", USE],
    "transcendental, written again": [EXP, "v_mov_b32 v50, 0", USE],
    "half before EXEC, three between": [OLD, OTHER, OTHER, EXEC, OTHER, NEW, BOTH],
    "half before EXEC, five before the use": [OLD, EXEC, NEW, *[OTHER] * 5, BOTH],
    "half before EXEC, waited for": [OLD, EXEC, NEW, WAIT, BOTH],
    "both behind EXEC": [EXEC, OLD, NEW, BOTH],
    "the other half of a register": [
        "v_mov_b32 v53, v10",
        *[OTHER] * 5,
        OLD,
        EXEC,
        "v_mov_b16 v53.h, 0",
        "v_add_f16 v54.l, v53.l, v50.l",
    ],
    "parts of one operand": [OLD, EXEC, NEW, "v_lshlrev_b64 v[54:55], v10, v[50:51]"],
    "permute behind compare and another": [COMPARE, OTHER, PERMUTE],
}


def code_of(lines: list[str], lanes: int) -> str:
    text = "\n".join(["s_mov_b32 s20, 0", "s_mov_b32 s21, 0", *lines, "v_mov_b32 v40, v10"])
    return text.replace(EXEC, "s_mov_b32 exec_lo, -1") if lanes == 32 else text


@pytest.mark.parametrize(("arch", "lanes"), WAVES)
@pytest.mark.parametrize("name", PLANTED)
def test_planted(run: Runner, name: str, arch: str, lanes: int) -> None:
    lines, architectures, widths, later, earlier = PLANTED[name]
    with sanitize("hazard", raises=False) as found:
        run(code_of(lines, lanes), arch, lanes)
    if arch not in architectures or lanes not in widths:
        assert found.reports == []
        return
    (report,) = found.reports
    assert report.sanitizer == "hazard"
    assert report.instruction.startswith(later)
    assert report.other_instruction.startswith(earlier)


@pytest.mark.parametrize(("arch", "lanes"), WAVES)
@pytest.mark.parametrize("name", SOUND)
def test_sound(run: Runner, name: str, arch: str, lanes: int) -> None:
    with sanitize("hazard"):
        run(code_of(SOUND[name], lanes), arch, lanes)


def scalar_code(lines: list[str], arch: str, lanes: int) -> str:
    wait = "s_waitcnt_depctr" if arch == "gfx1100" else "s_wait_alu"
    names = {
        "mask": "s24" if lanes == 32 else "s[24:25]",
        "vcc": "vcc_lo" if lanes == 32 else "vcc",
        "sa_sdst": f"{wait} 0xfffe",
        "va_vcc": f"{wait} 0xfffd",
        "va_sdst": f"{wait} 0xf1ff",
    }
    text = "\n".join(one.format(**names) for one in lines)
    return text.replace("s_add_co_i32", "s_add_i32") if arch == "gfx1100" else text


@pytest.mark.parametrize(("arch", "lanes"), WAVES)
@pytest.mark.parametrize("name", PLANTED_SCALARS)
def test_planted_scalars(run: Runner, name: str, arch: str, lanes: int) -> None:
    lines, where = PLANTED_SCALARS[name]
    with sanitize("hazard", raises=False) as found:
        run(scalar_code(lines, arch, lanes) + "\nv_mov_b32 v40, v10", arch, lanes)
    if not {(arch, lanes), (arch, 0)} & where:
        assert found.reports == []
        return
    (report,) = found.reports
    assert report.sanitizer == "hazard"
    later, earlier = (one.format(mask="", vcc="", va_sdst="").split()[0] for one in (lines[-1], lines[1]))
    assert report.instruction.startswith(later.replace("_co", "") if arch == "gfx1100" else later)
    assert report.other_instruction.startswith(earlier)


@pytest.mark.parametrize(("arch", "lanes"), WAVES)
@pytest.mark.parametrize("name", SOUND_SCALARS)
def test_sound_scalars(run: Runner, name: str, arch: str, lanes: int) -> None:
    with sanitize("hazard"):
        run(scalar_code(SOUND_SCALARS[name], arch, lanes) + "\nv_mov_b32 v40, v10", arch, lanes)


def wmma(arch: str, d: int, a: int, b: int) -> str:
    rows = 8 if arch == "gfx1100" else 4
    return (
        f"v_wmma_f32_16x16x16_f16 v[{d}:{d + 7}], v[{a}:{a + rows - 1}], v[{b}:{b + rows - 1}], v[{d}:{d + 7}]"
    )  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize(
    ("second", "between", "clean"),
    [
        ((56, 40, 16), [], False),  # D as A
        ((56, 16, 40), [], False),  # D as B
        ((56, 40, 16), ["v_nop"], True),
        ((56, 40, 16), ["s_nop 0"], False),
        ((40, 16, 24), [], True),  # D as C is forwarded
        ((56, 16, 24), [], True),
    ],
)
def test_matrix(run: Runner, arch: str, second: tuple[int, int, int], between: list[str], clean: bool) -> None:
    zeros = np.zeros((30, 32), np.uint32)
    code = "\n".join(["v_mov_b32 v100, 0", *(f"v_mov_b32 v{row}, 0" for row in range(40, 64)), OTHER])
    code += "\n" + "\n".join([wmma(arch, 40, 16, 24), *between, wmma(arch, *second)])
    with sanitize("hazard", raises=False) as found:
        run(code, arch, 32, zeros)
    assert (found.reports == []) is clean
