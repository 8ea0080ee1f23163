# SPDX-License-Identifier: Apache-2.0
"""Walking over IR in Python.

MLIR's own walk calls back from C++, which turns an exception of the callback, Ctrl-C too, into another one.
"""

from __future__ import annotations

from collections.abc import Iterator

from flydsl._mlir import ir

__all__ = ["operations_in"]


def operations_in(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yield an operation and all that are inside it, in the order of the text; none may be erased meanwhile."""
    rest = [operation]
    while rest:
        one = rest.pop()
        yield one
        inner = [op.operation for region in one.regions for block in region for op in block.operations]
        inner.reverse()
        rest += inner
