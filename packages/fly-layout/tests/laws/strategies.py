# SPDX-License-Identifier: Apache-2.0
"""Random layouts: nested, with size-1 and zero-stride modes, negative strides, uneven extents, and large ones."""

from __future__ import annotations

from hypothesis import strategies as st

from flydsl.layout import Layout, flatten, prefix_product, product, unflatten

extents = st.sampled_from([1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 12])
large_extents = st.sampled_from([1, 2, 3, 8, 1000, 1024, 4096, 1 << 20, 12345])


def shapes(leaves=extents, max_leaves=6):
    """Nested shapes; also single leaves and one-element tuples."""
    return st.recursive(leaves, lambda s: st.lists(s, min_size=1, max_size=3).map(tuple), max_leaves=max_leaves)


@st.composite
def layouts(draw, leaves=extents, negative=True):
    """Any layout: strides are arbitrary, often zero or those of a compact layout."""
    shape = draw(shapes(leaves))
    compact = flatten(prefix_product(shape))
    choices = [0, 0, 1, 2, 3, 4, 7, 8, 12, *compact, *compact, *compact]
    if negative:
        choices += [-1, -4]
    strides = tuple(draw(st.lists(st.sampled_from(choices), min_size=len(compact), max_size=len(compact))))
    return Layout(shape, unflatten(strides, shape))


@st.composite
def compact_layouts(draw, leaves=extents):
    """Bijections onto [0, size): compact strides in a random order of the modes."""
    shape = draw(shapes(leaves))
    flat = flatten(shape)
    order = draw(st.permutations(range(len(flat))))
    strides = [0] * len(flat)
    step = 1
    for i in order:
        strides[i] = step
        step *= flat[i]
    return Layout(shape, unflatten(tuple(strides), shape))


@st.composite
def gapped_layouts(draw, leaves=extents):
    """Injective layouts whose strides divide each other: compact ones with gaps between the modes."""
    shape = draw(shapes(leaves))
    flat = flatten(shape)
    order = draw(st.permutations(range(len(flat))))
    strides = [0] * len(flat)
    step = draw(st.sampled_from([1, 1, 2, 3]))
    for i in order:
        strides[i] = step
        step *= flat[i] * draw(st.sampled_from([1, 1, 1, 2, 3]))
    return Layout(shape, unflatten(tuple(strides), shape))


def linear_indices(layout, limit=600):
    """All linear coordinates of a small layout, a spread of them for a large one."""
    n = product(layout.shape)
    if n <= limit:
        return range(n)
    step = max(1, n // limit)
    return sorted({*range(0, n, step), n - 1, n // 2, 1, 2, 3})


__all__ = ["compact_layouts", "extents", "gapped_layouts", "large_extents", "layouts", "linear_indices", "shapes"]


def decided(a, index):
    """Whether a composition with ``a`` must have its value there.

    Past the end that of a last mode of extent 1 is dropped where it leaves no composition.
    """
    return index < a.size() or flatten(a.shape)[-1] != 1
