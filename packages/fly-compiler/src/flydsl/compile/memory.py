# SPDX-License-Identifier: Apache-2.0
"""Memory is held back while a program is traced and compiled, for when there is no more.

LLVM and MLIR are made for programs that end where an allocation fails: dialects write to what `malloc` gave them
unseen. So an allocation of theirs that would fail draws on the reserve (`MemoryReserve.h` of fly-dialect), and what
they do goes to its end. Between two calls of them it is looked whether the reserve can be filled again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flydsl._mlir._mlir_libs import _fly_emit

__all__ = ["memory_reserved", "want_memory"]

# Where LLVM is a library of its own, the first time has to find what that imports: no trace waits for it.
if _fly_emit.open_memory_reserve():
    _fly_emit.close_memory_reserve()


@contextmanager
def memory_reserved() -> Iterator[None]:
    """Hold memory for what a block calls of LLVM and MLIR, on this thread: in microseconds, and without touching it.

    Raises:
        MemoryError: there is none to hold.
    """
    if not _fly_emit.open_memory_reserve():
        raise MemoryError(f"out of memory: the compiler needs {_fly_emit.MEMORY_RESERVE_BYTES >> 20} MiB to begin")
    try:
        yield
    finally:
        _fly_emit.close_memory_reserve()


def want_memory() -> None:
    """Fill the reserve again if it was drawn on.

    Raises:
        MemoryError: there is no memory for that, so the compilation had better end here.
    """
    if not _fly_emit.refill_memory_reserve():
        raise MemoryError("out of memory while compiling; nothing of this compilation is kept")
