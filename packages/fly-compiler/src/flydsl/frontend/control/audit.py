# SPDX-License-Identifier: Apache-2.0
"""What Python itself tells of: files that traced code opens, by whatever function, modules and pickled names that it
looks for, assignments to functions' code, and changes of environment variables.

Most functions that read a file open it deep inside (`gzip.open`, `runpy.run_path`, a method of an archive), and no
table of them is complete. So a hook for Python's audit events notes each file, and each folder that is listed, when it
is opened. Questions that open nothing, such as `os.path.exists`, raise no event: `outside.py` has them.

Where there is a hook, reading a function's `__code__` or defaults raises an event, which costs more than all else that
a compiled call looks at. So assignments to them, which raise one too, are counted, and a call compares the number. So
are changes of environment variables: to look at those that matter costs a seventh of a compiled call.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import Any

from flydsl.trace import context as _trace
from flydsl.trace.files import note_file
from flydsl.trace.library import MODULES

__all__ = ["FOREIGN", "OWN", "PARTS_OF_FUNCTIONS", "heard", "listen"]

FOREIGN = frozenset(sys.stdlib_module_names) | {"numpy", "torch", "jax", "jaxlib", "ml_dtypes", "tvm_ffi", "pytest"}
"""Packages whose functions never see run-time control flow of a kernel, or bring their own."""

OWN = (*MODULES, "flydsl._mlir", "flydsl.layout", "flydsl.runtime")
"""Modules of the compiler and what it stands on, by the first two parts of their names."""

PARTS_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
"""Attributes of functions whose assignment raises an event."""

_MAKES = os.O_CREAT | os.O_TRUNC | os.O_WRONLY
_OPENS = frozenset(("open", "os.listdir", "os.scandir", "sqlite3.connect"))
_ASSIGNS = frozenset(("object.__setattr__", "object.__delattr__"))
_FINDS = frozenset(("import", "pickle.find_class"))
_SETS = frozenset(("os.putenv", "os.unsetenv"))
_TRIED = "flydsl.listen"


class _Heard:
    """What the hook counts.

    Attributes:
        assignments: how many assignments to parts of functions there were in this process.
        settings: how often an environment variable was set or removed.
        setting: the threads that did that, which Python tells of before it is done. A thread that asks has done it.
        tried: whether the hook hears anything.
    """

    __slots__ = ("assignments", "setting", "settings", "tried")

    def __init__(self) -> None:
        self.assignments = 0
        self.settings = 0
        self.setting: set[int] = set()
        self.tried = False


heard = _Heard()


@functools.cache
def listen() -> None:
    """Begin to note what traced code opens, and to count assignments. A hook cannot be taken away again.

    Raises:
        RuntimeError: another hook of this process admits no more of them.
    """
    sys.addaudithook(_hook())
    sys.audit(_TRIED)
    if not heard.tried:
        raise RuntimeError(
            "a hook of this process (sys.addaudithook) admits no other one, so that files which traced code reads "
            "cannot be watched: let it admit 'sys.addaudithook'"
        )


def _hook() -> Callable[[str, tuple[Any, ...]], None]:
    # Held by the closure: while Python ends, the names of this module may be gone before the last event.
    opens, assigns, parts, state, note, found = _OPENS, _ASSIGNS, PARTS_OF_FUNCTIONS, _trace.state, _note, heard
    sets, finds, find, thread = _SETS, _FINDS, _find, get_ident

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in opens:
            if state.trace is not None:
                note(event, arguments)
        elif event in assigns:
            if arguments[1] in parts:
                found.assignments += 1
        elif event in finds:
            if state.trace is not None:
                find(arguments)
        elif event in sets:
            found.setting.add(thread())
            found.settings += 1
        elif event == _TRIED:
            found.tried = True

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


def _find(arguments: tuple[Any, ...]) -> None:
    """Note a module that is looked for, or a name in one, unless a module that is being imported does so."""
    frame, trace = sys._getframe(2), _trace.state.trace
    if trace is not None and frame.f_code.co_name != "<module>" and _is_of_traced_code(frame):
        for one in arguments[:2]:
            if isinstance(one, str):
                trace.names.update((one, *one.split(".")))


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
