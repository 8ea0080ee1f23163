# SPDX-License-Identifier: Apache-2.0
"""Static statistics of tools/bench/isa, on code whose figures can be counted by hand."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from isa.code_object import Instruction, KernelCode
from isa.instruction import issue_cycles, kind_of, matrix_work
from isa.loops import find_loops
from isa.occupancy import waves_per_simd
from isa.statistics import of_kernel

# A prologue of two, a loop of nine with a branch inside, a tail.
TEXT = """
s_load_dwordx4 s[0:3], s[4:5], 0x0
v_mov_b32_e32 v0, 0
loop: ds_read_b128 v[4:7], v0
ds_read2_b64 v[8:11], v0 offset1:1
s_cbranch_scc0 skip
v_exp_f32_e32 v1, v2
skip: buffer_load_dwordx4 v[12:15], v0, s[0:3], 0 offen
v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]
s_nop 2
s_waitcnt vmcnt(0)
s_cbranch_scc1 loop
global_store_short v[2:3], v1, off
s_endpgm
"""


def code(text):
    lines = [line for line in text.splitlines() if line]
    labels = {line.split(":")[0]: number for number, line in enumerate(lines) if line.split()[0].endswith(":")}
    made = []
    for number, line in enumerate(lines):
        words = line.split(": ", 1)[1] if line.split()[0].endswith(":") else line
        mnemonic, _, operands = words.partition(" ")
        made.append(Instruction(mnemonic, operands, 8 * number, labels.get(operands)))
    return tuple(made)


def kernel(**changes):
    facts = {
        "name": "k", "arch": "gfx942", "vgpr": 32, "agpr": 0, "vgpr_total": 32, "vgpr_allocated": 32, "sgpr": 16,
        "vgpr_spill": 0, "sgpr_spill": 0, "lds_bytes": 20480, "scratch_bytes": 0, "threads": 256, "code_bytes": 100,
        "instructions": code(TEXT),
    }  # fmt: skip
    return KernelCode(**{**facts, **changes})


def test_the_loop_is_found_with_the_branch_inside():
    (loop,) = find_loops(code(TEXT))
    assert loop.innermost
    assert loop.instructions == tuple(range(2, 11))


def test_work_of_the_main_loop():
    work = of_kernel(kernel()).main_loop
    assert work.instructions == 9
    assert work.classes == {"branch": 2, "ds_read": 2, "mfma": 1, "nop": 1, "valu": 1, "vmem_load": 1, "waitcnt": 1}
    assert work.widths == {"ds_read": {16: 2}, "vmem_load": {16: 1}}
    assert work.flops == 2 * 32 * 32 * 8
    # 8 passes; others: exp 16, s_nop 12, six more of 4.
    assert (work.matrix_cycles, work.issue_cycles) == (32, 32 + 16 + 12 + 24)
    assert work.density == round(32 / 84, 4)
    assert work.bound == round(32 / 56, 4)


@pytest.mark.parametrize(
    ("mnemonic", "operands", "kind"),
    [
        ("buffer_load_dword", "v4, s[0:3], 0 offen lds", ("vmem_lds", 4)),
        ("ds_write2_b64", "v0, v[2:3], v[4:5]", ("ds_write", 16)),
        ("ds_bpermute_b32", "v0, v1, v2", ("ds_other", 0)),
        ("global_atomic_add_f32", "v[0:1], v2, off", ("vmem_atomic", 0)),
        ("s_waitcnt", "lgkmcnt(0)", ("waitcnt", 0)),
        ("s_endpgm", "", ("branch", 0)),
        ("v_smfmac_f32_16x16x32_f16", "", ("mfma", 0)),
        ("scratch_store_dword", "off, v1, s0", ("scratch_store", 0)),
        ("ds_load_b128", "v[0:3], v4", ("ds_read", 16)),
        ("ds_store_2addr_b64", "v0, v[2:3], v[4:5]", ("ds_write", 16)),
        ("ds_load_2addr_stride64_b32", "v[0:1], v2", ("ds_read", 8)),
        ("buffer_load_b128", "v[0:3], v4, s[0:3], 0 offen", ("vmem_load", 16)),
        ("global_store_b16", "v0, v1, s[0:1]", ("vmem_store", 2)),
        ("s_wait_dscnt", "0x0", ("waitcnt", 0)),
        ("s_barrier_signal", "-1", ("barrier", 0)),
        ("s_delay_alu", "instid0(VALU_DEP_1)", ("nop", 0)),
        ("v_wmma_f32_16x16x16_f16", "", ("mfma", 0)),
        ("v_swmmac_i32_16x16x32_iu8", "", ("mfma", 0)),
        ("v_dual_mul_f32", "v0, v1, v2 :: v_dual_mov_b32 v3, v4", ("valu", 0)),
    ],
)
def test_kinds(mnemonic, operands, kind):
    assert kind_of(mnemonic, operands) == kind


@pytest.mark.parametrize(("mnemonic", "cycles"), [("v_add_f32_e32", 4), ("v_rcp_f32_e32", 16), ("v_mul_lo_u32", 16)])
def test_issue_cycles(mnemonic, cycles):
    assert issue_cycles(mnemonic, "v0, v1, v2", "gfx950") == cycles
    assert issue_cycles(mnemonic, "v0, v1, v2", "gfx1201") == cycles // 4


def test_no_operation_takes_its_count():
    assert [issue_cycles("s_nop", "2", arch) for arch in ("gfx942", "gfx1100")] == [12, 3]


@pytest.mark.parametrize(
    ("mnemonic", "operands", "arch", "cycles"),
    [
        ("v_mfma_f32_16x16x16_f16", "", "gfx942", 16),
        ("v_mfma_f32_32x32x16_bf16", "", "gfx950", 32),
        ("v_mfma_f32_32x32x2_f32", "", "gfx942", 64),
        ("v_mfma_f32_32x32x4_2b_f16", "", "gfx942", 64),
        ("v_mfma_f32_4x4x4_16b_f16", "", "gfx942", 8),
        ("v_mfma_i32_16x16x64_i8", "", "gfx950", 16),
        ("v_mfma_f64_16x16x4_f64", "", "gfx942", 32),
        ("v_mfma_f64_16x16x4_f64", "", "gfx950", 64),
        ("v_mfma_f32_16x16x128_f8f6f4", "a[0:3], v[0:7], v[8:15], a[0:3]", "gfx950", 32),
        ("v_mfma_f32_16x16x128_f8f6f4", "a[0:3], v[0:3], v[8:11], a[0:3] cbsz:4 blgp:4", "gfx950", 16),
        ("v_wmma_f32_16x16x16_f16", "", "gfx1100", 32),
        ("v_wmma_i32_16x16x16_iu8", "", "gfx1100", 32),
        ("v_wmma_i32_16x16x16_iu4", "", "gfx1100", 16),
        ("v_wmma_bf16_16x16x16_bf16", "", "gfx1201", 16),
        ("v_wmma_f32_16x16x16_fp8_bf8", "", "gfx1201", 8),
        ("v_wmma_i32_16x16x32_iu4", "", "gfx1201", 8),
        ("v_wmma_f32_16x16x32_bf16", "", "gfx1250", 8),
        ("v_wmma_i32_16x16x64_iu8", "", "gfx1250", 16),
        ("v_wmma_scale_f32_16x16x128_f8f6f4", "", "gfx1250", 8),
        ("v_swmmac_f32_16x16x32_f16", "", "gfx1201", 16),
    ],
)
def test_matrix_cycles(mnemonic, operands, arch, cycles):
    assert matrix_work(mnemonic, operands, arch).cycles == cycles


@pytest.mark.parametrize(
    ("changes", "waves"),
    [
        ({}, 3),  # three workgroups of 20 KiB fit 64
        ({"lds_bytes": 0}, 8),
        ({"lds_bytes": 0, "vgpr_allocated": 136}, 3),
        ({"lds_bytes": 0, "vgpr_allocated": 256, "threads": 512}, 2),
        ({"lds_bytes": 40000}, 1),
        ({"lds_bytes": 40000, "arch": "gfx950"}, 4),
        ({"lds_bytes": 40000, "arch": "gfx1201"}, 6),  # three workgroups of two waves a SIMD
        ({"lds_bytes": 0, "arch": "gfx1100", "vgpr_allocated": 200, "threads": 128}, 7),
    ],
)
def test_occupancy(changes, waves):
    assert waves_per_simd(kernel(**changes)) == waves
