# SPDX-License-Identifier: Apache-2.0
"""Scalar instructions of 64 bits, of modes, jumps and messages, and barriers' other instructions."""

from __future__ import annotations

import numpy as np
import pytest

from flydsl.emulator.device import EmulatorError
from rdna.harness import Runner

RNG = np.random.default_rng(1201)
ALL = ["gfx1100", "gfx1201", "gfx1250"]
NEW = ["gfx1201", "gfx1250"]
SIXTY_FOUR = {"s_add_nc_u64": np.add, "s_sub_nc_u64": np.subtract, "s_mul_u64": np.multiply}


def shown(*registers: str) -> str:
    return "\n".join(f"v_mov_b32 v{40 + i}, {name}" for i, name in enumerate(registers))


@pytest.mark.parametrize("arch", NEW)
@pytest.mark.parametrize("name", SIXTY_FOUR)
def test_sums_and_products_of_64_bits_leave_scc(run: Runner, name: str, arch: str) -> None:
    pairs = [*RNG.integers(0, 2**64, (3, 2), dtype=np.uint64), np.array([2**64 - 1, 1], np.uint64)]
    for a, b in pairs:
        code = f"""
          s_mov_b32 s20, {int(a) & 0xFFFFFFFF:#x}
          s_mov_b32 s21, {int(a) >> 32:#x}
          s_mov_b32 s22, {int(b) & 0xFFFFFFFF:#x}
          s_mov_b32 s23, {int(b) >> 32:#x}
          s_cmp_eq_u32 s20, s20
          {name} s[24:25], s[20:21], s[22:23]
          s_cselect_b32 s26, 1, 0
          {shown("s24", "s25", "s26")}
        """
        out = run(code, arch, 32, None, 3)[:, 0]
        with np.errstate(over="ignore"):
            assert int(out[0]) | int(out[1]) << 32 == int(SIXTY_FOUR[name](a, b))
        assert out[2] == 1


@pytest.mark.parametrize("arch", ALL)
def test_scalar_registers_by_two_fields_of_m0(run: Runner, arch: str) -> None:
    """The source counts from M0[9:0], the destination from M0[25:16]."""
    code = f"""
      s_mov_b32 s20, 20
      s_mov_b32 s23, 23
      s_mov_b32 s30, 30
      s_mov_b32 s35, 35
      s_mov_b32 m0, 0x00050003
      s_movrelsd_2_b32 s30, s20
      {shown("s30", "s35")}
    """
    out = run(code, arch, 32, None, 2)[:, 0]
    assert list(out) == [30, 23]


@pytest.mark.parametrize("arch", ALL)
def test_modes_by_their_own_instructions(run: Runner, arch: str) -> None:
    """s_round_mode: 1 + 2^-30 away from zero, towards it; s_denorm_mode: of f32 the low two bits, of f16 the others."""
    code = """
      v_mov_b32 v3, 1.0
      v_mov_b32 v4, 0x30800000
      v_mov_b32 v5, 0x123
      v_mov_b32 v6, 0x123
      s_round_mode 0x1
      v_add_f32 v40, v3, v4
      s_round_mode 0x3
      v_add_f32 v41, v3, v4
      s_getreg_b32 s20, hwreg(HW_REG_WAVE_MODE, 0, 8)
      s_round_mode 0x0
      s_denorm_mode 0xc
      v_add_f32 v43, v5, v5
      v_cvt_f32_f16 v44, v6.l
      s_denorm_mode 0x3
      v_add_f32 v45, v5, v5
      v_cvt_f32_f16 v46, v6.l
      s_getreg_b32 s21, hwreg(HW_REG_WAVE_MODE, 0, 8)
      s_denorm_mode 0xf
      v_mov_b32 v42, s20
      v_mov_b32 v47, s21
    """
    if arch == "gfx1100":
        code = code.replace("HW_REG_WAVE_MODE", "HW_REG_MODE")
    out = run(code, arch, 32, None, 8)[:, 0]
    assert list(out[:2]) == [0x3F800001, 0x3F800000]
    assert out[2] & 15 == 3
    assert list(out[3:5]) == [0, np.float32(0x123 * 2.0**-24).view(np.uint32)]
    assert list(out[5:7]) == [0x246, 0]
    assert out[7] == 0x30


@pytest.mark.parametrize("arch", ALL)
def test_messages_that_are_answered(run: Runner, arch: str) -> None:
    """The clock goes on; there is no trap handler; others are refused."""
    wait = "s_waitcnt lgkmcnt(0)" if arch == "gfx1100" else "s_wait_kmcnt 0x0"
    code = f"""
      s_sendmsg_rtn_b64 s[20:21], sendmsg(MSG_RTN_GET_REALTIME)
      {wait}
      s_nop 0
      s_nop 0
      s_sendmsg_rtn_b64 s[22:23], sendmsg(MSG_RTN_GET_REALTIME)
      s_sendmsg_rtn_b32 s24, sendmsg(MSG_RTN_GET_TBA)
      {wait}
      {shown("s20", "s21", "s22", "s23", "s24")}
    """
    out = run(code, arch, 32, None, 5)[:, 0].astype(np.uint64)
    assert out[2] + (out[3] << np.uint64(32)) > out[0] + (out[1] << np.uint64(32))
    assert out[4] == 0
    with pytest.raises(EmulatorError, match=r"message 128 \(s_sendmsg_rtn\) is not modelled"):
        run(f"s_sendmsg_rtn_b32 s20, sendmsg(MSG_RTN_GET_DOORBELL)\n{wait}", arch, 32)


def test_jumps_of_gfx1250(run: Runner) -> None:
    """There and back by s_call_i64, s_swap_pc_i64 and s_set_pc_i64; s_add_pc_i64 counts from what follows it."""
    code = f"""
      s_mov_b32 s20, 0
      s_call_i64 s[22:23], .Lcalled
      s_add_co_u32 s20, s20, 1
      s_get_pc_i64 s[24:25]
    .Lhere:
      s_add_co_u32 s24, s24, .Lcalled-.Lhere
      s_add_co_ci_u32 s25, s25, 0
      s_swap_pc_i64 s[22:23], s[24:25]
      s_add_co_u32 s20, s20, 1
      s_add_pc_i64 .Lend_of_jumps-.Lafter
    .Lafter:
      s_add_co_u32 s20, s20, 100
    .Lcalled:
      s_add_co_u32 s20, s20, 16
      s_set_pc_i64 s[22:23]
    .Lend_of_jumps:
      s_get_shader_cycles_u64 s[26:27]
      s_nop 0
      s_get_shader_cycles_u64 s[28:29]
      s_sub_nc_u64 s[26:27], s[28:29], s[26:27]
      {shown("s20", "s26", "s27")}
    """
    out = run(code, "gfx1250", 32, None, 3)[:, 0]
    assert out[0] == 34
    assert 0 < out[1] < 100
    assert out[2] == 0


def test_what_changes_no_result_on_gfx1250(run: Runner) -> None:
    x = RNG.integers(0, 2**32, (1, 32), dtype=np.uint32)
    nothing = ["s_setprio_inc_wg 0x1", "s_monitor_sleep 0x1", "s_wait_xcnt 0x0", "s_wakeup_barrier 1",
               "flat_prefetch_b8 v[20:21] scope:SCOPE_SE", "global_prefetch_b8 v1, s[4:5] scope:SCOPE_SE"]  # fmt: skip
    code = "v_mov_b32 v20, s4\nv_mov_b32 v21, s5\ns_mov_b32 exec_lo, 0xf0f\ns_cmp_eq_u32 s20, s20\n"
    code += "\n".join(nothing)
    code += "\ns_cselect_b32 s24, 7, 8\ns_mov_b32 s25, exec_lo\ns_mov_b32 exec_lo, -1\nv_mov_b32 v40, v10\n"
    code += "v_mov_b32 v41, s24\nv_mov_b32 v42, s25"
    out = run(code, "gfx1250", 32, x, 3, directives="  .amdhsa_named_barrier_count 1\n")
    np.testing.assert_array_equal(out[0], x[0])
    assert (out[1] == 7).all()
    assert (out[2] == 0xF0F).all()


@pytest.mark.parametrize("arch", NEW)
def test_who_signals_first(run: Runner, arch: str) -> None:
    """SCC: s_barrier_signal_isfirst of one of the four waves; the state has members from bit 4 and signals from 16."""
    code = f"""
      s_barrier_signal_isfirst -1
      s_cselect_b32 s20, 1, 0
      s_get_barrier_state s21, -1
      s_wait_kmcnt 0x0
      s_bfe_u32 s22, s21, 0x70004
      s_bfe_u32 s23, s21, 0x70010
      s_barrier_wait -1
      {shown("s20", "s22", "s23")}
    """
    out = run(code, arch, 32, None, 3, 128).reshape(3, 4, 32)
    assert sorted(out[0, :, 0]) == [0, 0, 0, 1]
    assert (out[1] == 4).all()
    assert sorted(out[2, :, 0]) == [1, 2, 3, 4]
    assert (out == out[:, :, :1]).all()


def test_a_wave_that_leaves_a_named_barrier(run: Runner) -> None:
    """Three waves have joined; one leaves, and the two others meet without it. SCC: nobody is missing any more."""
    code = f"""
      s_bfe_u32 s20, ttmp8, 0x50019
      s_mov_b32 m0, 0x30001
      s_cmp_lg_u32 s20, 0
      s_cbranch_scc1 .Lmade
      s_barrier_init m0
    .Lmade:
      s_barrier_signal -1
      s_barrier_wait -1
      s_barrier_join 1
      s_cmp_lg_u32 s20, 2
      s_cbranch_scc1 .Lmeet
      s_barrier_leave
      s_cselect_b32 s21, 1, 0
      s_branch .Lend_of_wave
    .Lmeet:
      s_barrier_signal 1
      s_barrier_wait 1
      s_mov_b32 s21, 5
    .Lend_of_wave:
      {shown("s21")}
    """
    out = run(code, "gfx1250", 32, None, 1, 96, directives="  .amdhsa_named_barrier_count 1\n").reshape(3, 32)
    assert (out[:2] == 5).all()
    assert set(out[2]) <= {0, 1}
