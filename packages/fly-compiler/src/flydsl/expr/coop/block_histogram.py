# SPDX-License-Identifier: Apache-2.0
"""Histograms of the items of a workgroup, in LDS."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from ..ops.gpu import barrier
from ..ops.memory import atomic_add
from ..values.numeric.types import Int32, Uint32
from ..values.storable import Array
from ..values.struct import Struct
from .block_neighbours import BlockShuffle
from .block_radix import BlockRadixSort
from .specialise import Collective, items_of, slots_struct, when

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage

__all__ = ["BlockHistogram", "BlockHistogramAlgorithm"]


class BlockHistogramAlgorithm(enum.Enum):
    """How counts are found: by atomics in LDS, or from the runs of the sorted items, which no hot bin slows down."""

    ATOMIC = "atomic"
    SORT = "sort"


class BlockHistogram(Collective):
    """`BlockHistogram[dtype, block_size, bins](value, storage=...)`: how often each of 0 to bins - 1 occurs.

    The result is the array of `Int32` counts in LDS, complete for all threads. `init(storage)` sets the counts to zero
    and `composite(value, storage)` adds to them, for more than one round.
    """

    parameters = ("bins",)
    algorithms = BlockHistogramAlgorithm
    algorithm = BlockHistogramAlgorithm.ATOMIC
    bins: int

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage: one counter per bin; to sort, also where each bin's run begins, and the sort's."""
        if cls.algorithm is BlockHistogramAlgorithm.ATOMIC:
            return slots_struct(Int32, cls.bins)
        sort = cls._sort()
        return Struct.__class_getitem__(
            (
                slice("slots", Array[Int32, cls.bins]),
                slice("starts", Array[Int32, cls.bins]),
                slice("neighbours", BlockShuffle[Int32, cls.block_size].SharedStorage),
                slice("sort", sort.SharedStorage),
            )
        )

    @classmethod
    def _sort(cls) -> Any:
        return BlockRadixSort[Uint32, cls.block_size, 1]

    @classmethod
    def init(cls, *, storage: CollectiveStorage) -> None:
        """Set all counts to zero."""
        counts, thread = cls.slots(storage), cls.thread()
        for first in range(0, cls.bins, cls.block_threads):
            with when(thread + first < cls.bins):
                counts[thread + first] = 0
        barrier()

    @classmethod
    def composite(cls, value: Any, *, storage: CollectiveStorage) -> Any:
        """Add the items to the counts; return the array of counts."""
        storage = cls.storage_of(storage)
        counts = cls.slots(storage)
        for item in items_of(value, cls.dtype):
            if cls.algorithm is BlockHistogramAlgorithm.ATOMIC:
                atomic_add(counts.ptr + item.to(Int32), 1)
            else:
                cls._count_runs(item.to(Int32), counts, storage)
        barrier()
        return counts

    @classmethod
    def _count_runs(cls, item: Any, counts: Any, storage: Any) -> None:
        """Add the lengths of the runs that one item of each thread gives when sorted."""
        bits = max(1, (cls.bins - 1).bit_length())
        barrier()  # what was stored before has been read
        item = cls._sort()(item.to(Uint32), storage=storage.sort, end_bit=bits).to(Int32)
        neighbours, thread, starts = BlockShuffle[Int32, cls.block_size], cls.thread(), storage.starts.peek()
        before = neighbours.offset(item, -1, storage=storage.neighbours, fill=-1)
        barrier()
        after = neighbours.offset(item, 1, storage=storage.neighbours, fill=-1)
        with when(item != before):
            starts[item] = thread
        barrier()
        with when(item != after):
            counts[item] = counts[item] + (thread + 1 - starts[item])

    @classmethod
    def _call(cls, value: Any, *, storage: Any) -> Any:
        cls.init(storage=storage)
        return cls.composite(value, storage=storage)
