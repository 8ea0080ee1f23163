# SPDX-License-Identifier: Apache-2.0
"""A wrong argument is a Python exception that says which and why; the process lives on and the next call works."""

import numpy as np
import pytest
import torch
from kernels import scale

import flydsl.compiler as flyc


def works():
    a, b = torch.randn(100), torch.full((100,), torch.nan)
    scale(a, b, 3.0, 100)
    return torch.equal(b, a * 3.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (lambda a, b: (a, b, 3.0), ["missing"]),
        (lambda a, b: (a, b, 3.0, 100, 7), ["positional"]),
        (lambda a, b: (a, [1.0, 2.0], 3.0, 100), ["B", "list"]),
        (lambda a, b: (a, b, "three", 100), ["factor"]),
        (lambda a, b: (a, b, 3.0, 2**40), ["n"]),
    ],
)
def test_wrong_argument(arguments, words):
    a, b = torch.randn(100), torch.zeros(100)
    with pytest.raises((TypeError, ValueError, RuntimeError)) as raised:
        scale(*arguments(a, b))
    for word in words:
        assert word in str(raised.value)
    assert works()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (lambda a, b: (a.double(), b, 3.0, 100), TypeError, ["A", "float64", "float32"]),
        (lambda a, b: (a, b.reshape(2, 50), 3.0, 100), ValueError, ["B", "rank"]),
        (lambda a, b: (a, b, 3.0), TypeError, ["missing", "'n'"]),
        (lambda a, b: (a, None, 3.0, 100), TypeError, ["B"]),
    ],
)
def test_wrong_argument_of_a_compiled_function(arguments, error, words):
    a, b = torch.randn(100), torch.zeros(100)
    compiled = flyc.compile(scale, a, b, 3.0, 100)
    with pytest.raises(error) as raised:
        compiled(*arguments(a, b))
    for word in words:
        assert word in str(raised.value)
    compiled(a, b, 2.0, 100)
    assert torch.equal(b, a * 2.0)


def test_a_read_only_array_that_the_kernel_writes():
    a, b = np.ones(100, np.float32), np.zeros(100, np.float32)
    b.flags.writeable = False
    with pytest.raises((TypeError, ValueError, BufferError), match=r"B.*read-only|read-only.*B"):
        scale(a, b, 3.0, 100)
    assert b.sum() == 0
    assert works()


def test_a_read_only_array_that_the_kernel_only_reads():
    a, b = np.full(100, 2.0, np.float32), np.zeros(100, np.float32)
    a.flags.writeable = False
    scale(a, b, 3.0, 100)
    assert (b == 6.0).all()


def test_n_larger_than_the_tensor_names_it():
    a, b = torch.randn(128), torch.full((100,), 7.0)
    guard = torch.full((64,), 7.0)
    with pytest.raises(RuntimeError, match="B") as raised:
        scale(a, b, 3.0, 128)
    assert "kernels.py" in str(raised.value)
    assert (guard == 7.0).all()
    assert works()


def test_mixed_devices():
    a, b = torch.randn(100), torch.zeros(100, device="meta")
    with pytest.raises((TypeError, ValueError, RuntimeError, BufferError), match=r"B|meta"):
        scale(a, b, 3.0, 100)
    assert works()
