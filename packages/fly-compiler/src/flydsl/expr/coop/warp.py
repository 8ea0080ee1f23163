# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans over the lanes of a wave, or over groups of `width` lanes.

`width` is a power of two up to the wave size, which is the default. `op` is an `fx.ReductionOp`, its name, or a
callable of two values; it is associative (for reductions also commutative).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl.trace import context as _trace

from ..ops.gpu import lane_id, shuffle_down, shuffle_idx
from ..ops.math import cttz
from ..values.numeric.base import as_numeric, select
from ..values.numeric.types import Int32, Uint64
from ..values.vector import Vector
from .lanes import lane_before, last_lane, reduce_lanes, scan_lanes, votes
from .operator import combiner, identity_of

if TYPE_CHECKING:
    from ..values.accepted import Combine, IntLike

__all__ = [
    "warp_broadcast",
    "warp_exclusive_scan",
    "warp_head_segmented_reduce",
    "warp_inclusive_scan",
    "warp_reduce",
    "warp_reduce_batched",
    "warp_reduce_batched_to_blocked",
    "warp_reduce_batched_to_striped",
    "warp_scan",
    "warp_scan_with_aggregate",
    "warp_tail_segmented_reduce",
]


def _width(width: Any) -> int:
    lanes = _trace.target().warp_size
    if width is None:
        return lanes
    if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width <= lanes or width & (width - 1):
        raise ValueError(f"width is a power of two up to {lanes}, the lanes of a wave; got {width!r}")
    return width


def warp_reduce(value: Any, op: Combine, *, width: int | None = None, valid_items: IntLike | None = None) -> Any:
    """Return the combination of the values of all lanes of a group, in every lane.

    A `Vector` counts as the combination of its items. With `valid_items=n` only the first n lanes of a group take part.
    """
    lanes, combine = _width(width), combiner(op)
    if isinstance(value, Vector):
        items = list(value)
        value = items[0]
        for item in items[1:]:
            value = combine(value, item)
    value = as_numeric(value)
    if valid_items is not None:
        return _scans(value, op, lanes, None, valid_items, "aggregate")[2]
    return reduce_lanes(value, combine, lanes)


def _segmented(value: Any, op: Any, lanes: int, ends: Any) -> Any:
    """Return the combination from this lane to the end of its segment; `ends` is the mask of the last lanes."""
    combine, lane = combiner(op), _lane(lanes)
    group = lane_id() - lane
    wide = as_numeric(ends).to(Uint64) >> (group + lane).to(Uint64)
    # How many lanes follow in the segment: to its last one, or to the end of the group.
    to_end = cttz(wide | (Uint64(1) << (lanes - 1 - lane).to(Uint64))).to(Int32)
    result, offset = as_numeric(value), 1
    while offset < lanes:
        following = shuffle_down(result, offset, lanes)
        result = select(to_end >= offset, combine(result, following), result)
        offset *= 2
    return result


def _votes(flag: Any) -> Any:
    return votes(as_numeric(flag) != 0).to(Uint64)


def warp_tail_segmented_reduce(value: Any, tail_flag: Any, op: Combine, *, width: int | None = None) -> Any:
    """Return, in the first lane of each segment, the combination of its lanes; a true flag ends a segment.

    Other lanes get the combination from themselves to the end of their segment.
    """
    lanes = _width(width)
    return _segmented(value, op, lanes, _votes(tail_flag))


def warp_head_segmented_reduce(value: Any, head_flag: Any, op: Combine, *, width: int | None = None) -> Any:
    """Return, in the first lane of each segment, the combination of its lanes; a true flag begins a segment."""
    lanes = _width(width)
    return _segmented(value, op, lanes, _votes(head_flag) >> 1)


def warp_reduce_batched(value: Any, op: Combine, *, width: int | None = None, sync_physical_warp: bool = False) -> Any:
    """Reduce each item of a `Vector` over the lanes of a group; every lane gets the vector of results."""
    if not isinstance(value, Vector):
        return warp_reduce(value, op, width=width)
    return Vector.from_elements([warp_reduce(item, op, width=width) for item in value])


def _batched(value: Any, op: Any, width: int | None, at: Any) -> Any:
    lanes = _width(width)
    items = list(warp_reduce_batched(value, op, width=width)) if isinstance(value, Vector) else [value]
    each = -(-len(items) // lanes)
    lane, results = _lane(lanes), []
    for i in range(each):
        index, found = at(lane, i, lanes, each), items[0]
        for j in range(1, len(items)):
            found = select(index == j, items[j], found)
        results.append(found)
    return Vector.from_elements(results)


def warp_reduce_batched_to_blocked(
    value: Any, op: Combine, *, width: int | None = None, sync_physical_warp: bool = False
) -> Any:
    """Reduce each item over the lanes; lane l gets the results l * n to l * n + n - 1, n = ceil(items / width)."""
    return _batched(value, op, width, lambda lane, i, lanes, each: lane * each + i)


def warp_reduce_batched_to_striped(
    value: Any, op: Combine, *, width: int | None = None, sync_physical_warp: bool = False
) -> Any:
    """Reduce each item over the lanes; lane l gets the results l, l + width, ..."""
    return _batched(value, op, width, lambda lane, i, lanes, each: lane + i * lanes)


def warp_broadcast(value: Any, source_lane: IntLike = 0, *, width: int | None = None) -> Any:
    """Return the value of one lane of the group, in every lane."""
    return shuffle_idx(as_numeric(value), source_lane, _width(width))


def _lane(lanes: int) -> Any:
    return lane_id() & (lanes - 1)


def _first(value: Any, op: Any, init: Any) -> Any:
    """Return what comes before everything: `init`, or the identity of `op`."""
    return identity_of(op, value.dtype) if init is None else as_numeric(init).to(value.dtype)


def _scans(
    value: Any, op: Any, lanes: int, init: Any, valid_items: Any, wanted: str = "inclusive exclusive aggregate"
) -> tuple[Any, Any, Any]:
    """Return the inclusive scan, the exclusive scan and the combination of all lanes, what is not wanted as `None`.

    Lanes from `valid_items` on take no part: the combination is that of the lanes before, and they get it too.
    """
    lane, combine = _lane(lanes), combiner(op)
    plain = scan_lanes(value, combine, lanes)
    last = lanes - 1
    if valid_items is not None:
        last = as_numeric(valid_items).to(Int32) - 1
        # With no valid item there is no combination; what the lanes get then is their own first value.
        plain = select(lane <= last, plain, shuffle_idx(plain, select(last < 0, last + 1, last), lanes))
    total = None
    if "aggregate" in wanted:
        from_lane = None if valid_items is None else select(last < 0, last + 1, last)
        total = last_lane(plain, lanes) if from_lane is None else shuffle_idx(plain, from_lane, lanes)
    start = None if init is None else as_numeric(init).to(value.dtype)
    with_init = plain if start is None or "inclusive" not in wanted else combine(start, plain)
    if "exclusive" not in wanted:
        return with_init, None, total
    before = lane_before(plain, lanes)
    first = _first(value, op, init)
    return with_init, select(lane == 0, first, before if start is None else combine(start, before)), total


def warp_inclusive_scan(
    value: Any, op: Combine, *, width: int | None = None, init: Any = None, valid_items: IntLike | None = None
) -> Any:
    """Return the combination of the values of this lane and those before it; `init` comes before all.

    With `valid_items=n` only the first n lanes of a group take part.
    """
    return _scans(as_numeric(value), op, _width(width), init, valid_items, "inclusive")[0]


def warp_exclusive_scan(
    value: Any, op: Combine, *, width: int | None = None, init: Any = None, valid_items: IntLike | None = None
) -> Any:
    """Return the combination of the values of the lanes before this one; the first lane gets `init`, or the identity.

    Raises:
        ValueError: a callable operator without `init`.
    """
    return _scans(as_numeric(value), op, _width(width), init, valid_items, "exclusive")[1]


def warp_scan(
    value: Any, op: Combine, *, width: int | None = None, init: Any = None, valid_items: IntLike | None = None
) -> tuple[Any, Any]:
    """Return the inclusive and the exclusive scan."""
    return _scans(as_numeric(value), op, _width(width), init, valid_items, "inclusive exclusive")[:2]


def warp_scan_with_aggregate(
    value: Any, op: Combine, *, width: int | None = None, init: Any = None, valid_items: IntLike | None = None
) -> tuple[Any, Any, Any]:
    """Return the inclusive scan, the exclusive scan, and the combination of all lanes, which `init` is not part of."""
    return _scans(as_numeric(value), op, _width(width), init, valid_items)
