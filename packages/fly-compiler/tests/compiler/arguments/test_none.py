# SPDX-License-Identifier: Apache-2.0
"""`None` as an argument: one that is not there, known while tracing, wherever a run-time argument may be."""

from __future__ import annotations

from typing import Optional

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import const_expr

N = 64


@flyc.kernel
def biased_kernel(x: fx.Tensor, bias: fx.Tensor, y: fx.Tensor, scale: fx.Float32):
    i = fx.thread_idx.x
    value = x[i]
    if const_expr(scale is not None):
        value = value * scale
    if bias is not None:
        value = value + bias[i]
    y[i] = value


@flyc.jit
def biased(
    x: fx.Tensor, bias: Optional[fx.Tensor], y: fx.Tensor, scale: fx.Float32 = None, stream: fx.Stream = fx.Stream(None)
):
    biased_kernel(x, bias, y, scale).launch(block=N, stream=stream)


def arrays():
    return np.arange(N, dtype=np.float32), np.full(N, 0.5, np.float32), np.zeros(N, np.float32)


def test_each_combination_is_a_specialisation_of_its_own():
    x, bias, y = arrays()
    for _ in range(2):  # compiled, and compiled already
        biased(x, None, y)
        assert np.array_equal(y, x)
        biased(x, bias, y)
        assert np.array_equal(y, x + bias)
        biased(x, bias, y, 2.0)
        assert np.array_equal(y, 2 * x + bias)
        biased(x, None, y, scale=2.0)
        assert np.array_equal(y, 2 * x)
    assert biased.cache_info().currsize == 4


def test_an_optional_number_has_the_type_that_was_declared():
    x, _, y = arrays()

    @flyc.jit
    def scaled(x: fx.Tensor, y: fx.Tensor, scale: fx.Float32 | None = None):
        biased_kernel(x, None, y, scale).launch(block=N)

    assert flyc.compile(scaled, x, y, 3).note["arguments"][2]["dtype"] == "float32"


def test_a_compiled_function_takes_what_it_was_compiled_for():
    x, bias, y = arrays()
    without = flyc.compile(biased, x, None, y)
    without(x, None, y)
    assert np.array_equal(y, x)
    with pytest.raises(TypeError, match=r"argument 'bias' is a ndarray, but this was compiled for None"):
        without(x, bias, y)
    having = flyc.compile(biased, x, bias, y)
    with pytest.raises(TypeError, match="'bias'"):
        having(x, None, y)
    having(x, bias, y)
    assert np.array_equal(y, x + bias)


def test_none_inside_containers_and_inline_calls():
    @flyc.kernel
    def pair_kernel(pair, named, y: fx.Tensor):
        assert pair[1] is None
        assert named["b"] is None
        y[fx.thread_idx.x] = pair[0][fx.thread_idx.x] + named["a"][fx.thread_idx.x]

    @flyc.jit
    def inner(x, nothing, y):
        pair_kernel((x, nothing), {"b": None, "a": x}, y).launch(block=N)

    @flyc.jit
    def outer(x: fx.Tensor, y: fx.Tensor):
        inner(x, None, y)

    x, _, y = arrays()
    outer(x, y)
    assert np.array_equal(y, 2 * x)


def test_none_as_a_stream_is_the_default_stream():
    x, _, y = arrays()
    biased(x, None, y, None, None)
    assert np.array_equal(y, x)


def test_a_kernel_that_needs_it_says_what_is_none():
    @flyc.kernel
    def copy(x: fx.Tensor, y: fx.Tensor):
        y[fx.thread_idx.x] = x[fx.thread_idx.x]

    with pytest.raises(TypeError, match=r"'NoneType'.*\n  File .*test_none.py.*\n    y\[fx.thread_idx.x\] = x\["):
        flyc.jit(lambda x, y: copy(x, y).launch(block=N))(None, arrays()[2])
