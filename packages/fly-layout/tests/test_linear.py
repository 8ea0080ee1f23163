# SPDX-License-Identifier: Apache-2.0
"""Layouts as linear maps over F2: exact condition, round trips, algebra."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws.strategies import compact_layouts, layouts

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError, parse
from flydsl.layout.atoms import matrix_instructions
from flydsl.layout.linear import LinearLayout, from_bases, is_linear, to_linear

powers = st.sampled_from([1, 2, 4, 8])


@given(layouts())
def test_the_condition_is_exact(a):
    """`is_linear` is true exactly when the function is linear over F2 (and the extents are powers of two)."""
    n = a.size()
    by_definition = n & (n - 1) == 0 and all(a(i) >= 0 for i in range(n))
    if by_definition:
        images = [a(1 << k) for k in range(n.bit_length() - 1)]
        by_definition = all(a(i) == xor_of(images, i) for i in range(n))
    powers_only = all(s & (s - 1) == 0 for s in fl.flatten(a.shape))
    assert is_linear(a) == (by_definition and powers_only)


def xor_of(images, i):
    result = 0
    for k, image in enumerate(images):
        if i >> k & 1:
            result ^= image
    return result


@given(compact_layouts(powers))
def test_there_and_back(a):
    linear = to_linear(a)
    back = linear.to_layout()
    assert [linear(i) for i in range(a.size())] == [a(i) for i in range(a.size())]
    assert [back(i) for i in range(a.size())] == [a(i) for i in range(a.size())]
    assert back.rank == a.rank or a.rank == 1


@given(compact_layouts(powers), st.integers(1, 3), st.integers(0, 3), st.integers(1, 4))
def test_swizzled_there_and_back(a, bits, base, shift):
    assume(shift >= bits and a.size() > 1)
    c = fl.composition(fl.Swizzle(bits, base, shift), a)
    linear = to_linear(c)
    back = linear.to_swizzled()
    assert [linear(i) for i in range(a.size())] == [back(i) for i in range(a.size())] == [c(i) for i in range(a.size())]


@given(compact_layouts(powers), compact_layouts(powers))
def test_composition_is_the_matrix_product(a, b):
    assume(b.size() <= a.size())
    product = to_linear(a) @ to_linear(b)
    assert [product(i) for i in range(b.size())] == [a(b(i)) for i in range(b.size())]


@given(compact_layouts(powers))
def test_inverse(a):
    linear = to_linear(a)
    inverse = linear.inverse()
    assert [inverse(linear(i)) for i in range(a.size())] == list(range(a.size()))
    assert inverse.inverse()(0) == 0
    assert linear.is_injective
    assert linear.is_surjective


def test_affine_maps():
    c = parse("S<2,0,2> o 16 o 16:1")
    linear = to_linear(c)
    assert linear.offset == 16
    assert [linear(i) for i in range(16)] == [c(i) for i in range(16)]
    assert not is_linear(c)
    assert linear.to_swizzled()(5) == c(5)


def test_triton_style_bases():
    """A blocked layout: 2 registers along dim1, 8 lanes along dim1 x 8 along dim0 ... as Triton prints it."""
    bases = {"lane": [[0, 2], [0, 4], [1, 0], [2, 0]], "register": [[0, 1], [4, 0]]}
    linear = from_bases(bases, [8, 8])
    tv = linear.to_layout()
    assert tv.rank == 2
    assert tv(1, 0) == Layout((8, 8))(0, 2)
    assert tv(4, 0) == Layout((8, 8))(1, 0)
    assert tv(0, 1) == Layout((8, 8))(0, 1)
    assert tv(0, 3) == Layout((8, 8))(4, 1)
    assert to_linear(tv).bases == linear.bases


@pytest.mark.parametrize("instruction", [i for i in matrix_instructions() if i.wave == 64][:40], ids=str)
def test_amd_fragments_are_linear(instruction):
    for operand in "ABC":
        tv = instruction.layout_tv(operand)
        assert to_linear(tv).rank() == (tv.cosize() - 1).bit_length()


def test_matrix_and_rank():
    m = LinearLayout([1, 3, 4], (2, 4))
    assert m.matrix() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert m.rank() == 3
    assert LinearLayout([1, 1]).rank() == 1
    assert not LinearLayout([1, 1]).is_injective
    assert pickle.loads(pickle.dumps(m)) == m
    assert eval(repr(m)) == m
    assert hash(m) == hash(eval(repr(m)))
    assert m(1, 2) == m(5) == 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: to_linear(parse("(3,4):(1,4)")), "extent 3 is no power of two"),
        (lambda: to_linear(parse("4:3")), "3 and 6, share set bits"),
        (lambda: to_linear(parse("4:-1")), "negative"),
        (lambda: to_linear(parse("(M,4):(4,1)")), "not static"),
        (lambda: to_linear(parse("S<1,0,1> o 1 o 4:1")), "no exclusive-or"),
        (lambda: to_linear(7), "no layout"),
        (lambda: LinearLayout([1, 3]).to_layout(), "share set bits"),
        (lambda: LinearLayout([1, 2], offset=4).to_layout(), "image of 0"),
        (lambda: LinearLayout([1, 1]).inverse(), "no bijection"),
        (lambda: LinearLayout([1, 2], (3,)), "no power of two"),
        (lambda: LinearLayout([1, 2], (2,)), "not 2"),
        (lambda: LinearLayout([7, 7, 7]).to_swizzled(), "no swizzle"),
        (lambda: from_bases({"lane": [[9, 0]]}, [8, 8]), "no coordinate"),
        (lambda: from_bases({"lane": []}, [6]), "no power of two"),
        (lambda: LinearLayout([1]) @ LinearLayout([4]), "index bits"),
    ],
)
def test_errors(call, words):
    with pytest.raises(LayoutError) as e:
        call()
    assert words in str(e.value)
