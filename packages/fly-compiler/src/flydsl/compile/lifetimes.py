# SPDX-License-Identifier: Apache-2.0
"""A traced module lives as long as anything that Python holds of it.

MLIR's bindings keep the context of a value alive, but not the module that the value is in: who kept a value of a kernel
(in a list, an attribute, a traceback) and looks at it after the compilation would read freed memory. Values, operations
and types all refer to their context, so as long as others do than this module, the MLIR module stays.
"""

from __future__ import annotations

import sys

from flydsl._mlir import ir
from flydsl.runtime.forks import new_lock

__all__ = ["hold", "release"]

_lock = new_lock()
_held: list[tuple[ir.Context, ir.Module]] = []
# The entry of `_held`, the MLIR module itself, and the argument of getrefcount.
_OWN_REFERENCES = 3


def hold(context: ir.Context, module: ir.Module) -> None:
    """Keep a module until nothing else refers to its context (`release`)."""
    release()
    with _lock:
        _held.append((context, module))


def release() -> int:
    """Let go of the modules that nobody can look at any more; call it when a compilation is over.

    Returns:
        How many stay.
    """
    with _lock:
        free = [index for index in range(len(_held)) if sys.getrefcount(_held[index][0]) <= _OWN_REFERENCES]
        dropped = [_held.pop(index) for index in reversed(free)]
        left = len(_held)
    del dropped  # outside the lock: destroying a module takes a while
    return left
