# SPDX-License-Identifier: Apache-2.0
"""LLVM's own command-line options for the length of a block."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from flydsl.runtime.forks import new_lock

__all__ = ["llvm_options"]

_PAUSE = 1e-3  # seconds
_turn = new_lock()  # held by who has options of its own
_inside = 0  # how many are in a block without, on any thread


@contextmanager
def llvm_options(options: Mapping[str, bool | int | str]) -> Iterator[None]:
    """Set LLVM options, process-wide, and restore them afterwards.

    Code is generated in such a block. One with options has no other beside it, which these would change too.

    Args:
        options: name (without dashes) to a bool, int or text.

    Raises:
        TypeError: a value of another type.
        RuntimeError: LLVM has no such option, or refuses the value.
    """
    with _by_itself() if options else _beside_others(), _pushed(options):
        yield


@contextmanager
def _beside_others() -> Iterator[None]:
    global _inside
    with _turn:
        _inside += 1
    try:
        yield
    finally:
        with _turn:
            _inside -= 1


@contextmanager
def _by_itself() -> Iterator[None]:
    while True:
        with _turn:
            if _inside == 0:
                yield
                return
        time.sleep(_PAUSE)


@contextmanager
def _pushed(options: Mapping[str, bool | int | str]) -> Iterator[None]:
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
