# SPDX-License-Identifier: Apache-2.0
"""Other implementations as oracles, where they are installed: `pycute` (as CUTLASS ships it) and `tensor_layouts`.

They are held to the laws first: a result of theirs counts only if it is right by definition, since both accept some
arguments that have no answer.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws.strategies import compact_layouts, gapped_layouts, layouts

import flydsl.layout as fl
from flydsl.layout import LayoutError

pycute = pytest.importorskip("pycute", reason="pycute is not installed; it comes with nvidia-cutlass")
if not hasattr(pycute, "composition"):
    pytest.skip("the installed pycute is another package; CUTLASS's comes with nvidia-cutlass", allow_module_level=True)


def theirs(a):
    return pycute.Layout(a.shape, a.stride)


def image(layout):
    return [layout(i) for i in range(fl.product(layout.shape))]


@given(layouts(), st.integers(0, 2000))
def test_evaluation(a, i):
    assert a(i) == theirs(a)(i)
    assert fl.cosize(a) == pycute.cosize(theirs(a))


@given(layouts())
def test_coalesce(a):
    assert image(fl.coalesce(a)) == image(pycute.coalesce(theirs(a)))


@given(layouts(), layouts(negative=False))
def test_composition_where_theirs_is_right(a, b):
    try:
        r = pycute.composition(theirs(a), theirs(b))
    except (AssertionError, ZeroDivisionError):
        assume(False)
    right = pycute.product(r.shape) == b.size() and all(r(i) == a(b(i)) for i in range(b.size()))
    try:
        ours = fl.composition(a, b)
    except LayoutError:
        # We refuse what is wrong as a rule; theirs may be right by luck only where a stride does not nest.
        return
    assert [ours(i) for i in range(b.size())] == [a(b(i)) for i in range(b.size())]
    assert not right or image(ours) == image(r)


@given(gapped_layouts(), st.integers(1, 400))
def test_complement(a, codomain):
    assert image(fl.complement(a, codomain)) == image(pycute.complement(theirs(a), codomain))


@given(compact_layouts())
def test_inverses(a):
    assert image(fl.right_inverse(a)) == image(pycute.right_inverse(theirs(a)))
    assert image(fl.left_inverse(a)) == image(pycute.left_inverse(theirs(a)))


@given(compact_layouts(), compact_layouts())
def test_divide_and_product(a, b):
    assume(a.size() * b.size() <= 2000)
    assume(b.size() <= a.size())  # past the end of A theirs forgets the stride of a last mode of extent 1
    try:
        d = pycute.logical_divide(theirs(a), theirs(b))
        ours = fl.logical_divide(a, b)
    except (AssertionError, LayoutError):
        assume(False)
    assert image(ours) == image(d)
    try:
        p = pycute.logical_product(theirs(a), theirs(b))
        ours = fl.logical_product(a, b)
    except (AssertionError, LayoutError):
        assume(False)
    assert image(ours) == image(p)
