# SPDX-License-Identifier: Apache-2.0
"""Outside a trace, layouts are ordinary values."""

import pytest

import flydsl.expr as fx


def test_the_algebra_works_at_the_prompt():
    layout = fx.make_layout(fx.make_shape(8, 16), fx.make_stride(1, 8))
    assert str(layout) == "(8,16):(1,8)"
    assert fx.crd2idx((3, 5), layout) == 43
    assert fx.idx2crd(43, layout) == (3, 5)
    assert fx.size(layout) == 128
    assert fx.rank(layout) == 2
    assert fx.get_shape(layout) == (8, 16)
    assert fx.get((4, 5), 1) == 5
    tiled = fx.zipped_divide(fx.make_layout((4, 8), (8, 1)), fx.make_tile(2, 4))
    assert str(tiled) == "((2,4),(2,2)):((8,1),(16,4))"
    assert fx.select((1, 2, 3), indices=[0, 2]) == (1, 3)
    assert str(fx.make_composed_layout(fx.make_swizzle(2, 0, 3), layout)) == "S<2,0,3> o 0 o (8,16):(1,8)"


def test_what_needs_a_trace_says_so():
    with pytest.raises(RuntimeError, match=r"while a @flyc.jit or @flyc.kernel function is being traced"):
        fx.get_iter(fx.make_layout(4, 1))
