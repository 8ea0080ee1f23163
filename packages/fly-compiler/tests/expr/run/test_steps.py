# SPDX-License-Identifier: Apache-2.0
"""`range` with steps that are known only when the kernel runs: as Python's, downwards too."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def visits_kernel(y: fx.Tensor, start: fx.Int32, stop: fx.Int32, step: fx.Int32):
    count = fx.Int32(0)
    for i in range(start, stop, step):
        y[count] = i
        count += 1
        if count == 30:
            break
    last = fx.Int32(-1)
    for i in range(start, stop, step):
        last = i
    y[31] = last


@flyc.jit
def visits(y: fx.Tensor, start: fx.Int32, stop: fx.Int32, step: fx.Int32):
    visits_kernel(y, start, stop, step).launch(grid=1, block=1)


@pytest.mark.parametrize("start", [-7, 0, 10])
@pytest.mark.parametrize("stop", [-9, 0, 10, 13])
@pytest.mark.parametrize("step", [-4, -1, 1, 3])
def test_as_python_counts(start, stop, step):
    y = torch.full((32,), -99, dtype=torch.int32)
    visits(y, start, stop, step)
    expected = list(range(start, stop, step))
    assert y[: len(expected)].tolist() == expected
    assert set(y[len(expected) : 31].tolist()) == {-99}
    assert y[31] == (expected[-1] if expected else -1)
