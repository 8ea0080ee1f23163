# SPDX-License-Identifier: Apache-2.0
"""Memory is asked for before MLIR takes it: where dialects register what they have, it does not look whether it got it.

MLIR makes its tables of interfaces with a `malloc` whose result it writes to unseen (`InterfaceMap::insertModel`), so a
process that runs out of memory just there would end. Everywhere else LLVM and MLIR say that memory ran out.
"""

from __future__ import annotations

import mmap

__all__ = ["want_memory"]

_OF_DIALECTS = 16 << 20
"""Bytes. All dialects take 3 MiB; there are other threads, and the heap is not whole."""


def want_memory() -> None:
    """See that there is memory to load dialects. It takes microseconds, and touches none of it.

    Raises:
        MemoryError: there is not.
    """
    try:
        mmap.mmap(-1, _OF_DIALECTS).close()
    except OSError as error:
        raise MemoryError(
            f"out of memory: the compiler needs {_OF_DIALECTS >> 20} MiB to begin ({error.strerror})"
        ) from None
