# SPDX-License-Identifier: Apache-2.0
"""Times of device work, between two events of HIP, through the library that the runtime has chosen."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import flydsl.runtime as runtime

__all__ = ["batch_sizes", "on_stream", "times"]

_MOST_BATCHES = 5
# While the stream waits for this, the host gets ahead: what is measured is the device's work, not the host's.
_BACKLOG_SECONDS = 0.005


class _Stream(threading.local):
    handle: int | None = None


_stream = _Stream()


@contextmanager
def on_stream(handle: int | None) -> Iterator[None]:
    """Measure on a stream (an address) in a `with` block; None changes nothing."""
    before = _stream.handle
    _stream.handle = before if handle is None else handle
    try:
        yield
    finally:
        _stream.handle = before


def _current_stream() -> int:
    """Where the measured calls launch: the stream that was named, else torch's current one, else HIP's default."""
    if _stream.handle is not None:
        return _stream.handle
    torch = sys.modules.get("torch")
    if torch is not None and getattr(torch.version, "hip", None) and torch.cuda.is_available():
        return int(torch.cuda.current_stream().cuda_stream)
    return 0


def batch_sizes(calls: int) -> list[int]:
    """The calls divided into at most five batches as even as can be; the time of each is that of its mean call."""
    batches = min(_MOST_BATCHES, calls)
    return [calls // batches + (index < calls % batches) for index in range(batches)]


class _Hip:
    """The few functions of HIP that timing needs."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        self._library.hipGetErrorName.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            error = self._library.hipGetErrorName(status)
            raise runtime.DeviceError(f"{name} failed: {error.decode() if error else status}")

    def event(self) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self.call("hipEventCreate", ctypes.byref(made))
        return made


def _sleep(_: int | None) -> None:
    time.sleep(_BACKLOG_SECONDS)


_wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_sleep)


def times(fn: Callable[[], object], warmup: int, rep: int) -> list[float]:
    """Milliseconds of a call on the device, one figure per batch of calls.

    Raises:
        DeviceError: HIP failed.
    """
    hip = _Hip(runtime.current_device().library)
    for _ in range(warmup):
        fn()
    stream = ctypes.c_void_p(_current_stream())
    hip.call("hipStreamSynchronize", stream)
    first, last = hip.event(), hip.event()
    measured = []
    try:
        for size in batch_sizes(rep):
            with suppress(runtime.DeviceError):  # without it, short kernels are measured with the cost of their launch
                hip.call("hipLaunchHostFunc", stream, _wait, None)
            hip.call("hipEventRecord", first, stream)
            for _ in range(size):
                fn()
            hip.call("hipEventRecord", last, stream)
            hip.call("hipEventSynchronize", last)
            milliseconds = ctypes.c_float()
            hip.call("hipEventElapsedTime", ctypes.byref(milliseconds), first, last)
            measured.append(milliseconds.value / size)
    finally:
        for event in (first, last):
            hip.call("hipEventDestroy", event)
    return measured
