# SPDX-License-Identifier: Apache-2.0
"""Where the elements of an operand lie in LDS when both operands of a GEMM go through it."""

from __future__ import annotations

from dataclasses import dataclass

from ..language import fx

__all__ = ["Staging"]


@dataclass(frozen=True)
class Staging:
    """How a step of both operands lies in LDS.

    Attributes:
        pads: elements behind each row of A and of B, which put rows into different banks.
        blocked: packs of 16 bytes of all rows side by side, K outside ("kblock"); `pads` do not count.
    """

    pads: tuple[int, int] = (0, 0)
    blocked: bool = False

    def layout(self, operand: int, rows: int, depth: int, pack: int, buffers: int) -> fx.Layout:
        """The layout (row, element of K, buffer) of operand 0 (A) or 1 (B)."""
        size = self.elements(operand, rows, depth)
        if self.blocked:
            along_k = (pack, depth // pack), (1, rows * pack)
            return fx.make_layout((rows, along_k[0], buffers), (pack, along_k[1], size))
        return fx.make_layout((rows, depth, buffers), (depth + self.pads[operand], 1, size))

    def elements(self, operand: int, rows: int, depth: int) -> int:
        """Elements of LDS that one step of an operand takes."""
        return rows * (depth + (0 if self.blocked else self.pads[operand]))
