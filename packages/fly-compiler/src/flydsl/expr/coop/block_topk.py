# SPDX-License-Identifier: Apache-2.0
"""Selection of the largest or smallest items of a workgroup."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops.gpu import barrier
from ..ops.math import min
from ..ops.memory import atomic_add
from ..values.numeric.base import as_numeric, select
from ..values.numeric.types import Boolean, Int32
from ..values.storable import Array
from ..values.struct import Struct
from ..values.vector import ReductionOp, Vector
from .block_merge import BlockMergeSort
from .block_scan import BlockScan
from .key_order import from_bits, to_bits, unsigned
from .specialise import items_of, packed, when

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage, IntLike

__all__ = ["BlockTopK", "BlockTopKAlgorithm"]

DIGIT_BITS = 8
"""The bits of a round of AIR."""


class BlockTopKAlgorithm(enum.Enum):
    """How items are selected: by a merge sort, or digit by digit from the top (AIR), which does not order them."""

    MERGE = "merge"
    AIR = "air"


class BlockTopK(BlockMergeSort):
    """`BlockTopK[dtype, block_size, items_per_thread, algorithm](keys, k, storage=...)`.

    For pairs, `BlockTopK[(key, value), ...](keys, k, values, storage=...)`: k comes second, while `max_pairs` and
    `min_pairs` take it behind the values.

    The first k positions of the blocked arrangement that comes back hold the k largest keys (or smallest): in order by
    MERGE, in the order they came by AIR. What the other positions hold is not specified. With less than k valid items,
    only so many positions count.
    """

    algorithms = BlockTopKAlgorithm  # type: ignore[assignment]
    algorithm = BlockTopKAlgorithm.MERGE  # type: ignore[assignment]

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage: of the merge sort, or the slots, counters and scan of AIR."""
        if cls.algorithm is BlockTopKAlgorithm.MERGE:
            return super().make_storage()
        count = cls.block_threads * cls.items_per_thread
        fields = [
            slice("keys", Array[unsigned(cls.dtype), count]),
            slice("counters", Array[Int32, 1 << DIGIT_BITS]),
            slice("found", Array[Int32, 2]),
            slice("scan", BlockScan[Int32, cls.block_size].SharedStorage),
        ]
        if cls.value_dtype is not None:
            fields.append(slice("values", Array[cls.value_dtype, count]))
        return Struct.__class_getitem__(tuple(fields))

    @classmethod
    def _call(  # type: ignore[override]
        cls,
        keys: Any,
        k: Any,
        values: Any = None,
        *,
        storage: Any,
        largest: bool = True,
        num_valid: Any = None,
        compare_op: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        """Return the selected keys, or keys and values.

        Args:
            keys: this thread's keys.
            k: how many to select.
            values: their values, for a class of pairs.
            storage: what an allocator gave for `SharedStorage`.
            largest: whether the largest keys are wanted.
            num_valid: how many of the block's items count.
            compare_op: whether its first argument comes before its second, instead; MERGE only.
        """
        if isinstance(k, int) and not 0 < k <= cls.block_threads * cls.items_per_thread:
            raise ValueError(f"{cls.__name__} selects 1 to {cls.block_threads * cls.items_per_thread} items, not {k}")
        if cls.algorithm is BlockTopKAlgorithm.MERGE:
            sort = super()._call
            return sort(keys, values, storage=storage, descending=largest, compare_op=compare_op, valid_items=num_valid)
        if compare_op is not None:
            raise TypeError("AIR selects by the bits of numbers; compare_op needs BlockTopKAlgorithm.MERGE")
        storage = cls.storage_of(storage)
        if (values is None) is (cls.value_dtype is not None):
            raise TypeError(f"{cls.__name__} takes keys{' and values' if cls.value_dtype else ''}")
        return cls._by_digits(keys, k, values, storage, largest, num_valid)

    @classmethod
    def _by_digits(cls, keys: Any, k: Any, values: Any, storage: Any, largest: bool, num_valid: Any) -> Any:
        n, thread = cls.items_per_thread, cls.thread()
        bits = [to_bits(key, largest) for key in cls.items(keys)]
        valid = [Boolean(True)] * n
        wanted = as_numeric(k).to(Int32)
        if num_valid is not None:
            valid = [thread * n + i < num_valid for i in range(n)]
            wanted = min(wanted, as_numeric(num_valid).to(Int32))
        last, ties = cls._threshold(bits, valid, wanted, storage)
        scan, slots = BlockScan[Int32, cls.block_size], storage.keys.peek()

        def before(flags: list[Any]) -> list[Any]:
            barrier()
            counts = Vector.from_elements([flag.to(Int32) for flag in flags])
            return list(scan.exclusive(counts, ReductionOp.ADD, storage=storage.scan))

        tied = [flag & (one == last) for flag, one in zip(valid, bits, strict=True)]
        chosen = [
            flag & ((one < last) | (tie & (number < ties)))
            for flag, one, tie, number in zip(valid, bits, tied, before(tied), strict=True)
        ]
        payload = None if values is None else items_of(values, cls.value_dtype)
        value_slots = None if values is None else storage.values.peek()
        for i, position in enumerate(before(chosen)):
            with when(chosen[i]):
                slots[position] = bits[i]
                if payload is not None and value_slots is not None:
                    value_slots[position] = payload[i]
        barrier()
        positions = [select(thread * n + i < wanted, thread * n + i, 0) for i in range(n)]
        found = packed([from_bits(slots[position], cls.dtype, largest) for position in positions], keys)
        if value_slots is None:
            return found
        return found, packed([value_slots[position] for position in positions], values)

    @classmethod
    def _threshold(cls, bits: list[Any], valid: list[Any], wanted: Any, storage: Any) -> tuple[Any, Any]:
        """Return the bits of the last item that is selected, and how many of its equals are."""
        kind, thread, bins = bits[0].dtype, cls.thread(), 1 << DIGIT_BITS
        counters, found = storage.counters.peek(), storage.found.peek()
        candidates, last, left = list(valid), kind(0), wanted
        each = -(-bins // cls.block_threads)
        for shift in range(kind.width - DIGIT_BITS, -1, -DIGIT_BITS):
            for first in range(0, bins, cls.block_threads):
                with when(thread + first < bins):
                    counters[thread + first] = 0
            barrier()
            digits = [((one >> shift) & (bins - 1)).to(Int32) for one in bits]
            for candidate, digit in zip(candidates, digits, strict=True):
                with when(candidate):
                    atomic_add(counters.ptr + digit, 1)
            barrier()
            mine = [thread * each + i for i in range(each)]
            counts = [select(one < bins, counters[select(one < bins, one, 0)], 0) for one in mine]
            total = counts[0]
            for count in counts[1:]:
                total = total + count
            before = BlockScan[Int32, cls.block_size].exclusive(total, ReductionOp.ADD, storage=storage.scan)
            for digit, count in zip(mine, counts, strict=True):
                with when((before < left) & (left <= before + count)):
                    found[0] = digit
                    found[1] = left - before
                before = before + count
            barrier()
            digit, left = found[0], found[1]
            candidates = [one & (own == digit) for one, own in zip(candidates, digits, strict=True)]
            last = last | (digit.to(kind) << shift)
        return last, left

    @classmethod
    def max_keys(cls, keys: Any, k: IntLike, num_valid: IntLike | None = None, *, storage: CollectiveStorage) -> Any:
        """Return the k largest keys."""
        return cls._call(keys, k, storage=storage, num_valid=num_valid)

    @classmethod
    def min_keys(cls, keys: Any, k: IntLike, num_valid: IntLike | None = None, *, storage: CollectiveStorage) -> Any:
        """Return the k smallest keys."""
        return cls._call(keys, k, storage=storage, largest=False, num_valid=num_valid)

    @classmethod
    def max_pairs(
        cls, keys: Any, values: Any, k: IntLike, num_valid: IntLike | None = None, *, storage: CollectiveStorage
    ) -> Any:
        """Return the k largest keys and their values."""
        return cls._call(keys, k, values, storage=storage, num_valid=num_valid)

    @classmethod
    def min_pairs(
        cls, keys: Any, values: Any, k: IntLike, num_valid: IntLike | None = None, *, storage: CollectiveStorage
    ) -> Any:
        """Return the k smallest keys and their values."""
        return cls._call(keys, k, values, storage=storage, largest=False, num_valid=num_valid)
