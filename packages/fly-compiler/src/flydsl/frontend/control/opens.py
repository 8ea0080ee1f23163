# SPDX-License-Identifier: Apache-2.0
"""Files that traced code opens, by whatever function: Python tells of each.

Most functions that read a file open it deep inside (`gzip.open`, `runpy.run_path`, a method of an archive), and no
table of them is complete. So a hook for Python's audit events notes each file, and each folder that is listed, when it
is opened. Questions that open nothing, such as `os.path.exists`, raise no event: `outside.py` has them.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from flydsl.trace import context as _trace
from flydsl.trace.files import note_file
from flydsl.trace.library import MODULES

__all__ = ["FOREIGN", "OWN", "watch_opens"]

FOREIGN = frozenset(sys.stdlib_module_names) | {"numpy", "torch", "jax", "jaxlib", "ml_dtypes", "tvm_ffi", "pytest"}
"""Packages whose functions never see run-time control flow of a kernel, or bring their own."""

OWN = (*MODULES, "flydsl._mlir", "flydsl.layout", "flydsl.runtime")
"""Modules of the compiler and what it stands on, by the first two parts of their names."""

_MAKES = os.O_CREAT | os.O_TRUNC | os.O_WRONLY
_EVENTS = frozenset(("open", "os.listdir", "os.scandir", "sqlite3.connect"))


@functools.cache
def watch_opens() -> None:
    """Begin to note, in each trace of this process, what traced code opens. A hook cannot be taken away again."""
    sys.addaudithook(_hook())


def _hook() -> Callable[[str, tuple[Any, ...]], None]:
    # Held by the closure: while Python ends, the names of this module may be gone before the last event.
    events, state, note = _EVENTS, _trace.state, _note

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in events and state.trace is not None:
            note(event, arguments)

    return hook


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    path = arguments[0] if arguments else None
    if event == "open":
        flags = arguments[2] if len(arguments) > 2 else 0
        if isinstance(flags, int) and flags & _MAKES:
            return
    elif path is None:
        path = os.curdir
    if isinstance(path, (str, bytes, os.PathLike)) and _is_of_traced_code(sys._getframe(2)):
        note_file(path)


def _is_of_traced_code(frame: FrameType | None) -> bool:
    """Tell whether a call comes from traced code, not from the compiler's own work or the import of a module."""
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        root, _, rest = module.partition(".")
        if root == "flydsl" and f"flydsl.{rest.partition('.')[0]}" in OWN:
            if not module.startswith("flydsl.frontend.control."):
                return False
        elif module == "importlib._bootstrap" and frame.f_code.co_name == "_find_and_load":
            return False  # what a module holds is watched as names and objects
        elif root not in FOREIGN:
            return True
        frame = frame.f_back
    return False
