# SPDX-License-Identifier: Apache-2.0
"""Python's own functions on values of the kernel: what they are here; recursion; keyword-only parameters."""

import inspect
import math
import sys

import numpy as np
import pytest
from teaching import teaches

import flydsl.compiler as flyc
import flydsl.expr as fx


@teaches(RuntimeError, "Python's max() decides on the host: use fx.max(a, b)")
def test_max(x, n):
    x[0] = max(x[0], x[1])  # here


@teaches(RuntimeError, "Python's min() decides on the host: use fx.min(a, b)")
def test_min(x, n):
    x[0] = min(x[0], x[1], x[2])  # here


@teaches(RuntimeError, "Python's all() decides on the host", "with `and`")
def test_all(x, n):
    if all([x[0] > 1, x[1] > 2]):  # here
        x[0] = 1.0


@teaches(RuntimeError, "Python's any() decides on the host", "with `or`")
def test_any(x, n):
    x[0] = any([x[0] > 1.0])  # here


@teaches(TypeError, "__round__", "fx.roundeven rounds halves to even as Python does")
def test_round(x, n):
    x[0] = round(x[0])  # here


@teaches(RuntimeError, "math.exp computes on the host: use fx.exp")
def test_exp(x, n):
    x[0] = math.exp(x[0])  # here


@teaches(RuntimeError, "math.floor computes on the host: use fx.floor")
def test_floor(x, n):
    x[0] = math.floor(x[0])  # here


@teaches(RuntimeError, "Python's float() decides on the host: convert with .to(fx.Float32)")
def test_float(x, n):
    x[0] = float(n)  # here


@teaches(RuntimeError, "Python's int() decides on the host: convert with .to(fx.Int32)")
def test_int(x, n):
    x[int(x[0])] = 1.0  # here


@teaches(AttributeError, "fx.thread_id('x') is a function, fx.thread_idx.x the index")
def test_the_index_by_another_name(x, n):
    x[fx.thread_id.x] = 1.0  # here


@pytest.fixture
def shallow():
    """Fewer calls within each other: each operation has a location as long as the stack is deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 250)
    yield
    sys.setrecursionlimit(limit)


def factorial(n):
    return n * factorial(n - 1)  # here


def test_recursion_names_the_function(shallow):
    def body(x, n):
        x[0] = factorial(n).to(fx.Float32)

    from teaching import check_place, complaint, launched

    text = complaint(RecursionError, lambda: launched(body))
    check_place(text, factorial)
    assert "recursion without end: factorial -> factorial. " in text
    assert "Write a loop" in text


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def test_recursion_names_the_cycle(shallow):
    def body(x, n):
        if is_even(n):
            x[0] = 1.0

    from teaching import complaint, launched

    assert "recursion without end: is_even -> is_odd -> is_even. " in complaint(RecursionError, lambda: launched(body))


@flyc.kernel
def keyword_only_kernel(x: fx.Tensor, *, n: fx.Int32, factor: fx.Constexpr[int] = 2):
    x[fx.thread_idx.x] = (n * factor).to(fx.Float32)


@flyc.jit
def keyword_only(x: fx.Tensor, n: fx.Int32):
    keyword_only_kernel(x, n=n).launch(block=2)
    keyword_only_kernel(x, factor=5, n=n).launch(block=1)


def test_keyword_only_parameters_of_kernels():
    x = np.zeros(3, np.float32)
    keyword_only(x, 3)
    assert x.tolist() == [15.0, 6.0, 0.0]
