# SPDX-License-Identifier: Apache-2.0
"""gfx1250's copies between memory and LDS of every width, shared ones of clusters, and loads that watch their line."""

from __future__ import annotations

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import EmulatorError
from rdna.harness import Runner

RNG = np.random.default_rng(1250)
ARCH = "gfx1250"
BITS = [8, 32, 64, 128]
CLUSTER = "\n     .cluster_dims: [2, 1, 1],"


def words(rows: int) -> np.ndarray:
    return RNG.integers(0, 2**32, (rows, 32), dtype=np.uint32)


def lane_bytes(rows: np.ndarray) -> np.ndarray:
    """Of words by row and lane: what each lane has, as bytes."""
    return np.ascontiguousarray(rows.T).view(np.uint8).reshape(32, -1)


def copied(bits: int, before: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Each lane's 16 bytes after the first ones have been replaced."""
    out = lane_bytes(before).copy()
    out[:, : bits // 8] = new[:, : bits // 8]
    return out


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", ["global_load_async_to_lds", "cluster_load_async_to_lds"])
def test_loads(run: Runner, name: str, bits: int) -> None:
    """Each lane from 16 bytes of its own, to 16 bytes of another lane; the offset counts for both places."""
    x = words(8)  # rows 0 to 3 are memory that lanes read; v14 to v17 are in LDS before
    code = f"""
      v_lshlrev_b32 v50, 4, v0
      v_xor_b32 v51, 0x1f0, v50
      ds_store_b128 v50, v[14:17] offset:16
      s_mov_b32 m0, 0
      s_wait_dscnt 0
      {name}_b{bits} v51, v50, s[4:5] offset:16
      s_wait_asynccnt 0
      ds_load_b128 v[40:43], v50 offset:16
      s_wait_dscnt 0
    """
    with sanitize():
        out = run(code, ARCH, 32, x, 4)
    memory = np.ascontiguousarray(x).view(np.uint8).reshape(-1)[16:528].reshape(32, 16)
    np.testing.assert_array_equal(lane_bytes(out), copied(bits, x[4:], memory[::-1]))


@pytest.mark.parametrize("bits", BITS)
def test_stores(run: Runner, bits: int) -> None:
    x = words(8)
    code = f"""
      v_lshlrev_b32 v50, 4, v0
      v_xor_b32 v51, 0x1f0, v50
      global_store_b128 v50, v[14:17], s[6:7]
      ds_store_b128 v51, v[10:13]
      s_wait_storecnt 0
      s_wait_dscnt 0
      global_store_async_from_lds_b{bits} v50, v50, s[6:7]
      s_wait_asynccnt 0
      s_endpgm
    """
    out = run(code, ARCH, 32, x, 4)
    want = copied(bits, x[4:], lane_bytes(x[:4])[::-1])
    np.testing.assert_array_equal(out.view(np.uint8).reshape(32, 16), want)


def test_a_load_that_workgroups_of_a_cluster_share(run: Runner) -> None:
    """Each one that M0 names asks for it and has it; who is not named is refused."""
    x = words(1)
    code = """
      s_mov_b32 m0, {mask}
      cluster_load_async_to_lds_b32 v1, v1, s[4:5]
      s_wait_asynccnt 0
      ds_load_b32 v40, v1
      s_wait_dscnt 0
    """
    out = run(code.format(mask=3), ARCH, 32, x, groups=2, metadata=CLUSTER)
    np.testing.assert_array_equal(out[0], x[0])
    with pytest.raises(EmulatorError, match=r"mask 0x1\) that the one that asks is not among"):
        run(code.format(mask=1), ARCH, 32, x, groups=2, metadata=CLUSTER)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("space", ["global", "flat"])
def test_loads_that_watch_their_line(run: Runner, space: str, bits: int) -> None:
    """They load what others do: nobody sleeps until the line changes here."""
    x = words(4)
    registers = "v40" if bits == 32 else f"v[40:{39 + bits // 32}]"
    address = "v50, s[4:5]" if space == "global" else "v[52:53]"
    code = f"""
      v_lshlrev_b32 v50, 4, v0
      v_add_co_u32 v52, vcc_lo, s4, v50
      v_add_co_ci_u32_e64 v53, null, s5, 0, vcc_lo
      {space}_load_monitor_b{bits} {registers}, {address}
      s_wait_loadcnt 0
      s_wait_dscnt 0
    """
    out = run(code, ARCH, 32, x, bits // 32)
    np.testing.assert_array_equal(out, x.reshape(32, 4).T[: bits // 32])


#: instruction -> architecture, bits of an element, the row that a lane loads a part of, and the part's number
TRANSPOSING = {
    "global_load_tr_b128": ("gfx1201", 16, lambda lane: lane % 8 + lane // 16 * 8, lambda lane: lane // 8 % 2),
    "global_load_tr_b64": ("gfx1201", 8, lambda lane: lane % 4 + lane // 8 * 4, lambda lane: lane // 4 % 2),
    "global_load_tr16_b128": ("gfx1250", 16, lambda lane: lane % 8 + lane // 16 * 8, lambda lane: lane // 8 % 2),
    "global_load_tr8_b64": ("gfx1250", 8, lambda lane: lane % 4 + lane // 8 * 4, lambda lane: lane // 4 % 2),
    "global_load_tr4_b64": ("gfx1250", 4, lambda lane: lane % 8 + lane // 16 * 8 + lane // 8 % 2 * 16, lambda _: 0),
}


@pytest.mark.parametrize("name", TRANSPOSING)
def test_loads_that_transpose(run: Runner, name: str) -> None:
    """As those from LDS do (assumed): both halves of the wave get all columns, each half one half of the rows."""
    arch, bits, row_of, part_of = TRANSPOSING[name]
    per = {16: 8, 8: 8, 4: 16}[bits]
    matrix = RNG.integers(0, 2**bits, (2 * per, 16))
    pitch = 48  # bytes from row to row: more than a row has
    memory = np.zeros(2048, np.uint8)
    for k, row in enumerate(matrix):
        string = sum(int(value) << (bits * i) for i, value in enumerate(row)).to_bytes(2 * bits, "little")
        memory[pitch * k : pitch * k + len(string)] = np.frombuffer(string, np.uint8)
    address = np.array([pitch * row_of(lane) + part_of(lane) * per * bits // 8 for lane in range(32)], np.uint32)
    dwords = per * bits // 32
    code = f"{name} v[40:{39 + dwords}], v26, s[4:5]\ns_wait_loadcnt 0x0"
    given = np.vstack([memory.view(np.uint32).reshape(16, 32), address])
    out = run(code, arch, 32, given, dwords)
    for lane in range(32):
        string = int.from_bytes(np.ascontiguousarray(out[:, lane]).tobytes(), "little")
        got = [string >> (bits * i) & (1 << bits) - 1 for i in range(per)]
        assert got == list(matrix[lane // 16 * per :][:per, lane % 16])


def test_a_transposing_load_of_half_a_wave(run: Runner) -> None:
    with pytest.raises(EmulatorError, match="with inactive lanes is undefined"):
        run("s_mov_b32 exec_lo, 0xffff\nglobal_load_tr_b128 v[40:43], v1, s[4:5]", "gfx1201", 32)
