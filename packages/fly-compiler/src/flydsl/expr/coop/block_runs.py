# SPDX-License-Identifier: Apache-2.0
"""Expanding runs of equal values that the threads of a workgroup hold as values and lengths."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from ..ops.gpu import barrier
from ..values.numeric.base import as_numeric, select
from ..values.numeric.types import Int32
from ..values.storable import Array
from ..values.struct import Struct
from ..values.vector import ReductionOp, Vector
from .block_scan import BlockScan
from .specialise import Collective, items_of

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage

__all__ = ["BlockRunLengthDecode", "BlockRunLengthDecodeAlgorithm"]


class BlockRunLengthDecodeAlgorithm(enum.Enum):
    """How runs are found: by a scan of their lengths, and bisection."""

    SCAN = "scan"


class BlockRunLengthDecode(Collective):
    """`BlockRunLengthDecode[dtype, block_size, runs_per_thread](values, lengths, storage=...)`: the items of all runs.

    Run r of thread t is number t * runs_per_thread + r; a run may be empty. Items are counted through all runs.
    """

    parameters = ("items_per_thread",)
    algorithms = BlockRunLengthDecodeAlgorithm
    algorithm = BlockRunLengthDecodeAlgorithm.SCAN

    @classmethod
    def make_storage(cls) -> Any:
        """Return the storage: a value and a start per run, and the scan's."""
        runs = cls.block_threads * cls.items_per_thread
        return Struct.__class_getitem__(
            (
                slice("values", Array[cls.dtype, runs]),
                slice("starts", Array[Int32, runs]),
                slice("scan", BlockScan[Int32, cls.block_size].SharedStorage),
            )
        )

    @classmethod
    def _call(
        cls,
        values: Any,
        lengths: Any,
        *,
        storage: Any,
        decoded_items_per_thread: int = 1,
        offset: Any = 0,
        default: Any = 0,
    ) -> Vector:
        """Return items `offset` + t * n to `offset` + t * n + n - 1 for thread t, n = decoded_items_per_thread.

        Args:
            values: this thread's values.
            lengths: their lengths, at least 0.
            storage: what an allocator gave for `SharedStorage`.
            decoded_items_per_thread: how many items a thread gets.
            offset: the first item of thread 0.
            default: what there is after the last item.
        """
        decoder = cls.init_with_run_lengths(values, lengths, storage=storage)
        return decoder.decode(decoded_items_per_thread=decoded_items_per_thread, offset=offset, default=default)

    @classmethod
    def init_with_run_lengths(cls, values: Any, lengths: Any, *, storage: CollectiveStorage) -> Decoder:
        """Return a decoder of the runs, to take several windows of their items; arguments as of the call."""
        held = cls.storage_of(storage)
        counts = Vector.from_elements(cls._ints(lengths))
        scan: Any = BlockScan
        starts, total = scan[Int32, cls.block_size].exclusive_with_aggregate(counts, ReductionOp.ADD, storage=held.scan)
        return Decoder(cls, cls.items(values), list(starts), total, held)

    @classmethod
    def init_with_run_offsets(
        cls, values: Any, offsets: Any, *, storage: CollectiveStorage, total: Any = None
    ) -> Decoder:
        """Return a decoder of runs given by the numbers of their first items, which do not descend.

        Without `total`, the last run never ends.
        """
        storage = cls.storage_of(storage)
        end = Int32(0x7FFFFFFF) if total is None else as_numeric(total).to(Int32)
        return Decoder(cls, cls.items(values), cls._ints(offsets), end, storage)

    @classmethod
    def _ints(cls, value: Any) -> list[Any]:
        found = items_of(value, Int32)
        if len(found) != cls.items_per_thread:
            raise ValueError(f"{cls.__name__} takes {cls.items_per_thread} runs per thread, got {len(found)}")
        return found


class Decoder:
    """The runs of a block in LDS. `total` is the number of their items."""

    def __init__(self, cls: Any, values: list[Any], starts: list[Any], total: Any, storage: Any) -> None:
        self.total = total
        self._cls = cls
        self._values, self._starts = storage.values.peek(), storage.starts.peek()
        thread, n = cls.thread(), cls.items_per_thread
        for i, (value, start) in enumerate(zip(values, starts, strict=True)):
            self._values[thread * n + i] = value
            self._starts[thread * n + i] = start
        barrier()

    def decode(self, *, decoded_items_per_thread: int = 1, offset: Any = 0, default: Any = 0) -> Vector:
        """Return a window of the items; arguments as of the class."""
        if isinstance(decoded_items_per_thread, bool) or not isinstance(decoded_items_per_thread, int):
            raise TypeError(f"decoded_items_per_thread is an int, got {decoded_items_per_thread!r}")
        if decoded_items_per_thread < 1:
            raise ValueError(f"decoded_items_per_thread is at least 1, got {decoded_items_per_thread}")
        cls = self._cls
        first = cls.thread() * decoded_items_per_thread + as_numeric(offset).to(Int32)
        instead = as_numeric(default).to(cls.dtype)
        runs = cls.block_threads * cls.items_per_thread
        items = []
        for i in range(decoded_items_per_thread):
            number = first + i
            # The last run that starts at or before the item; empty runs before it start there too.
            low, high = Int32(0), Int32(runs - 1)
            for _ in range((runs - 1).bit_length()):
                middle = (low + high + 1) >> 1
                right = self._starts[middle] <= number
                low, high = select(right, middle, low), select(right, high, middle - 1)
            items.append(select((number >= 0) & (number < self.total), self._values[low], instead))
        return Vector.from_elements(items)

    run_length_decode = decode
