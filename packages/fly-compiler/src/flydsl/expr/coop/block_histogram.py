# SPDX-License-Identifier: Apache-2.0
"""Histograms of the items of a workgroup, in LDS."""

from __future__ import annotations

import enum
from typing import Any

from ..gpu import barrier
from ..memory import atomic_add
from ..numeric.types import Int32
from .specialise import Collective, items_of, slots_struct, when

__all__ = ["BlockHistogram", "BlockHistogramAlgorithm"]


class BlockHistogramAlgorithm(enum.Enum):
    """How counts are found."""

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
    unsupported = (BlockHistogramAlgorithm.SORT,)
    bins: int

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage: one counter per bin."""
        return slots_struct(Int32, cls.bins)

    @classmethod
    def init(cls, *, storage: Any) -> None:
        """Set all counts to zero."""
        counts, thread = cls.slots(storage), cls.thread()
        for first in range(0, cls.bins, cls.block_threads):
            with when(thread + first < cls.bins):
                counts[thread + first] = 0
        barrier()

    @classmethod
    def composite(cls, value: Any, *, storage: Any) -> Any:
        """Add the items to the counts; return the array of counts."""
        counts = cls.slots(storage)
        for item in items_of(value, cls.dtype):
            atomic_add(counts.ptr + item.to(Int32), 1)
        barrier()
        return counts

    @classmethod
    def _call(cls, value: Any, *, storage: Any) -> Any:
        cls.init(storage=storage)
        return cls.composite(value, storage=storage)
