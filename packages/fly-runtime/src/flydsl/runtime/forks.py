# SPDX-License-Identifier: Apache-2.0
"""Nobody forks in the middle of another thread's compilation, load or launch.

A forked process has the forking thread alone. What the others were in the middle of stays so in it for good: locks that
they held (MLIR's, LLVM's, the loader's, the device library's, ours), the garbage collector that they had switched off.
So a fork waits until they are done, as the allocator of the C library makes it wait; and nobody begins meanwhile. In
C++ (`csrc/forks.cpp`) the same holds for calls of the runtime. Here is the part of Python, which waits for both: it can
let go of the interpreter meanwhile, which those whom it waits for may need.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

__all__ = ["new_lock", "undivided", "watch_native_calls"]

_PATIENCE = 60.0
"""Seconds that a fork waits at most: whoever compiles may itself wait for the thread that forks."""


def new_lock() -> threading.RLock:
    """Return an `RLock` that no thread but the forking one holds in a process that was forked off.

    What it guards may be half changed there, if the fork's patience ended: a new turn has to set that right.
    """
    lock = threading.RLock()
    _locks.add(lock)
    return lock


_locks: WeakSet[Any] = WeakSet()


class _Gate:
    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.inside: dict[int, int] = {}  # threads, and how deep they are in
        self.forking: set[int] = set()  # threads that wait to fork, or are about to
        self.begin_native: Callable[[int], Callable[[], None]] | None = None
        self.end_native: Callable[[], None] | None = None  # of a fork for which `begin_native` was called

    def is_free_for(self, thread: int) -> bool:
        return not self.inside.keys() - {thread}


_gate = _Gate()


@contextmanager
def undivided() -> Iterator[None]:
    """Keep other threads from forking in a `with` block: they wait for its end, a minute at most.

    The thread that is in it may fork, as `subprocess` and others always may: no Python runs in their children.
    """
    me = threading.get_ident()
    gate = _gate
    with gate.changed:
        if me not in gate.inside:
            gate.changed.wait_for(lambda: not gate.forking, _PATIENCE)
        gate.inside[me] = gate.inside.get(me, 0) + 1
    try:
        yield
    finally:
        gate = _gate  # another one, if the block has forked and this is the child
        with gate.changed:
            gate.inside[me] -= 1
            if gate.inside[me] == 0:
                del gate.inside[me]
                gate.changed.notify_all()


def watch_native_calls(begin: Callable[[int], Callable[[], None]]) -> None:
    """Have forks wait for calls of the runtime's library too.

    Args:
        begin: waits so many milliseconds at most until nobody is in the library, and lets nobody in until what it
            returns is called. A process that was forked off begins without that.
    """
    _gate.begin_native = begin


def _before() -> None:
    me = threading.get_ident()
    end = time.monotonic() + _PATIENCE
    _gate.changed.acquire()
    _gate.forking.add(me)
    _gate.changed.wait_for(lambda: _gate.is_free_for(me), _PATIENCE)
    if _gate.begin_native is not None:
        _gate.end_native = _gate.begin_native(max(int((end - time.monotonic()) * 1000), 0))


def _in_parent() -> None:
    if _gate.end_native is not None:
        _gate.end_native()
        _gate.end_native = None
    try:
        _gate.changed.notify_all()
    except RuntimeError:  # an interrupt came before `_before` had the lock
        return
    _gate.forking.discard(threading.get_ident())
    _gate.changed.release()


def _in_child() -> None:
    global _gate
    me = threading.get_ident()
    depth, begin = _gate.inside.get(me), _gate.begin_native
    _gate = _Gate()
    _gate.begin_native = begin
    if depth is not None:
        _gate.inside[me] = depth
    for lock in _locks:
        if not lock._is_owned():
            lock._at_fork_reinit()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
