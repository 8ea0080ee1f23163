# SPDX-License-Identifier: Apache-2.0
"""Kernels and host functions as methods of every kind, as closures and behind other decorators."""

from __future__ import annotations

import functools
import gc
import weakref

import numpy as np
import pytest

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


class Piecewise:
    """Helpers that leave early, which the rewriter does with variables of its own; Python mangles names in classes."""

    def returns(self, v):
        if v > 2.0:
            return v * 2.0
        return v + 1.0

    def private(self, v):
        __factor = v
        if v > 2.0:
            __factor = v * 3.0
        return __factor

    def breaks(self, v):
        n = fx.Int32(0)
        for _ in range(10):
            if n > 3:
                break
            n = n + 1
        return v + fx.Float32(n)

    def attribute(self, v):
        self.__held = v
        if v > 2.0:
            self.__held = v * 5.0
        return self.__held

    def asks_twice(self, v):
        return fx.Float32(1.0) if v > 1.0 and v < 4.0 else fx.Float32(0.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("returns", [2, 3, 6, 8]),
        ("private", [1, 2, 9, 12]),
        ("breaks", [5, 6, 7, 8]),
        ("attribute", [1, 2, 15, 20]),
        ("asks_twice", [0, 1, 1, 0]),
    ],
)
def test_helpers_of_classes_leave_early(name, expected):
    helpers = Piecewise()
    helper = getattr(helpers, name)

    @flyc.kernel
    def kernel(x: fx.Tensor):
        i = fx.thread_idx.x
        x[i] = helper(x[i])

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(block=4)

    x = np.arange(1, 5, dtype=np.float32)
    launch(x)
    assert x.tolist() == expected


class Counted:
    def __init__(self, number):
        self.number = number

    @flyc.kernel
    def kernel(self, x: fx.Tensor):
        x[0] = float(self.number)

    @flyc.jit
    def launch(self, x: fx.Tensor):
        self.kernel(x).launch(block=1)


def test_objects_go_when_nobody_else_has_them():
    x = np.zeros(1, np.float32)
    gone = []
    for number in (1, 2, 2, 3):
        one = Counted(number)
        gone.append(weakref.ref(one))
        one.launch(x)
        assert x[0] == number
    assert "kernel" in Counted.kernel.ir()
    assert Counted.launch.report(one, x).origin == "memory"
    del one
    gc.collect()
    assert [one() for one in gone] == [None] * 4
    with pytest.raises(RuntimeError, match="the object of class Counted with which this was compiled is gone"):
        Counted.kernel.ir()
    Counted(2).launch(x)
    assert x[0] == 2
