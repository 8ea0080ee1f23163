# SPDX-License-Identifier: Apache-2.0
"""The parts of a wave's fragments that are multiplied together, where a loop is traced column by column.

They are divided once, before the loop. Its steps are traced several times, two in the loop and those around it, and
hundreds of products divided in each of them were most of what a large tile took to trace and to lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..language import fx

if TYPE_CHECKING:
    from .loop_plan import TiledLoop

__all__ = ["ColumnViews"]


class ColumnViews:
    """Views of the fragments of sums, of each set of B, and of A.

    Attributes:
        sums: by column and part, (V, 1, rows of the part).
        b: by set, column and group of blocks of K, (V, 1[, instructions along K]).
        a: by part and group, (V, rows of the part[, instructions along K]).
        each_sum, each_b, each_a: the same of a single instruction, by column and row; by set, column and instruction
            along K; by row and instruction along K. Made where operands have scales of parts of K.
        rows_of_a: what `each_a` are parts of, by row, (V, K). With f32 scales, and A in LDS by coordinates, each is a
            fragment of its own: of one for all rows each access is a shuffle of hundreds of bytes, with which LLVM
            spends half of the time that it takes for 256 x 128.
    """

    def __init__(self, loop: TiledLoop, sums: fx.Tensor, sets_of_b: Sequence[fx.Tensor], a: fx.Tensor) -> None:
        rows, columns = loop.wave_blocks
        at_once = len(loop.rows_of(0))
        self.sums: list[list[fx.Tensor]] = []
        self.b: list[list[list[fx.Tensor]]] = []
        self.a: list[list[fx.Tensor]] = []
        self.each_sum: list[list[fx.Tensor]] = []
        self.each_b: list[list[dict[Any, fx.Tensor]]] = []
        self.each_a: list[dict[Any, fx.Tensor]] = []
        self.rows_of_a: list[fx.Tensor] = []
        if loop.scaled or loop.b_mx:
            along_k = [loop.along_k(block, half) for block in range(loop.blocks) for half in range(loop.halves)]
            self.each_sum = [[fx.coalesce(sums[None, n, m]) for m in range(rows)] for n in range(columns)]
            self.each_b = [[_each(b, n, along_k) for n in range(columns)] for b in sets_of_b]
            self.rows_of_a = [a[None, m, None] for m in range(rows)]
            if loop.scaled and loop.by_coordinates and not loop.private:
                self.rows_of_a = [fx.make_fragment_like(one) for one in self.rows_of_a]
            self.each_a = [{one: fx.coalesce(row[None, one]) for one in along_k} for row in self.rows_of_a]
            return
        groups = [loop.along_k(group) for group in range(loop.groups)]
        divided = fx.logical_divide(sums, fx.make_tile(None, 1, at_once))
        self.sums = [[divided[None, (None, n), (None, part)] for part in range(loop.parts)] for n in range(columns)]
        for b in sets_of_b:
            divided = fx.logical_divide(b, fx.make_tile(None, 1, None))
            self.b.append([[divided[None, (None, n), along_k] for along_k in groups] for n in range(columns)])
        divided = fx.logical_divide(a, fx.make_tile(None, at_once, None))
        self.a = [[divided[None, (None, part), along_k] for along_k in groups] for part in range(loop.parts)]


def _each(fragment: fx.Tensor, at: int, along_k: Sequence[Any]) -> dict[Any, fx.Tensor]:
    return {one: fx.coalesce(fragment[None, at, one]) for one in along_k}
