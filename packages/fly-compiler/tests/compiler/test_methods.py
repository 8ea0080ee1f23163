# SPDX-License-Identifier: Apache-2.0
"""Kernels and host functions as methods of every kind, as closures and behind other decorators."""

from __future__ import annotations

import functools

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def fill_kernel(x: fx.Tensor, value: fx.Float32):
    x[fx.thread_idx.x] = value


def filled(call, *arguments):
    x = np.zeros(64, np.float32)
    call(x, *arguments)
    assert (x == x[0]).all()
    return x[0]


class Filler:
    factor = 3.0

    def __init__(self, offset):
        self.offset = offset

    @staticmethod
    @flyc.jit
    def static(x: fx.Tensor, value: fx.Float32):
        fill_kernel(x, value).launch(block=(64,))

    @flyc.jit
    @staticmethod
    def static_too(x: fx.Tensor, value: fx.Float32):
        fill_kernel(x, value).launch(block=(64,))

    @classmethod
    @flyc.jit
    def of_class(cls, x: fx.Tensor, value: fx.Float32):
        fill_kernel(x, value * cls.factor).launch(block=(64,))

    @flyc.kernel
    def kernel(self, x: fx.Tensor):
        x[fx.thread_idx.x] = self.offset

    @flyc.jit
    def __call__(self, x: fx.Tensor):
        self.kernel(x).launch(block=(64,))


class Other(Filler):
    factor = 5.0


def test_static_methods():
    assert filled(Filler.static, 2.0) == 2
    assert filled(Filler(0.0).static_too, 4.0) == 4


def test_class_methods_are_compiled_for_their_class():
    assert filled(Filler.of_class, 2.0) == 6
    assert filled(Other.of_class, 2.0) == 10
    assert filled(Filler(1.0).of_class, 2.0) == 6


def test_callable_objects_are_compiled_for_their_state():
    first, second = Filler(7.0), Filler(8.0)
    assert [filled(first), filled(second), filled(first)] == [7, 8, 7]
    first.offset = 9.0
    assert filled(first) == 9


def test_a_bound_method_can_be_compiled_ahead():
    one = Filler(2.0)
    x = np.zeros(64, np.float32)
    flyc.compile(one.__call__, x)(one, x)
    assert (x == 2).all()


def test_partials_and_wrappers():
    @flyc.jit
    def launch(x: fx.Tensor, value: fx.Float32, times: fx.Constexpr[int]):
        fill_kernel(x, value * times).launch(block=(64,))

    @functools.wraps(launch)
    def wrapper(*args, **kwargs):
        return launch(*args, **kwargs)

    assert filled(functools.partial(launch, times=3), 2.0) == 6
    assert filled(wrapper, 2.0, 4) == 8


def test_closures_of_one_source_differ_by_what_they_close_over():
    def make(constant):
        @flyc.kernel
        def kernel(x: fx.Tensor):
            x[fx.thread_idx.x] = float(constant)

        @flyc.jit
        def launch(x: fx.Tensor):
            kernel(x).launch(block=(64,))

        return launch

    assert [filled(make(constant)) for constant in (1, 2, 1)] == [1, 2, 1]
