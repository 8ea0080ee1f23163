# SPDX-License-Identifier: Apache-2.0
"""Hiding from the compiler what a value is, where what it does with the knowledge costs more than it saves."""

from __future__ import annotations

from typing import Any

from .arch import architecture
from .language import fx

__all__ = ["black_box", "black_box_in_loop", "black_box_vector"]


def _same_register() -> str:
    return "=r,0" if architecture().nvidia else "=v,0"


def black_box(value: Any) -> Any:
    """The same 32-bit integer of each lane, of which the compiler knows nothing. Emits no instruction.

    Inside a loop that carries it, it keeps the compiler from adding constants to it once before the loop, in a register
    for each, although instructions have room for an offset. After a loop, it keeps what is computed from it from being
    computed before the loop and held in registers through it.
    """
    return fx.rocdl.inline_asm.inline_asm("", _same_register(), [value], fx.Int32, side_effects=False)


def black_box_in_loop(value: fx.Int32) -> fx.Int32:
    """`black_box` that stays where it is, also in a loop that does not change the value.

    What is computed from it is computed there, and not held in registers through the loop.
    """
    return fx.Int32(black_box_vector(fx.Vector.from_elements([value]))[0])


def black_box_vector(values: fx.Vector) -> fx.Vector:
    """The same vector, of which the compiler knows nothing, also in a loop that does not change it. No instruction.

    What is computed from it stays in the loop, so that only the vector takes registers. One of less than 32 bits comes
    back as it is.
    """
    if values.numel * values.dtype.width % 32:
        return values
    words = values.bitcast(fx.Int32)
    hide = fx.rocdl.inline_asm.inline_asm
    hidden = [hide("", _same_register(), [words[index]], fx.Int32, side_effects=True) for index in range(words.numel)]
    return fx.Vector.from_elements(hidden).bitcast(values.dtype)
