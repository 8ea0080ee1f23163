# SPDX-License-Identifier: Apache-2.0
"""Times of device work, between two events of HIP or CUDA, through the library that the runtime has chosen."""

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
# Functions of CUDA's driver whose names end in a version.
_OF_THE_DRIVER = {"EventDestroy": "EventDestroy_v2"}


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
    """Where the measured calls launch: the stream that was named, else torch's current one, else the default one."""
    if _stream.handle is not None:
        return _stream.handle
    torch = sys.modules.get("torch")
    if torch is not None and getattr(torch.version, runtime.current_device().kind, None) and torch.cuda.is_available():
        return int(torch.cuda.current_stream().cuda_stream)
    return 0


def batch_sizes(calls: int) -> list[int]:
    """The calls divided into at most five batches as even as can be; the time of each is that of its mean call."""
    batches = min(_MOST_BATCHES, calls)
    return [calls // batches + (index < calls % batches) for index in range(batches)]


class _Events:
    """The few functions of HIP or of CUDA's driver that timing needs, by HIP's names without the first word."""

    def __init__(self, device: runtime.Device) -> None:
        self._library = ctypes.CDLL(device.library)
        self._cuda = device.kind == "cuda"
        if self._cuda:
            # The driver's calls are about the context that is current: the device's, which torch shares.
            runtime.set_current_device(device.index)
        else:
            self._library.hipGetErrorName.restype = ctypes.c_char_p

    def call(self, what: str, *arguments: Any) -> None:
        name = f"cu{_OF_THE_DRIVER.get(what, what)}" if self._cuda else f"hip{what}"
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise runtime.DeviceError(f"{name} failed: {self._error(status)}")

    def _error(self, status: int) -> str:
        text = ctypes.c_char_p()
        if self._cuda:
            self._library.cuGetErrorName(status, ctypes.byref(text))
        else:
            text = ctypes.c_char_p(self._library.hipGetErrorName(status))
        return text.value.decode() if text.value else str(status)

    def create(self) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self.call("EventCreate", ctypes.byref(made), *((0,) if self._cuda else ()))  # the driver wants flags
        return made


def _sleep(_: int | None) -> None:
    time.sleep(_BACKLOG_SECONDS)


_wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_sleep)


def times(fn: Callable[[], object], warmup: int, rep: int) -> list[float]:
    """Milliseconds of a call on the device, one figure per batch of calls.

    Raises:
        DeviceError: a call of HIP or of CUDA's driver failed.
    """
    events = _Events(runtime.current_device())
    for _ in range(warmup):
        fn()
    stream = ctypes.c_void_p(_current_stream())
    events.call("StreamSynchronize", stream)
    first, last = events.create(), events.create()
    measured = []
    try:
        for size in batch_sizes(rep):
            with suppress(runtime.DeviceError):  # without it, short kernels are measured with the cost of their launch
                events.call("LaunchHostFunc", stream, _wait, None)
            events.call("EventRecord", first, stream)
            for _ in range(size):
                fn()
            events.call("EventRecord", last, stream)
            events.call("EventSynchronize", last)
            milliseconds = ctypes.c_float()
            events.call("EventElapsedTime", ctypes.byref(milliseconds), first, last)
            measured.append(milliseconds.value / size)
    finally:
        for event in (first, last):
            events.call("EventDestroy", event)
    return measured
