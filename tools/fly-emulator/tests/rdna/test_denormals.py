# SPDX-License-Identifier: Apache-2.0
"""Denormal numbers where MODE wants none, and constants of products of mixed precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from flydsl.emulator.device import Module
from rdna.harness import Runner

ARCHS = ["gfx1100", "gfx1201", "gfx1250"]
TINY = 0x00000123


def f32(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


#: instructions on a denormal number of f32 in v3, of its negative in v4, of one of f16 in v5; the result without any
FLUSHED = {
    "v_max_{n}f32 v40, v3, v3": 0,
    "v_min_{n}f32 v40, v4, v4": 0x80000000,
    "v_med3_{n}f32 v40, v3, v3, v3": 0,
    "v_floor_f32 v40, v4": 0x80000000,
    "v_frexp_exp_i32_f32 v40, v3": 0,
    "v_cvt_f32_f16 v40, v5.l": 0,
    "v_fma_mix_f32 v40, v5, 2.0, 0 op_sel_hi:[1,0,0]": 0,
    "v_cndmask_b32 v40, v3, v4, vcc_lo": TINY,
    "v_mov_b32 v40, v3": TINY,
}


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("code", FLUSHED)
def test_denormals_are_flushed(run: Runner, code: str, arch: str) -> None:
    set_up = f"v_mov_b32 v3, {TINY:#x}\nv_mov_b32 v4, {TINY | 0x80000000:#x}\nv_mov_b32 v5, {TINY:#x}\n"
    line = code.format(n="" if arch == "gfx1100" else "num_")
    text = f"s_denorm_mode 0x0\ns_mov_b32 vcc_lo, 0\n{set_up}{line}\ns_denorm_mode 0xf"
    assert (run(text, arch, 32)[0] == FLUSHED[code]).all()


#: modes of f32 and of halves and doubles: only results flushed, only sources, nothing
@pytest.mark.parametrize(("mode", "want"), [(1, 0), (2, 0), (3, TINY)])
def test_sources_and_results_have_a_bit_each(run: Runner, mode: int, want: int) -> None:
    code = f"s_denorm_mode {mode | 0xC:#x}\nv_mov_b32 v3, {TINY:#x}\nv_max_f32 v40, v3, v3\ns_denorm_mode 0xf"
    assert (run(code, "gfx1100", 32)[0] == want).all()


def test_a_denormal_source_that_only_results_may_not_be(run: Runner) -> None:
    """As a source it counts: twice 2^-127 is a normal number."""
    for mode, want in ((0xD, f32(2.0**-126)), (0xE, 0)):
        code = f"s_denorm_mode {mode:#x}\nv_mov_b32 v3, {f32(2.0**-127):#x}\nv_add_f32 v40, v3, v3\ns_denorm_mode 0xf"
        assert (run(code, "gfx1100", 32)[0] == want).all()


@pytest.mark.parametrize("arch", ARCHS)
def test_constants_of_mixed_products(run: Runner, arch: str) -> None:
    """One is f32 where op_sel_hi says that its source is (assumed), else a half."""
    code = """
      v_mov_b32 v3, 0x40400000
      v_mov_b32 v4, 0x4200
      v_fma_mix_f32 v40, v3, 2.0, 1.0
      v_fma_mix_f32 v41, v4, 2.0, 0.5 op_sel_hi:[1,1,1]
      v_fma_mix_f32 v42, v4, -4.0, -0.5 op_sel_hi:[1,0,1]
      v_mov_b32 v43, 0
      v_fma_mixlo_f16 v43, v3, 0.15915494, 4.0
    """
    out = run(code, arch, 32, None, 4)[:, 0]
    want = [f32(7), f32(6.5), f32(-12.5), int(np.float16(3 * 0.15915494 + 4).view(np.uint16))]
    assert list(out) == want


PROGRAM = """
typedef __attribute__((address_space(1))) float *floats;
__attribute__((device_kernel)) void f(floats x, floats out) {
  unsigned t = __builtin_amdgcn_workitem_id_x();
  float a = x[t], b = x[64 + t];
  out[t] = a + b;
  out[64 + t] = a / b;
  out[128 + t] = __builtin_fminf(a, b);
  out[192 + t] = __builtin_canonicalizef(a);
  out[256 + t] = a < b ? 1 : a == b ? 2 : 3;
}
"""


def without_denormals(values: np.ndarray) -> np.ndarray:
    small = np.abs(values) < np.finfo(np.float32).tiny
    return np.where(small, np.copysign(np.float32(0), values), values).astype(np.float32)


@pytest.mark.parametrize("arch", ["gfx942", *ARCHS])
def test_programs_compiled_without_denormals(arch: str, build: Callable[..., Module]) -> None:
    """-fdenormal-fp-math=preserve-sign against NumPy, bit by bit; a quotient turns them on inside."""
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2**32, (2, 64), dtype=np.uint32)
    bits[:, ::2] &= 0x81FFFFFF  # denormal numbers and small ones
    bits[:, :8] = [[0, 1, 0x80000001, 1, 0x007FFFFF, 0x00800000, 0x80000000, 0x3F800000],
                   [1, 1, 1, 0x3F800000, 0x00800001, 0x80800001, 0, 0x7F000000]]  # fmt: skip
    x = bits.view(np.float32)
    x = np.where(np.isnan(x), np.float32(1), x)
    out = np.zeros((5, 64), np.float32)
    flags = ("-O2", "-ffp-contract=off", "-fdenormal-fp-math=preserve-sign")
    build(PROGRAM, arch, flags=flags).kernel("f")(1, 64, x, out)
    a, b = without_denormals(x)
    with np.errstate(all="ignore"):
        quotient, least = a / b, np.where(a < b, a, np.where(b < a, b, np.where(np.signbit(a), a, b)))
        order = np.where(a < b, 1, np.where(a == b, 2, 3))
        want = without_denormals(np.stack([a + b, quotient, least, a, order.astype(np.float32)]))
    same = (out.view(np.uint32) == want.view(np.uint32)) | (np.isnan(out) & np.isnan(want))
    assert same.all(), np.argwhere(~same)
