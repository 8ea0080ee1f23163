# SPDX-License-Identifier: Apache-2.0
"""What Python decides by itself about objects: keys, identities, texts, truth values in brackets; refused by name."""

import enum
import sys

import numpy as np
import pytest
from teaching import launched, teaches

import flydsl.compiler as flyc
import flydsl.expr as fx


@teaches(RuntimeError, "a dict is indexed with a run-time Int32", "fx.Vector.from_elements")
def test_a_key_of_a_dict(x, n):
    x[0] = {0: 1.0, 5: 2.0}[n]  # here


@teaches(RuntimeError, "the key of dict.get() is a run-time Int32")
def test_a_key_that_may_be_absent(x, n):
    x[0] = {5: 2.0}.get(n, 3.0)  # here


@teaches(RuntimeError, "Python's lists, tuples and texts are indexed while tracing", "fx.Vector.from_elements")
def test_an_index_of_a_list(x, n):
    x[0] = [1.0, 2.0][n]  # here


TABLE = np.array([1.0, 2.0])


@teaches(IndexError, "an array of NumPy is indexed while tracing: pass it to the kernel as a tensor")
def test_an_index_of_an_array(x, n):
    x[0] = TABLE[n]  # here


@teaches(RuntimeError, "never the object True: write `x == True`, or the condition alone")
def test_identity_with_a_truth_value(x, n):
    x[0] = 1.0 if (n == 5) is True else 0.0  # here


@teaches(RuntimeError, "`is not` compares objects of Python", "write `x != False`")
def test_another_identity(x, n):
    if (n == 5) is not False:  # here
        x[0] = 1.0


@teaches(TypeError, "a run-time value cannot be compared with 'str': 'five'")
def test_equality_with_a_text(x, n):
    if n == "five":  # here
        x[0] = 1.0


@teaches(TypeError, "cannot be formatted with 'd'", "fx.printf")
def test_a_format_of_a_text(x, n):
    print(f"{n:d}")  # here


@teaches(RuntimeError, "a range whose length is known only when the kernel runs is a loop of the kernel")
def test_a_comprehension_of_run_time_length(x, n):
    x[0] = sum([x[i] for i in range(n)])  # here


@teaches(RuntimeError, "a range whose length is known only when the kernel runs is a loop of the kernel")
def test_an_enumeration_of_run_time_length(x, n):
    for i, j in enumerate(range(n)):  # here
        x[i] = x[j]


@teaches(TypeError, "numpy.where computes on the host", "condition.select(a, b)")
def test_where_of_numpy(x, n):
    x[0] = np.where(x[0] > 1.0, x[0], 0.0)  # here


FACTOR = np.float32(2.0)


@teaches(TypeError, "float(x) instead of numpy.float32")
def test_a_number_of_numpy(x, n):
    x[0] = FACTOR * x[0]  # here


@teaches(TypeError, "a tensor is indexed with integers, got a Boolean", "`if condition: y[i] = ...`")
def test_a_mask(x, n):
    x[fx.thread_idx.x > 3] = 1.0  # here


@teaches(TypeError, "a tensor is indexed with integers, got a bool")
def test_a_constant_mask(x, n):
    x[True] = 1.0  # here


@teaches(TypeError, "a Vector is indexed with integers, got a Boolean")
def test_a_lane_by_a_condition(x, n):
    x[0] = fx.full(2, 1.0, fx.Float32)[n > 3]  # here


@teaches(TypeError, "a pointer is indexed with integers, got a Boolean")
def test_a_pointer_by_a_condition(x, n):
    x[0] = fx.get_iter(x)[n > 3]  # here


@teaches(TypeError, "Array[Float32, 4] is indexed with integers, got a Boolean")
def test_an_array_by_a_condition(x, n):
    x[0] = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 4]).peek()[n > 3]  # here


@teaches(TypeError, "sliced with None for the modes to keep", "fx.logical_divide")
def test_writing_a_slice(x, n):
    x[0:4] = 1.0  # here


@teaches(TypeError, "the lanes of a vector do not change", "fx.make_rmem_tensor")
def test_writing_a_lane(x, n):
    fx.full(4, 0.0, fx.Float32)[n] = x[0]  # here


@teaches(TypeError, "a number has no elements", "a tensor was meant?")
def test_writing_an_element_of_a_number(x, n):
    n[fx.thread_idx.x] = x[0]  # here


@teaches(TypeError, "an index is an integer: divide with //")
def test_an_index_that_was_divided(x, n):
    x[fx.thread_idx.x / 2] = 1.0  # here


@teaches(RuntimeError, "'x' is a tensor", "Write `x[i] = ...`")
def test_a_forgotten_index(x, n):
    x = fx.Float32(n)  # noqa: F841  # here


def test_a_parameter_that_is_read_may_be_bound_again():
    def body(x, n):
        x = fx.make_view(fx.get_iter(x) + 1, fx.get_layout(x))
        x[0] = fx.Float32(n)

    launched(body)


class Kind(enum.IntEnum):
    FIVE = 5


def test_members_of_enumerations_are_integers():
    @flyc.kernel
    def kernel(x: fx.Tensor, n: fx.Int32):
        if n == Kind.FIVE:
            x[0] = fx.Float32(n + Kind.FIVE)
        if n + 1 > Kind.FIVE:
            x[1] = 1.0

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(grid=1, block=1)

    x = np.zeros(2, np.float32)
    launch(x, 5)
    assert x.tolist() == [10.0, 1.0]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes since Python 3.11")
def test_an_exception_in_a_run_time_branch_says_when_it_is_raised():
    def body(x, n):
        if n > 3:
            raise ValueError("too large")

    with pytest.raises(ValueError, match="too large") as caught:
        launched(body)
    assert str(caught.value) == "too large"
    assert any("raised while tracing" in one and "fx.device_assert" in one for one in caught.value.__notes__)


def test_an_exception_in_a_branch_of_python_stays_as_it_is():
    def body(x, n):
        if x is not None:
            raise ValueError("as it is")

    with pytest.raises(ValueError, match="as it is") as caught:
        launched(body)
    assert not getattr(caught.value, "__notes__", [])
