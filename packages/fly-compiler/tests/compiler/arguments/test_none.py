# SPDX-License-Identifier: Apache-2.0
"""`None` for a parameter that says that it may be absent: known while tracing, and part of the key."""

from __future__ import annotations

from typing import Optional

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import const_expr

N = 64
Maybe = Optional[fx.Tensor]  # noqa: UP045 - the other spelling


@flyc.kernel
def biased_kernel(x: fx.Tensor, bias: Maybe, y: fx.Tensor, scale: fx.Float32 = None):
    i = fx.thread_idx.x
    value = x[i]
    if const_expr(scale is not None):
        value = value * scale
    if bias is not None:
        value = value + bias[i]
    y[i] = value


@flyc.jit
def biased(x: fx.Tensor, bias: Maybe, y: fx.Tensor, scale: fx.Float32 = None, stream: fx.Stream = fx.Stream(None)):
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
    def inner(x, y, nothing=None):
        pair_kernel((x, nothing), {"b": None, "a": x}, y).launch(block=N)

    @flyc.jit
    def outer(x: fx.Tensor, y: fx.Tensor):
        inner(x, y)

    x, _, y = arrays()
    outer(x, y)
    assert np.array_equal(y, 2 * x)


def test_none_as_a_stream_is_the_default_stream():
    x, _, y = arrays()
    biased(x, None, y, None, None)
    assert np.array_equal(y, x)


def test_code_that_needs_it_says_what_is_none():
    @flyc.kernel
    def copy(x: fx.Tensor | None, y: fx.Tensor):
        y[fx.thread_idx.x] = x[fx.thread_idx.x]

    @flyc.jit
    def launch(y: fx.Tensor, x: fx.Tensor = None):
        copy(x, y).launch(block=N)

    match = r"'NoneType'.*\. argument 'x' of .* are None: .*\n  File .*test_none.py.*\n    y\[fx.thread_idx.x\] = x\["
    with pytest.raises(TypeError, match=match):
        launch(arrays()[2])


def test_parameters_that_do_not_say_so_refuse_it():
    @flyc.kernel
    def copy(x, y: fx.Tensor):
        y[fx.thread_idx.x] = x[fx.thread_idx.x]

    match = r"argument 'x': builtins.NoneType is neither .* annotate it `fx.Tensor \| None`"
    with pytest.raises(TypeError, match=match):
        flyc.jit(lambda x, y: copy(x, y).launch(block=N))(None, arrays()[2])
    match = r"kernel 'copy': argument 'x' is None. .*annotate it `fx.Tensor \| None`"
    with pytest.raises(TypeError, match=match):
        flyc.jit(lambda y: copy(None, y).launch(block=N))(arrays()[2])


@flyc.kernel
def filled_kernel(x: fx.Tensor, n: fx.Int32 | int, scale: int | fx.Float32 | None):
    x[0] = n.to(fx.Float32) if const_expr(scale is None) else n * scale


@flyc.jit
def filled(x: fx.Tensor, n: fx.Int32 | int, scale: int | fx.Float32 | None = None):
    filled_kernel(x, n, scale).launch(block=1)


def test_a_number_of_python_beside_a_scalar_class_is_for_type_checkers():
    x = np.zeros(1, np.float32)
    filled(x, n=3)
    assert x[0] == 3
    filled(x, n=5, scale=2)
    assert x[0] == 10
