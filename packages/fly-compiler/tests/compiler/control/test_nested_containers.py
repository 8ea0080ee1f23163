# SPDX-License-Identifier: Apache-2.0
"""Containers in containers, changed in place by regions: run on the emulator and compared with plain Python."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

X = np.array([1.0, -2.0, 3.0, -4.0, 5.0], np.float32)


def computed(kernel_body):
    """What a kernel of one thread leaves in its output."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel_body(x, y, n)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel(x, y, n).launch()

    y = np.zeros(4, np.float32)
    launch(X, y, len(X))
    return y.tolist()


def list_in_dict(x, y, n):
    state = {"a": [fx.Float32(0.0)], "b": fx.Float32(7.0)}
    for i in range(n):
        if x[i] > 0.0:
            state["a"][0] = state["a"][0] + x[i]
    y[0], y[1] = state["a"][0], state["b"]


def tuple_in_list_in_dict(x, y, n):
    state = {"s": [fx.Float32(0.0), (fx.Int32(0), fx.full(2, 0.0, fx.Float32))]}
    for i in range(n):
        value = x[i]
        state["s"][0] = state["s"][0] + value
        if value > 0.0:
            count, total = state["s"][1]
            state["s"][1] = (count + 1, total + value)
    count, total = state["s"][1]
    y[0], y[1], y[2] = state["s"][0], count.to(fx.Float32), total[1]


def namespaces_in_a_list(x, y, n):
    items = [SimpleNamespace(total=fx.Float32(0.0)), SimpleNamespace(total=fx.Float32(1.0))]
    for i in range(n):
        items[0].total = items[0].total + x[i]
        if x[i] < 0.0:
            items[1].total = items[1].total * x[i]
    y[0], y[1] = items[0].total, items[1].total


def a_method_of_an_inner_list(x, y, n):
    rows = [[fx.Float32(0.0)], [fx.Float32(0.0), fx.Float32(0.0)]]
    if n > 3:
        rows[1].reverse()
        rows[0][0] = fx.Float32(2.0)
        rows[1][1] = x[4]
    y[0], y[1] = rows[0][0], rows[1][1]


def a_matrix_of_accumulators(x, y, n):
    sums = [[fx.Float32(0.0) for _ in fx.range_constexpr(2)] for _ in fx.range_constexpr(2)]
    i = fx.Int32(0)
    while i < n:
        for row in fx.range_constexpr(2):
            sums[row][1 - row] = sums[row][1 - row] + x[i] * float(row + 1)
        i += 1
    y[0], y[1], y[2], y[3] = sums[0][0], sums[0][1], sums[1][0], sums[1][1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (list_in_dict, [9.0, 7.0, 0.0, 0.0]),
        (tuple_in_list_in_dict, [3.0, 3.0, 9.0, 0.0]),
        (namespaces_in_a_list, [3.0, 8.0, 0.0, 0.0]),
        (a_method_of_an_inner_list, [2.0, 5.0, 0.0, 0.0]),
        (a_matrix_of_accumulators, [0.0, 3.0, 6.0, 0.0]),
    ],
)
def test_regions_change_what_is_inside(body, expected):
    assert computed(body) == expected


def test_tensors_in_a_list_stay_what_they_are():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        fragments = [fx.make_rmem_tensor(2, fx.Float32) for _ in fx.range_constexpr(2)]
        for fragment in fragments:
            fragment.fill(0.0)
        for i in range(n):
            fragments[0][0] = fragments[0][0] + x[i]  # memory, not a variable
        y[0] = fragments[0][0]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel(x, y, n).launch()

    y = np.zeros(4, np.float32)
    assert "iter_args" not in launch.ir("origin", X, y, len(X))
    launch(X, y, len(X))
    assert y[0] == 3.0


def test_an_inner_list_that_does_not_keep_its_type():
    def body(x, y, n):
        state = {"a": [fx.Float32(0.0)]}
        for _ in range(n):
            state["a"][0] = fx.Int32(1)
        y[0] = state["a"][0]

    with pytest.raises(TypeError, match=r"variable 'state\[...\]\[0\]'.*expected dtype Float32.*produced Int32"):
        computed(body)
