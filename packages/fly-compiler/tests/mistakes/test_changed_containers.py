# SPDX-License-Identifier: Apache-2.0
"""Containers of Python that a run-time branch or loop changes: carried like variables, or refused by name."""

from __future__ import annotations

import array
import collections
import copy

import numpy as np
import pytest
import torch
from teaching import complaint, launched

import flydsl.compiler as flyc
import flydsl.expr as fx


def run(body, n, dtype=np.float32):
    """Run a function of (tensor, integer) as a kernel of one thread, and return the first element."""
    kernel = flyc.kernel(body)

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(grid=(1,), block=(1,))

    x = np.zeros(4, dtype)
    launch(x, n)
    return x[0]


CARRIED = {
    "OrderedDict": lambda: collections.OrderedDict({0: 1.0}),
    "defaultdict": lambda: collections.defaultdict(float, {0: 1.0}),
    "Counter": lambda: collections.Counter({0: 1.0}),
    "dict": lambda: {0: 1.0},
    "deque": lambda: collections.deque([1.0]),
    "list": lambda: [1.0],
}


@pytest.mark.parametrize("kind", CARRIED)
@pytest.mark.parametrize(("n", "branch", "loop"), [(5, 3.0, 6.0), (0, 1.0, 1.0)])
def test_items_are_carried(kind, n, branch, loop):
    def chosen(x, n):
        held = CARRIED[kind]()
        if n > 3:
            held[0] = 3.0
        x[0] = held[0]

    def counted(x, n):
        held = CARRIED[kind]()
        for _ in range(n):
            held[0] += 1.0
        x[0] = held[0]
        assert type(held) is type(CARRIED[kind]())

    assert run(chosen, n) == branch
    assert run(counted, n) == loop


REFUSED = {
    "set": set,
    "bytearray": lambda: bytearray(2),
    "array": lambda: array.array("i", [1]),
    "ndarray": lambda: np.zeros(2),
    "Tensor": lambda: torch.zeros(2),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_carried_is_refused(kind):
    make = REFUSED[kind]

    def in_branch(x, n):
        held = make()
        if n > 3:
            if isinstance(held, set):
                held.add(1)
            elif isinstance(held, array.array):
                held.append(2)
            else:
                held[0] = 2
        x[0] = float(len(held))

    def in_loop(x, n):
        held = make()
        for _ in range(n):
            if isinstance(held, set):
                held.add(1)
            elif isinstance(held, array.array):
                held.append(2)
            else:
                held[0] = 2
        x[0] = float(len(held))

    for one in (in_branch, in_loop):
        text = complaint(TypeError, lambda one=one: launched(one))
        assert f"the {kind} 'held' of Python is changed" in text
        assert "fx.make_rmem_tensor" in text


@pytest.mark.parametrize("kind", REFUSED)
def test_what_a_branch_only_reads_is_no_concern(kind):
    make = REFUSED[kind]

    def body(x, n):
        held = make()
        if n > 3:
            held.__len__()
            x[0] = float(len(held)) + 1.0

    assert run(body, 5) == len(make()) + 1.0


def test_a_container_that_grows():
    def body(x, n):
        held = collections.deque()
        if n > 3:
            held.append(1.0)
        x[0] = float(len(held))

    text = complaint(TypeError, lambda: launched(body))
    assert "carried variable 'held'" in text
    assert "expected dtype deque of 0, produced deque of 1" in text


def test_the_names_of_the_function():
    def body(x, n):
        a = fx.Int32(3)
        if n > 3:
            a = a + 4
        assert set(locals()) == {"x", "n", "a"}
        assert dir() == sorted({"x", "n", "a"})
        x[0] = locals()["a"].to(fx.Float32)

    assert run(body, 5) == 7.0


def test_copies_of_values():
    def body(x, n):
        held = copy.deepcopy([n, fx.full(2, 1.0, fx.Float32), n.ir_value()])
        if n > 3:
            held[0] = held[0] + 1
        x[0] = held[0].to(fx.Float32) + held[1][0] + fx.Float32(fx.Int32(held[2]))
        x[1] = copy.copy(n).to(fx.Float32)

    assert run(body, 5) == 12.0


def test_a_masked_array():
    def body(x, n):
        x[0] = 1.0

    kernel = flyc.kernel(body)

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(grid=(1,), block=(1,))

    with pytest.raises(ValueError, match=r"mask of a masked array: pass a\.filled\(value\)"):
        launch(np.ma.array(np.zeros(2, np.float32), mask=[True, False]), 1)
