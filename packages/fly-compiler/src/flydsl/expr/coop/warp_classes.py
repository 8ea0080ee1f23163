# SPDX-License-Identifier: Apache-2.0
"""The functions of a wave for one type and width: `WarpReduce[dtype, width]` and so on.

A group is `width` neighbouring lanes, a power of two of them; by default the wave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..values.numeric.base import as_numeric
from ..values.struct import Empty
from . import warp, warp_sort
from .specialise import Collective

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage, Combine, IntLike

__all__ = ["WarpBitonicSort", "WarpCollective", "WarpMergeSort", "WarpReduce", "WarpReduceBatched", "WarpScan"]


class WarpCollective(Collective):
    """Base of the classes of a wave. Attributes are those of a collective, with the group as its block."""

    extent = "width"

    @classmethod
    def threads_of(cls, extent: Any) -> dict[str, Any]:
        """Return the attributes that `width` gives; `ValueError` when it is no power of two up to the wave size."""
        lanes = warp._width(extent)
        return {"block_threads": lanes, "warp_threads": lanes, "num_warps": 1}

    @classmethod
    def thread(cls) -> Any:
        """Return the lane's number in its group."""
        return warp._lane(cls.warp_threads)

    @classmethod
    def make_storage(cls) -> type[Empty]:
        """Return the storage: none."""
        return Empty

    @classmethod
    def _typed(cls, value: Any) -> Any:
        return as_numeric(value).to(cls.dtype)


class WarpReduce(WarpCollective):
    """Reductions over `width` lanes; they need no storage."""

    extent_optional = True

    @classmethod
    def reduce(
        cls, value: Any, op: Combine, *, valid_items: IntLike | None = None, storage: CollectiveStorage | None = None
    ) -> Any:
        """As `warp_reduce`."""
        return warp.warp_reduce(cls._typed(value), op, width=cls.warp_threads, valid_items=valid_items)

    @classmethod
    def head_segmented_reduce(
        cls, value: Any, head_flag: Any, op: Combine, *, storage: CollectiveStorage | None = None
    ) -> Any:
        """As `warp_head_segmented_reduce`."""
        return warp.warp_head_segmented_reduce(cls._typed(value), head_flag, op, width=cls.warp_threads)

    @classmethod
    def tail_segmented_reduce(
        cls, value: Any, tail_flag: Any, op: Combine, *, storage: CollectiveStorage | None = None
    ) -> Any:
        """As `warp_tail_segmented_reduce`."""
        return warp.warp_tail_segmented_reduce(cls._typed(value), tail_flag, op, width=cls.warp_threads)


class WarpScan(WarpCollective):
    """Scans over `width` lanes; they need no storage. `init` and `valid_items` as of the functions."""

    extent_optional = True

    @classmethod
    def inclusive_scan(
        cls,
        value: Any,
        op: Combine,
        *,
        init: Any = None,
        valid_items: IntLike | None = None,
        storage: CollectiveStorage | None = None,
    ) -> Any:
        """As `warp_inclusive_scan`."""
        return warp._scans(cls._typed(value), op, cls.warp_threads, init, valid_items, "inclusive")[0]

    @classmethod
    def exclusive_scan(
        cls,
        value: Any,
        op: Combine,
        *,
        init: Any = None,
        valid_items: IntLike | None = None,
        storage: CollectiveStorage | None = None,
    ) -> Any:
        """As `warp_exclusive_scan`."""
        return warp._scans(cls._typed(value), op, cls.warp_threads, init, valid_items, "exclusive")[1]

    @classmethod
    def scan(
        cls,
        value: Any,
        op: Combine,
        *,
        init: Any = None,
        valid_items: IntLike | None = None,
        storage: CollectiveStorage | None = None,
    ) -> tuple[Any, Any]:
        """As `warp_scan`: the inclusive and the exclusive scan."""
        return warp._scans(cls._typed(value), op, cls.warp_threads, init, valid_items, "inclusive exclusive")[:2]

    @classmethod
    def scan_with_aggregate(
        cls,
        value: Any,
        op: Combine,
        *,
        init: Any = None,
        valid_items: IntLike | None = None,
        storage: CollectiveStorage | None = None,
    ) -> tuple[Any, Any, Any]:
        """As `warp_scan_with_aggregate`: both scans and the combination of all lanes."""
        return warp._scans(cls._typed(value), op, cls.warp_threads, init, valid_items)

    @classmethod
    def broadcast(cls, value: Any, source_lane: IntLike, *, storage: CollectiveStorage | None = None) -> Any:
        """As `warp_broadcast`."""
        return warp.warp_broadcast(cls._typed(value), source_lane, width=cls.warp_threads)


class WarpReduceBatched(WarpCollective):
    """`WarpReduceBatched[dtype, width, items_per_thread]`: a reduction of each item over the lanes of a group.

    `sync_physical_warp` is accepted for kernels written for other waves; the lanes of a wave run together.
    """

    parameters = ("items_per_thread",)

    @classmethod
    def reduce(
        cls, value: Any, op: Combine, *, sync_physical_warp: bool = False, storage: CollectiveStorage | None = None
    ) -> Any:
        """As `warp_reduce_batched`."""
        return warp.warp_reduce_batched(cls._vector(value), op, width=cls.warp_threads)

    @classmethod
    def reduce_to_blocked(
        cls, value: Any, op: Combine, *, sync_physical_warp: bool = False, storage: CollectiveStorage | None = None
    ) -> Any:
        """As `warp_reduce_batched_to_blocked`."""
        return warp.warp_reduce_batched_to_blocked(cls._vector(value), op, width=cls.warp_threads)

    @classmethod
    def reduce_to_striped(
        cls, value: Any, op: Combine, *, sync_physical_warp: bool = False, storage: CollectiveStorage | None = None
    ) -> Any:
        """As `warp_reduce_batched_to_striped`."""
        return warp.warp_reduce_batched_to_striped(cls._vector(value), op, width=cls.warp_threads)

    @classmethod
    def _vector(cls, value: Any) -> Any:
        from ..values.vector import Vector

        return Vector.from_elements(cls.items(value))


class _WarpSort(WarpCollective):
    parameters = ("items_per_thread",)
    pairs = True
    stable = False

    @classmethod
    def sort(
        cls, keys: Any, values: Any = None, *, compare_op: Any, valid_items: Any = None, storage: Any = None
    ) -> Any:
        """Return the keys of a group in order, or keys and values; arguments as of the function.

        Raises:
            TypeError: values for a class of keys only, or none for one of pairs.
        """
        if (values is None) is (cls.value_dtype is not None):
            raise TypeError(f"{cls.__name__} takes keys{' and values' if cls.value_dtype else ''}")
        cls.items(keys)
        return warp_sort._sort(keys, values, cls.warp_threads, compare_op, cls.stable, valid_items)


class WarpBitonicSort(_WarpSort):
    """`WarpBitonicSort[dtype or (key, value), width, items_per_thread]`: as `warp_bitonic_sort`."""


class WarpMergeSort(_WarpSort):
    """`WarpMergeSort[dtype or (key, value), width, items_per_thread]`: as `warp_merge_sort`, which is stable."""

    stable = True
