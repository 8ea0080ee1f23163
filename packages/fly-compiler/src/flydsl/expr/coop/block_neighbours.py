# SPDX-License-Identifier: Apache-2.0
"""What threads learn of their neighbours: shifts of items, differences, and where runs begin and end."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops.gpu import barrier
from ..values.numeric.base import _class_of, as_numeric, select
from ..values.numeric.types import Boolean
from .specialise import Collective, items_of, packed

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage, IntLike, TypeLike

__all__ = ["BlockAdjacentDifference", "BlockDiscontinuity", "BlockShuffle", "BlockShuffleAlgorithm"]


class BlockShuffleAlgorithm(enum.Enum):
    """How items travel between threads."""

    SHARED_MEMORY = "shared_memory"


class _Neighbours(Collective):
    """Two slots per thread: its first and its last item."""

    algorithms = BlockShuffleAlgorithm
    algorithm = BlockShuffleAlgorithm.SHARED_MEMORY

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots: two per thread."""
        return 2 * cls.block_threads

    @classmethod
    def _around(cls, items: list[Any], storage: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Return the item before this thread's, the one after, the slots, and whether this is the first or last thread.

        The first thread gets its own first item as the one before, the last thread its own last as the one after.
        """
        slots, thread = cls.slots(storage), cls.thread()
        slots[thread] = items[0]
        slots[thread + cls.block_threads] = items[-1]
        barrier()
        first, last = thread == 0, thread == cls.block_threads - 1
        before = slots[cls.block_threads + select(first, thread, thread - 1)]
        after = slots[select(last, thread, thread + 1)]
        return select(first, items[0], before), select(last, items[-1], after), slots, first, last


class BlockShuffle(_Neighbours):
    """`BlockShuffle[dtype, block_size]`: items of other threads."""

    @classmethod
    def _at(cls, value: Any, storage: Any, source: Callable[[Any], Any]) -> Any:
        slots, thread = cls.slots(storage), cls.thread()
        slots[thread] = items_of(value, cls.dtype)[0]
        barrier()
        return slots[source(thread)]

    @classmethod
    def offset(cls, value: Any, distance: IntLike = 1, *, storage: CollectiveStorage, fill: Any = None) -> Any:
        """Return the item of the thread `distance` further; where there is none, `fill`, or the own one."""
        mine = as_numeric(value).to(cls.dtype)
        instead = mine if fill is None else as_numeric(fill).to(cls.dtype)
        position = cls.thread() + distance
        inside = (position >= 0) & (position < cls.block_threads)
        return select(inside, cls._at(value, storage, lambda thread: select(inside, position, thread)), instead)

    @classmethod
    def rotate(cls, value: Any, distance: IntLike = 1, *, storage: CollectiveStorage) -> Any:
        """Return the item of the thread `distance` (0 to threads - 1) further, around the end."""
        n = cls.block_threads
        return cls._at(value, storage, lambda thread: (thread + distance) % n)

    @classmethod
    def up(cls, value: Any, *, storage: CollectiveStorage, predecessor: Any = None, return_suffix: bool = False) -> Any:
        """Move all items up by one: the first is `predecessor`, or stays. Optionally also return the last item."""
        items = items_of(value, cls.dtype)
        before, _, slots, first, _ = cls._around(items, storage)
        if predecessor is not None:
            before = select(first, as_numeric(predecessor).to(cls.dtype), before)
        moved = packed([before, *items[:-1]], value)
        return (moved, slots[2 * cls.block_threads - 1]) if return_suffix else moved

    @classmethod
    def down(cls, value: Any, *, storage: CollectiveStorage, successor: Any = None, return_prefix: bool = False) -> Any:
        """Move all items down by one: the last is `successor`, or stays. Optionally also return the first item."""
        items = items_of(value, cls.dtype)
        _, after, slots, _, last = cls._around(items, storage)
        if successor is not None:
            after = select(last, as_numeric(successor).to(cls.dtype), after)
        moved = packed([*items[1:], after], value)
        return (moved, slots[0]) if return_prefix else moved


class BlockAdjacentDifference(BlockShuffle):
    """`BlockAdjacentDifference[dtype, block_size]`: an operation on neighbours of a blocked arrangement."""

    @classmethod
    def subtract_left(
        cls,
        value: Any,
        op: Callable[[Any, Any], Any] = operator.sub,
        *,
        storage: CollectiveStorage,
        predecessor: Any = None,
        valid_items: IntLike | None = None,
        output_dtype: TypeLike | None = None,
    ) -> Any:
        """Return op(item, the one before it); the first of the block stays, or meets `predecessor`.

        With `valid_items=n` the items from number n on stay as they are.
        """
        items = items_of(value, cls.dtype)
        before, _, _, first, _ = cls._around(items, storage)
        results = [op(item, previous) for item, previous in zip(items, [before, *items], strict=False)]
        alone = items[0] if predecessor is None else op(items[0], as_numeric(predecessor).to(cls.dtype))
        results[0] = select(first, alone, results[0])
        if valid_items is not None:
            results = [
                select(position < valid_items, r, i)
                for position, r, i in zip(cls._positions(items), results, items, strict=True)
            ]
        return packed(_converted(results, output_dtype), value)

    @classmethod
    def subtract_left_partial_tile(
        cls, value: Any, valid_items: IntLike, op: Callable[[Any, Any], Any] = operator.sub, **options: Any
    ) -> Any:
        """As `subtract_left` with `valid_items`."""
        return cls.subtract_left(value, op, valid_items=valid_items, **options)

    @classmethod
    def subtract_right_partial_tile(
        cls, value: Any, valid_items: IntLike, op: Callable[[Any, Any], Any] = operator.sub, **options: Any
    ) -> Any:
        """As `subtract_right` with `valid_items`."""
        return cls.subtract_right(value, op, valid_items=valid_items, **options)

    @classmethod
    def _positions(cls, items: list[Any]) -> list[Any]:
        return [cls.thread() * len(items) + i for i in range(len(items))]

    @classmethod
    def subtract_right(
        cls,
        value: Any,
        op: Callable[[Any, Any], Any] = operator.sub,
        *,
        storage: CollectiveStorage,
        successor: Any = None,
        valid_items: IntLike | None = None,
        output_dtype: TypeLike | None = None,
    ) -> Any:
        """Return op(item, the one after it); the last of the block stays, or meets `successor`.

        With `valid_items=n` item n - 1 is the last: it meets `successor`, and the items after it stay as they are.
        """
        items = items_of(value, cls.dtype)
        _, after, _, _, last = cls._around(items, storage)
        results = [op(item, following) for item, following in zip(items, [*items[1:], after], strict=True)]
        alone = items[-1] if successor is None else op(items[-1], as_numeric(successor).to(cls.dtype))
        if valid_items is None:
            results[-1] = select(last, alone, results[-1])
            return packed(_converted(results, output_dtype), value)
        for i, (position, item) in enumerate(zip(cls._positions(items), items, strict=True)):
            end = item if successor is None else op(item, as_numeric(successor).to(cls.dtype))
            inner = select(position == as_numeric(valid_items) - 1, end, results[i])
            results[i] = select(position < valid_items, inner, item)
        return packed(_converted(results, output_dtype), value)


def _converted(results: list[Any], dtype: Any) -> list[Any]:
    return results if dtype is None else [one.to(_class_of(dtype)) for one in results]


class BlockDiscontinuity(BlockShuffle):
    """`BlockDiscontinuity[dtype, block_size]`: where runs of equal items begin and end, in a blocked arrangement."""

    @classmethod
    def _flags(cls, value: Any, op: Any, storage: Any, predecessor: Any, successor: Any) -> tuple[Any, Any, Any]:
        items = items_of(value, cls.dtype)
        before, after, _, first, last = cls._around(items, storage)
        if predecessor is not None:
            before = select(first, as_numeric(predecessor).to(cls.dtype), before)
        heads = [op(previous, item) for item, previous in zip(items, [before, *items], strict=False)]
        tails = [op(item, following) for item, following in zip(items, [*items[1:], after], strict=True)]
        head = Boolean(True) if predecessor is None else op(as_numeric(predecessor).to(cls.dtype), items[0])
        tail = Boolean(True) if successor is None else op(items[-1], as_numeric(successor).to(cls.dtype))
        heads[0], tails[-1] = select(first, head, heads[0]), select(last, tail, tails[-1])
        return packed(heads, value), packed(tails, value), packed([before, *items[:-1]], value)

    @classmethod
    def flag_heads(
        cls,
        value: Any,
        flag_op: Callable[[Any, Any], Any] = operator.ne,
        *,
        storage: CollectiveStorage,
        predecessor: Any = None,
        return_predecessors: bool = False,
    ) -> Any:
        """Return Booleans: flag_op(the one before, item); true for the first of the block without `predecessor`.

        With `return_predecessors` also the items before (the block's first item, without `predecessor`, is its own).
        """
        heads, _, before = cls._flags(value, flag_op, storage, predecessor, None)
        return (heads, before) if return_predecessors else heads

    @classmethod
    def flag_tails(
        cls,
        value: Any,
        flag_op: Callable[[Any, Any], Any] = operator.ne,
        *,
        storage: CollectiveStorage,
        successor: Any = None,
    ) -> Any:
        """Return Booleans: flag_op(item, the one after); true for the last of the block without `successor`."""
        return cls._flags(value, flag_op, storage, None, successor)[1]

    @classmethod
    def flag_heads_and_tails(
        cls,
        value: Any,
        flag_op: Callable[[Any, Any], Any] = operator.ne,
        *,
        storage: CollectiveStorage,
        predecessor: Any = None,
        successor: Any = None,
        return_predecessors: bool = False,
    ) -> tuple[Any, ...]:
        """Return the flags of heads and of tails, and with `return_predecessors` the items before."""
        flags = cls._flags(value, flag_op, storage, predecessor, successor)
        return flags if return_predecessors else flags[:2]
