# SPDX-License-Identifier: Apache-2.0
"""`assert`: Python's while tracing, the device's in a kernel, the call's in a host function."""

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx


def offset(n):
    assert n < 100, "far too large"
    return n


@flyc.kernel
def fill_kernel(x: fx.Tensor, n: fx.Int32, width: fx.Constexpr[int]):
    assert width in (1, 2), f"no width of {width}"
    i = fx.thread_idx.x
    if i > 0:
        assert n > 2, f"{n} is small for thread {i}, width {width}"
    assert n != 3
    x[i] = offset(n).to(fx.Float32)


@flyc.jit
def fill(x: fx.Tensor, n: fx.Int32, width: fx.Constexpr[int] = 1):
    assert n % 2 == 1 or n == 100, f"n is even: {n}"
    fill_kernel(x, n, width).launch(block=4)


def test_what_holds_is_not_noticed():
    x = np.zeros(4, np.float32)
    fill(x, 5)
    assert x.tolist() == [5.0] * 4


def test_in_a_kernel_it_is_an_assertion_of_the_device():
    x = np.zeros(4, np.float32)
    with pytest.raises(
        RuntimeError, match=r"assert n > 2(.|\n)*device assertion failed: 1 is small for thread \d, width 1"
    ):
        fill(x, 1)
    with pytest.raises(RuntimeError, match=r"assert n != 3(.|\n)*device assertion failed(.|\n)*block \(0, 0, 0\)"):
        fill(x, 3)
    with pytest.raises(RuntimeError, match=r"assert n < 100(.|\n)*device assertion failed: far too large"):
        fill(x, 101)


def test_in_a_host_function_it_is_one_of_the_call():
    with pytest.raises(ValueError, match=r"n is even: 6"):
        fill(np.zeros(4, np.float32), 6)


def test_of_python_values_it_is_pythons():
    with pytest.raises(AssertionError, match="no width of 3"):
        fill(np.zeros(4, np.float32), 5, 3)
