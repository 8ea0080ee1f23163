# SPDX-License-Identifier: Apache-2.0
"""Scalar loads, compare-and-swap and floating-point atomics by the names that gfx11 and gfx12 have for them."""

from __future__ import annotations

import numpy as np
import pytest

from rdna.harness import Runner

RNG = np.random.default_rng(41)
ARCHS = ["gfx1100", "gfx1201"]


def waits(arch: str) -> tuple[str, str, str]:
    """For scalar memory and LDS, loads, and stores."""
    if arch == "gfx1100":
        return "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)", "s_waitcnt_vscnt null, 0x0"
    return "s_wait_kmcnt 0x0\ns_wait_dscnt 0x0", "s_wait_loadcnt 0x0", "s_wait_storecnt 0x0"


BUFFER = "s_mov_b32 s20, s4\ns_mov_b32 s21, s5\ns_mov_b32 s22, 0x10000\ns_mov_b32 s23, 0x30000000\n"


@pytest.mark.parametrize("buffer", [False, True])
@pytest.mark.parametrize(("arch", "dwords"), [(arch, n) for arch in ARCHS for n in (1, 2, 3, 4, 8, 16)
                                              if n != 3 or arch == "gfx1201"])  # fmt: skip
def test_scalar_loads(run: Runner, dwords: int, buffer: bool, arch: str) -> None:
    x = RNG.integers(0, 2**32, (2, 32), dtype=np.uint32)
    to = "s32" if dwords == 1 else f"s[32:{31 + dwords}]"
    name, base = ("s_buffer_load", "s[20:23]") if buffer else ("s_load", "s[4:5]")
    code = f"{BUFFER}{name}_b{32 * dwords} {to}, {base}, 0x14\n{waits(arch)[0]}\n"
    code += "\n".join(f"v_mov_b32 v{40 + i}, s{32 + i}" for i in range(dwords))
    out = run(code, arch, 32, x, dwords)
    np.testing.assert_array_equal(out, np.repeat(x[0, 5 : 5 + dwords, None], 32, 1))


@pytest.mark.parametrize("buffer", [False, True])
@pytest.mark.parametrize("kind", ["u8", "i8", "u16", "i16"])
def test_narrow_scalar_loads(run: Runner, kind: str, buffer: bool) -> None:
    x = RNG.integers(0, 2**32, (1, 32), dtype=np.uint32)
    name, base = ("s_buffer_load", "s[20:23]") if buffer else ("s_load", "s[4:5]")
    places = [2, 6, 34, 126]
    code = BUFFER + "\n".join(f"{name}_{kind} s{32 + i}, {base}, {at:#x}" for i, at in enumerate(places))
    code += f"\n{waits('gfx1201')[0]}\n" + "\n".join(f"v_mov_b32 v{40 + i}, s{32 + i}" for i in range(4))
    dtype = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16}[kind]
    raw = x.view(np.uint8).reshape(-1)
    want = [raw[at : at + 2].copy().view(dtype)[0] for at in places]
    out = run(code, "gfx1201", 32, x, 4)
    np.testing.assert_array_equal(out[:, 0], np.array(want).astype(np.int64).astype(np.uint32))


#: where an atomic works: how a place is stored, changed and read, of an address of 8 bytes for each lane
SPACES = {
    "lds": ("ds_store_b{n} v3, {old}", "ds_load_b{n} {after}, v3"),
    "global": ("global_store_b{n} v3, {old}, s[6:7]", "global_load_b{n} {after}, v3, s[6:7]"),
    "flat": ("flat_store_b{n} v[20:21], {old}", "flat_load_b{n} {after}, v[20:21]"),
    "buffer": ("buffer_store_b{n} {old}, v3, s[20:23], null offen",
               "buffer_load_b{n} {after}, v3, s[20:23], null offen"),
}  # fmt: skip
OPERANDS = {
    "global": "{result}, v3, {data}, s[6:7]", "flat": "{result}, v[20:21], {data}",
    "buffer": "{result}, v3, s[20:23], null offen",
}  # fmt: skip


def atomic(run: Runner, arch: str, space: str, name: str, bits: int, x: np.ndarray, data: str) -> np.ndarray:
    """Rows v40, v41: the old value that came back; v42, v43: what is in memory then. v10, v11 are there before."""
    wide = bits == 64
    scalar, load, store = waits(arch)
    old, result, after = ("v[10:11]", "v[40:41]", "v[42:43]") if wide else ("v10", "v40", "v42")
    everything = f"{scalar}\n{load}\n{store}"
    returned = "th:TH_ATOMIC_RETURN" if arch != "gfx1100" else "glc"
    put, get = (line.format(n=bits, old=old, after=after) for line in SPACES[space])
    if space == "lds":
        change = f"{name} {result}, v3, {data}"
    else:
        # Of buffers the result lies where the data was.
        operands = OPERANDS[space].format(result=data if space == "buffer" else result, data=data)
        change = f"{space}_atomic_{name} {operands} {returned}"
    if space == "buffer":
        first = int(data.strip("v[").split(":")[0])
        change += f"\n{load}\n" + "\n".join(f"v_mov_b32 v{40 + i}, v{first + i}" for i in range(1 + wide))
    code = f"""
      {BUFFER.replace("s4", "s6").replace("s5", "s7")}
      v_lshlrev_b32 v3, 3, v0
      v_add_co_u32 v20, vcc_lo, s6, v3
      v_add_co_ci_u32_e64 v21, null, s7, 0, vcc_lo
      {put}
      {everything}
      {change}
      {everything}
      {get}
      {everything}
    """
    return run(code, arch, 32, x, 4)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("space", SPACES)
def test_compare_and_swap(run: Runner, space: str, bits: int, arch: str) -> None:
    """Of every other lane what is compared with is there: v10 is in memory, v12 comes, v14 is expected."""
    x = RNG.integers(0, 2**32, (6, 32), dtype=np.uint32)
    x[4:, ::2] = x[:2, ::2]
    if bits == 32:
        x[3] = x[4]
    # LDS has two operands, the others the value and behind it what it is compared with.
    if space == "lds":
        data = "v[12:13], v[14:15]" if bits == 64 else "v12, v13"
        name = f"ds_cmpstore_rtn_b{bits}"
    else:
        data, name = ("v[12:15]" if bits == 64 else "v[12:13]"), f"cmpswap_b{bits}"
    out = atomic(run, arch, space, name, bits, x, data)
    rows = bits // 32
    np.testing.assert_array_equal(out[:rows], x[:rows])
    equal = (x[:rows] == x[4 : 4 + rows]).all(0)
    assert 16 <= equal.sum() < 32
    np.testing.assert_array_equal(out[2 : 2 + rows], np.where(equal, x[2 : 2 + rows], x[:rows]))


@pytest.mark.parametrize("which", ["min", "max"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("arch", ARCHS)
def test_floating_point_extremes(run: Runner, arch: str, space: str, which: str) -> None:
    a, b = (RNG.normal(size=32).astype(np.float32) for _ in range(2))
    a[:3], b[:3] = [1.0, np.nan, -np.inf], [np.nan, 2.0, np.inf]
    zero = np.zeros(32, np.uint32)
    middle = "num_" if arch != "gfx1100" else ""
    name = f"ds_{which}_{middle}rtn_f32" if space == "lds" else f"{which}_{middle}f32"
    x = np.stack([a.view(np.uint32), zero, b.view(np.uint32)])
    out = atomic(run, arch, space, name, 32, x, "v12")
    np.testing.assert_array_equal(out[0], a.view(np.uint32))
    want = np.fmin(a, b) if which == "min" else np.fmax(a, b)
    np.testing.assert_array_equal(out[2].view(np.float32), want)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", ["cond_sub", "sub_clamp"])
def test_subtractions_of_gfx12(run: Runner, name: str, space: str) -> None:
    """One that is not done where it would wrap, and one that stops at zero."""
    x = RNG.integers(0, 2**32, (3, 32), dtype=np.uint32)
    x[2, :2] = x[0, :2]
    out = atomic(run, "gfx1201", space, f"ds_{name}_rtn_u32" if space == "lds" else f"{name}_u32", 32, x, "v12")
    np.testing.assert_array_equal(out[0], x[0])
    want = np.where(x[0] >= x[2], x[0] - x[2], x[0] if name == "cond_sub" else 0)
    np.testing.assert_array_equal(out[2], want)


NOTHING = {
    "gfx1100": ["s_clause 0x3", "s_delay_alu instid0(VALU_DEP_1)", "s_waitcnt_vmcnt null, 0x0", "s_gl1_inv",
                "s_waitcnt_lgkmcnt null, 0x0", "s_waitcnt_expcnt null, 0x0", "s_wait_event 0x1", "s_version 0x2006",
                "s_set_inst_prefetch_distance 0x3", "s_ttracedata_imm 0x4", "v_pipeflush"],
    "gfx1201": ["s_clause 0x3", "s_delay_alu instid0(VALU_DEP_1)", "s_wait_expcnt 0x0", "s_wait_samplecnt 0x0",
                "s_wait_bvhcnt 0x0", "s_wait_storecnt_dscnt 0x0", "s_sleep_var s20", "global_wb scope:SCOPE_SE",
                "s_prefetch_inst s[4:5], 0x0, null, 0x1", "s_prefetch_data s[4:5], 0x0, null, 0x1",
                "s_prefetch_data_pc_rel 0x0, null, 0x1", "s_prefetch_inst_pc_rel 0x0, null, 0x1",
                "s_buffer_prefetch_data s[20:23], 0x0, null, 0x1", "v_pipeflush", "global_wbinv scope:SCOPE_SYS"],
}  # fmt: skip


@pytest.mark.parametrize("arch", ARCHS)
def test_what_changes_no_result(run: Runner, arch: str) -> None:
    """Waits, hints and caches leave registers, EXEC, SCC and memory as they are."""
    x = RNG.integers(0, 2**32, (1, 32), dtype=np.uint32)
    code = f"{BUFFER}s_mov_b32 exec_lo, 0xf0f\ns_cmp_eq_u32 s20, s20\n" + "\n".join(NOTHING[arch])
    code += "\ns_cselect_b32 s24, 7, 8\ns_mov_b32 s25, exec_lo\ns_mov_b32 exec_lo, -1\nv_mov_b32 v40, v10\n"
    code += "v_mov_b32 v41, s24\nv_mov_b32 v42, s25"
    out = run(code, arch, 32, x, 3)
    np.testing.assert_array_equal(out[0], x[0])
    assert (out[1] == 7).all()
    assert (out[2] == 0xF0F).all()
