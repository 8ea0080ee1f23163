# SPDX-License-Identifier: Apache-2.0
"""What those write who come from Triton, CUDA, CuTe and torch, and what they are told."""

import numpy as np
import torch
from teaching import teaches

import flydsl.expr as fx


@teaches(AttributeError, "no attribute 'program_id'", "here it is fx.block_idx.x")
def test_program_id(x: fx.Tensor, n: fx.Int32):
    fx.program_id(0)  # here


@teaches(AttributeError, "no attribute 'arange'", "a thread computes one element", "fx.thread_idx.x")
def test_arange(x: fx.Tensor, n: fx.Int32):
    fx.arange(0, 64)  # here


@teaches(AttributeError, "no attribute 'load'", "x[i] for one element, fx.copy(atom, src, dst)")
def test_load(x: fx.Tensor, n: fx.Int32):
    fx.load(x, n)  # here


@teaches(AttributeError, "no attribute 'where'", "condition.select(a, b)")
def test_where(x: fx.Tensor, n: fx.Int32):
    fx.where(x[0] > 0.0, 1.0, 2.0)  # here


@teaches(AttributeError, "no attribute 'syncthreads'", "here it is fx.barrier()")
def test_syncthreads(x: fx.Tensor, n: fx.Int32):
    fx.syncthreads()  # here


@teaches(NameError, "'threadIdx' is not defined", "fx.thread_idx")
def test_thread_idx_of_cuda(x: fx.Tensor, n: fx.Int32):
    x[threadIdx.x] = 1.0  # noqa: F821 # here


@teaches(AttributeError, "no attribute 'local_tile'", "fx.zipped_divide(tensor, tile)[None, coordinate]")
def test_local_tile(x: fx.Tensor, n: fx.Int32):
    fx.local_tile(x, (16,), (0,))  # here


@teaches(AttributeError, "no attribute 'make_layuot'", "did you mean make_layout")
def test_a_slip_of_the_pen(x: fx.Tensor, n: fx.Int32):
    fx.make_layuot(4, 1)  # here


@teaches(AttributeError, "no attribute 'MFAM'", "did you mean MFMA")
def test_a_slip_in_a_sub_module(x: fx.Tensor, n: fx.Int32):
    fx.rocdl.MFAM(16, 16, 16, fx.Float16)  # here


@teaches(AttributeError, "'Float32' object has no attribute 'float'", "convert with .to(fx.Float16)")
def test_conversion_methods_of_torch(x: fx.Tensor, n: fx.Int32):
    x[0].float()  # here


@teaches(TypeError, "got torch.float16", "torch's types are for the host")
def test_types_of_torch(x: fx.Tensor, n: fx.Int32):
    x[0].to(torch.float16)  # here


@teaches(AttributeError, "'Tensor' object has no attribute 'copy_'", "not a torch tensor", "t.store(v)")
def test_methods_of_torch(x: fx.Tensor, n: fx.Int32):
    x.copy_(x)  # here


@teaches(TypeError, "expected a number", "got 'float32'")
def test_numbers_of_numpy(x: fx.Tensor, n: fx.Int32):
    x[0] = np.float32(3.0)  # here


@teaches(TypeError, "got 'Vector'", "slice the tensor")
def test_a_vector_in_one_element(x: fx.Tensor, n: fx.Int32):
    x[0] = fx.full(4, 1.0, fx.Float32)  # here


@teaches(TypeError, "got 'Tuple3D'", "take one axis, for example fx.thread_idx.x")
def test_all_axes_as_index(x: fx.Tensor, n: fx.Int32):
    x[fx.thread_idx] = 1.0  # here


@teaches(TypeError, "carried variable 'found'", "list of 0", "list of 1")
def test_appending_in_a_loop(x: fx.Tensor, n: fx.Int32):
    found = []
    for i in range(n):  # here
        found.append(x[i])
