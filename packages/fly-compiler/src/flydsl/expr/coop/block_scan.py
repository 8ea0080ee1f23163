# SPDX-License-Identifier: Apache-2.0
"""Prefix combinations over the threads of a workgroup, through LDS."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops.gpu import barrier, shuffle_idx
from ..values.numeric.base import as_numeric, select
from ..values.vector import Vector
from .lanes import lane_before, last_lane
from .operator import combiner, identity_of
from .specialise import Collective, items_of, when
from .warp import warp_inclusive_scan

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage, Combine, IntLike

__all__ = ["BlockScan", "BlockScanAlgorithm"]


class BlockScanAlgorithm(enum.Enum):
    """How a block scans."""

    WARP_SCANS = "warp_scans"
    RAKING = "raking"
    RAKING_MEMOIZE = "raking_memoize"


_Kind = BlockScanAlgorithm


class BlockScan(Collective):
    """`BlockScan[dtype, block_size, algorithm]`: prefix combinations over the threads of a block.

    The functions take a scalar, or a `Vector` of this thread's consecutive items. `init` comes before everything and is
    no part of an aggregate; `prefix_callback(aggregate)` may give it instead, once the aggregate is known. With
    `valid_items=n` the items of later threads count as the identity. Raking writes all values to LDS and lets the lanes
    of one wave go along runs of them; RAKING_MEMOIZE keeps a run in registers between its two passes.
    """

    algorithms = BlockScanAlgorithm
    algorithm = BlockScanAlgorithm.WARP_SCANS

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots: one per thread for raking, else one per wave."""
        return cls.num_warps if cls.algorithm is _Kind.WARP_SCANS else cls.block_threads

    @classmethod
    def inclusive(cls, value: Any, op: Combine, *, storage: CollectiveStorage, **options: Any) -> Any:
        """Return the combination of each item and those before it; options as of `inclusive_with_aggregate`."""
        return cls.inclusive_with_aggregate(value, op, storage=storage, **options)[0]

    @classmethod
    def exclusive(cls, value: Any, op: Combine, *, storage: CollectiveStorage, **options: Any) -> Any:
        """Return the combination of the items before each; the first gets `init` or the identity."""
        return cls.exclusive_with_aggregate(value, op, storage=storage, **options)[0]

    @classmethod
    def inclusive_with_aggregate(
        cls,
        value: Any,
        op: Combine,
        *,
        storage: CollectiveStorage,
        init: Any = None,
        identity: Any = None,
        valid_items: IntLike | None = None,
        prefix_callback: Callable[[Any], Any] | None = None,
    ) -> tuple[Any, Any]:
        """Return the inclusive scan and the combination of all items.

        Args:
            value: this thread's item, or a `Vector` of consecutive ones.
            op: an `fx.ReductionOp`, its name, or a callable of two values.
            storage: what an allocator gave for `SharedStorage`.
            init: what comes before everything.
            identity: the neutral value, for `valid_items` with a callable operator.
            valid_items: how many threads take part.
            prefix_callback: gives `init` from the combination of all items.
        """
        items, before, first, total = cls._scan(value, op, storage, identity, valid_items)
        start = cls._start(init, prefix_callback, total)
        combine = combiner(op)
        running = combine(start, before) if start is not None else before
        result = []
        for i, item in enumerate(items):
            alone = item if start is None else combine(start, item)
            joined = combine(running, item)
            running = select(first, alone, joined) if i == 0 else joined
            result.append(running)
        return cls._packed(result, value), total

    @classmethod
    def exclusive_with_aggregate(
        cls,
        value: Any,
        op: Combine,
        *,
        storage: CollectiveStorage,
        init: Any = None,
        identity: Any = None,
        valid_items: IntLike | None = None,
        prefix_callback: Callable[[Any], Any] | None = None,
    ) -> tuple[Any, Any]:
        """Return the exclusive scan and the combination of all items; arguments as `inclusive_with_aggregate`.

        Raises:
            ValueError: a callable operator without `init`, `identity` or `prefix_callback`.
        """
        items, before, first, total = cls._scan(value, op, storage, identity, valid_items)
        start = cls._start(init, prefix_callback, total)
        if start is None:
            start = identity_of(op, cls.dtype) if identity is None else as_numeric(identity).to(cls.dtype)
            running = select(first, start, before)
        else:
            running = select(first, start, combiner(op)(start, before))
        result = []
        for item in items:
            result.append(running)
            running = combiner(op)(running, item)
        return cls._packed(result, value), total

    @classmethod
    def _start(cls, init: Any, callback: Callable[[Any], Any] | None, total: Any) -> Any:
        if callback is not None:
            if init is not None:
                raise ValueError("give init or prefix_callback, not both")
            init = callback(total)
        return None if init is None else as_numeric(init).to(cls.dtype)

    @classmethod
    def _packed(cls, items: list[Any], like: Any) -> Any:
        return Vector.from_elements(items) if isinstance(like, Vector) else items[0]

    @classmethod
    def _scan(cls, value: Any, op: Any, storage: Any, identity: Any, valid_items: Any) -> tuple[Any, Any, Any, Any]:
        """Return this thread's items, what comes before them, whether nothing does, and the combination of all."""
        combine, slots, thread = combiner(op), cls.slots(storage), cls.thread()
        items = items_of(value, cls.dtype)
        if valid_items is not None:
            neutral = identity_of(op, cls.dtype) if identity is None else as_numeric(identity).to(cls.dtype)
            items = [select(thread < valid_items, item, neutral) for item in items]
        mine = items[0]
        for item in items[1:]:
            mine = combine(mine, item)
        scan = cls._by_waves if cls.algorithm is _Kind.WARP_SCANS else cls._rake
        before, total = scan(mine, op, slots, thread)
        return items, before, thread == 0, total

    @classmethod
    def _by_waves(cls, mine: Any, op: Any, slots: Any, thread: Any) -> tuple[Any, Any]:
        combine, lanes = combiner(op), cls.warp_threads
        plain = warp_inclusive_scan(mine, op, width=lanes)
        previous = lane_before(plain, lanes)
        if cls.num_warps == 1:
            return previous, last_lane(plain, lanes)
        warp, lane = thread // lanes, thread & (lanes - 1)
        with when(lane == lanes - 1):
            slots[warp] = plain
        barrier()
        total = waves = slots[0]
        for i in range(1, cls.num_warps):
            waves = select(warp >= i, total, waves)
            total = combine(total, slots[i])
        joined = select(lane == 0, waves, combine(waves, previous))
        return select(warp == 0, previous, joined), total

    @classmethod
    def _rake(cls, mine: Any, op: Any, slots: Any, thread: Any) -> tuple[Any, Any]:
        """Every wave rakes the whole array for itself, so one barrier is enough."""
        combine, lanes = combiner(op), cls.warp_threads
        slots[thread] = mine
        barrier()
        lane, run = thread & (lanes - 1), cls.block_threads // lanes
        kept = [slots[lane * run + i] for i in range(run)] if cls.algorithm is _Kind.RAKING_MEMOIZE else None
        of_run = slots[lane * run]
        for i in range(1, run):
            of_run = combine(of_run, slots[lane * run + i] if kept is None else kept[i])
        scanned = warp_inclusive_scan(of_run, op, width=lanes)
        total = last_lane(scanned, lanes)
        # Before this thread: the runs before its own, then the part of its own run before it.
        own, position = thread // run, thread % run
        runs_before = shuffle_idx(scanned, select(own > 0, own - 1, own), lanes)
        before = runs_before
        for i in range(run - 1):
            item = slots[own * run + i]
            joined = combine(before, item)
            started = select(own == 0, item, joined) if i == 0 else joined
            before = select(position > i, started, before)
        return before, total
