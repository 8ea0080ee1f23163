# SPDX-License-Identifier: Apache-2.0
"""Coalescing, bank conflicts, vector width and swizzle search on patterns whose cost is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import layouts

import flydsl.layout as fl
from flydsl.layout import Layout, LayoutError, parse, sym
from flydsl.layout.analysis import Access, bank_conflicts, coalescing, lds_phases, propose_swizzle, vectorization

ROWS = Layout(((16, 4), 8), ((64, 8), 1))  # 16 rows of 64 halves: lane % 16 is the row, lane // 16 the vector in it


class TestCoalescing:
    @pytest.mark.parametrize(
        ("layout", "bits", "width", "transactions", "fewest"),
        [
            ("64:1", 32, None, 4, 4),  # 256 contiguous bytes
            ("64:2", 32, None, 8, 4),  # every other word
            ("64:64", 16, None, 64, 2),  # a column
            ("(64,8):(8,1)", 16, None, 16, 16),  # 16 bytes per lane
            ("64:0", 32, None, 1, 1),  # all lanes the same word
            ("(64,4):(1,64)", 32, 32, 16, 16),  # four accesses
            ("(8,8):(1,64)", 32, None, 8, 8),
        ],
    )
    def test_transactions(self, layout, bits, width, transactions, fewest):
        pattern = parse(layout)
        if layout == "(8,8):(1,64)":
            pattern = fl.group(pattern, 0, 2)  # 64 lanes in 8 runs of 32 bytes
            transactions, fewest = 8, 4
        r = coalescing(pattern, bits, width)
        assert (r.transactions, r.fewest) == (transactions, fewest)
        assert r.efficiency == fewest / transactions

    def test_misalignment_costs_a_transaction(self):
        assert coalescing(Layout(64, 1), 32, base=16).transactions == 5

    def test_larger_segments(self):
        assert coalescing(Layout(64, 1), 32, segment_bytes=128).transactions == 2

    def test_text(self):
        assert str(coalescing(Layout(64, 64), 16)).startswith("64 transactions of 64 bytes in 1 accesses of 16 bits")

    @given(layouts(negative=False), st.sampled_from([8, 16, 32]))
    def test_never_fewer_than_possible(self, a, bits):
        r = coalescing(fl.group(a, 0, -1), bits, bits)
        assert r.transactions >= r.fewest >= 1


class TestBanks:
    @pytest.mark.parametrize(
        ("layout", "bits", "banks", "cycles", "fewest"),
        [
            ("64:1", 32, 32, 2, 2),
            ("64:1", 32, 64, 1, 1),
            ("64:2", 32, 32, 4, 2),  # two-way
            ("64:32", 32, 32, 64, 2),  # all lanes of a phase in one bank
            ("64:32", 32, 64, 32, 1),
            ("64:0", 32, 32, 2, 2),  # broadcast
            ("64:33", 32, 32, 2, 2),  # padding removes the conflict
            ("(64,2):(2,1)", 32, 32, 4, 4),  # 64-bit accesses in order
            ("(64,4):(4,1)", 32, 32, 8, 8),  # 128-bit accesses in order
            ("(64,4):(4,1)", 32, 64, 4, 4),
            ("64:1", 16, 32, 2, 2),  # two lanes share a word
        ],
    )
    def test_cycles(self, layout, bits, banks, cycles, fewest):
        r = bank_conflicts(parse(layout), bits, banks=banks)
        assert (r.cycles, r.fewest) == (cycles, fewest)
        assert r.conflicts == cycles - fewest
        assert r.assumed

    def test_worst_names_lanes_bank_and_addresses(self):
        r = bank_conflicts(Layout(64, 32), 32, banks=32)
        lanes, bank, addresses = r.worst
        assert lanes == tuple(range(32))
        assert bank == 0
        assert addresses == tuple(range(0, 32 * 128, 128))
        assert r.degree == 32
        assert bank_conflicts(Layout(64, 1), 32).worst is None

    def test_measured_phases_of_gfx950(self):
        b128 = lds_phases("gfx950", "read", 128)
        assert b128.banks == 64
        assert not b128.assumed
        assert b128.phases[0] == (0, 1, 2, 3, 12, 13, 14, 15, *range(20, 28))
        assert b128.phases[1] == (*range(4, 12), 16, 17, 18, 19, 28, 29, 30, 31)
        assert b128.phases[2] == tuple(lane + 32 for lane in b128.phases[0])
        b96 = lds_phases("gfx950", "read", 96)
        assert b96.banks == 32
        assert b96.phases[:2] == ((0, 1, 2, 3, 20, 21, 22, 23), (4, 5, 6, 7, 16, 17, 18, 19))
        assert lds_phases("gfx950", "read", 64).phases == (tuple(range(32)), tuple(range(32, 64)))
        assert lds_phases("gfx950", "write", 64).banks == 32
        assert [len(p) for p in lds_phases("gfx950", "write", 64).phases] == [16] * 4

    @pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx11", "gfx12", "gfx1250"])
    @pytest.mark.parametrize("operation", ["read", "write"])
    @pytest.mark.parametrize("bits", [8, 16, 32, 64, 96, 128])
    def test_every_lane_is_in_one_phase(self, arch, operation, bits):
        for wave in (32, 64):
            phases = lds_phases(arch, operation, bits, wave).phases
            assert sorted(lane for p in phases for lane in p) == list(range(wave))

    def test_two_waves_cost_twice(self):
        one, two = bank_conflicts(Layout(64, 2), 32), bank_conflicts(Layout(128, 2), 32)
        assert two.cycles == 2 * one.cycles
        assert two.cycles_per_access == one.cycles_per_access


class TestSwizzleSearch:
    @pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
    def test_removes_the_conflicts_of_a_row_major_tile(self, arch):
        p = propose_swizzle(Access.of(ROWS, 16), arch=arch)
        assert p.cycles_before > p.cycles_after
        assert p.is_conflict_free
        # What it proposes is what a kernel would compose its LDS layout with.
        again = bank_conflicts(fl.composition(p.swizzle, ROWS), 16, arch=arch)
        assert again.conflicts == 0
        assert p.swizzle.base >= 3  # a vector of 8 halves stays whole

    def test_of_reads_and_writes_together(self):
        write = Access.of(Layout((64, 8), (8, 1)), 16, operation="write")
        read = Access.of(ROWS, 16)
        p = propose_swizzle(write, read, arch="gfx942")
        assert p.is_conflict_free
        assert len(p.after) == 2

    def test_nothing_to_do(self):
        p = propose_swizzle(Access.of(Layout(64, 1), 32))
        assert p.swizzle == fl.Swizzle(0, 0, 0)
        with pytest.raises(LayoutError, match="at least one"):
            propose_swizzle()


class TestVectorization:
    @pytest.mark.parametrize(
        ("layout", "bits", "elements", "reason"),
        [
            ("(8,64):(1,64)", 16, 8, "at most 128 bits"),
            ("(6,64):(1,64)", 16, 2, "6 elements are contiguous"),
            ("(8,64):(1,12)", 16, 4, "stride 12"),
            ("(8,64):(2,64)", 16, 1, "first stride is 2"),
            ("(8,M):(1,K)", 16, 1, "stride K"),
            ("(8,M):(1,K{div=4})", 16, 4, "stride K"),
            ("S<3,3,3> o 0 o (64,64):(1,64)", 16, 8, "at most 128"),
            ("S<3,2,3> o 0 o (64,64):(1,64)", 16, 4, "keeps 2 low bits"),
            ("S<3,3,3> o 4 o (64,64):(1,64)", 16, 4, "offset 4"),
        ],
    )
    def test_widths(self, layout, bits, elements, reason):
        r = vectorization(parse(layout), bits)
        assert r.elements == elements
        assert r.bits == elements * bits
        assert reason in r.reason

    def test_alignment_and_limit(self):
        assert vectorization(Layout(64, 1), 16, alignment=4).elements == 2
        assert vectorization(Layout(64, 1), 16, max_bits=32).elements == 2

    @given(layouts(), st.sampled_from([8, 16, 32]))
    def test_vectors_are_contiguous_and_aligned(self, a, bits):
        n = vectorization(a, bits).elements
        for first in range(0, a.size() - a.size() % n, n):
            assert a(first) % n == 0
            assert [a(first + i) - a(first) for i in range(n)] == list(range(n))


class TestErrors:
    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda: bank_conflicts(Layout((64, 8), (1, 64)), 16, 128), "no single access"),
            (lambda: bank_conflicts(Layout((64, 3), (3, 1)), 32, 64), "no whole number"),
            (lambda: bank_conflicts(Layout((64, sym("K")), (1, 64)), 32), "static"),
            (lambda: bank_conflicts(Layout((64, 2, 2), (1, 64, 128)), 32), "two modes"),
            (lambda: bank_conflicts(Layout(64, 1), 32, 48), "48 bits"),
            (lambda: bank_conflicts(Layout(64, 1), 32, arch="gfx90a"), "known are gfx942"),
            (lambda: bank_conflicts(Layout(64, 1), 32, banks=16), "neither 32 nor 64"),
            (lambda: bank_conflicts(Layout(64, 1), 32, operation="load"), "'read' or 'write'"),
            (lambda: coalescing(Layout(64, 1), 32, segment_bytes=48), "no power of two"),
            (lambda: coalescing(Layout(1 << 30, 1), 32), "more than 65536"),
            (lambda: vectorization((4, 8), 16), "no layout"),
        ],
    )
    def test_message(self, call, words):
        with pytest.raises(LayoutError) as e:
            call()
        assert words in str(e.value)
