# SPDX-License-Identifier: Apache-2.0
"""Coordinates of static and dynamic layouts, on numbers and in kernels, against `flydsl.layout`."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
import flydsl.layout as host
from flydsl.kernels.common.layout_utils import crd2idx, get, idx2crd

LAYOUTS = {
    "row-major": ((6, 8), (8, 1)),
    "column-major": ((6, 7), (1, 6)),
    "nested": ((4, (2, 3)), (6, (3, 1))),
    "deep": (((2, 3), (2, (2, 3))), ((1, 2), (36, (18, 6)))),
    "flat": (24, 3),
    "with a mode of one": ((1, 8), (8, 1)),
}


def leaves(tree):
    return [one for mode in tree for one in leaves(mode)] if isinstance(tree, tuple) else [tree]


@pytest.mark.parametrize("name", LAYOUTS)
def test_numbers(name):
    layout = host.make_layout(*LAYOUTS[name])
    for linear in range(host.size(layout)):
        index = crd2idx(linear, layout)
        assert index == host.crd2idx(linear, layout)
        coordinate = idx2crd(index, layout)
        assert coordinate == host.idx2crd(index, layout)
        assert crd2idx(coordinate, layout) == index


def test_mistakes():
    layout = host.make_layout((4, (2, 3)), (6, (3, 1)))
    with pytest.raises(ValueError, match="3 modes"):
        crd2idx((1, 2, 3), layout)
    with pytest.raises(ValueError, match="in the place of one integer"):
        crd2idx(((1, 2), 3), layout)
    with pytest.raises(ValueError, match="stride of a mode is 0"):
        idx2crd(3, host.make_layout((4, 2), (0, 1)))


def test_get():
    assert get((1, (2, 3)), 1) == (2, 3)
    assert get([4, 5], -1) == 5
    assert get(7, 0) == 7
    with pytest.raises(IndexError, match="mode 1"):
        get(7, 1)


def coordinates_kernel(shape, stride, dynamic):
    """Write, for thread t, the leaves of the coordinate of index t, and the index of that coordinate."""
    count = len(leaves(shape))

    @flyc.kernel
    def kernel(Out: fx.Tensor, extent: fx.Int32):
        thread = fx.thread_idx.x
        layout = fx.make_layout((extent, shape[1]) if dynamic else shape, stride)
        coordinate = idx2crd(thread, layout)
        if fx.const_expr(dynamic):
            parts = [get(coordinate, mode).to_py_value() for mode in range(count)]
        else:
            parts = leaves(coordinate)
        for mode in fx.range_constexpr(count):
            Out[thread, mode] = parts[mode]
        index = crd2idx(coordinate, layout)
        Out[thread, count] = index.to_py_value() if dynamic else index

    @flyc.jit
    def launch(Out: fx.Tensor, extent: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        kernel(Out, extent).launch(grid=(1,), block=(64,), stream=stream)

    return launch


@pytest.mark.parametrize(("name", "dynamic"), [*((name, False) for name in LAYOUTS), ("row-major", True)])
def test_in_a_kernel(name, dynamic, run):
    shape, stride = LAYOUTS[name]
    layout = host.make_layout(shape, stride)
    count = len(leaves(shape))
    out = run.empty(torch.empty(64, count + 1, dtype=torch.int32))
    run(coordinates_kernel(shape, stride, dynamic), out, leaves(shape)[0], writes=[out], seeds=[0])
    for index in range(64):
        coordinate = host.idx2crd(index, layout)
        assert out[index].tolist() == [*leaves(coordinate), host.crd2idx(coordinate, layout)]
