# SPDX-License-Identifier: Apache-2.0
"""Operands from other lanes of a wave (DPP): within rows of 16 lanes it takes neither LDS nor its latency."""

from __future__ import annotations

from typing import Any

from .language import fx

__all__ = ["dpp_xor_f32", "from_lane", "update_dpp_i32"]

# Control fields that, one after the other, give lane xor distance: 7 xor 3 is 4, and a row of 16 turned by 8 is xor 8.
_XOR = {
    1: (0xB1,),  # quad_perm [1,0,3,2]
    2: (0x4E,),  # quad_perm [2,3,0,1]
    4: (0x141, 0x1B),  # row_half_mirror, then quad_perm [3,2,1,0]
    8: (0x128,),  # row_ror:8
}


def _update(value: Any, old: Any, control: int, row_mask: int, bank_mask: int, bound_control: bool) -> Any:
    raw = value.ir_value()
    moved = fx.rocdl.update_dpp(raw.type, old.ir_value(), raw, control, row_mask, bank_mask, bound_control)
    return type(value)(moved)


def from_lane(value: Any, control: int) -> Any:
    """The Float32 or Int32 of the lane that a DPP control names; 0 where that lane does not exist."""
    return _update(value, value, control, 15, 15, True)


def update_dpp_i32(
    old: Any, src: Any, dpp_ctrl: int, row_mask: int = 0xF, bank_mask: int = 0xF, bound_ctrl: bool = False
) -> Any:
    """The Int32 `src` of the lane that a DPP control names; `old` where nothing is read. One instruction.

    Args:
        old: Int32, what a lane keeps that the masks leave out, or whose source lane does not exist.
        src: Int32, read in the other lane.
        dpp_ctrl: the control field of the instruction, such as 0x141 for row_half_mirror.
        row_mask: bit r lets the 16 lanes of row r take part.
        bank_mask: bit b lets lanes 4 b to 4 b + 3 of every row take part.
        bound_ctrl: lanes whose source lane does not exist get 0.

    Raises:
        ValueError: a control of more than 9 bits, or a mask of more than 4.
    """
    for name, field, bits in (("dpp_ctrl", dpp_ctrl, 9), ("row_mask", row_mask, 4), ("bank_mask", bank_mask, 4)):
        if isinstance(field, bool) or not isinstance(field, int) or not 0 <= field < 1 << bits:
            raise ValueError(f"update_dpp_i32: {name} is a Python int of {bits} bits, got {field!r}")
    return _update(fx.Int32(src), fx.Int32(old), dpp_ctrl, row_mask, bank_mask, bool(bound_ctrl))


def dpp_xor_f32(x: Any, offset: int) -> fx.Float32:
    """The Float32 of lane `lane xor offset`, for an offset of 1, 2, 4 (two instructions) or 8.

    All lanes of the row of 16 are active. Raises ValueError for another offset: use `fx.gpu.shuffle_xor`.
    """
    if isinstance(offset, bool) or offset not in _XOR:
        raise ValueError(f"dpp_xor_f32 exchanges with lane xor 1, 2, 4 or 8, not {offset!r}; use fx.gpu.shuffle_xor")
    value = fx.Float32(x)
    for control in _XOR[offset]:
        value = from_lane(value, control)
    return value
