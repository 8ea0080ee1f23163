# SPDX-License-Identifier: Apache-2.0
"""What the width of a wave means: masks, lane numbers, DPP, permutes, dual instructions, halves of registers."""

from __future__ import annotations

import numpy as np
import pytest

from flydsl.emulator import profile, sanitize
from flydsl.emulator.device import EmulatorError
from rdna.harness import WAVES, Runner

RNG = np.random.default_rng(5)
waves = pytest.mark.parametrize(("arch", "lanes"), WAVES)
narrow = pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])


def words(rows: int, lanes: int) -> np.ndarray:
    return RNG.integers(0, 2**32, (rows, lanes), dtype=np.uint32)


@waves
def test_a_lane_number_counts_modulo_the_wave(run: Runner, arch: str, lanes: int) -> None:
    x = words(1, lanes)
    code = """
      s_mov_b32 s20, 37
      v_readlane_b32 s21, v10, s20
      v_mov_b32 v40, s21
      s_mov_b32 s22, 0x12345
      v_mov_b32 v41, v10
      v_writelane_b32 v41, s22, s20
      v_readfirstlane_b32 s23, v10
      v_mov_b32 v42, s23
    """
    with sanitize("init"):
        out = run(code, arch, lanes, x, 3)
    assert (out[0] == x[0, 37 % lanes]).all()
    want = x[0].copy()
    want[37 % lanes] = 0x12345
    np.testing.assert_array_equal(out[1], want)
    assert (out[2] == x[0, 0]).all()


@narrow
def test_the_upper_halves_of_masks_are_registers_in_a_wave_of_32(run: Runner, arch: str) -> None:
    """EXEC_HI and VCC_HI keep what is written, and change nothing."""
    code = """
      s_mov_b32 exec_hi, 0x1234567
      s_mov_b32 vcc_hi, 0x7654321
      v_mov_b32 v40, 0
      v_mov_b32 v41, 0
      v_cmp_gt_u32 vcc_lo, 7, v0
      v_cndmask_b32 v42, 1, 2, vcc_lo
      s_mov_b32 s20, exec_hi
      s_mov_b32 s21, vcc_hi
      v_cmpx_gt_u32 9, v0
      v_mov_b32 v40, s20
      v_mov_b32 v41, s21
      s_mov_b32 exec_lo, 0
      s_cbranch_execz .Lempty
      s_trap 2
    .Lempty:
      s_mov_b32 exec_lo, -1
      s_mov_b32 vcc_lo, 0
      s_cbranch_vccz .Ldone
      s_trap 2
    .Ldone:
      v_mov_b32 v43, exec_hi
    """
    out = run(code, arch, 32, None, 4)
    lane = np.arange(32)
    np.testing.assert_array_equal(out[0], np.where(lane < 9, 0x1234567, 0))
    np.testing.assert_array_equal(out[1], np.where(lane < 9, 0x7654321, 0))
    np.testing.assert_array_equal(out[2], np.where(lane < 7, 2, 1))
    assert (out[3] == 0x1234567).all()


@waves
def test_comparisons_write_masks_of_the_waves_width(run: Runner, arch: str, lanes: int) -> None:
    if lanes == 32:
        code = """
          s_mov_b32 s21, 99
          v_cmp_lt_u32 s20, 5, v0
          v_mov_b32 v40, s20
          v_mov_b32 v41, s21
          v_add_co_u32 v42, s22, v10, v11
          v_add_co_ci_u32 v43, s22, 0, 0, s22
        """
    else:
        code = """
          v_cmp_lt_u32 s[20:21], 5, v0
          v_mov_b32 v40, s20
          v_mov_b32 v41, s21
          v_add_co_u32 v42, s[22:23], v10, v11
          v_add_co_ci_u32 v43, s[22:23], 0, 0, s[22:23]
        """
    x = words(2, lanes)
    out = run(code, arch, lanes, x, 4)
    assert (out[0] == 0xFFFFFFC0).all()
    assert (out[1] == (99 if lanes == 32 else 0xFFFFFFFF)).all()
    total = x[0].astype(np.uint64) + x[1]
    np.testing.assert_array_equal(out[2], total.astype(np.uint32))
    np.testing.assert_array_equal(out[3], (total >> 32).astype(np.uint32))


@waves
def test_dpp_and_permutes(run: Runner, arch: str, lanes: int) -> None:
    x = words(1, lanes)
    code = """
      v_mov_b32 v44, -1
      v_mov_b32_dpp v40, v10 row_share:5 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v41, v10 row_xmask:6 row_mask:0xf bank_mask:0xf
      v_mov_b32_dpp v42, v10 dpp8:[7,6,5,4,3,2,1,0]
      s_mov_b32 s20, 0x76543210
      s_mov_b32 s21, 0x01234567
      v_permlanex16_b32 v43, v10, s20, s21
      v_permlane16_b32 v44, v10, s21, s20 op_sel:[1,0]
      v_permlane64_b32 v45, v10
      v_mov_b32_dpp v46, v10 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:1
    """
    out = run(code, arch, lanes, x, 7)
    lane = np.arange(lanes)
    row, at = lane & ~15, lane & 15
    nibbles = [0x0123456776543210 >> (4 * i) & 15 for i in range(16)]
    other = [0x7654321001234567 >> (4 * i) & 15 for i in range(16)]
    np.testing.assert_array_equal(out[0], x[0, row + 5])
    np.testing.assert_array_equal(out[1], x[0, lane ^ 6])
    np.testing.assert_array_equal(out[2], x[0, lane ^ 7])
    np.testing.assert_array_equal(out[3], x[0, (row ^ 16) + np.array(nibbles)[at]])
    np.testing.assert_array_equal(out[4], x[0, row + np.array(other)[at]])
    np.testing.assert_array_equal(out[5], x[0, lane ^ 32] if lanes == 64 else x[0])
    np.testing.assert_array_equal(out[6], np.where(at >= 3, x[0, lane - 3], 0))


@narrow
def test_dpp_reads_inactive_lanes_where_it_says_so(run: Runner, arch: str) -> None:
    x = words(1, 32)
    code = """
      v_mov_b32 v40, 7
      v_mov_b32 v41, 7
      s_mov_b32 exec_lo, 0x0f0f0f0f
      v_mov_b32_dpp v40, v10 row_xmask:4 row_mask:0xf bank_mask:0xf fi:1
      v_mov_b32_dpp v41, v10 row_xmask:4 row_mask:0xf bank_mask:0xf
    """
    out = run(code, arch, 32, x, 2)
    lane = np.arange(32)
    active = lane & 4 == 0
    np.testing.assert_array_equal(out[0], np.where(active, x[0, lane ^ 4], 7))
    assert (out[1] == 7).all()


@waves
def test_bpermute_counts_in_the_wave_or_in_its_half(run: Runner, arch: str, lanes: int) -> None:
    x = words(1, lanes)
    wait = "s_wait_dscnt 0x0" if arch == "gfx1201" else "s_waitcnt lgkmcnt(0)"
    code = f"""
      v_add_nc_u32 v20, 40, v0
      v_lshlrev_b32 v20, 2, v20
      ds_bpermute_b32 v40, v20, v10
      {wait}
    """
    out = run(code, arch, lanes, x)
    lane = np.arange(lanes)
    halves = arch == "gfx1100"
    source = (lane & 32) | (lane + 40) % 32 if halves else (lane + 40) % lanes
    np.testing.assert_array_equal(out[0], x[0, source])


@narrow
def test_both_operations_of_a_dual_instruction_read_before_either_writes(run: Runner, arch: str) -> None:
    x = words(2, 32)
    code = """
      v_mov_b32 v40, v10
      v_mov_b32 v41, v11
      v_dual_mov_b32 v40, v41 :: v_dual_mov_b32 v41, v40
      v_mov_b32 v42, 1.0
      v_mov_b32 v43, 2.0
      v_dual_fmac_f32 v42, v43, v43 :: v_dual_add_f32 v43, v42, v42
      v_dual_fmamk_f32 v44, v43, 0x40400000, v42 :: v_dual_lshlrev_b32 v45, 3, v0
    """
    out = run(code, arch, 32, x, 6)
    np.testing.assert_array_equal(out[:2], x[::-1])
    floats = out.view(np.float32)
    assert (floats[2] == 5.0).all()  # 2 * 2 + 1
    assert (floats[3] == 2.0).all()  # of the old v42
    assert (floats[4] == 2.0 * 3.0 + 5.0).all()
    np.testing.assert_array_equal(out[5], np.arange(32) * 8)


@narrow
@pytest.mark.parametrize("destination", [44, 45])
def test_the_second_operation_adds_to_its_own_destination(run: Runner, arch: str, destination: int) -> None:
    """Of an odd destination LLVM 22's disassembler says that the register below is the one that is added to."""
    other = 89 - destination
    code = f"""
      v_mov_b32 v40, 2.0
      v_mov_b32 v41, 0.5
      v_mov_b32 v42, 0.5
      v_mov_b32 v43, 2.0
      v_mov_b32 v44, 4.0
      v_mov_b32 v45, 1.0
      v_mov_b32 v46, 4.0
      v_mov_b32 v47, 1.0
      v_dual_mul_f32 v{other + 4}, v40, v42 :: v_dual_fmac_f32 v{destination}, v43, v43
      v_dual_fmac_f32 v{other + 2}, v40, v41 :: v_dual_fmac_f32 v{destination + 2}, 0x40a00000, v42
      v_mov_b32 v40, v{destination}
      v_mov_b32 v41, v{destination + 2}
      v_mov_b32 v42, v{other + 2}
      v_mov_b32 v43, v{other + 4}
    """
    floats = run(code, arch, 32, words(1, 32), 4).view(np.float32)
    start = {44: 4.0, 45: 1.0}
    assert (floats[0] == start[destination] + 4.0).all()
    assert (floats[1] == start[destination] + 2.5).all()
    assert (floats[2] == start[other] + 1.0).all()
    assert (floats[3] == 1.0).all()


_FIRST = ("fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32", "mul_dx9_zero_f32",
          "mov_b32", "cndmask_b32", "max_f32", "min_f32", "dot2acc_f32_f16")  # fmt: skip
_SECOND = (*_FIRST, "add_nc_u32", "lshlrev_b32", "and_b32")


def _operation(name: str, arch: str, registers: tuple[int, int, int], dual: bool) -> str:
    """An operation of a dual instruction, or the instruction that it is by itself; a literal serves both operations."""
    d, a, b = registers
    if name in ("max_f32", "min_f32") and arch == "gfx1201":
        name = name.replace("_", "_num_")
    operands = {"fmaak_f32": f"v{a}, v{b}, 0x40490fdb", "fmamk_f32": f"v{a}, 0x40490fdb, v{b}", "mov_b32": f"v{a}"}
    text = f"v{d}, {operands.get(name, f'v{a}, v{b}')}"
    if dual:
        return f"v_dual_{name} {text}"
    if name.startswith("dot2acc"):
        return f"v_dot2_f32_f16 {text}, v{d}"
    return f"v_{name} {text}{', vcc_lo' if name.startswith('cndmask') else ''}"


@narrow
@pytest.mark.parametrize("first", _FIRST)
def test_dual_instructions_are_their_two_operations(run: Runner, arch: str, first: str) -> None:
    """With each second one, on the registers that the rules of VOPD allow: other banks, an even and an odd result."""
    code = ["v_mov_b32 v40, 0", "v_mov_b32 v41, 0", "v_cmp_lt_u32 vcc_lo, 20, v0", "s_mov_b32 s20, 0xff0ff0f7"]
    for second in _SECOND:
        pair = (first, (50, 10, 12)), (second, (51, 11, 13))
        code += ["s_mov_b32 exec_lo, -1", "v_mov_b32 v50, v14", "v_mov_b32 v51, v15", "s_mov_b32 exec_lo, s20"]
        code += [_operation(name, arch, registers, dual=False) for name, registers in pair]
        code += ["s_mov_b32 exec_lo, -1", "v_mov_b32 v60, v50", "v_mov_b32 v61, v51"]
        code += ["v_mov_b32 v50, v14", "v_mov_b32 v51, v15", "s_mov_b32 exec_lo, s20"]
        code.append(" :: ".join(_operation(name, arch, registers, dual=True) for name, registers in pair))
        code += ["s_mov_b32 exec_lo, -1", "v_xor_b32 v60, v60, v50", "v_xor_b32 v61, v61, v51"]
        code += ["v_or_b32 v40, v40, v60", "v_or_b32 v41, v41, v61"]
    code += ["v_mov_b32 v42, v50"]
    x = words(6, 32)
    x[:, 16:] = (RNG.standard_normal((6, 16)) * 8).astype(np.float32).view(np.uint32)
    out = run("\n".join(code), arch, 32, x, 3)
    assert not out[:2].any()
    assert (out[2] != x[4]).any()


@narrow
def test_registers_relative_to_m0(run: Runner, arch: str) -> None:
    """The source, the destination, both, and each by a field of its own; an exchange, in some lanes."""
    x = words(6, 32)
    code = """
      v_mov_b32 v40, 0
      v_mov_b32 v41, 0
      v_mov_b32 v42, 0
      v_mov_b32 v43, 0
      v_mov_b32 v44, v10
      v_mov_b32 v45, v11
      s_mov_b32 m0, 3
      v_movrels_b32 v40, v10
      s_mov_b32 m0, 1
      v_movreld_b32 v40, v10
      s_mov_b32 m0, 2
      v_movrelsd_b32 v40, v10
      s_mov_b32 m0, 0x30004
      v_movrelsd_2_b32 v40, v10
      s_mov_b32 m0, 0x40003
      s_mov_b32 exec_lo, 0xffff
      v_swaprel_b32 v40, v42
    """
    out = run(code, arch, 32, x, 6)
    lower = np.arange(32) < 16
    want = [x[3], x[0], x[2], x[4], np.where(lower, x[1], x[0]), np.where(lower, x[0], x[1])]
    np.testing.assert_array_equal(out, want)


@narrow
def test_sixteen_bit_instructions_name_halves(run: Runner, arch: str) -> None:
    x = words(3, 32)
    code = """
      v_mov_b32 v40, v12
      v_add_nc_u16 v40.h, v10.l, v11.h
      v_mov_b32 v41, v12
      v_mov_b16 v41.l, v10.h
      v_mov_b32 v42, v12
      v_mul_lo_u16 v42.l, v10.h, v11.h
      v_cvt_f32_f16 v43, v10.h
      v_mov_b32 v44, v10
      v_mov_b32 v45, v11
      v_swap_b16 v44.l, v45.h
    """
    if arch == "gfx1201":
        code = code.replace("v_swap_b16 v44.l, v45.h", "v_mov_b16 v44.l, v11.h\nv_mov_b16 v45.h, v10.l")
    out = run(code, arch, 32, x, 6)
    low, high = x & 0xFFFF, x >> 16
    np.testing.assert_array_equal(out[0], (low[0] + high[1] & 0xFFFF) << 16 | low[2])
    np.testing.assert_array_equal(out[1], high[2] << 16 | high[0])
    np.testing.assert_array_equal(out[2], high[2] << 16 | (high[0] * high[1] & 0xFFFF))
    want = high[0].astype(np.uint16).view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(out[3].view(np.float32), want)
    np.testing.assert_array_equal(out[4], high[0] << 16 | high[1])
    np.testing.assert_array_equal(out[5], low[0] << 16 | low[1])


@narrow
def test_null_reads_zero_and_loses_what_is_written(run: Runner, arch: str) -> None:
    code = """
      s_mov_b32 m0, 5
      s_mov_b64 null, -1
      s_mov_b32 s20, null
      v_mov_b32 v40, s20
      v_mov_b32 v41, m0
      v_mad_u64_u32 v[42:43], null, v10, v11, v[10:11]
    """
    if arch == "gfx1201":
        code = code.replace("v_mad_u64_u32", "v_mad_co_u64_u32")
    x = words(2, 32)
    out = run(code, arch, 32, x, 4)
    assert (out[0] == 0).all()
    assert (out[1] == 5).all()
    wide = x.astype(np.uint64)
    want = wide[0] * wide[1] + (wide[0] | wide[1] << np.uint64(32))
    np.testing.assert_array_equal(out[2] | out[3].astype(np.uint64) << np.uint64(32), want)


def test_scalar_floats(run: Runner) -> None:
    code = """
      s_mov_b32 s20, 0x40490fdb
      s_add_f32 s21, s20, 1.0
      s_fmac_f32 s21, s20, s20
      s_cvt_i32_f32 s22, s21
      s_cmp_gt_f32 s21, s20
      s_cselect_b32 s23, 1, 2
      v_mov_b32 v40, s21
      v_mov_b32 v41, s22
      v_mov_b32 v42, s23
      v_s_sqrt_f32 s24, 4.0
      v_mov_b32 v43, s24
      s_add_f16 s25, 0x3c00, 0x4000
      v_mov_b32 v44, s25
    """
    out = run(code, "gfx1201", 32, None, 5)
    pi = np.float32(np.pi)
    want = np.float32(np.float64(pi) * np.float64(pi) + np.float64(pi + np.float32(1)))
    assert (out[0].view(np.float32) == want).all()
    assert (out[1] == int(want)).all()
    assert (out[2] == 1).all()
    assert (out[3].view(np.float32) == 2.0).all()
    assert (out[4] == np.float16(3.0).view(np.uint16)).all()


def test_a_split_barrier(run: Runner) -> None:
    """Four waves hand a number around through LDS; gfx12's barriers have two halves."""
    code = """
      v_lshlrev_b32 v20, 2, v0
      ds_store_b32 v20, v10
      s_wait_dscnt 0x0
      s_barrier_signal -1
      v_add_nc_u32 v21, 32, v0
      v_and_b32 v21, 127, v21
      v_lshlrev_b32 v21, 2, v21
      s_barrier_wait -1
      ds_load_b32 v40, v21
      s_wait_dscnt 0x0
    """
    x = words(1, 128)
    out = run(code, "gfx1201", 32, x, 1, threads=128)
    np.testing.assert_array_equal(out[0], np.roll(x[0], -32))


def test_a_barrier_that_was_not_signalled_is_an_error(run: Runner) -> None:
    with pytest.raises(EmulatorError, match="s_barrier_signal"):
        run("s_barrier_wait -1", "gfx1201", 32)
    with pytest.raises(EmulatorError, match="twice"):
        run("s_barrier_signal -1\ns_barrier_signal -1", "gfx1201", 32)


@pytest.mark.parametrize("select", [0, 1, 2, 3])
@narrow
def test_which_buffer_accesses_are_in_bounds(run: Runner, arch: str, select: int) -> None:
    """OOB_SELECT; records of 8 bytes, three of them, or 24 bytes."""
    wait = "s_wait_loadcnt 0x0" if arch == "gfx1201" else "s_waitcnt vmcnt(0)"
    records = 24 if select == 3 else 3
    code = f"""
      s_mov_b32 s20, s4
      s_or_b32 s21, s5, 0x00080000
      s_mov_b32 s22, {records}
      s_mov_b32 s23, {select << 28:#x}
      v_lshrrev_b32 v20, 1, v0
      v_and_b32 v21, 1, v0
      v_lshlrev_b32 v21, 2, v21
      v_mov_b32 v22, v20
      v_mov_b32 v23, v21
      buffer_load_b32 v40, v[22:23], s[20:23], null idxen offen
      {wait}
    """
    x = words(1, 32)
    out = run(code, arch, 32, x)
    inside = np.arange(32) < 6 if select != 2 else np.ones(32, bool)
    np.testing.assert_array_equal(out[0], np.where(inside, x[0], 0))


def test_what_is_not_modelled_is_refused_by_name(run: Runner) -> None:
    with pytest.raises(EmulatorError, match="global_load_tr_b128"):
        run("global_load_tr_b128 v[40:43], v[10:11], off", "gfx1201", 32)


@waves
def test_uninitialised_registers_and_missing_lanes_are_found(run: Runner, arch: str, lanes: int) -> None:
    with sanitize("memory,init,barrier"):
        out = run("v_dual_mov_b32 v40, v10 :: v_dual_mov_b32 v41, 1.0" if lanes == 32 else "v_mov_b32 v40, v10",
                  arch, lanes, words(1, lanes))  # fmt: skip
        assert out.any()
        with pytest.raises(EmulatorError, match="init"):
            run("v_add_nc_u32 v40, v90, v10", arch, lanes, words(1, lanes))


@narrow
def test_each_operation_of_a_dual_instruction_is_as_defined_as_its_own_sources(run: Runner, arch: str) -> None:
    """v40 is stored: made beside a move of a register that nobody wrote, and as such a move, first and second."""
    beside = [
        "v_dual_mov_b32 v41, v91 :: v_dual_add_f32 v40, v10, v10",
        "v_dual_add_f32 v40, v10, v10 :: v_dual_mov_b32 v41, v91",
    ]
    of_it = ["v_dual_mov_b32 v41, v11 :: v_dual_mov_b32 v40, v90", "v_dual_mov_b32 v40, v91 :: v_dual_mov_b32 v41, v10"]
    with sanitize("init"):
        for code in beside:
            assert run(code, arch, 32, words(2, 32)).size
        for code in of_it:
            with pytest.raises(EmulatorError, match="v40, which was never written"):
                run(code, arch, 32, words(2, 32))


def test_the_profile_counts_matrix_instructions(run: Runner) -> None:
    setup = "\n".join(f"v_mov_b32 v{i}, 0" for i in (*range(10, 18), *range(40, 48)))
    code = f"{setup}\nv_wmma_f32_16x16x16_f16 v[40:47], v[10:13], v[14:17], v[40:47]"
    with profile() as session:
        run(code, "gfx1201", 32)
    assert session.last.total.flops == 2 * 16**3
    assert session.last.total.mfma_cycles == 16
