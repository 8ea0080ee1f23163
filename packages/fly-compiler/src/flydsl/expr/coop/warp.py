# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans over the lanes of a wave, or over groups of `width` lanes.

`width` is a power of two up to the wave size, which is the default. `op` is an `fx.ReductionOp`, its name, or a
callable of two values; it is associative (for reductions also commutative).
"""

from __future__ import annotations

from typing import Any

from .. import _trace
from ..gpu import lane_id, shuffle_idx, shuffle_up, shuffle_xor
from ..numeric.base import as_numeric, select
from .operator import combiner, identity_of

__all__ = [
    "warp_broadcast",
    "warp_exclusive_scan",
    "warp_inclusive_scan",
    "warp_reduce",
    "warp_scan",
    "warp_scan_with_aggregate",
]


def _width(width: Any) -> int:
    lanes = _trace.target().warp_size
    if width is None:
        return lanes
    if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width <= lanes or width & (width - 1):
        raise ValueError(f"width is a power of two up to {lanes}, the lanes of a wave; got {width!r}")
    return width


def warp_reduce(value: Any, op: Any, *, width: int | None = None) -> Any:
    """Return the combination of the values of all lanes of a group, in every lane."""
    combine, offset = combiner(op), _width(width) // 2
    value = as_numeric(value)
    lanes = _width(width)
    while offset:
        value = combine(value, shuffle_xor(value, offset, lanes))
        offset //= 2
    return value


def warp_broadcast(value: Any, lane: Any = 0, *, width: int | None = None) -> Any:
    """Return the value of one lane of the group, in every lane."""
    return shuffle_idx(as_numeric(value), lane, _width(width))


def _lane(lanes: int) -> Any:
    return lane_id() & (lanes - 1)


def _scan(value: Any, op: Any, lanes: int) -> Any:
    combine, lane, offset = combiner(op), _lane(lanes), 1
    while offset < lanes:
        before = shuffle_up(value, offset, lanes)
        value = select(lane >= offset, combine(before, value), value)
        offset *= 2
    return value


def warp_inclusive_scan(value: Any, op: Any, *, width: int | None = None, init: Any = None) -> Any:
    """Return the combination of the values of this lane and those before it; `init` comes before all."""
    value, lanes = as_numeric(value), _width(width)
    result = _scan(value, op, lanes)
    return result if init is None else combiner(op)(as_numeric(init).to(value.dtype), result)


def _exclusive(inclusive: Any, op: Any, lanes: int, init: Any) -> Any:
    """Shift an inclusive scan (without init) by one lane."""
    cls = inclusive.dtype
    before = shuffle_up(inclusive, 1, lanes)
    first = identity_of(op, cls) if init is None else as_numeric(init).to(cls)
    rest = before if init is None else combiner(op)(first, before)
    return select(_lane(lanes) == 0, first, rest)


def warp_exclusive_scan(value: Any, op: Any, *, width: int | None = None, init: Any = None) -> Any:
    """Return the combination of the values of the lanes before this one; the first lane gets `init`, or the identity.

    Raises:
        ValueError: a callable operator without `init`.
    """
    value, lanes = as_numeric(value), _width(width)
    return _exclusive(_scan(value, op, lanes), op, lanes, init)


def warp_scan(value: Any, op: Any, *, width: int | None = None, init: Any = None) -> tuple[Any, Any]:
    """Return the inclusive and the exclusive scan."""
    inclusive, exclusive, _ = warp_scan_with_aggregate(value, op, width=width, init=init)
    return inclusive, exclusive


def warp_scan_with_aggregate(
    value: Any, op: Any, *, width: int | None = None, init: Any = None
) -> tuple[Any, Any, Any]:
    """Return the inclusive scan, the exclusive scan, and the combination of all lanes, which `init` is not part of."""
    value, lanes = as_numeric(value), _width(width)
    plain = _scan(value, op, lanes)
    total = shuffle_idx(plain, lanes - 1, lanes)
    exclusive = _exclusive(plain, op, lanes, init)
    inclusive = plain if init is None else combiner(op)(as_numeric(init).to(value.dtype), plain)
    return inclusive, exclusive, total
