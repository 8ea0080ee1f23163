# SPDX-License-Identifier: Apache-2.0
"""Idioms of plain Python, numpy and torch that mean something else, or nothing, in a kernel."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from teaching import complaint, in_host, launched, teaches

import flydsl.compiler as flyc
import flydsl.expr as fx


@teaches(NameError, "variable 'acc' is read before it has a value", "fx.Float32(0.0)")
def test_an_accumulator_without_a_beginning(x: fx.Tensor, n: fx.Int32):
    for i in range(n):
        acc = acc + x[i]  # noqa: F821, F841  # here


@teaches(TypeError, "'Tensor' and 'Tensor'", "a tensor is memory", "x.load()")
def test_adding_tensors(x: fx.Tensor, n: fx.Int32):
    x[0] = (x + x)[0]  # here


@teaches(AttributeError, "no attribute 'item'", "without .item()")
def test_item(x: fx.Tensor, n: fx.Int32):
    x[0] = x[1].item()  # here


@teaches(TypeError, "for +=: 'Float32' and 'str'")
def test_adding_a_text(x: fx.Tensor, n: fx.Int32):
    x[0] += "1"  # here


@teaches(TypeError, "range() takes integers, got float")
def test_a_step_that_is_no_integer(x: fx.Tensor, n: fx.Int32):
    for i in range(0, 10, 0.5):  # here
        x[i] = 1.0


@teaches(TypeError, "missing 1 required positional argument: 'dtype'")
def test_an_argument_of_the_library_is_missing(x: fx.Tensor, n: fx.Int32):
    x[0] = fx.make_rmem_tensor((4, 4))[0, 0]  # here


@teaches(TypeError, "does not support item assignment", ".poke(value)", ".peek()")
def test_writing_to_a_storage(x: fx.Tensor, n: fx.Int32):
    fx.SharedAllocator().allocate(fx.Float32)[0] = 1.0  # here


@teaches(TypeError, "shapes and layouts do not change")
def test_changing_a_shape(x: fx.Tensor, n: fx.Int32):
    x.shape[0] = 3  # here


@teaches(TypeError, "takes 0 positional arguments but 1 was given")
def test_a_barrier_with_an_argument(x: fx.Tensor, n: fx.Int32):
    fx.barrier(3)  # here


@teaches(TypeError, "'Float32' and 'complex'")
def test_complex_numbers(x: fx.Tensor, n: fx.Int32):
    x[0] = x[0] ** 0.5j  # here


@teaches(RuntimeError, "cannot evaluate dynamic 'Boolean'", "x.select(a, b)")
def test_the_maximum_of_python(x: fx.Tensor, n: fx.Int32):
    x[0] = max(x[0], 0.0)  # here


@teaches(RuntimeError, "no Python float representation")
def test_the_sine_of_python(x: fx.Tensor, n: fx.Int32):
    import math

    x[0] = math.sin(x[0])  # here


@teaches(TypeError, "torch.sqrt computes on the host", "use fx.sqrt")
def test_the_root_of_torch(x: fx.Tensor, n: fx.Int32):
    x[0] = torch.sqrt(x[0])  # here


@teaches(RuntimeError, "no Python integer representation")
def test_a_python_list_of_run_time_length(x: fx.Tensor, n: fx.Int32):
    x[0] = ([0.0] * n)[0]  # here


@teaches(TypeError, "expected a numeric type of the language such as fx.Float32, got 'float16'")
def test_a_type_by_its_name(x: fx.Tensor, n: fx.Int32):
    x[0] = x[0].to("float16")  # here


@teaches(TypeError, "wraps an SSA vector, not list", "fx.Vector.from_elements([...])")
def test_a_vector_of_a_list(x: fx.Tensor, n: fx.Int32):
    x[0] = fx.Vector([1.0, 2.0])[0]  # here


@teaches(ValueError, "a shuffle's mode is one of xor, up, down, idx, not 'xr'")
def test_a_shuffle_that_is_not_there(x: fx.Tensor, n: fx.Int32):
    fx.gpu.shuffle(x[0], 1, 64, mode="xr")  # here


@teaches(ValueError, "make_rmem_tensor", "static")
def test_registers_of_run_time_extent(x: fx.Tensor, n: fx.Int32):
    x[0] = fx.make_rmem_tensor(n, fx.Float32)[0]  # here


@teaches(AttributeError, "thread_idx has .x, .y and .z, no 'w'")
def test_a_fourth_axis(x: fx.Tensor, n: fx.Int32):
    x[fx.thread_idx.w] = 1.0  # here


@teaches(TypeError, "conditional expression", "expected dtype Float32", "Python str 'negative'")
def test_arms_of_different_kinds(x: fx.Tensor, n: fx.Int32):
    x[0] = x[1] if x[1] > 0.0 else "negative"  # here


def test_what_the_user_raises_stays_as_it_is():
    def body(x: fx.Tensor, n: fx.Int32):
        raise ValueError("mine")

    assert complaint(ValueError, lambda: launched(body)) == "mine"

    def typed(x: fx.Tensor, n: fx.Int32):
        raise TypeError("mine too")

    assert complaint(TypeError, lambda: launched(typed)) == "mine too"


@flyc.kernel
def kernel(x: fx.Tensor):
    x[fx.thread_idx.x] = 1.0


def test_launching_without_arguments():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel.launch(grid=(1,))  # here

    in_host(host, TypeError, "a kernel gets its arguments first: kernel(x).launch(grid=..., block=...)")


def test_an_option_that_is_not_there():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x).launch(blocks=64)  # here

    in_host(host, TypeError, "unexpected keyword argument 'blocks'")


def test_dividing_an_extent():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x).launch(grid=(x.shape[0] / 64,))  # here

    in_host(host, TypeError, "'IntTuple' and 'int'", "divide them with // or fx.ceildiv")


def test_a_tensor_made_while_tracing():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(torch.zeros(4)).launch()  # here

    in_host(host, TypeError, "argument 'x' is a torch.Tensor", "a parameter of the @flyc.jit function")


def test_elements_in_a_host_function():
    def host(x: fx.Tensor, n: fx.Int32):
        x[0] = 1.0  # here
        kernel(x).launch(block=1)

    in_host(host, flyc.DSLCompileError, "a host function cannot read or write the elements", "@flyc.kernel")


def test_threads_in_a_host_function():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x).launch(grid=(fx.block_idx.x,), block=1)  # here

    in_host(host, flyc.DSLCompileError, "a host function is neither", "@flyc.kernel")


def test_clusters_where_there_are_none(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")

    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x).launch(cluster=(2, 1, 1))  # here

    in_host(host, ValueError, "gfx942 has no clusters of workgroups (gfx1250 and sm_90a have)")


@pytest.mark.parametrize(
    ("wrong", "kind", "phrase"),
    [
        (lambda: flyc.kernel(lambda x: None, name=3), TypeError, "a text, not 3"),
        (lambda: flyc.compile(kernel, np.zeros(4)), TypeError, "pass the one that launches this kernel"),
        (lambda: flyc.jit(kernel), TypeError, "decorates a Python function, not KernelFunction"),
        (lambda: flyc.kernel(type("C", (), {})), TypeError, "decorates a Python function, not type"),
        (lambda: flyc.compile[{"waves_per_eu": "two"}], ValueError, "expected 'min' or 'min,max'"),
    ],
)
def test_wrong_uses_of_the_decorators(wrong, kind, phrase):
    assert phrase in complaint(kind, wrong)
