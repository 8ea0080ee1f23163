# SPDX-License-Identifier: Apache-2.0
"""Tensors that a program writes: autograd is told, or they are refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl import runtime


@flyc.kernel
def double_kernel(x: fx.Tensor, y: fx.Tensor):
    i = fx.thread_idx.x
    y[i] = x[i] * 2.0


@flyc.jit
def double(x: fx.Tensor, y: fx.Tensor):
    double_kernel(x, y).launch(grid=1, block=64)


@flyc.jit
def double_n(x: fx.Tensor, y: fx.Tensor, n: fx.Constexpr[int]):
    double_kernel(x, y).launch(grid=n, block=64)


def ways():
    """Each way to call it with plain tensors."""
    x, y = torch.ones(64), torch.zeros(64)
    compiled, compiled_n = flyc.compile(double, x, y), flyc.compile(double_n, x, y, 1)
    return {
        "jit": double,
        "compiled": compiled,
        "compiled with a constant": lambda x, y: compiled_n(x, y, 1),
        "compiled for NumPy": flyc.compile(double, x.numpy(), y.numpy()),
        "artifact": runtime.load_artifact(compiled.path),
        "wrapped": lambda x, y: double(flyc.from_dlpack(x.detach()), flyc.from_dlpack(y)),
    }


@pytest.mark.parametrize("way", ways())
def test_a_tensor_that_requires_grad(way):
    call = ways()[way]
    x = torch.ones(64, requires_grad=True)
    leaf, parameter = torch.zeros(64, requires_grad=True), torch.nn.Parameter(torch.zeros(64))
    plain = torch.zeros(64)
    call(x, plain)  # it is only read
    assert (plain == 2).all()
    result = leaf * 1.0
    for _ in range(2):
        with pytest.raises(ValueError, match=r"'y'.*requires grad and is the result of an operation"):
            call(x, result)
    assert result._version == 0
    assert not result.detach().any()
    for tensor in (leaf, parameter):
        version = tensor._version
        call(x, tensor)
        assert tensor._version > version
        assert (tensor.detach() == 2).all()
    with torch.no_grad():
        call(x, result)
    assert result._version > 0
    assert (result.detach() == 2).all()
    call(x, plain)


def test_a_backward_pass_that_needs_the_old_values_raises():
    weight = torch.ones(64, requires_grad=True)
    kept = weight * 3.0
    loss = (kept * kept).sum()  # the gradient needs `kept`
    with torch.no_grad():
        double(torch.ones(64), kept)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_other_values_are_left_alone():
    """Where a torch tensor was, and where none was."""
    compiled = flyc.compile(double, torch.ones(64), torch.zeros(64))
    y = np.zeros(64, np.float32)
    compiled(np.ones(64, np.float32), y)
    assert (y == 2).all()


def test_memory_that_holds_the_negatives():
    with pytest.raises(ValueError, match=r"argument 'x': its memory holds the negatives.*resolve_neg"):
        flyc.jit(double.original)(torch._neg_view(torch.ones(64)), torch.zeros(64))
    with pytest.raises(ValueError, match="resolve_neg"):
        flyc.from_dlpack(torch.ones(64, dtype=torch.complex64).conj().imag)
