# SPDX-License-Identifier: Apache-2.0
"""Ranking the items of a workgroup by a digit of a few bits: counters per digit in LDS, or votes of the waves."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ..ops.gpu import barrier, lane_id
from ..ops.math import ctpop
from ..ops.memory import atomic_add
from ..values.numeric.base import select
from ..values.numeric.types import Boolean, Int32, Uint32, Uint64
from ..values.storable import Array
from ..values.struct import Struct
from ..values.vector import ReductionOp
from .block_scan import BlockScan
from .key_order import to_bits
from .lanes import votes
from .specialise import Collective, packed, when

__all__ = ["BlockRadixRank", "BlockRadixRankAlgorithm", "digit_ranks"]


class BlockRadixRankAlgorithm(enum.Enum):
    """How digits are counted.

    BASIC keeps a counter per thread and digit in LDS; MEMOIZE reads them once. By MATCH the lanes of a wave find their
    equals by votes; its items are in warp-striped order. MATCH_EARLY_COUNTS_… count first, by atomics.
    """

    BASIC = "basic"
    MEMOIZE = "memoize"
    MATCH = "match"
    MATCH_EARLY_COUNTS_ANY = "match_early_counts_any"
    MATCH_EARLY_COUNTS_ATOMIC_OR = "match_early_counts_atomic_or"


_Kind = BlockRadixRankAlgorithm


def digit_ranks(cls: Any, digits: list[Any], bins: int, scan: Any, counters: Any, memoize: bool) -> list[Any]:
    """Return the ranks of items in the order of their digits; equal digits keep their (blocked) order.

    `counters` are bins * block_threads slots of `Int32` in LDS, `scan` the storage of the block's `BlockScan`.
    """
    thread, threads = cls.thread(), cls.block_threads
    for digit in range(bins):
        counters[digit * threads + thread] = 0
    local = []
    for digit in digits:
        mine = digit * threads + thread
        count = counters[mine]
        local.append(count)
        counters[mine] = count + 1
    barrier()
    # Counters in the order of digits, then of threads: every thread adds up a run of them.
    kept = [counters[thread * bins + i] for i in range(bins)]
    total = kept[0]
    for one in kept[1:]:
        total = total + one
    before = BlockScan[Int32, cls.block_size].exclusive(total, ReductionOp.ADD, storage=scan)
    for i in range(bins):
        count = kept[i] if memoize or i == bins - 1 else counters[thread * bins + i]
        counters[thread * bins + i] = before
        before = before + count
    barrier()
    return [counters[digit * threads + thread] + one for digit, one in zip(digits, local, strict=True)]


class BlockRadixRank(Collective):
    """`BlockRadixRank[dtype, block_size, items_per_thread, algorithm](keys, storage=..., begin_bit=, end_bit=)`.

    The result is the rank of each key in the order of the digit that the bits are; equal digits keep their order,
    which is blocked, and by MATCH warp-striped. `BlockRadixRank.with_radix_bits(n)[...]` has room for digits of up to n
    bits; otherwise it is 8 bits, or 4 by BASIC and MEMOIZE, whose counters take 4 bytes per digit and thread. Wider
    digits take several rounds.
    """

    parameters = ("items_per_thread",)
    algorithms = BlockRadixRankAlgorithm
    algorithm = BlockRadixRankAlgorithm.BASIC
    configured_radix_bits: int = 0

    @classmethod
    def with_radix_bits(cls, radix_bits: int) -> Any:
        """Return the class with room for digits of so many bits.

        Raises:
            TypeError: of a specialised class.
            ValueError: not 1 to 8 bits.
        """
        if cls.dtype is not None:
            raise TypeError("give the radix bits before the block size: BlockRadixRank.with_radix_bits(n)[...]")
        if isinstance(radix_bits, bool) or not isinstance(radix_bits, int) or not 1 <= radix_bits <= 8:
            raise ValueError(f"radix bits are 1 to 8, got {radix_bits!r}")
        made: Any = type(cls)
        return made(f"{cls.__name__}.with_radix_bits({radix_bits})", (cls,), {"configured_radix_bits": radix_bits})

    @classmethod
    def _radix_bits(cls) -> int:
        return cls.configured_radix_bits or (8 if cls._matches() else 4)

    @classmethod
    def _matches(cls) -> bool:
        return bool(cls.algorithm.name.startswith("MATCH"))

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage: counters, the scan's, and a slot per item for more than one round."""
        bins = 1 << cls._radix_bits()
        count = bins * (cls.num_warps if cls._matches() else cls.block_threads)
        return Struct.__class_getitem__(
            (
                slice("counters", Array[Int32, count]),
                slice("totals", Array[Int32, bins + 1]),
                slice("scan", BlockScan[Int32, cls.block_size].SharedStorage),
                slice("order", Array[Int32, cls.block_threads * cls.items_per_thread]),
            )
        )

    @classmethod
    def _call(
        cls,
        keys: Any,
        *,
        storage: Any,
        descending: bool = False,
        begin_bit: int = 0,
        end_bit: int | None = None,
        digit_extractor: Callable[[Any], Any] | None = None,
        radix_bits: int | None = None,
        count_callback: Callable[[Any], None] | None = None,
        with_prefix: bool = False,
    ) -> Any:
        """Return the ranks, or ranks and the positions at which this thread's digits begin.

        Args:
            keys: this thread's keys.
            storage: what an allocator gave for `SharedStorage`.
            descending: whether larger digits come first.
            begin_bit: the lowest bit of the digit.
            end_bit: the bit above the highest; by default that of the key, or `begin_bit` + `radix_bits`.
            digit_extractor: gives the digit of a key instead, an unsigned number below 2^radix_bits.
            radix_bits: the bits of a digit.
            count_callback: gets the count of this thread's digits before the ranks are known; MATCH in one round only.
            with_prefix: also return where digit t of thread t begins (0 for threads beyond the digits); one round only.

        Raises:
            ValueError: bits outside of the key, more than there is room for, or a callback without MATCH.
        """
        storage = cls.storage_of(storage)
        if count_callback is not None and not cls._matches():
            raise ValueError(f"{cls.__name__}: count_callback needs a MATCH algorithm")
        room = cls._radix_bits()
        if end_bit is None:
            end_bit = cls.dtype.width if radix_bits is None else begin_bit + radix_bits
        width = radix_bits or end_bit - begin_bit if digit_extractor else end_bit - begin_bit
        if not (digit_extractor or 0 <= begin_bit < end_bit <= cls.dtype.width):
            raise ValueError(f"{cls.__name__} ranks by bits 0 to {cls.dtype.width}, got {begin_bit} to {end_bit}")
        if width > room and (count_callback or digit_extractor or with_prefix):
            raise ValueError(f"{cls.__name__} has room for digits of {room} bits, not {width}; see with_radix_bits")
        items = cls.items(keys)
        if digit_extractor is None:
            digits = [to_bits(key, descending) >> begin_bit for key in items]
        else:
            digits = [Uint32(digit_extractor(key)) for key in items]
            if descending:
                digits = [((1 << width) - 1) - digit for digit in digits]
        mask = (1 << width) - 1
        digits = [(digit.to(Uint64) if cls.dtype.width > 32 else digit.to(Uint32)) & mask for digit in digits]
        ranks, prefix = cls._rounds(digits, width, room, storage, count_callback)
        found = packed(ranks, keys)
        return (found, prefix) if with_prefix else found

    rank = _call

    @classmethod
    def _positions(cls) -> list[Any]:
        """The positions of this thread's items in the order of a block that equal digits keep."""
        n, thread = cls.items_per_thread, cls.thread()
        if not cls._matches():
            return [thread * n + i for i in range(n)]
        wave = cls.warp_threads
        return [thread // wave * (wave * n) + i * wave + thread % wave for i in range(n)]

    @classmethod
    def _rounds(cls, digits: list[Any], width: int, room: int, storage: Any, callback: Any) -> tuple[list[Any], Any]:
        """Rank by the lowest `room` bits, then by the next ones of the items in that order, and so on."""
        order = storage.order.peek()
        positions = cls._positions()
        ranks: list[Any] = []
        prefix: Any = None
        for first in range(0, width, room):
            bits = room if width - first > room else width - first
            part = [(digit >> first).to(Int32) & ((1 << bits) - 1) for digit in digits]
            if not first:
                ranks, prefix = cls._one_round(part, bits, storage, callback)
                continue
            barrier()
            for rank, digit in zip(ranks, part, strict=True):  # bring the digits into the order so far
                order[rank] = digit
            barrier()
            part = [order[position] for position in positions]
            barrier()
            found, _ = cls._one_round(part, bits, storage, None)
            for position, rank in zip(positions, found, strict=True):
                order[position] = rank
            barrier()
            ranks = [order[rank] for rank in ranks]
        return ranks, prefix

    @classmethod
    def _one_round(cls, digits: list[Any], bits: int, storage: Any, callback: Any) -> tuple[list[Any], Any]:
        """Return the ranks by these digits, and where digit t of thread t begins."""
        if cls._matches():
            return cls._match(digits, bits, storage, callback)
        counters, thread, bins = storage.counters.peek(), cls.thread(), 1 << bits
        ranks = digit_ranks(cls, digits, bins, storage.scan, counters, cls.algorithm is _Kind.MEMOIZE)
        inside = thread < bins
        return ranks, select(inside, counters[select(inside, thread * cls.block_threads, 0)], 0)

    @classmethod
    def _match(cls, digits: list[Any], width: int, storage: Any, callback: Any) -> tuple[list[Any], Any]:
        counters, totals = storage.counters.peek(), storage.totals.peek()
        bins, warps, thread = 1 << width, cls.num_warps, cls.thread()
        warp = thread // cls.warp_threads
        for first in range(0, bins * warps, cls.block_threads):
            with when(thread + first < bins * warps):
                counters[thread + first] = 0
        barrier()
        if cls.algorithm is not _Kind.MATCH:
            cls._early_counts(digits, bins, totals, callback)
        local = []
        for digit in digits:
            equal = _equal_lanes(digit, width)
            below = _count(equal & ((equal.dtype(1) << lane_id().to(equal.dtype)) - 1))
            slot = digit * warps + warp
            before = counters[slot]
            local.append(before + below)
            barrier()
            with when(below == 0):  # the first of the equals counts for all
                counters[slot] = before + _count(equal)
            barrier()
        each = -(-bins * warps // cls.block_threads)
        mine = [thread * each + i for i in range(each)]
        counts = [select(one < bins * warps, counters[select(one < bins * warps, one, 0)], 0) for one in mine]
        total = counts[0]
        for one in counts[1:]:
            total = total + one
        before = BlockScan[Int32, cls.block_size].exclusive(total, ReductionOp.ADD, storage=storage.scan)
        for slot, count in zip(mine, counts, strict=True):
            with when(slot < bins * warps):
                counters[slot] = before
            before = before + count
        barrier()
        inside = thread < bins
        prefix = select(inside, counters[select(inside, thread * warps, 0)], 0)
        if callback is not None and cls.algorithm is _Kind.MATCH:
            following = thread + 1 < bins
            end = select(following, counters[select(following, (thread + 1) * warps, 0)], cls._all())
            callback(select(inside, end - prefix, 0))
        return [counters[digit * warps + warp] + one for digit, one in zip(digits, local, strict=True)], prefix

    @classmethod
    def _all(cls) -> int:
        return int(cls.block_threads * cls.items_per_thread)

    @classmethod
    def _early_counts(cls, digits: list[Any], bins: int, totals: Any, callback: Any) -> None:
        if callback is None:
            return
        thread = cls.thread()
        for first in range(0, bins, cls.block_threads):
            with when(thread + first < bins):
                totals[thread + first] = 0
        barrier()
        for digit in digits:
            atomic_add(totals.ptr + digit, 1)
        barrier()
        inside = thread < bins
        callback(select(inside, totals[select(inside, thread, 0)], 0))


def _equal_lanes(digit: Any, width: int) -> Any:
    """Return the mask of the lanes with this lane's digit: a vote per bit."""
    equal = votes(Boolean(True))
    for bit in range(width):
        one = ((digit >> bit) & 1) != 0
        set_here = votes(one)
        equal = equal & select(one, set_here, ~set_here)
    return equal


def _count(mask: Any) -> Any:
    return ctpop(mask).to(Int32)
