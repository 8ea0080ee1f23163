# SPDX-License-Identifier: Apache-2.0
"""How an uncaught error of a kernel is printed: the user's own frames, then the message in lines of the kernel."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType

from flydsl.trace.diagnostics import LOCATED, DSLCompileError
from flydsl.utils import env

__all__ = ["install"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_previous = sys.excepthook
_RULE = "-" * 40


def install() -> None:
    """Make uncaught compile errors short; `FLYDSL_DEBUG_SHOW_STACKTRACE=1` shows the whole traceback again."""
    global _previous
    if sys.excepthook is not _hook:
        _previous = sys.excepthook
        sys.excepthook = _hook


def _hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    ours = isinstance(error, DSLCompileError) or getattr(error, LOCATED, False)
    if not ours or env.debug.show_stacktrace:
        _previous(kind, error, trace)
        return
    frames = [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith((_PACKAGE, "<call of "))]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames), f"{_RULE}\n"]
    print("".join(lines) + f"{kind.__name__}: {error}", file=sys.stderr)
