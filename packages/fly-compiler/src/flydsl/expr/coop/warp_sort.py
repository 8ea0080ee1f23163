# SPDX-License-Identifier: Apache-2.0
"""Sorting over the lanes of a wave, by a bitonic network of shuffles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops.gpu import shuffle_xor
from ..values.numeric.base import as_numeric, select
from ..values.numeric.types import Int32
from ..values.vector import Vector
from .warp import _lane, _width

if TYPE_CHECKING:
    from ..values.accepted import IntLike

__all__ = ["warp_bitonic_sort", "warp_merge_sort"]


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Vector) else [as_numeric(value)]


def _network(rows: list[list[Any]], before: Callable[[list[Any], list[Any]], Any], lanes: int) -> list[list[Any]]:
    """Sort columns of `rows` (one column per item of a lane) by `before` over all lanes, in blocked order."""
    n, lane = len(rows[0]), _lane(lanes)
    if n & (n - 1):
        raise ValueError(f"a wave sorts a power of two of items per lane, got {n}")
    size = 2
    while size <= lanes * n:
        stride = size // 2
        while stride:
            columns = [[row[i] for row in rows] for i in range(n)]
            result = []
            for i, mine in enumerate(columns):
                if stride >= n:
                    theirs = [shuffle_xor(one, stride // n, lanes) for one in mine]
                    lower = (lane & (stride // n)) == 0
                else:
                    theirs, lower = columns[i ^ stride], as_numeric((i & stride) == 0)
                position = lane * n + i
                ascending = (position & size) == 0
                takes_first = ascending ^ ~lower
                swap = select(takes_first, before(theirs, mine), before(mine, theirs))
                result.append([select(swap, b, a) for a, b in zip(mine, theirs, strict=True)])
            rows = [[column[r] for column in result] for r in range(len(rows))]
            stride //= 2
        size *= 2
    return rows


def _packed(items: list[Any], like: Any) -> Any:
    return Vector.from_elements(items) if isinstance(like, Vector) else items[0]


def _sort(keys: Any, values: Any, width: int | None, compare_op: Any, stable: bool, valid_items: Any = None) -> Any:
    lanes = _width(width)
    rows = [_items(keys)]
    count = len(rows[0])
    positions = [_lane(lanes) * count + i for i in range(count)]
    if values is not None:
        rows.append(_items(values))
        if len(rows[1]) != count:
            raise ValueError(f"a sort of pairs takes as many values as keys, got {len(rows[1])} for {count}")
    if stable:
        rows.append(positions)
    if valid_items is not None:  # the others come after these, in any order
        rows.append([(position < valid_items).to(Int32) for position in positions])

    def before(a: list[Any], b: list[Any]) -> Any:
        result = first = as_numeric(compare_op(a[0], b[0]))
        if stable:
            tie = 1 if values is None else 2
            result = first | (~as_numeric(compare_op(b[0], a[0])) & (a[tie] < b[tie]))
        return result if valid_items is None else select(a[-1] == b[-1], result, a[-1] > b[-1])

    rows = _network(rows, before, lanes)
    return _packed(rows[0], keys) if values is None else (_packed(rows[0], keys), _packed(rows[1], values))


def warp_bitonic_sort(
    keys: Any,
    values: Any = None,
    *,
    width: int | None = None,
    compare_op: Callable[[Any, Any], Any],
    valid_items: IntLike | None = None,
) -> Any:
    """Sort the keys of a group of lanes, and values with them; equal keys come in any order.

    Args:
        keys: a scalar per lane, or a `Vector` of a power of two of items, in blocked order.
        values: as many values; then keys and values are returned.
        width: the lanes of a group; by default the wave.
        compare_op: whether its first argument comes before its second.
        valid_items: how many items of a group count; the others come last.
    """
    return _sort(keys, values, width, compare_op, False, valid_items)


def warp_merge_sort(
    keys: Any,
    values: Any = None,
    *,
    width: int | None = None,
    compare_op: Callable[[Any, Any], Any],
    valid_items: IntLike | None = None,
) -> Any:
    """Sort the keys of a group of lanes, and values with them; equal keys keep their order. Arguments as above.

    Args:
        keys: a scalar per lane, or a `Vector` of a power of two of items, in blocked order.
        values: as many values; then keys and values are returned.
        width: the lanes of a group; by default the wave.
        compare_op: whether its first argument comes before its second.
        valid_items: how many items of a group count; the others come last.
    """
    return _sort(keys, values, width, compare_op, True, valid_items)
