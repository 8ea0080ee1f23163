# SPDX-License-Identifier: Apache-2.0
"""Device memory that Python code owns."""

from __future__ import annotations

import gc

import make_doubles as build
import pytest

from flydsl.runtime import DeviceBuffer, synchronize_device


def test_zero_at_first_and_written_in_pieces(hip: build.Hip) -> None:
    buffer = DeviceBuffer(4096)
    assert (buffer.size, buffer.device) == (4096, 0)
    assert buffer.read() == bytes(4096)
    buffer.write(b"abcdef", 100)
    assert buffer.read(99, 8) == b"\0abcdef\0"
    buffer.clear(103)
    assert buffer.read(100, 6) == b"\0\0\0def"
    buffer.clear()
    assert buffer.read(103, 3) == bytes(3)


def test_outside_of_it(hip: build.Hip) -> None:
    buffer = DeviceBuffer(64)
    with pytest.raises(ValueError, match="bytes 60 to 68 are not inside a buffer of 64 bytes"):
        buffer.read(60, 8)
    with pytest.raises(ValueError, match="not inside"):
        buffer.write(b"x", -1)
    with pytest.raises(ValueError, match="at least 1 byte"):
        DeviceBuffer(0)


def test_freed_with_the_object(hip: build.Hip) -> None:
    buffer = DeviceBuffer(64)
    del buffer
    gc.collect()
    assert hip.log() == ["free"]


def test_waiting_for_the_device(hip: build.Hip) -> None:
    synchronize_device()
    assert hip.log() == ["synchronize device"]
