# SPDX-License-Identifier: Apache-2.0
"""What code that generates kernels asks of a trace: options for everything traced inside, and source locations."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from flydsl._mlir import ir

from . import context as _trace

__all__ = ["capture_user_location", "dsl_loc_tracing", "file_location", "tracing_context", "tracing_option"]

_F = TypeVar("_F", bound=Callable[..., Any])


class _Options(threading.local):
    def __init__(self) -> None:
        self.stack: list[dict[str, Any]] = []


_options = _Options()


@contextmanager
def tracing_context(func: Callable[..., Any] | None = None, **options: Any) -> Iterator[None]:
    """Set options for what is traced inside the `with` block, on this thread; inner blocks win, and inherit the rest.

    Args:
        func: what is traced; for the reader.
        options: any names; `None` is a value like any other.
    """
    _options.stack.append({**(_options.stack[-1] if _options.stack else {}), **options})
    try:
        yield
    finally:
        _options.stack.pop()


def tracing_option(key: str, default: Any = None) -> Any:
    """Return an option of the innermost `tracing_context` that set it, `default` where none did."""
    return _options.stack[-1].get(key, default) if _options.stack else default


def file_location(filename: str, line: int, col: int = 0, context: ir.Context | None = None) -> ir.Location:
    """Return a place in a source file as an MLIR location."""
    return ir.Location.file(filename, line, col, context=context)


def capture_user_location() -> ir.Location:
    """Return where the code stands that is being traced: the chain of its callers, innermost first.

    Outside a trace it is the calling line, or MLIR's current location where there is no file.
    """
    found = _trace.location()
    if found is not None:
        return found
    place = _trace.user_frame()
    if place is not None:
        return file_location(*place)
    return ir.Location.current or ir.Location.unknown()


def dsl_loc_tracing(function: _F) -> _F:
    """Give a function that takes `loc=` the location of the code that calls it, unless the caller names one."""
    if "loc" not in inspect.signature(function).parameters:
        return function

    @functools.wraps(function)
    def located(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("loc") is None:
            kwargs["loc"] = _trace.location()
        return function(*args, **kwargs)

    return located  # type: ignore[return-value]
