# SPDX-License-Identifier: Apache-2.0
"""Loads of an operand straight to fragments that leave the vector unit to the products of waves of 32 lanes.

Where the body of the loop begins along K is a scalar offset, and where a load begins from there on a constant of the
instruction, of which gfx12 has 23 bits. Left alone, the compiler computes each address once before the loop, in a
register for each, or again and again in it. Rows past the end of the operand read as zeros whether scalar offsets count
there or not: they are as long as K.
"""

from __future__ import annotations

from typing import Any

from ..black_box import black_box_vector
from ..language import fx

__all__ = ["UniformSteps"]


class UniformSteps:
    """The way of one operand: memory -> fragments.

    Args:
        atom: the copy.
        reader: a thread's slice of the tiled copy.
        tiles: the operand in memory as (rows, K of a step, steps).
        target: the fragment, as the copy writes it: (values, blocks of rows, blocks of K).
    """

    def __init__(self, atom: Any, reader: Any, tiles: fx.Tensor, target: fx.Tensor) -> None:
        self._atom, self._tiles, self._target = atom, tiles, target
        self._layout = fx.get_layout(reader.partition_S(tiles))
        places = fx.make_view(fx.make_int_tuple(0), fx.get_layout(tiles))
        first = fx.Int32(fx.get_iter(reader.partition_S(places)).unpack())
        apart = fx.crd2idx((0, 1, 0, 0), self._layout).unpack()
        # Constants apart, blocks of rows are offsets of instructions, too.
        blocks = 1 if isinstance(apart, int) else fx.get_scalar(fx.size(target[0, None, 0]))
        self._places = [first + fx.crd2idx((0, row, 0, 0), self._layout).unpack() for row in range(blocks)]
        self._hidden: list[Any] = []
        self._number: Any = 0

    def begin(self, now: fx.PipelineStep) -> None:
        """Begin a step; the first in the body of the loop, and those outside, with places of which nothing is known."""
        if now.steady and now.phase > 0:
            return
        places = black_box_vector(fx.Vector.from_elements(self._places, fx.Int32))
        self._hidden = [places[row] for row in range(len(self._places))]
        self._number = now.index(0)

    def load(self, row: int, block: int, now: fx.PipelineStep, ahead: int) -> None:
        """Load a block of rows of a block of K of the step that is `ahead`."""
        one = 0 if len(self._hidden) > 1 else row
        source = fx.make_view(fx.get_iter(self._tiles) + self._hidden[row - one], self._layout)
        # From the first step in the body of the loop on steps are constants apart.
        number, further = (self._number, now.phase + ahead) if now.steady else (now.index(ahead), 0)
        apart = fx.crd2idx((0, 0, 0, number), self._layout).unpack()
        fx.copy(self._atom, source[None, one, block, further], self._target[None, row, block], soffset=apart)
