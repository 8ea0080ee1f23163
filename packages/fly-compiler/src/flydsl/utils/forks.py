# SPDX-License-Identifier: Apache-2.0
"""Nobody forks in the middle of another thread's compilation.

A forked process has the forking thread alone. What the others were in the middle of stays so in it for good: locks that
they held (MLIR's, LLVM's, the linker's, ours), the garbage collector that they had switched off. So a fork waits until
they are done, as the allocator of the C library makes it wait; and nobody begins meanwhile.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["undivided"]

_PATIENCE = 60.0
"""Seconds that a fork waits at most: whoever compiles may itself wait for the thread that forks."""


class _Gate:
    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.inside: dict[int, int] = {}  # threads, and how deep they are in
        self.forks = 0  # that wait, or are under way

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
            gate.changed.wait_for(lambda: gate.forks == 0, _PATIENCE)
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


def _before() -> None:
    me = threading.get_ident()
    _gate.changed.acquire()
    _gate.forks += 1
    _gate.changed.wait_for(lambda: _gate.is_free_for(me), _PATIENCE)


def _in_parent() -> None:
    with suppress(RuntimeError):  # an interrupt came before `_before` had the lock
        _gate.changed.notify_all()
        _gate.forks -= 1
        _gate.changed.release()


def _in_child() -> None:
    global _gate
    me = threading.get_ident()
    depth = _gate.inside.get(me)
    _gate = _Gate()
    if depth is not None:
        _gate.inside[me] = depth


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
