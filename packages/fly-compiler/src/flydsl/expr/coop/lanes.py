# SPDX-License-Identifier: Apache-2.0
"""How a wave combines the values of its lanes: by shuffles everywhere, by DPP for 32-bit scalars on gfx9.

The functions of `fx.coop` choose by the target, those of `fx.coop.universal` always shuffle: `for_target` is what makes
the first out of the second.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from .. import _trace
from .._build import attribute, build
from ..gpu import lane_id, shuffle_up, shuffle_xor
from ..numeric.base import select, wrap
from ..numeric.types import Int32

__all__ = ["for_target", "reduce_lanes", "scan_lanes"]

# DPP controls of gfx9: permutations within 4 lanes, mirrors of 8 and 16, shifts within 16, the last lane of the row(s).
_SWAP_1, _SWAP_2, _HALF_MIRROR, _MIRROR = 0xB1, 0x4E, 0x141, 0x140
_SHIFT_RIGHT, _LAST_OF_ROW, _LAST_OF_HALF = 0x110, 0x142, 0x143
_ROW = 16

_Combine = Callable[[Any, Any], Any]


class _State(threading.local):
    by_target = False


_state = _State()


def for_target(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` as it is for the target."""

    @functools.wraps(function)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        before, _state.by_target = _state.by_target, True
        try:
            return function(*args, **kwargs)
        finally:
            _state.by_target = before

    return chosen


def _has_dpp(value: Any) -> bool:
    return _state.by_target and value.dtype.width == 32 and _trace.target().chip.startswith("gfx9")


def _moved(value: Any, control: int) -> Any:
    """Return the value of the lane that a DPP control names; a lane without a source gets its own."""
    operand = value.ir_value()
    attributes = {
        "dppCtrl": attribute(f"{control} : i32"),
        "rowMask": attribute("15 : i32"),
        "bankMask": attribute("15 : i32"),
        "boundCtrl": attribute("false"),
    }
    return wrap(value.dtype, build("rocdl.update.dpp", (operand, operand), operand.type, attributes))


def _of_lane(value: Any, lane: int) -> Any:
    operand = value.ir_value()
    return wrap(value.dtype, build("rocdl.readlane", (operand, Int32(lane).ir_value()), operand.type))


def reduce_lanes(value: Any, combine: _Combine, lanes: int) -> Any:
    """Return the combination of all lanes of each group, in every lane; `combine` is commutative."""
    offset = lanes // 2
    if _has_dpp(value):
        for size, control in ((2, _SWAP_1), (4, _SWAP_2), (8, _HALF_MIRROR), (16, _MIRROR)):
            if lanes >= size:
                value = combine(value, _moved(value, control))
        if lanes == 64:  # every lane of a row has the row's combination
            rows = [_of_lane(value, lane) for lane in range(0, lanes, _ROW)]
            return combine(combine(rows[0], rows[1]), combine(rows[2], rows[3]))
        offset = offset if lanes > _ROW else 0
    while offset and not (_has_dpp(value) and offset < _ROW):
        value = combine(value, shuffle_xor(value, offset, lanes))
        offset //= 2
    return value


def scan_lanes(value: Any, combine: _Combine, lanes: int) -> Any:
    """Return, in every lane of each group, the combination of the lanes up to it; `combine` is associative."""
    lane, offset = lane_id() & (lanes - 1), 1
    dpp = _has_dpp(value)
    while offset < lanes:
        if not dpp:
            before, takes = shuffle_up(value, offset, lanes), lane >= offset
        elif offset < _ROW:
            before, takes = _moved(value, _SHIFT_RIGHT + offset), (lane & (_ROW - 1)) >= offset
        else:  # the last lane before: of the row, then of the half
            control = _LAST_OF_ROW if offset == _ROW else _LAST_OF_HALF
            before, takes = _moved(value, control), (lane & offset) != 0
        value = select(takes, combine(before, value), value)
        offset *= 2
    return value
