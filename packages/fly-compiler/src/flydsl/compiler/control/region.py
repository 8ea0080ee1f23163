# SPDX-License-Identifier: Apache-2.0
"""Regions that are traced before the operation that holds them can be built.

Which variables a region changes, and with which types it leaves them, is known only after tracing it, while MLIR wants
the result types of an operation first. So regions are traced into the blocks of a scratch operation, and the blocks move
into the final one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flydsl._mlir import ir
from flydsl.expr._build import build_op
from flydsl.expr._trace import location

__all__ = ["Scratch", "finish", "terminate"]


class Scratch:
    """Blocks without a home yet, at the current insertion point."""

    def __init__(self, count: int) -> None:
        self._op = build_op("scf.while", [], regions=count)
        self.blocks: list[ir.Block] = []

    def block(self, types: Sequence[ir.Type] = ()) -> ir.Block:
        """Open the next block with arguments of the given types."""
        here = location() or ir.Location.current
        region = self._op.regions[len(self.blocks)]
        block = region.blocks.append(*types, arg_locs=[here] * len(types))
        self.blocks.append(block)
        return block

    def discard(self) -> None:
        """Remove the scratch operation with what is left in it."""
        self._op.erase()

    @contextmanager
    def guarded(self) -> Iterator[Scratch]:
        """Remove everything when tracing fails, so that a caught exception leaves no half-built operation."""
        try:
            yield self
        except BaseException:
            self.discard()
            raise


def terminate(block: ir.Block, name: str, operands: Sequence[ir.Value]) -> None:
    """End `block` with a terminator."""
    with ir.InsertionPoint(block):
        build_op(name, operands)


def finish(
    scratch: Scratch,
    name: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: dict[str, Any] | None = None,
) -> list[ir.Value]:
    """Build the final operation from the scratch blocks and return its results."""
    op = build_op(name, operands, results, attributes, regions=len(scratch.blocks))
    for block, region in zip(scratch.blocks, op.regions, strict=True):
        block.append_to(region)
    scratch.discard()
    return list(op.results)
