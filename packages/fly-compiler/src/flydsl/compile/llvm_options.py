# SPDX-License-Identifier: Apache-2.0
"""LLVM's own command-line options for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

__all__ = ["llvm_options"]


@contextmanager
def llvm_options(options: Mapping[str, bool | int | str]) -> Iterator[None]:
    """Set LLVM options, process-wide, and restore them afterwards.

    Args:
        options: name (without dashes) to a bool, int or text.

    Raises:
        TypeError: a value of another type.
        RuntimeError: LLVM has no such option, or refuses the value.
    """
    if not options:
        yield
        return
    from flydsl._mlir._mlir_libs import _fly_emit

    pushed: list[str] = []
    try:
        for name, value in options.items():
            if not isinstance(value, (bool, int, str)):
                raise TypeError(f"LLVM option {name!r} takes a bool, int or text, got {type(value).__name__}")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            try:
                _fly_emit.push_llvm_option(name, text)
            except RuntimeError as error:
                raise RuntimeError(str(error)) from None
            pushed.append(name)
        yield
    finally:
        for name in reversed(pushed):
            _fly_emit.pop_llvm_option(name)
