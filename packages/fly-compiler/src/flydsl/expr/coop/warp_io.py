# SPDX-License-Identifier: Apache-2.0
"""Loading, storing and exchanging the items of the lanes of a group.

The storage of these is for one group. An allocation of `fx.Array[Class.SharedStorage, groups]` is taken too: each group
of the block then uses the part of its own.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from ..ops.gpu import block_dim, shuffle_idx, thread_idx
from ..ops.memory import AtomicOrdering, memory_fence
from ..values.numeric.base import select
from ..values.numeric.types import Int32
from ..values.storable import Array
from ..values.vector import Vector
from .block_exchange import arrangement
from .block_io import IO, load_items, store_items
from .specialise import items_of, packed, permuted, slots_struct
from .warp_classes import WarpCollective

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage, IntLike

__all__ = [
    "WarpExchange",
    "WarpExchangeAlgorithm",
    "WarpLoad",
    "WarpLoadAlgorithm",
    "WarpStore",
    "WarpStoreAlgorithm",
]


class WarpLoadAlgorithm(enum.Enum):
    """How a group loads."""

    DIRECT = "direct"
    STRIPED = "striped"
    VECTORIZE = "vectorize"
    TRANSPOSE = "transpose"


class WarpStoreAlgorithm(enum.Enum):
    """How a group stores."""

    DIRECT = "direct"
    STRIPED = "striped"
    VECTORIZE = "vectorize"
    TRANSPOSE = "transpose"


class WarpExchangeAlgorithm(enum.Enum):
    """How items travel between lanes."""

    SHUFFLE = "shuffle"
    SHARED = "shared"


class _ThroughLds(WarpCollective):
    parameters = ("items_per_thread",)

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage of one group."""
        return slots_struct(cls.dtype, cls.storage_slots())

    @classmethod
    def sync(cls) -> None:
        """Order the LDS accesses of the wave; its lanes run together."""
        memory_fence(syncscope="wavefront", ordering=AtomicOrdering.AcqRel)

    @classmethod
    def slots(cls, storage: Any) -> Any:
        """Return the pointer to the group's slots; `TypeError` when the storage is of another class."""
        target = getattr(type(storage), "target", None) or type(storage)
        if target is cls.SharedStorage:
            return cls.storage_of(storage).slots.peek().ptr
        if getattr(target, "dtype", None) is cls.SharedStorage:
            group = thread_idx.x + block_dim.x * (thread_idx.y + block_dim.y * thread_idx.z)
            base = storage.ptr if isinstance(storage, Array) else storage.peek().ptr
            from ..values.pointer import recast_iter

            return recast_iter(cls.dtype, base) + group // cls.warp_threads * cls.storage_slots()
        raise TypeError(f"storage is what an allocator gave for {cls.__name__}.SharedStorage, or an fx.Array of them")


class WarpLoad(_ThroughLds, IO):
    """`WarpLoad[dtype, width, items_per_thread, algorithm]`: the items of a lane, a `Vector` in blocked order."""

    algorithms = WarpLoadAlgorithm
    algorithm = WarpLoadAlgorithm.DIRECT

    @classmethod
    def load(
        cls,
        source: Any,
        *,
        offset: Any = 0,
        valid_items: IntLike | None = None,
        default: Any = None,
        storage: CollectiveStorage | None = None,
    ) -> Vector:
        """Return the items of this lane; by STRIPED in striped order.

        Args:
            source: a tensor or pointer; the group takes the width * items_per_thread elements from `offset` on.
            offset: the first element of the group.
            valid_items: how many of them there are; the others are not read.
            default: what the others are; zero if not given.
            storage: for TRANSPOSE, what an allocator gave for `SharedStorage`.
        """
        return load_items(cls, source, storage, offset, valid_items, 0 if default is None else default)


class WarpStore(_ThroughLds, IO):
    """`WarpStore[dtype, width, items_per_thread, algorithm]`: the opposite of `WarpLoad`."""

    algorithms = WarpStoreAlgorithm
    algorithm = WarpStoreAlgorithm.DIRECT

    @classmethod
    def store(
        cls,
        destination: Any,
        value: Any,
        *,
        offset: Any = 0,
        valid_items: IntLike | None = None,
        storage: CollectiveStorage | None = None,
    ) -> None:
        """Store the items of this lane; arguments as of `WarpLoad.load`."""
        store_items(cls, destination, value, storage, offset, valid_items)


class WarpExchange(_ThroughLds):
    """`WarpExchange[dtype, width, items_per_thread, algorithm]`: items of all lanes in another arrangement.

    SHUFFLE needs no storage; its cost grows with the square of the items per lane.
    """

    algorithms = WarpExchangeAlgorithm
    algorithm = WarpExchangeAlgorithm.SHARED

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots: one per item, none for shuffles."""
        shared = cls.algorithm is WarpExchangeAlgorithm.SHARED
        return int(cls.block_threads * cls.items_per_thread) if shared else 0

    @classmethod
    def _move(cls, value: Any, storage: Any, source: str, target: str) -> Any:
        items = cls.items(value)
        if cls.algorithm is WarpExchangeAlgorithm.SHARED:
            write, read = arrangement(cls, source), arrangement(cls, target)
            return packed(permuted(cls, items, write, read, cls.slots(storage)), value)
        read, lanes, n = arrangement(cls, target), cls.warp_threads, cls.items_per_thread
        results = []
        for i in range(n):
            number = read(i)
            lane, which = (number // n, number % n) if source == "blocked" else (number % lanes, number // lanes)
            found = shuffle_idx(items[0], lane, lanes)
            for j in range(1, n):
                found = select(which == j, shuffle_idx(items[j], lane, lanes), found)
            results.append(found)
        return packed(results, value)

    @classmethod
    def blocked_to_striped(cls, value: Any, *, storage: CollectiveStorage | None = None) -> Any:
        """Return blocked items in striped order."""
        return cls._move(value, storage, "blocked", "striped")

    @classmethod
    def striped_to_blocked(cls, value: Any, *, storage: CollectiveStorage | None = None) -> Any:
        """Return striped items in blocked order."""
        return cls._move(value, storage, "striped", "blocked")

    @classmethod
    def scatter_to_striped(cls, value: Any, ranks: Any, *, storage: CollectiveStorage | None = None) -> Any:
        """Return, in striped order, the items at their ranks; the ranks are a permutation.

        Raises:
            NotImplementedError: by SHUFFLE, which cannot know where an item comes from.
        """
        if cls.algorithm is not WarpExchangeAlgorithm.SHARED:
            raise NotImplementedError(f"{cls.__name__} cannot scatter by shuffles; use WarpExchangeAlgorithm.SHARED")
        ranks = items_of(ranks, Int32)
        moved = permuted(cls, cls.items(value), lambda i: ranks[i], arrangement(cls, "striped"), cls.slots(storage))
        return packed(moved, value)
