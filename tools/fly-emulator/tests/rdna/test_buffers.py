# SPDX-License-Identifier: Apache-2.0
"""Buffer loads, stores and atomics of gfx11 and gfx12 by the names that these have for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rdna.harness import Runner

RNG = np.random.default_rng(77)
ARCHS = ["gfx1100", "gfx1201"]
DESCRIPTOR = "s_mov_b32 s20, {low}\ns_mov_b32 s21, {high}\ns_mov_b32 s22, 0x10000\ns_mov_b32 s23, 0x30000000\n"
OF_INPUT, OF_OUTPUT = (DESCRIPTOR.format(low=f"s{base}", high=f"s{base + 1}") for base in (4, 6))


def loaded(arch: str) -> str:
    return "s_wait_loadcnt 0x0" if arch != "gfx1100" else "s_waitcnt vmcnt(0)"


def bytes_of(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x).view(np.uint8).reshape(-1)


#: what a lane loads: the type, and where a narrow one goes in the register
LOADS: dict[str, tuple[type, int]] = {
    "u8": (np.uint8, -1), "i8": (np.int8, -1), "u16": (np.uint16, -1), "i16": (np.int16, -1),
    "d16_u8": (np.uint8, 0), "d16_i8": (np.int8, 0), "d16_b16": (np.uint16, 0),
    "d16_hi_u8": (np.uint8, 16), "d16_hi_i8": (np.int8, 16), "d16_hi_b16": (np.uint16, 16),
}  # fmt: skip


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", LOADS)
def test_narrow_loads(run: Runner, name: str, arch: str) -> None:
    kind, shift = LOADS[name]
    x = RNG.integers(0, 2**32, (2, 32), dtype=np.uint32)
    size = np.dtype(kind).itemsize
    code = f"{OF_INPUT}v_mov_b32 v40, v11\nv_mul_u32_u24 v3, 6, v0\n"
    code += f"buffer_load_{name} v40, v3, s[20:23], null offen offset:{2}\n{loaded(arch)}"
    got = run(code, arch, 32, x)[0]
    raw = bytes_of(x)
    values = np.array([raw[6 * i + 2 :][:size].copy().view(kind)[0] for i in range(32)]).astype(np.int64)
    if shift < 0:
        want = values.astype(np.uint32)
    else:
        want = (x[1] & np.uint32(0xFFFF0000 >> shift)) | (values & 0xFFFF).astype(np.uint32) << np.uint32(shift)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dwords", [1, 2, 3, 4])
def test_wide_loads(run: Runner, dwords: int, arch: str) -> None:
    x = RNG.integers(0, 2**32, (5, 32), dtype=np.uint32)
    registers = "v40" if dwords == 1 else f"v[40:{39 + dwords}]"
    code = f"{OF_INPUT}v_lshlrev_b32 v3, 4, v0\ns_mov_b32 s24, 8\n"
    code += f"buffer_load_b{32 * dwords} {registers}, v3, s[20:23], s24 offen offset:4\n{loaded(arch)}"
    flat = x.reshape(-1)
    want = [[flat[4 * lane + 3 + i] for lane in range(32)] for i in range(dwords)]
    np.testing.assert_array_equal(run(code, arch, 32, x, dwords), want)


STORES: dict[str, tuple[int, int]] = {
    "b8": (1, 0), "b16": (2, 0), "d16_hi_b8": (1, 16), "d16_hi_b16": (2, 16), "b32": (4, 0), "b64": (8, 0),
    "b96": (12, 0), "b128": (16, 0),
}  # fmt: skip


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", STORES)
def test_stores(run: Runner, name: str, arch: str) -> None:
    """Each lane stores at 16 bytes of its own; the wave ends before it would store anything else."""
    size, shift = STORES[name]
    x = RNG.integers(0, 2**32, (4, 32), dtype=np.uint32)
    registers = "v10" if size <= 4 else f"v[10:{9 + size // 4}]"
    end = "s_mov_b32 exec_lo, 0\ns_endpgm"
    code = f"{OF_OUTPUT}v_lshlrev_b32 v3, 4, v0\nbuffer_store_{name} {registers}, v3, s[20:23], null offen\n{end}"
    got = bytes_of(run(code, arch, 32, x, 4)).reshape(32, 16)
    want = np.zeros((32, 16), np.uint8)
    for lane in range(32):
        string = int.from_bytes(np.ascontiguousarray(x[:, lane]).tobytes(), "little") >> shift
        want[lane, :size] = np.frombuffer((string & (1 << 8 * size) - 1).to_bytes(size, "little"), np.uint8)
    np.testing.assert_array_equal(got, want)


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


#: what is left in memory after an operation with a value, and its bits of a type
ATOMICS: dict[str, Callable[[int, int, int], int]] = {
    "add_u": lambda m, v, n: m + v, "sub_u": lambda m, v, n: m - v, "swap_b": lambda m, v, n: v,
    "and_b": lambda m, v, n: m & v, "or_b": lambda m, v, n: m | v, "xor_b": lambda m, v, n: m ^ v,
    "min_u": lambda m, v, n: min(m, v), "max_u": lambda m, v, n: max(m, v),
    "min_i": lambda m, v, n: min(signed(m, n), signed(v, n)), "max_i": lambda m, v, n: max(signed(m, n), signed(v, n)),
    "inc_u": lambda m, v, n: 0 if m >= v else m + 1, "dec_u": lambda m, v, n: v if m == 0 or m > v else m - 1,
}  # fmt: skip


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics(run: Runner, name: str, bits: int, arch: str) -> None:
    """On a place of each lane, which it fills first; the old value comes back."""
    x = RNG.integers(0, 2**32, (4, 32), dtype=np.uint32)
    x[:, :4] = [[0, 1, 2**32 - 1, 5], [0, 0, 2**32 - 1, 0], [7, 0, 0, 5], [0, 0, 0, 0]]
    pair = bits == 64
    old, result = ("v[10:11]", "v[40:41]") if pair else ("v10", "v40")
    returned = "th:TH_ATOMIC_RETURN" if arch != "gfx1100" else "glc"
    stored = "s_wait_storecnt 0x0" if arch != "gfx1100" else "s_waitcnt_vscnt null, 0x0"
    moves = "\n".join(f"v_mov_b32 v{40 + i}, v{12 + i}" for i in range(1 + pair))
    code = f"""{OF_OUTPUT}
      v_lshlrev_b32 v3, 3, v0
      buffer_store_b{bits} {old}, v3, s[20:23], null offen
      {stored}
      {moves}
      buffer_atomic_{name}{bits} {result}, v3, s[20:23], null offen {returned}
      {loaded(arch)}
      buffer_load_b{bits} {"v[42:43]" if pair else "v42"}, v3, s[20:23], null offen
      {loaded(arch)}
    """
    got = run(code, arch, 32, x, 4)

    def number(rows: np.ndarray, first: int, lane: int) -> int:
        return int(rows[first, lane]) | (int(rows[first + 1, lane]) << 32 if pair else 0)

    for lane in range(32):
        memory, operand = number(x, 0, lane), number(x, 2, lane)
        assert number(got, 0, lane) == memory
        assert number(got, 2, lane) == ATOMICS[name](memory, operand, bits) & (1 << bits) - 1
