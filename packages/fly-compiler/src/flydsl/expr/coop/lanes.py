# SPDX-License-Identifier: Apache-2.0
"""How a wave combines the values of its lanes: by shuffles everywhere, by DPP on gfx9, which takes no LDS permutes.

The functions of `fx.coop` choose by the target, those of `fx.coop.universal` always shuffle: `for_target` is what makes
the first out of the second.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from flydsl.trace import context as _trace
from flydsl.trace.build import bool_attribute, build, int_attribute

from ..ops.gpu import lane_id, shuffle_idx, shuffle_up, shuffle_xor
from ..rocdl.availability import is_available
from ..values.numeric.base import Numeric, select, wrap
from ..values.numeric.types import Int16, Int32, Int64, Uint32, Uint64
from ..values.vector import Vector

__all__ = ["for_target", "lane_before", "last_lane", "reduce_lanes", "scan_lanes", "votes"]

# DPP controls of gfx9: permutations within 4 lanes, mirrors of 8 and 16, shifts within 16, the last lane of the row(s).
_SWAP_1, _SWAP_2, _HALF_MIRROR, _MIRROR = 0xB1, 0x4E, 0x141, 0x140
_SHIFT_RIGHT, _LAST_OF_ROW, _LAST_OF_HALF = 0x110, 0x142, 0x143
_WAVE_SHIFT_RIGHT = 0x138  # by one lane, through the whole wave
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
    return _state.by_target and value.dtype.width in (16, 32, 64) and is_available("rocdl.update.dpp.row_bcast")


def _by_words(value: Any, move: Callable[[Any], Any]) -> Any:
    """Return what `move` of values of 32 bits makes of a value of 16, 32 or 64."""
    cls = value.dtype
    if cls.width == 32:
        return move(value)
    if cls.width == 16:
        return move(value.bitcast(Int16).to(Int32)).to(Int16).bitcast(cls)
    words = Vector(value).bitcast(Int32)
    return Vector.from_elements([move(word) for word in words]).bitcast(cls)[0]


def _moved(value: Any, control: int, bound: bool = False) -> Any:
    """Return the value of the lane that a DPP control names; a lane without a source gets its own, or 0 if `bound`.

    LLVM makes a move and the operation that uses it one instruction where no lane keeps an old value (`bound`).
    """
    return _by_words(value, lambda word: _moved_word(word, control, bound))


def _moved_word(value: Any, control: int, bound: bool) -> Any:
    operand = value.ir_value()
    attributes = {
        "dppCtrl": int_attribute(control, 32),
        "rowMask": int_attribute(15, 32),
        "bankMask": int_attribute(15, 32),
        "boundCtrl": bool_attribute(bool(bound)),
    }
    return wrap(value.dtype, build("rocdl.update.dpp", (operand, operand), operand.type, attributes))


def _of_lane(value: Any, lane: int) -> Any:
    return _by_words(value, lambda word: _word_of_lane(word, lane))


def _word_of_lane(value: Any, lane: int) -> Any:
    operand = value.ir_value()
    return wrap(value.dtype, build("rocdl.readlane", (operand, Int32(lane).ir_value()), operand.type))


def votes(flag: Numeric) -> Numeric:
    """Return the mask of the lanes of the wave whose flag is true: `Uint64` where a wave has 64, else `Uint32`."""
    from ..nvgpu import ballot as vote
    from ..rocdl import ballot

    target = _trace.target()
    if target.nvidia:
        return vote(flag)
    signed, mask = (Int64, Uint64) if target.warp_size == 64 else (Int32, Uint32)
    return wrap(signed, ballot(signed, flag)).bitcast(mask)


def lane_before(value: Any, lanes: int) -> Any:
    """Return the value of the lane before; what the first lane of a group gets is not said."""
    if not _has_dpp(value):
        return shuffle_up(value, 1, lanes)
    return _moved(value, _WAVE_SHIFT_RIGHT if lanes > _ROW else _SHIFT_RIGHT + 1)


def last_lane(value: Any, lanes: int) -> Any:
    """Return the value of the last lane of the group, in every lane."""
    whole_wave = lanes == _trace.target().warp_size
    return _of_lane(value, lanes - 1) if whole_wave and _has_dpp(value) else shuffle_idx(value, lanes - 1, lanes)


def reduce_lanes(value: Any, combine: _Combine, lanes: int, *, together: bool = False) -> Any:
    """Return the combination of all lanes of each group, in every lane; `combine` is commutative.

    `together` says that all lanes of the wave are here. NVIDIA's shuffles name those that take part, and need not find
    out then whether groups go ways of their own.
    """
    offset = lanes // 2
    named = _trace.target().warp_size if together and _trace.target().nvidia else lanes
    if _has_dpp(value):
        for size, control in ((2, _SWAP_1), (4, _SWAP_2), (8, _HALF_MIRROR), (16, _MIRROR)):
            if lanes >= size:
                value = combine(value, _moved(value, control, bound=True))
        if lanes == 64:  # each row has its combination; the last lane of the wave sees that of all
            for control in (_LAST_OF_ROW, _LAST_OF_HALF):
                value = combine(value, _moved(value, control, bound=True))
            return _of_lane(value, lanes - 1)
        offset = offset if lanes > _ROW else 0
    while offset and not (_has_dpp(value) and offset < _ROW):
        value = combine(value, shuffle_xor(value, offset, named))
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
