# SPDX-License-Identifier: Apache-2.0
"""What a rewritten function is kept under, from one process to the next.

Rewriting takes as long as all the rest of the trace of a small kernel, and its result is the same each time. It depends
on the function's code and the text of its file, on how it is rewritten, and on what a few names around it stand for
(`Namespace.answers`). The first three name an entry; the last is a part of it, and is compared when it is found.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from types import CodeType, FunctionType
from typing import Protocol

from .compiled import is_transformed

__all__ = ["Entry", "KeptRewrites", "name_of"]

Entry = tuple[dict[tuple[str, str], bool], CodeType]
"""What the names around the function stood for, and the rewritten code."""


class KeptRewrites(Protocol):
    """Rewritten functions of earlier processes; `Trace.rewrites` has those that a trace may use."""

    def find(self, filename: str, name: str) -> Entry | None:
        """Return an entry that was made from the text which the file has now."""
        ...

    def add(self, filename: str, name: str, entry: Entry, lines: list[str]) -> None:
        """Keep an entry that was made from these lines of the file."""
        ...


def name_of(function: FunctionType, decorated: bool, keep_value: bool) -> str | None:
    """Return what names the entry of a function in its file; `None` where its code cannot be written down."""
    code = function.__code__
    try:
        content = marshal.dumps(code, 2)  # later versions write the same code in several ways
    except ValueError:
        try:
            content = marshal.dumps(code)  # Python 3.14 has constants that need them
        except ValueError:
            return None
    # Whether the code is compared with the source depends on who compiled it, and what `assert` does on the options.
    asked = (decorated, keep_value, is_transformed(function), sys.version, sys.flags.optimize)
    variant = f"{code.co_filename}\0{function.__qualname__}\0{asked}\0"
    return hashlib.sha256(variant.encode("utf-8", "surrogatepass") + content).hexdigest()
