# SPDX-License-Identifier: Apache-2.0
"""Radix sort of the items of a workgroup, in blocked order: a bit or a digit per round, each a stable partition."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir.dialects import scf
from flydsl.trace.context import location

from ..ops.gpu import barrier
from ..values.numeric.base import as_numeric, select, wrap
from ..values.numeric.types import Index, Int32
from ..values.storable import Array
from ..values.struct import Struct
from ..values.vector import ReductionOp
from .block_digits import digit_ranks
from .block_scan import BlockScan
from .key_order import from_bits, to_bits, unsigned
from .specialise import Collective, items_of, packed

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage

__all__ = ["BlockRadixSort", "BlockRadixSortAlgorithm"]


DIGIT_BITS = 4
"""The bits of a round of RADIX_DIGIT; its counters take 4 bytes per digit and thread."""


class BlockRadixSortAlgorithm(enum.Enum):
    """How a round finds ranks: RADIX_SCAN of one bit, by a scan; RADIX_DIGIT of a digit, by counters in LDS."""

    RADIX_SCAN = "radix_scan"
    RADIX_DIGIT = "radix_digit"


class _Radix(Collective):
    parameters = ("items_per_thread",)
    pairs = True

    @classmethod
    def _scan(cls) -> Any:
        return BlockScan[Int32, cls.block_size]

    @classmethod
    def _payload(cls) -> Any:
        return cls.value_dtype

    @classmethod
    def _fields(cls) -> list[Any]:
        count = cls.block_threads * cls.items_per_thread
        fields = [slice("scan", cls._scan().SharedStorage), slice("keys", Array[unsigned(cls.dtype), count])]
        if cls._payload() is not None:
            fields.append(slice("values", Array[cls._payload(), count]))
        return fields

    @classmethod
    def _arrays(cls, storage: Any) -> tuple[Any, Any]:
        return storage.keys.peek(), storage.values.peek() if cls._payload() is not None else None

    @classmethod
    def _bits(cls, begin_bit: Any, end_bit: Any) -> tuple[int, int]:
        end = cls.dtype.width if end_bit is None else end_bit
        if not (isinstance(begin_bit, int) and isinstance(end, int) and 0 <= begin_bit < end <= cls.dtype.width):
            raise ValueError(f"{cls.__name__} sorts by bits 0 to {cls.dtype.width}, got {begin_bit} to {end}")
        return begin_bit, end

    @classmethod
    def _round(cls, bit: Any, keys: Sequence[Any], values: Sequence[Any], storage: Any) -> tuple[list[Any], list[Any]]:
        """Put the items whose bit is zero before the others, keeping the order of each group."""
        key_slots, value_slots = cls._arrays(storage)
        n, thread, kind = cls.items_per_thread, cls.thread(), keys[0].dtype
        zeros = [((key >> bit.to(kind)) & 1) == 0 for key in keys]
        mine = zeros[0].to(Int32)
        for one in zeros[1:]:
            mine = mine + one.to(Int32)
        before, total = cls._scan().exclusive_with_aggregate(mine, ReductionOp.ADD, storage=storage.scan)
        barrier()  # the last round's reads of the slots, and the scan's, are over
        for i, zero in enumerate(zeros):
            rank = select(zero, before, total + thread * n + i - before)
            key_slots[rank] = keys[i]
            if values:
                value_slots[rank] = values[i]
            before = before + zero.to(Int32)
        barrier()
        keys = [key_slots[thread * n + i] for i in range(n)]
        return keys, [value_slots[thread * n + i] for i in range(n)] if values else []

    @classmethod
    def _rounds(cls, keys: list[Any], values: list[Any], begin: int, end: int, storage: Any) -> tuple[Any, Any]:
        """Sort by the bits from `begin` to `end`, in a loop of the kernel."""
        carried = [*keys, *values]
        classes = [one.dtype for one in carried]
        bounds = [Index(one).ir_value() for one in (begin, end, 1)]
        loop = scf.ForOp(*bounds, [one.ir_value() for one in carried], loc=location())
        with ir.InsertionPoint(loop.body):
            inside = [wrap(kind, one) for kind, one in zip(classes, loop.inner_iter_args, strict=True)]
            bit = as_numeric(loop.induction_variable).to(Int32)
            sorted_keys, sorted_values = cls._round(bit, inside[: len(keys)], inside[len(keys) :], storage)
            scf.YieldOp([one.ir_value() for one in [*sorted_keys, *sorted_values]], loc=location())
        results = [wrap(kind, one) for kind, one in zip(classes, loop.results, strict=True)]
        return results[: len(keys)], results[len(keys) :]


class BlockRadixSort(_Radix):
    """`BlockRadixSort[dtype or (key, value), block_size, items_per_thread](keys, values, storage=...)`.

    Keys (integers or floats) come back in ascending order in blocked arrangement, with their values when the class is
    one of pairs. The sort is stable, and by the bits from `begin_bit` up to `end_bit` only.
    """

    algorithms = BlockRadixSortAlgorithm
    algorithm = BlockRadixSortAlgorithm.RADIX_SCAN

    @classmethod
    def _call(
        cls,
        keys: Any,
        values: Any = None,
        *,
        storage: Any,
        descending: bool = False,
        begin_bit: int = 0,
        end_bit: int | None = None,
        decomposer: Any = None,
        radix_bits: int | None = None,
        blocked_to_striped: bool = False,
    ) -> Any:
        """Return the sorted keys, or keys and values.

        Args:
            keys: this thread's keys.
            values: their values, for a class of pairs.
            storage: what an allocator gave for `SharedStorage`.
            descending: whether larger keys come first.
            begin_bit: the lowest bit that counts.
            end_bit: the bit above the highest that counts; by default the width of the key.
            radix_bits: for RADIX_DIGIT, the bits of a round, 1 to 4.
            blocked_to_striped: return the items in striped arrangement.
        """
        if decomposer is not None:
            raise NotImplementedError(
                f"{cls.__name__} takes numbers as keys, so there is no decomposer=: pack the fields of a key into one "
                "unsigned integer, the most significant first"
            )
        if (values is None) is (cls.value_dtype is not None):
            raise TypeError(f"{cls.__name__} takes keys{' and values' if cls.value_dtype else ''}")
        storage = cls.storage_of(storage)
        begin, end = cls._bits(begin_bit, end_bit)
        bits = [to_bits(key, descending) for key in cls.items(keys)]
        payload = [] if values is None else items_of(values, cls.value_dtype)
        if cls.algorithm is BlockRadixSortAlgorithm.RADIX_DIGIT:
            bits, payload = cls._digits(bits, payload, begin, end, radix_bits or DIGIT_BITS, storage)
        else:
            bits, payload = cls._rounds(bits, payload, begin, end, storage)
        if blocked_to_striped:
            key_slots, value_slots = cls._arrays(storage)
            positions = [cls.thread() + i * cls.block_threads for i in range(cls.items_per_thread)]
            bits = [key_slots[position] for position in positions]
            payload = [value_slots[position] for position in positions] if payload else []
        found = packed([from_bits(one, cls.dtype, descending) for one in bits], keys)
        return found if values is None else (found, packed(payload, values))

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage: the scan's, a slot per key and value, and the counters of RADIX_DIGIT."""
        fields = cls._fields()
        if cls.algorithm is BlockRadixSortAlgorithm.RADIX_DIGIT:
            fields.append(slice("counters", Array[Int32, cls.block_threads << DIGIT_BITS]))
        return Struct.__class_getitem__(tuple(fields))

    @classmethod
    def _digits(
        cls, keys: list[Any], values: list[Any], begin: int, end: int, radix_bits: int, storage: Any
    ) -> tuple[list[Any], list[Any]]:
        if not 1 <= radix_bits <= DIGIT_BITS:
            raise ValueError(f"{cls.__name__} takes radix_bits of 1 to {DIGIT_BITS}, got {radix_bits}")
        key_slots, value_slots = cls._arrays(storage)
        counters, thread, n = storage.counters.peek(), cls.thread(), cls.items_per_thread
        for first in range(begin, end, radix_bits):
            bins = 1 << min(radix_bits, end - first)
            barrier()
            digits = [(key >> first).to(Int32) & (bins - 1) for key in keys]
            ranks = digit_ranks(cls, digits, bins, storage.scan, counters, True)
            for i, rank in enumerate(ranks):
                key_slots[rank] = keys[i]
                if values:
                    value_slots[rank] = values[i]
            barrier()
            keys = [key_slots[thread * n + i] for i in range(n)]
            values = [value_slots[thread * n + i] for i in range(n)] if values else []
        return keys, values

    @classmethod
    def sort_blocked_to_striped(
        cls, keys: Any, values: Any = None, *, storage: CollectiveStorage, **options: Any
    ) -> Any:
        """Sort, and return the items in striped arrangement; options as of the sort."""
        return cls._call(keys, values, storage=storage, blocked_to_striped=True, **options)
