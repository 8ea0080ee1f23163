# SPDX-License-Identifier: Apache-2.0
"""What the host function finds in its slots."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dlpack_tensors import CPU, Tensor
from make_doubles import pointer, scalar, stream, tensor

Make = Callable[..., Any]
F32 = np.float32


def test_fully_static_tensor_has_one_slot(make: Make) -> None:
    f, inside = make("f", [tensor("a", shape=(4, 8), stride=(8, 1)), scalar("n")])
    a = np.zeros((4, 8), F32)
    f(a, 7)
    assert inside.slot(0) == struct.pack("<Q", a.ctypes.data)
    assert inside.slot(1)[:4] == struct.pack("<i", 7)


def test_dynamic_leaves_are_packed_without_padding(make: Make) -> None:
    """Extents as int32 in ascending order of axes, then strides as int64; static leaves are left out."""
    f, inside = make("f", [tensor("a", shape=("?", 5, "?"), stride=("?", "?", 1)), tensor("b")])
    a = np.zeros((3, 5, 16), F32)[:, :, 2:9]
    b = np.zeros(11, F32)
    f(a, b)
    assert inside.slot(0) == struct.pack("<Q", a.ctypes.data)
    assert inside.slot(1, 24) == struct.pack("<iiqq", 3, 7, 80, 16)
    assert inside.slot(2) == struct.pack("<Q", b.ctypes.data)
    assert inside.slot(3, 4) == struct.pack("<i", 11)


def test_narrow_strides(make: Make) -> None:
    f, inside = make("f", [tensor("a", shape=("?", "?"), stride=("?", "?"), stride_bits=32)])
    f(np.zeros((6, 4), F32)[::-2, ::3])
    assert inside.slot(1, 16) == struct.pack("<iiii", 3, 2, -8, 3)


def test_strides_may_be_null(make: Make) -> None:
    """DLPack allows it for compact tensors; a storage offset in bytes counts."""
    f, inside = make("f", [tensor("a", shape=("?", "?", "?"), stride=("?", "?", "?"))])
    memory = np.zeros(100, F32)
    f(Tensor(memory.ctypes.data, (2, 3, 4), device=(CPU, 0), byte_offset=8))
    assert inside.slot(0) == struct.pack("<Q", memory.ctypes.data + 8)
    assert inside.slot(1, 36) == struct.pack("<iiiqqq", 2, 3, 4, 12, 4, 1)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("bool", True, b"\1"),
        ("bool", 0, b"\0"),
        ("bool", np.bool_(True), b"\1"),
        ("int8", -128, struct.pack("<b", -128)),
        ("uint8", 255, b"\xff"),
        ("int16", -2, struct.pack("<h", -2)),
        ("uint16", 65535, b"\xff\xff"),
        ("int32", -(2**31), struct.pack("<i", -(2**31))),
        ("int32", True, struct.pack("<i", 1)),
        ("int32", np.int64(-5), struct.pack("<i", -5)),
        ("uint32", 2**32 - 1, b"\xff" * 4),
        ("int64", -(2**63), struct.pack("<q", -(2**63))),
        ("uint64", 2**63 - 1, struct.pack("<Q", 2**63 - 1)),
        ("uint64", 2**64 - 1, b"\xff" * 8),
        ("float32", 0.1, struct.pack("<f", 0.1)),
        ("float32", 3, struct.pack("<f", 3)),
        ("float32", np.float32(2.5), struct.pack("<f", 2.5)),
        ("float32", 1e300, struct.pack("<f", float("inf"))),
        ("float64", 0.1, struct.pack("<d", 0.1)),
        ("bfloat16", 1.0, b"\x80\x3f"),
        ("bfloat16", 1.99999, b"\xff\x3f"),  # truncated, not rounded to 2
        ("float16", float("inf"), b"\x00\x7c"),
    ],
)
def test_scalars(make: Make, dtype: str, value: Any, expected: bytes) -> None:
    f, inside = make("f", [scalar("n", dtype)])
    f(value)
    assert inside.slot(0)[: len(expected)] == expected


def test_float16_scalars_round_to_nearest_even(make: Make) -> None:
    f, inside = make("f", [scalar("x", "float16")])
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 1 << 16, 200, dtype=np.uint16).view(np.float16).astype(np.float64)
    finite = patterns[np.isfinite(patterns)]
    halfway = (finite + np.nextafter(finite.astype(np.float16), np.float16(np.inf)).astype(np.float64)) / 2
    edges = [0.0, -0.0, 65504.0, 65519.999, 65520.0, 2.0**-24, 2.0**-25, 2.0**-25 * 1.0001, 6.1e-5, -1e-9]
    for value in [*finite, *halfway[np.isfinite(halfway)], *edges, *rng.normal(size=100)]:
        f(float(value))
        with np.errstate(over="ignore"):
            assert inside.slot(0, 2) == np.float64(value).astype(np.float16).tobytes(), value


def test_not_a_number_stays_one(make: Make) -> None:
    f, inside = make("f", [scalar("x", "float16"), scalar("y", "bfloat16")])
    f(float("nan"), struct.unpack("<d", struct.pack("<Q", 0x7FF0_0000_2000_0000))[0])
    assert np.isnan(np.frombuffer(inside.slot(0, 2), np.float16)[0])
    assert inside.slot(1, 2)[1] & 0x7F == 0x7F
    assert inside.slot(1, 2)[0] & 0x7F != 0


@pytest.mark.parametrize(("value", "address"), [(None, 0), (4096, 4096), (ctypes.c_void_p(64), 64)])
def test_pointers(make: Make, value: Any, address: int) -> None:
    f, inside = make("f", [pointer("p")])
    f(value)
    assert inside.slot(0) == struct.pack("<Q", address)


def test_streams(make: Make, hip: Any) -> None:
    class Stream:
        def __init__(self, handle: int) -> None:
            self.cuda_stream = handle

    f, inside = make("f", [scalar("n"), stream("s")])
    inside.request.stream_slot = 1
    for value in (None, 77, Stream(78), Stream(79)):
        f(1, value)
    assert [line.split()[-1] for line in hip.log()[-4:]] == ["0", "77", "78", "79"]


def test_hidden_stream_comes_last_and_is_null(make: Make) -> None:
    f, inside = make("f", [scalar("n")])
    inside.request.stream_slot = 1
    f(5)
    assert inside.slot(1) == bytes(8)


def test_many_arguments(make: Make) -> None:
    """More than the call frame keeps on the stack."""
    count = 31
    f, inside = make("f", [tensor(f"t{i}", shape=("?", "?")) for i in range(count)])
    arrays = [np.zeros((i + 1, 3), F32) for i in range(count)]
    f(*arrays)
    for i, array in enumerate(arrays):
        assert inside.slot(2 * i) == struct.pack("<Q", array.ctypes.data)
        assert inside.slot(2 * i + 1, 16) == struct.pack("<iiq", i + 1, 3, 3)
