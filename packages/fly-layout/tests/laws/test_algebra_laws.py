# SPDX-License-Identifier: Apache-2.0
"""The laws of the algebra, on random layouts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from cost import lines
from hypothesis import assume, given
from hypothesis import strategies as st
from laws.strategies import (
    compact_layouts,
    decided,
    gapped_layouts,
    large_extents,
    layouts,
    linear_indices,
    shapes,
)

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError


def image(layout):
    return [layout(i) for i in range(layout.size())]


class TestCoalesce:
    @given(layouts())
    def test_keeps_the_function_and_the_size(self, a):
        c = fl.coalesce(a)
        assert c.size() == a.size()
        assert [c(i) for i in linear_indices(a)] == [a(i) for i in linear_indices(a)]

    @given(layouts())
    def test_is_idempotent_and_at_most_one_level_deep(self, a):
        c = fl.coalesce(a)
        assert c.depth <= 1 or len(fl.flatten(a.shape)) == 1  # a single leaf keeps its tuple
        assert fl.coalesce(c) == c

    @given(layouts())
    def test_no_two_neighbours_of_the_result_merge(self, a):
        c = fl.coalesce(a)
        modes = list(zip(fl.flatten(c.shape), fl.flatten(c.stride)))
        assert all(s0 * d0 != d1 for (s0, d0), (s1, d1) in pairwise(modes))
        assert len(modes) == 1 or all(s != 1 for s, _ in modes)

    @given(layouts())
    def test_by_mode_keeps_every_mode(self, a):
        c = fl.coalesce(a, (1,) * a.rank)
        assert c.rank == a.rank
        for i in range(a.rank):
            assert c[i].size() == a[i].size()
            assert image(c[i]) == image(a[i])

    @given(layouts())
    def test_filter_reaches_the_same_indices(self, a):
        f = fl.filter(a)
        assert set(image(f)) == set(image(a))
        assert 0 not in fl.flatten(f.stride) or f == Layout(1, 0)


class TestComposition:
    @given(layouts(), layouts(negative=False))
    def test_is_function_composition_on_the_domain_of_b(self, a, b):
        try:
            r = fl.composition(a, b)
        except LayoutError as e:
            assert "composition(" in str(e)
            assert str(a) in str(e)
            assert str(b) in str(e)
            assume(False)
        assert r.size() == b.size()
        assert all(r(i) == a(b(i)) for i in linear_indices(b) if decided(a, b(i)))

    @given(layouts(), layouts(negative=False))
    def test_result_keeps_the_profile_of_b(self, a, b):
        try:
            r = fl.composition(a, b)
        except LayoutError:
            assume(False)
        for crd in list(b.coords())[:64]:
            assert r(self.unwrapped(crd, b.shape)) == a(b(crd)) or not decided(a, b(crd))

    @staticmethod
    def unwrapped(crd, shape):
        """The coordinate without the one-element tuples that composition removes."""
        while type(shape) is tuple and len(shape) == 1:
            crd, shape = crd[0], shape[0]
        if type(shape) is not tuple:
            return crd
        return tuple(TestComposition.unwrapped(c, s) for c, s in zip(crd, shape))

    @given(compact_layouts(), st.data())
    def test_never_refuses_a_part_that_fits_one_mode(self, a, data):
        flat = fl.coalesce(a)
        first = fl.flatten(flat.shape)[0]
        n = data.draw(st.integers(1, first))
        d = data.draw(st.integers(1, first))
        assume((n - 1) * d < first)
        r = fl.composition(a, Layout(n, d))
        assert image(r) == [a(i * d) for i in range(n)]

    @given(layouts(large_extents), layouts(large_extents, negative=False))
    def test_large(self, a, b):
        try:
            r = fl.composition(a, b)
        except LayoutError:
            assume(False)
        assert all(r(i) == a(b(i)) for i in linear_indices(b, 50) if decided(a, b(i)))

    @given(gapped_layouts(), gapped_layouts(), gapped_layouts())
    def test_is_associative(self, a, b, c):
        try:
            left = fl.composition(fl.composition(a, b), c)
            right = fl.composition(a, fl.composition(b, c))
        except LayoutError:
            assume(False)
        # Past the end of B the two differ: (A o B) goes on along its own last mode.
        inside = [i for i in range(c.size()) if c(i) < b.size()]
        assert [left(i) for i in inside] == [right(i) for i in inside]

    @given(layouts())
    def test_identities(self, a):
        assert image(fl.composition(a, Layout(a.shape))) == image(a)
        assert image(fl.composition(Layout(a.size()), a)) == image(a)

    @given(layouts(), st.data())
    def test_tile_composes_mode_by_mode(self, a, data):
        tile = tuple(data.draw(st.sampled_from([None, 1, 2, a[i].size()])) for i in range(a.rank))
        try:
            r = fl.composition(a, tile)
        except LayoutError:
            assume(False)
        assume(a.rank > 1)
        for i, t in enumerate(tile):
            want = image(a[i]) if t is None else [a[i](j) for j in range(t)]
            assert image(r[i]) == want

    def test_error_names_the_mode_of_both(self):
        with pytest.raises(LayoutError) as e:
            fl.composition(Layout("(4,3):(3,1)"), Layout("(2,5):(1,2)"))
        assert "composition((4,3):(3,1), (2,5):(1,2))" in str(e.value)
        assert "mode [1] of B" in str(e.value)
        assert "mode 0 of coalesced A" in str(e.value)


class TestComplement:
    @given(gapped_layouts(), st.integers(1, 500))
    def test_is_disjoint_ordered_and_complete(self, a, codomain):
        r = fl.complement(a, codomain)
        sums = sorted(x + y for x in set(image(a)) for y in image(r))
        assert len(set(sums)) == len(sums) == len(set(image(a))) * r.size()
        if r != Layout(1, 0):
            strides = fl.flatten(r.stride)
            assert list(strides) == sorted(strides)
        # complete: every index below the codomain is reached
        assert set(range(codomain)) <= set(sums)

    @given(layouts(negative=False), st.integers(1, 300))
    def test_of_any_layout_is_disjoint_or_refused(self, a, codomain):
        try:
            r = fl.complement(a, codomain)
        except LayoutError as e:
            assert f"complement({a}, {codomain})" in str(e)
            assume(False)
        assert set(image(a)) & set(image(r)) <= {0}

    @given(gapped_layouts())
    def test_default_codomain_is_the_cosize(self, a):
        assert image(fl.complement(a)) == image(fl.complement(a, a.cosize()))

    @given(gapped_layouts(large_extents), st.integers(1, 1 << 60))
    def test_large(self, a, codomain):
        r = fl.complement(a, codomain)
        a_filtered = fl.filter(a)
        assert r.size() * a_filtered.size() >= codomain


class TestInverses:
    @given(layouts())
    def test_right_inverse(self, a):
        r = fl.right_inverse(a)
        assert [a(r(i)) for i in linear_indices(r)] == list(linear_indices(r))

    @given(compact_layouts())
    def test_right_inverse_of_a_bijection_is_total(self, a):
        assert fl.right_inverse(a).size() == a.size()

    @given(gapped_layouts())
    def test_left_inverse(self, a):
        r = fl.left_inverse(a)
        assert [r(a(i)) for i in range(a.size())] == list(range(a.size()))

    @given(layouts(negative=False))
    def test_left_inverse_of_any_layout_inverts_or_is_refused(self, a):
        assume(0 not in [d for s, d in zip(fl.flatten(a.shape), fl.flatten(a.stride)) if s != 1])
        try:
            r = fl.left_inverse(a)
        except LayoutError as e:
            assert "left_inverse(" in str(e)
            return
        assert [r(a(i)) for i in range(a.size())] == list(range(a.size()))

    @given(compact_layouts())
    def test_of_a_bijection_both_agree(self, a):
        n = a.size()
        assert [fl.left_inverse(a)(i) for i in range(n)] == [fl.right_inverse(a)(i) for i in range(n)]

    @given(gapped_layouts(large_extents))
    def test_large(self, a):
        r = fl.left_inverse(a)
        assert all(r(a(i)) == i for i in linear_indices(a, 60))


class TestDivide:
    @given(compact_layouts(), gapped_layouts())
    def test_partitions_exactly(self, a, d):
        try:
            r = fl.logical_divide(a, d)
        except LayoutError:
            assume(False)
        assume(d.cosize() <= a.size())
        tile = r[0]
        assert tile.size() == d.size()
        # The tile is A at D, every element of A is in exactly one tile, and rounding up only adds elements.
        assert image(tile) == [a(d(i)) for i in range(d.size())]
        assert set(image(a)) <= set(image(r))
        assert r.size() >= a.size()
        if r.size() == a.size():
            assert sorted(image(r)) == sorted(image(a))

    @given(compact_layouts(), st.data())
    def test_forms_are_rearrangements(self, a, data):
        assume(a.rank > 1 or not isinstance(a.shape, int))
        tile = tuple(data.draw(st.sampled_from([1, 2, 3, 4])) for _ in range(a.rank))
        try:
            logical = fl.logical_divide(a, tile)
        except LayoutError:
            assume(False)
        zipped = fl.zipped_divide(a, tile)
        tiled = fl.tiled_divide(a, tile)
        flat = fl.flat_divide(a, tile)
        assert zipped.rank == 2
        for i in range(a.rank):
            assert zipped[0][i] == logical[i][0]
            assert zipped[1][i] == logical[i][1]
            assert tiled[1 + i] == logical[i][1]
            assert flat[i] == logical[i][0]
            assert flat[a.rank + i] == logical[i][1]
        assert tiled[0] == zipped[0]
        assert sorted(image(zipped)) == sorted(image(logical)) == sorted(image(flat)) == sorted(image(tiled))

    @given(layouts(), st.data())
    def test_by_mode_keeps_a_mode_that_is_none(self, a, data):
        assume(isinstance(a.shape, tuple))
        tile = tuple(data.draw(st.sampled_from([None, 1])) for _ in range(a.rank))
        r = fl.logical_divide(a, tile)
        for i, t in enumerate(tile):
            if t is None:
                assert r[i] == a[i]


class TestProduct:
    @given(compact_layouts(), compact_layouts())
    def test_of_bijections_is_a_bijection(self, a, b):
        assume(a.size() * b.size() <= 2000)
        r = fl.logical_product(a, b)
        assert sorted(image(r)) == list(range(a.size() * b.size()))

    @given(gapped_layouts(), gapped_layouts())
    def test_mode_0_is_the_block_and_mode_1_moves_it_apart(self, a, b):
        try:
            r = fl.logical_product(a, b)
        except LayoutError:
            assume(False)
        assume(r.size() <= 4000)
        assert image(r[0]) == image(a)
        assert r[1].size() == b.size()
        assert len(set(image(r))) == r.size()

    @given(compact_layouts(), compact_layouts())
    def test_blocked_and_raked_hold_the_same_elements(self, a, b):
        assume(a.size() * b.size() <= 2000)
        blocked, raked = fl.blocked_product(a, b), fl.raked_product(a, b)
        assert sorted(image(blocked)) == sorted(image(raked)) == list(range(a.size() * b.size()))
        assert blocked.rank == raked.rank or min(a.rank, b.rank) == 1

    @given(compact_layouts(), st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple), st.data())
    def test_tile_to_shape_covers_the_target(self, block, target, data):
        assume(block.rank <= len(target))
        order = tuple(data.draw(st.permutations(range(len(target)))))
        r = fl.tile_to_shape(block, target, order)
        n = r.size()
        assume(n <= 5000)
        assert sorted(image(r)) == list(range(n))
        shape = r.shape if len(target) > 1 else (r.shape,)
        assert all(fl.product(s) >= t for s, t in zip(shape, target))


class TestRecast:
    @given(compact_layouts(st.sampled_from([1, 2, 4, 8, 16])), st.sampled_from([2, 4, 8]))
    def test_upcast_keeps_the_bits(self, a, factor):
        try:
            r = fl.upcast(a, factor)
        except LayoutError:
            assume(False)
        assume(a.size() % factor == 0)
        if r.size() * factor != a.size():
            assume(False)  # an extent that the factor does not divide is rounded up
        wide = {x * factor + i for x in image(r) for i in range(factor)}
        assert wide == set(image(a))

    @given(gapped_layouts(), st.sampled_from([2, 3, 8]))
    def test_downcast_keeps_the_bits(self, a, factor):
        r = fl.downcast(a, factor)
        modes = list(zip(fl.flatten(a.shape), fl.flatten(a.stride)))
        assume((1, 1) not in modes)  # which would become a second contiguous mode
        assume(any(s != 1 and d == 1 for s, d in modes))
        assert set(image(r)) == {x * factor + i for x in image(a) for i in range(factor)}

    @given(gapped_layouts(), st.sampled_from([2, 4]))
    def test_there_and_back(self, a, factor):
        assert fl.upcast(fl.downcast(a, factor), factor) == a or 1 in fl.flatten(a.shape)

    @given(layouts(), st.sampled_from([-8, 0, 16]))
    def test_nothing_to_do(self, a, bits):
        assert fl.recast_layout(a, 16, bits) == a


class TestReshape:
    @given(layouts(), shapes())
    def test_with_shape_keeps_the_linear_function(self, a, shape):
        assume(fl.product(shape) == a.size())
        try:
            r = fl.with_shape(a, shape)
        except LayoutError:
            assume(False)
        assert image(r) == image(a)

    @given(layouts())
    def test_flat_and_back(self, a):
        assert fl.unflatten_layout(fl.flat_layout(a), a.shape) == a


class TestCommon:
    @given(layouts(negative=False), layouts(negative=False))
    def test_common_layout_is_contiguous_in_both(self, a, b):
        r = fl.max_common_layout(a, b)
        n = fl.max_common_vector(a, b)
        assert r.size() == n
        assert [a(r(i)) for i in range(n)] == [b(r(i)) for i in range(n)] == list(range(n)) or n == 1

    @given(layouts())
    def test_common_with_itself_is_the_right_inverse_of_its_contiguous_part(self, a):
        assert fl.max_common_vector(a, a) == fl.right_inverse(a).size()

    @given(layouts())
    def test_nullspace_maps_to_zero(self, a):
        n = fl.nullspace(a)
        assert all(a(n(i)) == 0 for i in range(n.size()))


class TestOrdered:
    @given(shapes(), st.data())
    def test_is_compact_and_ordered(self, shape, data):
        modes = len(shape) if isinstance(shape, tuple) else 1
        order = tuple(data.draw(st.lists(st.integers(0, 3), min_size=modes, max_size=modes)))
        assume(isinstance(shape, tuple))
        r = fl.make_ordered_layout(shape, order)
        assert sorted(image(r)) == list(range(r.size()))

    @given(layouts(negative=False))
    def test_layout_like_keeps_the_order_of_strides(self, a):
        r = fl.make_layout_like(a)
        modes = [(d, e) for s, d, e in zip(*map(fl.flatten, (a.shape, a.stride, r.stride))) if s != 1 and d]
        modes.sort(key=lambda m: m[0])
        values = [e for _, e in modes]
        assert values == sorted(values) or len({d for d, _ in modes}) < len(modes)


class TestCost:
    """A layout over 2**40 elements costs what a small one costs."""

    @pytest.mark.parametrize(
        "operation",
        [
            fl.coalesce,
            fl.right_inverse,
            fl.left_inverse,
            fl.complement,
            lambda a: fl.composition(a, a),
            lambda a: fl.logical_divide(a, 4),
            lambda a: fl.logical_product(a, 4),
            lambda a: fl.zipped_divide(a, (2, 4)),
            lambda a: fl.recast_layout(a, 16, 32),
            lambda a: a(a.size() - 1),
        ],
    )
    def test_is_that_of_the_modes(self, operation):
        small = Layout(((4, 8), (2, 16)), ((2, 128), (1, 8)))
        n = 1 << 10
        large = Layout(((n, n), (2, n // 2)), ((2, n * n), (1, 2 * n)))
        huge = Layout(((n, n), (n, n)), ((n * n, n * n * n), (1, n)))
        assert huge.size() == 1 << 40
        most = 2 * lines(lambda: operation(small), 10_000)
        assert lines(lambda: operation(large), most) > 0
        assert lines(lambda: operation(huge), most) > 0
