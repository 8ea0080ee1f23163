# SPDX-License-Identifier: Apache-2.0
"""Rewriting of Python control flow, so that a run-time condition can decide it.

Every construct becomes a call of an operation of `flydsl.frontend.control`, which looks at the values that it gets
while tracing: Python values keep Python's meaning, run-time values build structured control flow. A file here holds
one construct.
"""

from .function import (
    SUSPENDS,
    is_rewrite_of,
    is_rewritten,
    names_agree,
    names_behind,
    rewrite_function,
    rewritten_source,
)
from .source import SourceUnavailableError, find_source, source_line
from .syntax import RewriteError

__all__ = [
    "SUSPENDS",
    "RewriteError",
    "SourceUnavailableError",
    "find_source",
    "is_rewrite_of",
    "is_rewritten",
    "names_agree",
    "names_behind",
    "rewrite_function",
    "rewritten_source",
    "source_line",
]
