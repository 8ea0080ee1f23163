# SPDX-License-Identifier: Apache-2.0
"""Atomics that other files have in one form only: without a result, of other widths, of one architecture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rdna.harness import Runner
from rdna.test_memory import BUFFER, atomic, waits

RNG = np.random.default_rng(91)
SPACES = ["global", "flat", "buffer"]
Rows = list[np.ndarray]


def random(rows: int) -> np.ndarray:
    return RNG.integers(0, 2**32, (rows, 32), dtype=np.uint32)


def doubles(x: np.ndarray, row: int) -> np.ndarray:
    return np.ascontiguousarray(x[row : row + 2].T).view(np.float64)[:, 0]


def words(values: np.ndarray) -> Rows:
    bits = np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)
    return [bits[:, i] for i in range(bits.shape[1])]


def floats(x: np.ndarray, row: int) -> np.ndarray:
    return x[row].view(np.float32)


def compared(x: np.ndarray, kind: type) -> Rows:
    """v10.. is in memory, v12.. comes where memory equals v14.."""
    wide = np.dtype(kind).itemsize == 8
    floating = np.issubdtype(kind, np.floating)

    def read(row: int) -> np.ndarray:
        if not wide:
            return x[row].view(kind)
        return np.ascontiguousarray(x[row : row + 2].T).view(kind)[:, 0]

    old, new, expected = read(0), read(2), read(4)
    return words(np.where((old == expected) if floating else (old.view(kind) == expected), new, old))


#: of LDS, without a result: bits, architectures, operands behind the address, and what is in memory then
LDS: dict[str, tuple[int, list[str], str, Callable[[np.ndarray], Rows]]] = {
    "ds_cmpstore_b32": (32, ["gfx1100", "gfx1201"], "v12, v14", lambda x: compared(x, np.uint32)),
    "ds_cmpstore_b64": (64, ["gfx1100", "gfx1201"], "v[12:13], v[14:15]", lambda x: compared(x, np.uint64)),
    "ds_cmpstore_f32": (32, ["gfx1100"], "v12, v14", lambda x: compared(x, np.float32)),
    "ds_cmpstore_f64": (64, ["gfx1100"], "v[12:13], v[14:15]", lambda x: compared(x, np.float64)),
    "ds_cmpstore_rtn_f32": (32, ["gfx1100"], "v12, v14", lambda x: compared(x, np.float32)),
    "ds_cmpstore_rtn_f64": (64, ["gfx1100"], "v[12:13], v[14:15]", lambda x: compared(x, np.float64)),
    "ds_cond_sub_u32": (32, ["gfx1201"], "v12", lambda x: [np.where(x[0] >= x[2], x[0] - x[2], x[0])]),
    "ds_sub_clamp_u32": (32, ["gfx1201"], "v12", lambda x: [np.where(x[0] >= x[2], x[0] - x[2], 0)]),
    "ds_min_num_f32": (32, ["gfx1201"], "v12", lambda x: words(np.fmin(floats(x, 0), floats(x, 2)))),
    "ds_max_num_f32": (32, ["gfx1201"], "v12", lambda x: words(np.fmax(floats(x, 0), floats(x, 2)))),
    "ds_min_num_f64": (64, ["gfx1201"], "v[12:13]", lambda x: words(np.fmin(doubles(x, 0), doubles(x, 2)))),
    "ds_max_num_f64": (64, ["gfx1201"], "v[12:13]", lambda x: words(np.fmax(doubles(x, 0), doubles(x, 2)))),
    "ds_min_num_rtn_f64": (64, ["gfx1201"], "v[12:13]", lambda x: words(np.fmin(doubles(x, 0), doubles(x, 2)))),
    "ds_max_num_rtn_f64": (64, ["gfx1201"], "v[12:13]", lambda x: words(np.fmax(doubles(x, 0), doubles(x, 2)))),
}  # fmt: skip


def operands(name: str) -> np.ndarray:
    """Six random rows; numbers where the operation is one of floats, and every other comparison holds."""
    x = random(6)
    if name.endswith("f64"):
        values = RNG.normal(size=(3, 32)) * np.exp2(RNG.integers(-40, 40, (3, 32)))
        values[0, :4], values[1, :4] = [1.0, np.nan, -np.inf, 2.0], [np.nan, 2.0, np.inf, -3.0]
        x = np.stack([row for value in values for row in words(value)])
    elif name.endswith("f32"):
        values = (RNG.normal(size=(6, 32)) * np.exp2(RNG.integers(-40, 40, (6, 32)))).astype(np.float32)
        values[0, :4], values[2, :4] = [1.0, np.nan, -np.inf, 2.0], [np.nan, 2.0, np.inf, -3.0]
        x = values.view(np.uint32)
    x[4:, ::2] = x[:2, ::2]
    if "cmpstore" in name and name.endswith(("f32", "f64")):
        # Zeros of both signs are equal, and a NaN is not even equal to itself.
        top = 1 if name.endswith("f64") else 0
        x[[0, 1, 4, 5], 8:10] = 0
        x[4 + top, 8] = 0x80000000
        x[top, 10] = x[4 + top, 10] = 0x7FF80000
    return x


@pytest.mark.parametrize(("name", "arch"), [(name, arch) for name, row in LDS.items() for arch in row[1]])
def test_atomics_of_lds(run: Runner, name: str, arch: str) -> None:
    bits, _, data, define = LDS[name]
    x = operands(name)
    pair = bits == 64
    scalar, load, _ = waits(arch)
    old, after = ("v[10:11]", "v[42:43]") if pair else ("v10", "v42")
    result = ("v[40:41], " if pair else "v40, ") if "_rtn_" in name else ""
    code = f"""
      v_mov_b32 v40, v10
      v_mov_b32 v41, v11
      v_lshlrev_b32 v3, 3, v0
      ds_store_b{bits} v3, {old}
      {scalar}
      {name} {result}v3, {data}
      {scalar}
      ds_load_b{bits} {after}, v3
      {scalar}
      {load}
    """
    out = run(code, arch, 32, x, 4)
    rows = bits // 32
    np.testing.assert_array_equal(out[:rows], x[:rows])
    np.testing.assert_array_equal(out[2 : 2 + rows], define(x))


@pytest.mark.parametrize("space", SPACES)
def test_compare_and_swap_of_floats(run: Runner, space: str) -> None:
    """buffer_atomic_cmpswap_f32, flat_atomic_cmpswap_f32, global_atomic_cmpswap_f32: by value, not by bits."""
    x = operands("cmpstore_f32")
    x[3] = x[4]
    out = atomic(run, "gfx1100", space, "cmpswap_f32", 32, x, "v[12:13]")
    np.testing.assert_array_equal(out[0], x[0])
    np.testing.assert_array_equal(out[2], compared(x, np.float32)[0])
    assert out[2, 8] == x[2, 8]
    assert out[2, 10] == x[0, 10]


@pytest.mark.parametrize("space", ["global", "buffer"])
def test_subtraction_that_stops_at_zero(run: Runner, space: str) -> None:
    """global_atomic_csub_u32 and buffer_atomic_csub_u32, which gfx12 calls sub_clamp."""
    x = random(3)
    x[2, :2] = x[0, :2]
    out = atomic(run, "gfx1100", space, "csub_u32", 32, x, "v12")
    np.testing.assert_array_equal(out[0], x[0])
    np.testing.assert_array_equal(out[2], np.where(x[0] >= x[2], x[0] - x[2], 0))


@pytest.mark.parametrize("which", ["min", "max"])
@pytest.mark.parametrize("space", SPACES)
def test_extremes_of_doubles(run: Runner, space: str, which: str) -> None:
    """{buffer,flat,global}_atomic_{min,max}_num_f64 of gfx1250."""
    x = operands("f64")
    name = {"min": "min_num_f64", "max": "max_num_f64"}[which]
    out = atomic(run, "gfx1250", space, name, 64, x, "v[12:13]")
    np.testing.assert_array_equal(out[:2], x[:2])
    choose = np.fmin if which == "min" else np.fmax
    np.testing.assert_array_equal(out[2:4], words(choose(doubles(x, 0), doubles(x, 2))))


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201", "gfx1250"])
def test_loads_and_stores_by_thread_id(run: Runner, arch: str) -> None:
    """Lane i has the dword i behind the scalar base, whatever its registers hold."""
    x = random(1)
    scalar, load, store = waits(arch)
    code = f"""
      {BUFFER}
      s_add_u32 s24, s6, 128
      s_addc_u32 s25, s7, 0
      global_store_addtid_b32 v10, s[24:25] offset:-64
      {store}
      global_load_addtid_b32 v42, s[24:25] offset:-64
      global_load_addtid_b32 v43, s[4:5] offset:32
      {scalar}
      {load}
      v_mov_b32 v40, v42
      v_mov_b32 v41, v43
    """
    if arch == "gfx1250":
        code = code.replace("s_add_u32", "s_add_co_u32").replace("s_addc_u32", "s_add_co_ci_u32")
    out = run(code, arch, 32, np.vstack([x, random(1)]), 2)
    np.testing.assert_array_equal(out[0], x[0])
    assert (out[1, :24] == x[0, 8:]).all()
