# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F841 - mistakes leave names unused
"""Mistakes in the use of values, tensors, layouts and instructions."""

from __future__ import annotations

import os

import pytest
from teaching import teaches

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.runtime.device import get_rocm_arch


@teaches(AttributeError, "no attribute 'thread_index'")
def test_a_name_that_is_not_there(x: fx.Tensor, n: fx.Int32):
    i = fx.thread_index.x  # here


@teaches(AttributeError, "thread_idx has .x, .y and .z, no 'w'")
def test_an_axis_that_is_not_there(x: fx.Tensor, n: fx.Int32):
    i = fx.thread_idx.w  # here


@teaches(ValueError, "profile mismatch", "(0,1)")
def test_too_many_coordinates(x: fx.Tensor, n: fx.Int32):
    x[0, 1] = 1.0  # here


@teaches(TypeError, "expected a number", "'str'")
def test_storing_a_text(x: fx.Tensor, n: fx.Int32):
    x[0] = "one"  # here


@teaches(TypeError, "integers", "Float32")
def test_a_float_as_index(x: fx.Tensor, n: fx.Int32):
    x[fx.Float32(1.0)] = 1.0  # here


@teaches(TypeError, "sliced with None", "not with ':'")
def test_a_python_slice_of_a_tensor(x: fx.Tensor, n: fx.Int32):
    part = x[0:4]  # here


@teaches(TypeError, "'<<' needs integers, got Float32")
def test_shifting_a_float(x: fx.Tensor, n: fx.Int32):
    y = x[0] << 2  # here


@teaches(ValueError, "unknown reduction 'sum'", "'add'")
def test_a_reduction_that_is_not_there(x: fx.Tensor, n: fx.Int32):
    fx.full(4, 1.0, fx.Float32).reduce("sum")  # here


@teaches(ValueError, "cannot broadcast shapes (4,) and (8,)")
def test_vectors_of_different_length(x: fx.Tensor, n: fx.Int32):
    y = fx.full(4, 1.0, fx.Float32) + fx.full(8, 1.0, fx.Float32)  # here


@teaches(TypeError, "exp takes a float, got Int32", "x.to(fx.Float32)")
def test_the_exponential_of_an_integer(x: fx.Tensor, n: fx.Int32):
    x[0] = fx.math.exp(n)  # here


@teaches(ValueError, "2 placeholders for 1 values")
def test_printing_too_little(x: fx.Tensor, n: fx.Int32):
    fx.printf("{} {}", n)  # here


@teaches(ValueError, "profile mismatch", "same nesting")
def test_a_layout_with_too_few_strides(x: fx.Tensor, n: fx.Int32):
    layout = fx.make_layout((4, 8), (1,))  # here


@teaches(ValueError, "MFMA has no 16x16x17 for Float16", "16x16x16")
def test_a_matrix_instruction_that_is_not_there(x: fx.Tensor, n: fx.Int32):
    atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 17, fx.Float16))  # here


@teaches(ValueError, "has no WMMA", "fx.rocdl.MFMA")
def test_an_instruction_of_another_family(x: fx.Tensor, n: fx.Int32):
    atom = fx.make_mma_atom(fx.rocdl.WMMA(16, 16, 16, fx.Float16))  # here


@teaches(ValueError, "needs gfx950", "compiled for gfx942")
def _scaled(x: fx.Tensor, n: fx.Int32):
    atom = fx.make_mma_atom(fx.rocdl.cdna4.MFMA_Scale(16, 16, 128, fx.Float8E4M3FN))
    a, c = fx.make_rmem_tensor(32, fx.Float8E4M3FN), fx.make_rmem_tensor(4, fx.Float32)
    fx.mma_atom_call(atom, c, a, a, c)  # here


def test_an_instruction_of_a_newer_architecture():
    if get_rocm_arch() != "gfx942":
        pytest.skip(f"compiling for {os.environ.get('ARCH') or get_rocm_arch()}")
    _scaled()


@teaches(ZeroDivisionError, "division")
def test_dividing_by_a_static_zero(x: fx.Tensor, n: fx.Int32):
    y = fx.Int32(3) // fx.Int32(0)  # here


@teaches(RuntimeError, "needs 400000 bytes of LDS", "per workgroup", "Array[Float32, 100000]", "smaller tiles")
def test_more_lds_than_there_is(x: fx.Tensor, n: fx.Int32):
    fx.SharedAllocator().allocate(fx.Array[fx.Float32, 100000])  # here


@teaches(RuntimeError, "already has a SharedAllocator")
def test_two_allocators(x: fx.Tensor, n: fx.Int32):
    first = fx.SharedAllocator()
    second = fx.SharedAllocator()  # here


@teaches(flyc.DSLCompileError, "cannot have these arguments", "does not fit int32")
def test_what_only_mlir_refuses(x: fx.Tensor, n: fx.Int32):
    fx.static(fx.LayoutType.get(2**70, 1))  # here
