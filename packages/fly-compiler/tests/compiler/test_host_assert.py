# SPDX-License-Identifier: Apache-2.0
"""Checks of a call's arguments in host functions: `fx.host_assert`."""

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def fill(C: fx.Tensor, value: fx.Float32):
    C[fx.thread_idx.x] = value


@flyc.jit
def checked(C: fx.Tensor, n: fx.Int32, value: fx.Float32):
    fx.host_assert(n == C.shape[0], "argument 'n': expected {}, got {}", C.shape[0], n)
    fx.host_assert(value > 0.0, "argument 'value': must be positive, got {}", value)
    fill(C, value).launch(grid=(1,), block=(64,))


@flyc.jit
def between(C: fx.Tensor, n: fx.Int32):
    fill(C, 1.0).launch(grid=(1,), block=(64,))
    if n > 10:
        fx.host_assert(n < 20)
        fill(C, 2.0).launch(grid=(1,), block=(64,))


def test_a_condition_that_holds():
    c = np.zeros(64, dtype=np.float32)
    checked(c, 64, 1.5)
    assert (c == 1.5).all()


@pytest.mark.parametrize(
    ("n", "value", "said"),
    [
        (63, 1.0, r"checked\(\): argument 'n': expected 64, got 63"),
        (64, -0.5, r"checked\(\): argument 'value': must be positive, got -0.5"),
        (-1, -1.0, "expected 64, got -1"),  # the first that fails
    ],
)
def test_a_condition_that_fails_is_a_value_error_before_any_launch(n, value, said):
    c = np.zeros(64, dtype=np.float32)
    with pytest.raises(ValueError, match=said):
        checked(c, n, value)
    assert (c == 0).all()
    compiled = flyc.compile(checked, c, 64, 1.0)
    with pytest.raises(ValueError, match=said):
        compiled(c, n, value)


def test_what_stands_before_it_runs_and_what_stands_behind_it_does_not():
    c = np.zeros(64, dtype=np.float32)
    between(c, 5)
    assert (c == 1).all()
    between(c, 15)
    assert (c == 2).all()
    with pytest.raises(ValueError, match=r"between\(\): the condition at .*test_host_assert.py.*is false"):
        between(c, 20)
    assert (c == 1).all()


def test_a_condition_that_is_known_while_tracing():
    @flyc.jit
    def known(C: fx.Tensor, width: fx.Constexpr[int]):
        fx.host_assert(width % 4 == 0, "width must be a multiple of 4, got {}", width)
        fill(C, 1.0).launch(grid=(1,), block=(64,))

    c = np.zeros(64, dtype=np.float32)
    known(c, 8)
    with pytest.raises(ValueError, match="width must be a multiple of 4, got 6"):
        known(c, 6)


def test_kernels_have_device_assert():
    @flyc.kernel
    def asserts(C: fx.Tensor):
        fx.host_assert(C[0] > 0.0)

    @flyc.jit
    def run(C: fx.Tensor):
        asserts(C).launch(grid=(1,), block=(64,))

    with pytest.raises(RuntimeError, match=r"in a kernel, use fx\.device_assert"):
        run(np.ones(64, dtype=np.float32))
