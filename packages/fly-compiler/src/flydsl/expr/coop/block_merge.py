# SPDX-License-Identifier: Apache-2.0
"""Merge sort of the items of a workgroup, in blocked order."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ..ops.gpu import barrier
from ..ops.math import min
from ..values.numeric.base import as_numeric, select
from ..values.numeric.types import Boolean, Int32
from ..values.storable import Array
from ..values.struct import Struct
from .operator import identity_of
from .specialise import Collective, items_of, packed

__all__ = ["BlockMergeSort", "BlockMergeSortAlgorithm"]


class BlockMergeSortAlgorithm(enum.Enum):
    """How runs are merged."""

    MERGE = "merge"


def _less(a: Any, b: Any) -> Any:
    return a < b


class BlockMergeSort(Collective):
    """`BlockMergeSort[dtype or (key, value), block_size, items_per_thread](keys, values, storage=...)`.

    A stable sort by `compare_op(a, b)`, whether a comes before b (`<` by default, `>` with `descending`). Each thread
    sorts its items; then neighbouring runs are merged, each item finding its rank in the other run by bisection.
    """

    parameters = ("items_per_thread",)
    pairs = True
    algorithms = BlockMergeSortAlgorithm
    algorithm = BlockMergeSortAlgorithm.MERGE

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage: a slot per key and value."""
        count = cls.block_threads * cls.items_per_thread
        fields = [slice("keys", Array[cls.dtype, count])]
        if cls.value_dtype is not None:
            fields.append(slice("values", Array[cls.value_dtype, count]))
        return Struct.__class_getitem__(tuple(fields))

    @classmethod
    def _call(
        cls,
        keys: Any,
        values: Any = None,
        *,
        storage: Any,
        descending: bool = False,
        compare_op: Callable[[Any, Any], Any] | None = None,
        valid_items: Any = None,
        oob_default: Any = None,
    ) -> Any:
        """Return the sorted keys, or keys and values.

        Args:
            keys: this thread's keys.
            values: their values, for a class of pairs.
            storage: what an allocator gave for `SharedStorage`.
            descending: whether larger keys come first.
            compare_op: whether its first argument comes before its second, instead.
            valid_items: how many of the block's items count; the others are taken as `oob_default`.
            oob_default: a key that no other comes after; needed with `compare_op`.
        """
        storage = cls.storage_of(storage)
        if (values is None) is (cls.value_dtype is not None):
            raise TypeError(f"{cls.__name__} takes keys{' and values' if cls.value_dtype else ''}")
        less = compare_op or ((lambda a, b: _less(b, a)) if descending else _less)
        items = cls.items(keys)
        if valid_items is not None:
            if oob_default is None:
                if compare_op is not None:
                    raise ValueError("valid_items with compare_op needs oob_default=, a key that none comes after")
                oob_default = identity_of("max" if descending else "min", cls.dtype)
            n, last = cls.items_per_thread, as_numeric(oob_default).to(cls.dtype)
            items = [select(cls.thread() * n + i < valid_items, item, last) for i, item in enumerate(items)]
        payload = [] if values is None else items_of(values, cls.value_dtype)
        items, payload = cls._local(items, payload, less)
        run = cls.items_per_thread
        while run < cls.block_threads * cls.items_per_thread:
            items, payload = cls._merge(items, payload, run, less, storage)
            run *= 2
        found = packed(items, keys)
        return found if values is None else (found, packed(payload, values))

    sort = _call
    stable_sort = _call

    @classmethod
    def _local(cls, items: list[Any], payload: list[Any], less: Any) -> tuple[list[Any], list[Any]]:
        """Sort the items of one thread, in registers."""
        items, payload = list(items), list(payload)
        for end in range(len(items) - 1, 0, -1):
            for i in range(end):
                swap = less(items[i + 1], items[i])
                for row in (items, payload) if payload else (items,):
                    row[i], row[i + 1] = select(swap, row[i + 1], row[i]), select(swap, row[i], row[i + 1])
        return items, payload

    @classmethod
    def _merge(
        cls, items: list[Any], payload: list[Any], run: int, less: Any, storage: Any
    ) -> tuple[list[Any], list[Any]]:
        """Merge each two neighbouring runs of `run` items."""
        n, total, thread = cls.items_per_thread, cls.block_threads * cls.items_per_thread, cls.thread()
        slots = storage.keys.peek()
        value_slots = storage.values.peek() if payload else None
        barrier()
        for i, item in enumerate(items):
            slots[thread * n + i] = item
        barrier()
        first = thread * n // run * run
        left = thread * n // run % 2 == 0
        other = select(left, first + run, first - run)
        length = select(left, min(Int32(run), Int32(total) - other), Int32(run))
        length = select(length > 0, length, 0)
        ranks = []
        for i, item in enumerate(items):
            low, high = Int32(0), length
            for _ in range(run.bit_length()):
                middle, open_ = (low + high) >> 1, low < high
                found = slots[select(open_, other + middle, 0)]
                before = select(left, as_numeric(less(found, item)), ~as_numeric(less(item, found)))
                go_right = open_ & before.to(Boolean)
                low, high = select(go_right, middle + 1, low), select(open_ & ~go_right, middle, high)
            ranks.append(thread * n + i + select(left, low, low - run))
        barrier()
        for i, rank in enumerate(ranks):
            slots[rank] = items[i]
            if value_slots is not None:
                value_slots[rank] = payload[i]
        barrier()
        merged = [slots[thread * n + i] for i in range(n)]
        return merged, [] if value_slots is None else [value_slots[thread * n + i] for i in range(n)]
