# SPDX-License-Identifier: Apache-2.0
"""The device and the stream of a call, made current while the call is measured."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import flydsl.runtime as runtime

from .events import on_stream

__all__ = ["handle_of", "timed_on"]


def handle_of(stream: object) -> int | None:
    """The address of a stream: of a raw one, a torch stream, an `fx.Stream`; None for none of these."""
    for name in ("cuda_stream", "value"):
        inner = getattr(stream, name, None)
        if inner is not None:
            stream = inner
    if isinstance(stream, ctypes.c_void_p):
        stream = stream.value
    return stream if isinstance(stream, int) and not isinstance(stream, bool) else None


@contextmanager
def _current(device: runtime.Device | None) -> Iterator[None]:
    """Make a device the calling thread's current one in a `with` block."""
    if device is None:
        yield
        return
    before = runtime.current_device().index
    runtime.set_current_device(device.index)
    try:
        yield
    finally:
        runtime.set_current_device(before)


@contextmanager
def timed_on(stream: object, device: runtime.Device | None = None) -> Iterator[None]:
    """Measure on a stream of a device in a `with` block, and make it torch's current one where torch has devices."""
    handle = handle_of(stream)
    torch = sys.modules.get("torch")
    with ExitStack() as stack:
        stack.enter_context(_current(device))
        stack.enter_context(on_stream(handle))
        if handle is not None and torch is not None and torch.cuda.is_available():
            current = stream if hasattr(stream, "cuda_stream") else torch.cuda.ExternalStream(handle)
            stack.enter_context(torch.cuda.stream(current))
        yield
