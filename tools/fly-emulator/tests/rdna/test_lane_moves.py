# SPDX-License-Identifier: Apache-2.0
"""Lanes that read others by a vector of numbers (gfx12), inactive ones too where that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from rdna.harness import Runner

RNG = np.random.default_rng(16)
ARCHS = ["gfx1201", "gfx1250"]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", ["v_permlane16_var_b32", "v_permlanex16_var_b32"])
def test_rows_by_a_vector_of_numbers(run: Runner, name: str, arch: str) -> None:
    """In the lane's row of 16 or in the other one; op_sel: also from inactive lanes, and zero where not."""
    x = RNG.integers(0, 2**32, (2, 32), dtype=np.uint32)
    code = f"""
      v_mov_b32 v40, 7
      v_mov_b32 v41, 7
      v_mov_b32 v42, 7
      s_mov_b32 exec_lo, 0xff0ff3ff
      {name} v40, v10, v11
      {name} v41, v10, v11 op_sel:[1,0]
      {name} v42, v10, v11 op_sel:[0,1]
    """
    out = run(code, arch, 32, x, 3)
    lane = np.arange(32)
    source = (lane & 16 ^ (16 if "x16" in name else 0)) | x[1] & 15
    active, fetched = 0xFF0FF3FF >> lane & 1 == 1, 0xFF0FF3FF >> source & 1 == 1
    np.testing.assert_array_equal(out[0], np.where(active & fetched, x[0, source], 7))
    np.testing.assert_array_equal(out[1], np.where(active, x[0, source], 7))
    np.testing.assert_array_equal(out[2], np.where(active, np.where(fetched, x[0, source], 0), 7))


@pytest.mark.parametrize("arch", ARCHS)
def test_bpermute_of_inactive_lanes(run: Runner, arch: str) -> None:
    """ds_bpermute_fi_b32 fetches them, ds_bpermute_b32 gives zero; numbers count modulo the wave."""
    x = RNG.integers(0, 2**32, (2, 32), dtype=np.uint32)
    code = """
      v_mov_b32 v40, 7
      v_mov_b32 v41, 7
      s_mov_b32 exec_lo, 0x00ffff0f
      ds_bpermute_fi_b32 v40, v11, v10 offset:8
      ds_bpermute_b32 v41, v11, v10 offset:8
      s_wait_dscnt 0x0
    """
    out = run(code, arch, 32, x, 2)
    lane = np.arange(32)
    source = (x[1] + np.uint32(8)) // 4 % 32
    active, fetched = 0x00FFFF0F >> lane & 1 == 1, 0x00FFFF0F >> source & 1 == 1
    np.testing.assert_array_equal(out[0], np.where(active, x[0, source], 7))
    np.testing.assert_array_equal(out[1], np.where(active, np.where(fetched, x[0, source], 0), 7))
