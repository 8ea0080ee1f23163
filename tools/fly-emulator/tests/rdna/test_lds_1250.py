# SPDX-License-Identifier: Apache-2.0
"""LDS of gfx1250: loads that transpose, and the address by which compilers mask lanes."""

from __future__ import annotations

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import EmulatorError
from rdna.harness import Runner

RNG = np.random.default_rng(8)
ARCH = "gfx1250"
NOWHERE = 0x7FFFFFFF

#: bits of an element -> the instruction, the row that a lane loads a part of, and the part's number
TRANSPOSING = {
    16: ("ds_load_tr16_b128", lambda lane: lane % 8 + lane // 16 * 8, lambda lane: lane // 8 % 2),
    8: ("ds_load_tr8_b64", lambda lane: lane % 4 + lane // 8 * 4, lambda lane: lane // 4 % 2),
    4: ("ds_load_tr4_b64", lambda lane: lane % 8 + lane // 16 * 8 + lane // 8 % 2 * 16, lambda lane: 0),
}


@pytest.mark.parametrize("bits", TRANSPOSING)
def test_columns_become_rows(run: Runner, bits: int) -> None:
    """A matrix [k][16] in LDS: both halves of the wave get all columns, each half one half of k."""
    name, row_of, part_of = TRANSPOSING[bits]
    per = {16: 8, 8: 8, 4: 16}[bits]
    matrix = RNG.integers(0, 2**bits, (2 * per, 16))
    pitch = 40  # bytes from row to row: more than a row has
    lds = np.zeros(2048, np.uint8)
    for k, row in enumerate(matrix):
        string = sum(int(value) << (bits * i) for i, value in enumerate(row)).to_bytes(2 * bits, "little")
        lds[pitch * k : pitch * k + len(string)] = np.frombuffer(string, np.uint8)
    address = np.array([pitch * row_of(lane) + part_of(lane) * per * bits // 8 + 4 for lane in range(32)], np.uint32)
    words = lds.view(np.uint32).reshape(16, 32)
    dwords = per * bits // 32
    fill = "\n".join(f"v_add_nc_u32 v3, {128 * i}, v1\nds_store_b32 v3, v{10 + i} offset:16" for i in range(16))
    code = f"{fill}\ns_wait_dscnt 0\n{name} v[40:{39 + dwords}], v26 offset:12\ns_wait_dscnt 0"
    with sanitize():
        out = run(code, ARCH, 32, np.vstack([words, address]), dwords)
    for lane in range(32):
        string = int.from_bytes(np.ascontiguousarray(out[:, lane]).tobytes(), "little")
        got = [string >> (bits * i) & (1 << bits) - 1 for i in range(per)]
        assert got == list(matrix[lane // 16 * per :][:per, lane % 16])


def test_inactive_lanes_of_a_transposing_load(run: Runner) -> None:
    with pytest.raises(EmulatorError, match="with inactive lanes is undefined"):
        run("s_mov_b32 exec_lo, 0xffff\nds_load_tr16_b128 v[40:43], v1", ARCH, 32)


def test_a_transposing_load_of_what_nobody_wrote(run: Runner) -> None:
    """Lane 9 writes nothing: what it would have written reaches other lanes."""
    code = "v_lshlrev_b32 v3, 4, v0\nv_mov_b32 v4, v1\nv_mov_b32 v5, v1\nv_mov_b32 v6, v1\nv_mov_b32 v7, v1\n"
    code += "s_mov_b32 exec_lo, 0xfffffdff\nds_store_b128 v3, v[4:7]\ns_mov_b32 exec_lo, -1\ns_wait_dscnt 0\n"
    with sanitize("init", raises=False) as found:
        run(code + "ds_load_tr16_b128 v[40:43], v3\ns_wait_dscnt 0", ARCH, 32)
    assert found.reports


@pytest.mark.parametrize("offset", [0, 64])
def test_lanes_that_are_masked_by_their_address(run: Runner, offset: int) -> None:
    """Stores of every other lane go nowhere; loads from there read zero, and nothing is reported."""
    lanes = np.arange(32, dtype=np.uint32)
    where = np.where(lanes % 2 == 0, 4 * lanes, NOWHERE).astype(np.uint32)
    code = f"""
      v_mov_b32 v3, 7
      ds_store_b32 v1, v3 offset:{offset}
      ds_store_b32 v10, v0 offset:{offset}
      s_wait_dscnt 0
      ds_load_b32 v40, v1 offset:{offset}
      ds_load_b32 v41, v10 offset:{offset}
      s_wait_dscnt 0
    """
    with sanitize("memory", "race", "wait", "init"):
        out = run(code, ARCH, 32, where[None], 2)
    np.testing.assert_array_equal(out[0], np.where(lanes % 2 == 0, lanes, 7))
    np.testing.assert_array_equal(out[1], np.where(lanes % 2 == 0, lanes, 0))


def test_any_other_address_beyond_lds_is_an_error(run: Runner) -> None:
    with sanitize("memory"), pytest.raises(EmulatorError, match="LDS at offset 2147483646"):
        run("v_mov_b32 v3, 0x7ffffffe\nds_store_b8 v3, v0", ARCH, 32)


def test_an_asynchronous_load_of_masked_lanes_does_not_look_at_memory(run: Runner) -> None:
    """The second half of the wave would read beyond the allocation."""
    lanes = np.arange(32, dtype=np.uint32)
    values = RNG.integers(0, 2**32, 32, dtype=np.uint32)
    where = np.where(lanes < 16, 4 * lanes, NOWHERE).astype(np.uint32)
    code = """
      v_mov_b32 v3, 5
      ds_store_b32 v1, v3
      s_wait_dscnt 0
      v_lshlrev_b32 v4, 4, v1
      v_cmp_gt_u32 vcc_lo, 16, v0
      v_cndmask_b32 v4, v4, v1, vcc_lo
      global_load_async_to_lds_b32 v11, v4, s[4:5]
      s_wait_asynccnt 0
      ds_load_b32 v40, v1
      s_wait_dscnt 0
    """
    with sanitize():
        out = run(code, ARCH, 32, np.stack([values, where]))[0]
    np.testing.assert_array_equal(out, np.where(lanes < 16, values, 5))
