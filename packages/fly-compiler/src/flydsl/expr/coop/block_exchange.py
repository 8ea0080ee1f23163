# SPDX-License-Identifier: Apache-2.0
"""Rearranging the items of a workgroup through LDS.

Item i of thread t is number t * n + i in a *blocked* arrangement of n items per thread, number i * threads + t in a
*striped* one; *warp-striped* is striped within the items of each wave.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..values.numeric.base import as_numeric, select
from ..values.numeric.types import Int32
from .specialise import Collective, items_of, packed, permuted, when

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage

__all__ = ["BlockExchange", "BlockExchangeAlgorithm", "arrangement"]


class BlockExchangeAlgorithm(enum.Enum):
    """How items travel."""

    SHARED_MEMORY = "shared_memory"
    WARP_TIME_SLICING = "warp_time_slicing"


def arrangement(cls: Any, name: str) -> Callable[[int], Any]:
    """Return the function from an item of this thread to its number in an arrangement of the collective `cls`."""
    thread, n, lanes = cls.thread(), cls.items_per_thread, cls.warp_threads
    if name == "blocked":
        return lambda i: thread * n + i
    if name == "striped":
        return lambda i: thread + i * cls.block_threads
    return lambda i: (thread // lanes) * (lanes * n) + (thread & (lanes - 1)) + i * lanes


class BlockExchange(Collective):
    """`BlockExchange[dtype, block_size, items_per_thread]`: items of all threads in another arrangement.

    The functions take and return a `Vector` of items (a scalar for one). Ranks are numbers in the target arrangement.
    """

    parameters = ("items_per_thread",)
    algorithms = BlockExchangeAlgorithm
    algorithm = BlockExchangeAlgorithm.SHARED_MEMORY

    @classmethod
    def _slices(cls) -> int:
        return cls.num_warps if cls.algorithm is BlockExchangeAlgorithm.WARP_TIME_SLICING else 1

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots: one per item, or with time slicing per item of one wave."""
        return int(cls.block_threads * cls.items_per_thread // cls._slices())

    @classmethod
    def _move(cls, value: Any, storage: Any, source: str, target: str) -> Any:
        slots, items = cls.slots(storage), cls.items(value)
        write, read = arrangement(cls, source), arrangement(cls, target)
        return packed(permuted(cls, items, write, read, slots, cls._slices()), value)

    @classmethod
    def blocked_to_striped(cls, value: Any, *, storage: CollectiveStorage) -> Any:
        """Return blocked items in striped order."""
        return cls._move(value, storage, "blocked", "striped")

    @classmethod
    def striped_to_blocked(cls, value: Any, *, storage: CollectiveStorage) -> Any:
        """Return striped items in blocked order."""
        return cls._move(value, storage, "striped", "blocked")

    @classmethod
    def blocked_to_warp_striped(cls, value: Any, *, storage: CollectiveStorage) -> Any:
        """Return blocked items in warp-striped order."""
        return cls._move(value, storage, "blocked", "warp_striped")

    @classmethod
    def warp_striped_to_blocked(cls, value: Any, *, storage: CollectiveStorage) -> Any:
        """Return warp-striped items in blocked order."""
        return cls._move(value, storage, "warp_striped", "blocked")

    @classmethod
    def _scatter(cls, value: Any, ranks: Any, storage: Any, target: str, valid: Any = None, default: Any = None) -> Any:
        slots, items, ranks = cls.slots(storage), cls.items(value), items_of(ranks, Int32)
        read = arrangement(cls, target)
        if valid is None:
            return packed(permuted(cls, items, lambda i: ranks[i], read, slots, cls._slices()), value)
        fill = as_numeric(default).to(cls.dtype)
        size, slices = cls.storage_slots(), cls._slices()
        found = list(items)
        for part in range(slices):
            for first in range(0, size, cls.block_threads):
                mine = cls.thread() + first
                with when(mine < size):
                    slots[mine] = fill
            cls.sync()
            for i, (item, rank) in enumerate(zip(items, ranks, strict=True)):
                slot = rank - part * size
                with when(as_numeric(valid(i, rank)) & (slot >= 0) & (slot < size)):
                    slots[slot] = item
            cls.sync()
            for i in range(len(items)):
                slot = as_numeric(read(i)) - part * size
                inside = (slot >= 0) & (slot < size)
                got = slots[select(inside, slot, 0)]
                found[i] = got if slices == 1 else select(inside, got, found[i])
            cls.sync()
        return packed(found, value)

    @classmethod
    def scatter_to_blocked(cls, value: Any, ranks: Any, *, storage: CollectiveStorage) -> Any:
        """Return, in blocked order, the items at their ranks; the ranks are a permutation."""
        return cls._scatter(value, ranks, storage, "blocked")

    @classmethod
    def scatter_to_striped(cls, value: Any, ranks: Any, *, storage: CollectiveStorage) -> Any:
        """Return, in striped order, the items at their ranks; the ranks are a permutation."""
        return cls._scatter(value, ranks, storage, "striped")

    @classmethod
    def scatter_to_striped_guarded(cls, value: Any, ranks: Any, *, storage: CollectiveStorage, default: Any = 0) -> Any:
        """As `scatter_to_striped`; items of negative rank are dropped, slots without an item get `default`."""
        return cls._scatter(value, ranks, storage, "striped", lambda _, rank: rank >= 0, default)

    @classmethod
    def scatter_to_striped_flagged(
        cls, value: Any, ranks: Any, is_valid: Any, *, storage: CollectiveStorage, default: Any = 0
    ) -> Any:
        """As `scatter_to_striped`; items whose flag is zero are dropped, slots without an item get `default`."""
        flags = items_of(is_valid, Int32)
        return cls._scatter(value, ranks, storage, "striped", lambda i, _: flags[i] != 0, default)
