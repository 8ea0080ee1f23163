# SPDX-License-Identifier: Apache-2.0
"""Regions that are traced before the operation that holds them can be built.

Which variables a region changes, and with which types it leaves them, is known only after tracing it, while MLIR wants
the result types of an operation first. So regions are traced into the blocks of a scratch operation, and the blocks
move into the final one.

A block argument's Python object refers to the operation that it was made under, not to the one that its block moved to.
A user may keep such an object (in a list, in the traceback of an error) and print it when the module is gone; MLIR
would read freed memory. `settle` therefore keeps a module alive for good when somebody still holds values of its
scratch operations.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build_op
from flydsl.trace.context import count_branch, location, maybe_current
from flydsl.trace.diagnostics import DSLCompileError, explain_caught

__all__ = ["Scratch", "finish", "refuse_caught", "settle", "terminate"]


class Scratch:
    """Blocks without a home yet, at the current insertion point."""

    def __init__(self, count: int) -> None:
        self._op = build_op("scf.while", [], regions=count)
        self.blocks: list[ir.Block] = []

    def block(self, types: Sequence[ir.Type] = ()) -> ir.Block:
        """Open the next block with arguments of the given types."""
        here = location() or ir.Location.current
        region = self._op.regions[len(self.blocks)]
        block: ir.Block = region.blocks.append(*types, arg_locs=[here] * len(types))
        self.blocks.append(block)
        return block

    def retire(self) -> None:
        """Take the scratch operation, whose blocks have moved, out of the program."""
        self._op.detach_from_parent()
        _state.retired.append(self._op)

    @contextmanager
    def guarded(self) -> Iterator[Scratch]:
        """Note a failed tracing, so that a caught exception leaves no half-built operation (`settle`)."""
        try:
            yield self
        except BaseException as error:
            if maybe_current() is not None:
                _state.failed.append(self._op)
                if isinstance(error, Exception) and (found := explain_caught(error)) is not None:
                    _state.raised.append(found)
            else:  # nobody will call `settle` for this module
                if self._op.attached:
                    self._op.detach_from_parent()
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._op))
            raise


class _State(threading.local):
    def __init__(self) -> None:
        self.retired: list[ir.Operation] = []
        self.failed: list[ir.Operation] = []
        self.raised: list[DSLCompileError] = []


_state = _State()


def refuse_caught() -> None:
    """Refuse a tracing that came to its end although the user's code raised an exception in a run-time region.

    Raises:
        DSLCompileError: it did, and caught it.
    """
    if _state.raised:
        raise _state.raised[0]


def settle(module: ir.Module) -> None:
    """Finish what the scratch operations of a tracing left behind; call it when the tracing ended, however it ended."""
    retired, failed = _state.retired, _state.failed
    _state.retired, _state.failed, _state.raised = [], [], []
    for op in reversed(failed):  # the outermost last: an inner one goes with it
        if op.attached:
            op.detach_from_parent()
    # Two references: the list's, and the argument's of getrefcount; the loop variable is a third.
    if failed or any(sys.getrefcount(op) > 3 for op in retired):
        # Not even at the end of the process are these destroyed: operations would go after values that they use.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object((module, retired, failed)))


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
    count_branch()
    op = build_op(name, operands, results, attributes, regions=len(scratch.blocks))
    for block, region in zip(scratch.blocks, op.regions, strict=True):
        block.append_to(region)
    scratch.retire()
    return list(op.results)
