# SPDX-License-Identifier: Apache-2.0
"""Sparse matrix instructions: which target has them, and their modifiers. They are compiled in `compile/`."""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr.typing import T


def operands(k, dtype, packed, acc=None):
    return (
        fx.full(packed, 1, dtype),
        fx.full(2 * packed, 1, dtype),
        fx.full(8, 0, acc or fx.Float32),
        fx.Int32(k.args[0]),
    )


def test_halves():
    with kernel("i32", arch="gfx1201", block=(32, 1, 1)) as k:
        fx.rocdl.swmmac_f32_16x16x32_f16(T.vec(8, T.f32), *operands(k, fx.Float16, 8))
        assert "llvm.amdgcn.swmmac.f32.16x16x32.f16" in k.ir()
        with pytest.raises(ValueError, match="needs gfx1250, but the kernel is compiled for gfx1201"):
            fx.rocdl.swmmac_f32_16x16x64_f16(T.vec(8, T.f32), *operands(k, fx.Float16, 16))


def test_modifiers():
    with kernel("i32", arch="gfx1250", block=(32, 1, 1)) as k:
        ints = operands(k, fx.Int32, 8, fx.Int32)
        fx.rocdl.swmmac_i32_16x16x128_iu8(T.vec(8, T.i32), *ints, signA=True, reuseB=True)
        with pytest.raises(TypeError, match="has the modifiers signA, signB, reuseA, reuseB, clamp, not neg"):
            fx.rocdl.swmmac_i32_16x16x128_iu8(T.vec(8, T.i32), *ints, neg=True)
        with pytest.raises(TypeError, match="takes a Python bool"):
            fx.rocdl.swmmac_i32_16x16x128_iu8(T.vec(8, T.i32), *ints, clamp=fx.Int32(k.args[0]).ir_value())
        k.ir()


def test_names_that_are_none():
    for name in ("swmmac_f32_16x16x16_f16", "swmmac_i32_16x16x32_f16", "swmmac_f32_16x16x32_fp8"):
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(fx.rocdl, name)
