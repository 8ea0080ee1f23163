# SPDX-License-Identifier: Apache-2.0
"""Device memory for Python code that has no framework to get it from."""

from __future__ import annotations

import ctypes
import weakref

from . import _library

__all__ = ["DeviceBuffer", "synchronize_device"]


def synchronize_device() -> None:
    """Wait for everything that the current device was given to do.

    Raises:
        DeviceError: it failed, or there is no device.
    """
    _library.check(_library.load().flydsl_synchronize_device())


class DeviceBuffer:
    """Bytes of the current device's memory, zero at first; freed with the object.

    Attributes:
        address: of the first byte, for kernels.
        size: in bytes.
        device: the device's number.

    Raises:
        ValueError: a size below 1.
        DeviceError: there is no device, or it has not that much memory.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"a buffer has at least 1 byte, got {size}")
        runtime = _library.load()
        device, address = ctypes.c_int32(), ctypes.c_void_p()
        _library.check(runtime.flydsl_get_device(ctypes.byref(device)))
        _library.check(runtime.flydsl_malloc(ctypes.byref(address), size))
        self.device = device.value
        self.address = address.value or 0
        self.size = size
        weakref.finalize(self, runtime.flydsl_free, ctypes.c_void_p(self.address)).atexit = False
        self.clear()

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """Return bytes from `offset` on, by default all the rest.

        Raises:
            ValueError: they are not inside the buffer.
        """
        size = self.size - offset if size is None else size
        self._check(offset, size)
        data = ctypes.create_string_buffer(size)
        _library.check(_library.load().flydsl_copy(data, ctypes.c_void_p(self.address + offset), size))
        return data.raw

    def write(self, data: bytes, offset: int = 0) -> None:
        """Write bytes from `offset` on.

        Raises:
            ValueError: they do not fit.
        """
        self._check(offset, len(data))
        _library.check(_library.load().flydsl_copy(ctypes.c_void_p(self.address + offset), data, len(data)))

    def clear(self, size: int | None = None) -> None:
        """Set the first `size` bytes (by default all) to zero."""
        size = self.size if size is None else size
        piece = bytes(min(size, 1 << 20))
        for offset in range(0, size, len(piece) or 1):
            self.write(piece[: size - offset], offset)

    def _check(self, offset: int, size: int) -> None:
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError(f"bytes {offset} to {offset + size} are not inside a buffer of {self.size} bytes")

    def __repr__(self) -> str:
        return f"<DeviceBuffer of {self.size} bytes at {self.address:#x} on device {self.device}>"
