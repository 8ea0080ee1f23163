# SPDX-License-Identifier: Apache-2.0
"""Arrays of JAX as arguments: read without a copy, and never written."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

jax = pytest.importorskip("jax", reason="jax is not installed in this environment")
jnp = jax.numpy

WRAPS = pytest.mark.parametrize("wrap", [lambda one: one, flyc.from_dlpack], ids=["plain", "wrapped"])


@flyc.kernel
def copy_kernel(x: fx.Tensor, y: fx.Tensor):
    i = fx.thread_idx.x
    y[i] = x[i]


@flyc.jit
def copy(x: fx.Tensor, y: fx.Tensor):
    copy_kernel(x, y).launch(grid=(1,), block=(64,))


@flyc.kernel
def transpose_kernel(x: fx.Tensor, y: fx.Tensor):
    i, j = fx.thread_idx.x, fx.thread_idx.y
    y[j, i] = x[i, j]


@flyc.jit
def transpose(x: fx.Tensor, y: fx.Tensor):
    transpose_kernel(x, y).launch(grid=(1,), block=(8, 4))


@WRAPS
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"])
def test_dtypes(dtype, wrap):
    x, y = jnp.arange(64).astype(dtype), np.zeros(64, dtype)
    copy(wrap(x), y)
    np.testing.assert_array_equal(np.asarray(x), y)


@flyc.kernel
def widen_kernel(x: fx.Tensor, y: fx.Tensor):
    i = fx.thread_idx.x
    y[i] = x[i].to(fx.Float32)


@flyc.jit
def widen(x: fx.Tensor, y: fx.Tensor):
    widen_kernel(x, y).launch(grid=(1,), block=(64,))


@WRAPS
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_dtypes_that_numpy_cannot_export(dtype, wrap):
    x, y = (jnp.arange(64) / 8 - 4).astype(dtype), np.zeros(64, np.float32)
    widen(wrap(x), y)
    np.testing.assert_array_equal(np.asarray(x).astype(np.float32), y)


def test_matrices():
    x, y = jnp.arange(32.0).reshape(8, 4), np.zeros((4, 8), np.float32)
    transpose(x, y)
    np.testing.assert_array_equal(np.asarray(x).T, y)


@WRAPS
def test_arrays_are_never_written(wrap):
    x, y = jnp.arange(64.0), jnp.zeros(64)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"copy\(\): argument 'y': a kernel writes to this tensor.*JAX are immut"):
            copy(wrap(x), wrap(y))
        with pytest.raises(ValueError, match="argument 'y'"):
            flyc.compile(copy, wrap(x), wrap(y))
        # The same layout of another framework has the same code, and may be written.
        copy(wrap(x), wrap(out := np.zeros(64, np.float32)))
        np.testing.assert_array_equal(np.asarray(x), out)
    assert not np.asarray(y).any()


def test_what_is_refused_names_the_argument():
    out = np.zeros(64, np.float32)
    gone = jnp.arange(64.0)
    gone.delete()
    for bad, message in (
        (jnp.zeros(64, "complex64"), "argument 'x': ArrayImpl of complex64 cannot be passed by DLPack"),
        (gone, "argument 'x': ArrayImpl of float32 cannot be passed by DLPack: Array has been deleted"),
    ):
        with pytest.raises(TypeError, match=message):
            copy(bad, out)
    with pytest.raises(RuntimeError, match=r"argument 'x': a tensor without axes \(0-d\) has no layout"):
        copy(jnp.float32(3), out)
    with pytest.raises(TypeError, match=r"argument 'x': .*Tracer is neither a JitArgument"):
        jax.jit(lambda x: copy(x, out))(jnp.arange(64.0))


@WRAPS
def test_functions_compiled_for_other_arrays_refuse_them_too(wrap):
    x, y = jnp.arange(64.0), jnp.zeros(64)
    for example in (np.zeros(64, np.float32), flyc.from_dlpack(np.zeros(64, np.float32))):
        compiled = flyc.compile(copy, wrap(x), example)
        for _ in range(2):
            with pytest.raises(
                ValueError, match=r"copy\(\): argument 'y': a kernel writes to this tensor.*JAX are imm"
            ):
                compiled(wrap(x), wrap(y))
            compiled(wrap(x), out := np.zeros(64, np.float32))
            np.testing.assert_array_equal(np.asarray(x), out)
    assert not np.asarray(y).any()
