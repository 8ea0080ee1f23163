# SPDX-License-Identifier: Apache-2.0
"""Code that unrolls to very long blocks: its results, and the limit. What it costs: tools/bench/unrolled.py."""

from types import SimpleNamespace

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.trace import context as _trace

THREADS, STEPS = 64, 400


@flyc.kernel
def straight(x: fx.Tensor, n: fx.Int32, steps: fx.Constexpr[int]):
    """Each lane below n turns its column of x into running sums; the code is cut into pieces on the way."""
    lane = fx.thread_idx.x
    if lane < n:
        total = fx.Int32(0)
        for i in fx.range_constexpr(steps):
            total = total * 3 + x[i, lane]
            x[i, lane] = total


@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32, steps: fx.Constexpr[int]):
    straight(x, n, steps).launch(block=(THREADS,))


def test_long_straight_code_in_a_divergent_branch():
    x = np.random.default_rng(7).integers(-9, 9, (STEPS, THREADS)).astype(np.int32)
    expected = x.astype(np.uint32)
    for i in range(STEPS):
        expected[i, :40] += 3 * expected[i - 1, :40] if i else 0
    launch(x, 40, STEPS)
    np.testing.assert_array_equal(x, expected.astype(np.int32))


@flyc.kernel
def chosen(x: fx.Tensor, y: fx.Tensor, steps: fx.Constexpr[int]):
    """Many branches, one behind the other, of which each chooses a value; some store it too."""
    lane = fx.thread_idx.x
    value = x[lane]
    for i in fx.range_constexpr(steps):
        if value > i:
            value = value - 1
        else:
            value = value * 2 + 1
            if i % 8 == 0:
                y[i // 8, lane] = value


@flyc.jit
def launch_chosen(x: fx.Tensor, y: fx.Tensor, steps: fx.Constexpr[int]):
    chosen(x, y, steps).launch(block=(THREADS,))


@pytest.mark.parametrize("steps", [64, pytest.param(4000, marks=pytest.mark.slow)])
def test_unrolled_branches(steps):
    x = np.random.default_rng(8).integers(-9, 99, THREADS).astype(np.int32)
    y = np.zeros((steps // 8 + 1, THREADS), np.int32)
    value, expected = x.astype(np.int64), y.copy()
    for i in range(steps):
        above = value > i
        value = np.where(above, value - 1, value * 2 + 1).astype(np.int32).astype(np.int64)
        if i % 8 == 0:
            expected[i // 8] = np.where(above, 0, value)
    launch_chosen(x, y, steps)
    np.testing.assert_array_equal(y, expected)


def test_too_many_operations_are_refused(monkeypatch):
    monkeypatch.setattr(_trace, "MOST_OPERATIONS", 1000)
    with pytest.raises(RuntimeError, match="kernel 'straight_0' has more than 1,000 operations") as caught:
        launch(np.zeros((5000, THREADS), np.int32), 40, 5000)
    assert "test_unrolled.py" in str(caught.value)
    assert "`for i in range(...)`" in str(caught.value)


def test_the_log_says_that_a_program_is_long(monkeypatch):
    said = []
    monkeypatch.setattr(_trace, "MANY_OPERATIONS", 1000)
    monkeypatch.setattr(_trace, "log", lambda: SimpleNamespace(warning=lambda text, *parts: said.append(text % parts)))
    steps = STEPS + 1  # a specialisation that no other test has traced
    launch(np.zeros((steps, THREADS), np.int32), 40, steps)
    (text,) = said
    assert text.startswith("kernel 'straight_0' has more than 1,000 operations (reached at ")
    assert "test_unrolled.py" in text


def test_too_many_branches_are_refused(monkeypatch):
    monkeypatch.setattr(_trace, "MOST_BRANCHES", 50)
    with pytest.raises(RuntimeError, match="kernel 'chosen_0' has more than 50 branches and loops") as caught:
        launch_chosen(np.zeros(THREADS, np.int32), np.zeros((9, THREADS), np.int32), 51)
    assert "test_unrolled.py" in str(caught.value)
    assert "`for i in range(...)`" in str(caught.value)


def test_the_log_says_that_branches_are_many(monkeypatch):
    said = []
    monkeypatch.setattr(_trace, "MANY_BRANCHES", 20)
    monkeypatch.setattr(_trace, "log", lambda: SimpleNamespace(warning=lambda text, *parts: said.append(text % parts)))
    launch_chosen(np.zeros(THREADS, np.int32), np.zeros((4, THREADS), np.int32), 24)
    (text,) = said
    assert text.startswith("kernel 'chosen_0' has more than 20 branches and loops (reached at ")
    assert "test_unrolled.py" in text
