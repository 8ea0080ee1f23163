# SPDX-License-Identifier: Apache-2.0
"""The libraries outside our wheels that compile: LLVM's and MLIR's, where a build took those of the system."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

__all__ = ["linked_libraries"]

_OURS = "libFlyDialect.so"
_SYMBOLS = ("LLVMContextCreate", "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE")
"""A function of LLVM, and the constructor of `mlir::MLIRContext`."""


class _Place(ctypes.Structure):
    """`Dl_info` of dladdr(3)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def linked_libraries(files: Iterable[str]) -> list[str]:
    """Return the files of the libraries that a process takes LLVM and MLIR from; none where they are a part of ours.

    Args:
        files: those of the tool chain; the library of the dialect is among them, and loaded.
    """
    ours = next((one for one in files if os.path.basename(one) == _OURS), None)
    if ours is None:
        return []
    library = ctypes.CDLL(ours)
    where = ctypes.CDLL(None).dladdr
    where.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Place)]
    found = set()
    for symbol in _SYMBOLS:
        function = getattr(library, symbol, None)  # of the library, or of one that it needs
        place = _Place()
        if function is not None and where(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(place)):
            found.add(os.path.realpath(os.fsdecode(place.file)))
    return sorted(found - {os.path.realpath(ours)})
