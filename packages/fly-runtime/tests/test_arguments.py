# SPDX-License-Identifier: Apache-2.0
"""Every check of an argument, and its message."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from make_doubles import pointer, scalar, stream, tensor

Make = Callable[..., Any]
F32 = np.float32


def refused(function: Any, arguments: tuple[Any, ...], kind: type[Exception], message: str) -> None:
    """The call raises exactly this, and the next good call isn't disturbed (each test checks that itself)."""
    with pytest.raises(kind) as caught:
        function(*arguments)
    assert type(caught.value) is kind
    assert str(caught.value) == message


def test_count(make: Make) -> None:
    add, _ = make("add", [tensor("a"), tensor("b"), scalar("n")])
    a = np.zeros(4, F32)
    refused(add, (a, a), TypeError, "add(): expected 3 arguments (a, b, n), got 2")
    refused(add, (a, a, 1, 2), TypeError, "add(): expected 3 arguments (a, b, n), got 4")
    add(a, a, 4)


@pytest.mark.parametrize(
    ("value", "came"),
    [
        (None, "None"),
        (3, "the integer 3"),
        (True, "True"),
        (2.5, "the number 2.500000"),
        ("text", "a string"),
        ("a text that is too long to be stored inline", "a string"),
        (b"bytes", "bytes"),
        ([1.0], "a sequence"),
        ((1.0,), "a sequence"),
        ({}, "a mapping"),
        (print, "a function"),
        (object(), "an object of type object"),
        (ctypes.c_void_p(4), "a pointer"),
        (np.zeros(4, np.int64), "a int64 tensor"),
        (np.zeros(4, np.complex64), "a complex64 tensor"),
        (np.zeros(4, np.float64), "a float64 tensor"),
        (np.zeros(4, bool), "a bool tensor"),
    ],
)
def test_tensor_kind_and_dtype(make: Make, value: Any, came: str) -> None:
    add, _ = make("add", [scalar("n"), tensor("a")])
    expected = f"add(): argument 2 ('a'): expected a float32 tensor of shape (?,), got {came}"
    refused(add, (1, value), TypeError, expected)
    add(1, np.zeros(4, F32))


def test_arrays_that_dlpack_refuses(make: Make) -> None:
    add, _ = make("add", [tensor("a")])
    for array, reason in [
        (np.array([None]), "dtype"),
        (np.zeros(3, ">f4"), "native byte order"),
        (np.zeros(4, dtype=[("x", "u1"), ("y", "f4")])["y"], "strides"),
    ]:
        with pytest.raises(
            TypeError, match=rf"add\(\): argument 1 \('a'\): ndarray cannot be passed by DLPack: .*{reason}"
        ):
            add(array)
    add(np.zeros(4, F32))


def test_bytes_differ_in_signedness(make: Make) -> None:
    add, _ = make("add", [tensor("a", "int8"), tensor("b", "uint8"), tensor("c", "bool")])
    unsigned, signed, flags = np.zeros(2, np.uint8), np.zeros(2, np.int8), np.zeros(2, bool)
    add(signed, unsigned, flags)
    for args, place, wanted, came in [
        ((unsigned, unsigned, flags), "argument 1 ('a')", "int8", "uint8"),
        ((signed, signed, flags), "argument 2 ('b')", "uint8", "int8"),
        ((signed, unsigned, signed), "argument 3 ('c')", "bool", "int8"),
    ]:
        message = f"add(): {place}: expected a {wanted} tensor of shape (?,), got a {came} tensor"
        refused(add, args, TypeError, message)


def test_rank(make: Make) -> None:
    add, _ = make("add", [tensor("a", shape=("?", 128))])
    expected = "add(): argument 1 ('a'): expected a float32 tensor of shape (?, 128) (rank 2), got "
    refused(add, (np.zeros(128, F32),), ValueError, expected + "shape (128,) (rank 1)")
    refused(add, (np.zeros((), F32),), ValueError, expected + "shape () (rank 0)")
    refused(add, (np.zeros((1, 1, 128), F32),), ValueError, expected + "shape (1, 1, 128) (rank 3)")
    add(np.zeros((3, 128), F32))


def test_rank_zero(make: Make) -> None:
    add, inside = make("add", [tensor("a", shape=())])
    value = np.array(3, F32)
    add(value)
    assert int.from_bytes(inside.slot(0), "little") == value.ctypes.data


def test_static_extent(make: Make) -> None:
    add, _ = make("add", [tensor("a", shape=("?", 128))])
    refused(
        add,
        (np.zeros((3, 64), F32),),
        ValueError,
        "add(): argument 1 ('a'): expected an extent of 128 on axis 1, got 64 (shape (3, 64))",
    )


def test_divisible_extent(make: Make) -> None:
    add, _ = make("add", [tensor("a", shape=(("?", 4),))])
    refused(
        add,
        (np.zeros(6, F32),),
        ValueError,
        "add(): argument 1 ('a'): expected an extent divisible by 4 on axis 0, got 6 (shape (6,))",
    )
    add(np.zeros(8, F32))
    add(np.zeros(0, F32))


def test_static_stride(make: Make) -> None:
    add, _ = make("add", [tensor("a", shape=("?", 4), stride=(4, 1))])
    a = np.zeros((6, 8), F32)
    refused(
        add,
        (a[:, :4],),
        ValueError,
        "add(): argument 1 ('a'): expected a stride of 4 on axis 0, got 8 (strides (8, 1))",
    )
    add(a[:, 4:].copy())
    add(a[:1, :4])  # the stride of an axis with one coordinate doesn't matter
    add(a[:0, :4])  # nor any of a tensor without elements


def test_divisible_stride(make: Make) -> None:
    add, _ = make("add", [tensor("a", shape=("?", 4), stride=(("?", 8), 1))])
    refused(
        add,
        (np.zeros((3, 12), F32)[:, :4],),
        ValueError,
        "add(): argument 1 ('a'): expected a stride divisible by 8 on axis 0, got 12 (strides (12, 1))",
    )
    add(np.zeros((3, 16), F32)[:, :4])


def test_extent_beyond_32_bits(make: Make) -> None:
    add, _ = make("add", [tensor("a", "uint8", access="read", stride=(0,))])
    refused(
        add,
        (np.broadcast_to(np.zeros(1, np.uint8), (2**31,)),),
        ValueError,
        "add(): argument 1 ('a'): expected an extent that fits in 32 bits on axis 0, got 2147483648",
    )


def test_stride_beyond_32_bits(make: Make) -> None:
    add, _ = make("add", [tensor("a", "uint8", shape=(2,), stride=("?",), stride_bits=32)])
    base = np.zeros(8, np.uint8)
    wide = np.lib.stride_tricks.as_strided(base, (2,), (2**31,))
    refused(
        add,
        (wide,),
        ValueError,
        "add(): argument 1 ('a'): expected a stride that fits in 32 bits on axis 0, got 2147483648",
    )


def test_span_beyond_the_address_space(make: Make) -> None:
    add, _ = make("add", [tensor("a", "uint8", shape=("?", "?"), stride=("?", "?"))])
    far = np.lib.stride_tricks.as_strided(np.zeros(8, np.uint8), (4, 4), (2**62, 2**62))
    refused(
        add,
        (far,),
        ValueError,
        "add(): argument 1 ('a'): expected a tensor within the address space, got extents and strides that reach "
        "beyond it",
    )


def test_alignment(make: Make) -> None:
    add, _ = make("add", [tensor("a", align=16)])
    base = np.zeros(16, F32)
    start = (-base.ctypes.data // 4) % 4  # the first element that is aligned to 16 bytes
    aligned = base[start : start + 4]
    add(aligned)
    off = base[start + 1 : start + 5]
    refused(
        add,
        (off,),
        ValueError,
        f"add(): argument 1 ('a'): expected data aligned to 16 bytes, got the address {off.ctypes.data:#x}",
    )


def test_read_only_array(make: Make) -> None:
    add, inside = make("add", [tensor("a", access="read"), tensor("b", access="write")])
    fixed, free = np.arange(4, dtype=F32), np.zeros(4, F32)
    fixed.flags.writeable = False
    add(fixed, free)
    assert int.from_bytes(inside.slot(0), "little") == fixed.ctypes.data
    refused(
        add,
        (free, fixed),
        ValueError,
        "add(): argument 2 ('b'): expected a tensor that may be written, got a read-only one",
    )
    add(free, free)


def test_elements_that_share_memory_are_read_and_not_written(make: Make) -> None:
    read, written = tensor("a", stride=("?",), access="read"), tensor("b", stride=("?",), written=True)
    perhaps = tensor("c", stride=("?",))  # readwrite: the compiler could not follow it
    add, _ = make("add", [read, written, perhaps])
    shared = np.lib.stride_tricks.as_strided(np.zeros(1, F32), (4,), (0,))
    free = np.zeros(4, F32)
    add(shared, free, shared)
    refused(
        add,
        (free, shared, free),
        ValueError,
        "add(): argument 2 ('b'): expected a tensor whose elements have memory of their own, because it is written, "
        "got a stride of 0 on axis 0 of extent 4 (made by expand or broadcast_to?); pass a copy, such as "
        "t.contiguous()",
    )


OVERLAPPING = [((8, 8), (4, 1)), ((3, 4), (1, 2)), ((2, 3, 4), (5, 3, 1)), ((4, 4), (-3, 3)), ((5, 5), (6, 4))]
SEPARATE = [((8, 8), (1, 8)), ((2, 3), (3, 2)), ((4, 4), (-8, 1)), ((3, 3, 3), (4, 12, 1)), ((4, 5), (5, 4))]


@pytest.mark.parametrize(("shape", "strides"), OVERLAPPING + SEPARATE)
def test_overlapping_elements_are_read_and_not_written(make: Make, shape: Any, strides: Any) -> None:
    """Whether two elements have one address is decided exactly, not from the order of the strides."""
    extents = ("?",) * len(shape)
    add, _ = make("add", [tensor("a", shape=extents, stride=extents, written=True)])
    memory = np.zeros(400, F32)
    view = np.lib.stride_tricks.as_strided(memory[200:], shape, [4 * one for one in strides])
    offsets = [sum(map(operator.mul, at, strides)) for at in np.ndindex(*shape)]
    overlapping = len(set(offsets)) < len(offsets)
    assert overlapping == ((shape, strides) in OVERLAPPING)
    if overlapping:
        refused(
            add,
            (view,),
            ValueError,
            "add(): argument 1 ('a'): expected a tensor whose elements have memory of their own, because it is "
            f"written, got strides {strides} by which elements of shape {shape} share memory (made by as_strided or "
            "unfold?); pass a copy, such as t.contiguous()",
        )
    else:
        add(view)


def test_foreign_dlpack_objects(make: Make) -> None:
    """Read-only ones are recognised by DLPack's flag; producers of before DLPack 1.0 work too."""

    class Modern:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    class Old(Modern):
        def __dlpack__(self) -> Any:  # type: ignore[override]
            return self.array.__dlpack__()

    class Broken(Modern):
        def __dlpack__(self, **options: Any) -> Any:
            raise RuntimeError("no memory of its own")

    add, inside = make("add", [tensor("a", access="read"), tensor("b")])
    fixed, free = np.arange(4, dtype=F32), np.zeros(4, F32)
    fixed.flags.writeable = False
    add(Modern(fixed), Old(free))
    assert int.from_bytes(inside.slot(0), "little") == fixed.ctypes.data
    assert int.from_bytes(inside.slot(2), "little") == free.ctypes.data
    refused(
        add,
        (Modern(free), Modern(fixed)),
        ValueError,
        "add(): argument 2 ('b'): expected a tensor that may be written, got a read-only one",
    )
    refused(
        add,
        (Broken(free), free),
        TypeError,
        "add(): argument 1 ('a'): Broken cannot be passed by DLPack: no memory of its own",
    )


SCALARS = "add(): argument 1 ('n'): expected "


@pytest.mark.parametrize(
    ("dtype", "value", "kind", "message"),
    [
        ("int32", 2**31, ValueError, "an integer (int32), got the integer 2147483648, which does not fit"),
        ("int32", -(2**31) - 1, ValueError, "an integer (int32), got the integer -2147483649, which does not fit"),
        ("int8", 128, ValueError, "an integer (int8), got the integer 128, which does not fit"),
        ("uint8", -1, ValueError, "an integer (uint8), got the integer -1, which does not fit"),
        ("uint64", -1, ValueError, "an integer (uint64), got the integer -1, which does not fit"),
        ("uint64", 2**64, ValueError, "an integer (uint64), got an integer of more than 64 bits, which does not fit"),
        (
            "uint64",
            -(2**64),
            ValueError,
            "an integer (uint64), got an integer of more than 64 bits, which does not fit",
        ),
        ("int64", 2**63, ValueError, "an integer (int64), got an integer of more than 64 bits, which does not fit"),
        ("int32", 1.0, TypeError, "an integer (int32), got the number 1.000000"),
        ("int32", None, TypeError, "an integer (int32), got None"),
        ("int32", "7", TypeError, "an integer (int32), got a string"),
        ("float32", "7", TypeError, "a number (float32), got a string"),
        ("float32", None, TypeError, "a number (float32), got None"),
        ("bool", 2, TypeError, "a bool, got the integer 2"),
        ("bool", 1.0, TypeError, "a bool, got the number 1.000000"),
    ],
)
def test_scalars_refused(make: Make, dtype: str, value: Any, kind: type[Exception], message: str) -> None:
    add, _ = make("add", [scalar("n", dtype)])
    refused(add, (value,), kind, SCALARS + message)
    add(1)


def test_pointer_and_stream_refused(make: Make) -> None:
    add, _ = make("add", [pointer("p"), stream("s")])
    expected = "a pointer to float32 (an address, a c_void_p or None)"
    refused(add, (1.5, None), TypeError, f"add(): argument 1 ('p'): expected {expected}, got the number 1.500000")
    refused(
        add,
        (-1, None),
        ValueError,
        f"add(): argument 1 ('p'): expected {expected}, got the integer -1, which does not fit",
    )
    expected = "a stream (None, an address or an object with cuda_stream)"
    refused(add, (None, "s"), TypeError, f"add(): argument 2 ('s'): expected {expected}, got a string")
    refused(
        add,
        (None, object()),
        TypeError,
        f"add(): argument 2 ('s'): expected {expected}, got an object of type object",
    )
    add(None, None)


def test_null_data(make: Make) -> None:
    """A tensor without storage, as torch's fake tensors come: DLPack with a NULL pointer."""
    from dlpack_tensors import Tensor

    add, _ = make("add", [tensor("a")])
    refused(
        add,
        (Tensor(0, (4,), device=(1, 0)),),
        ValueError,
        "add(): argument 1 ('a'): expected data, got a NULL pointer for shape (4,) (a tensor without storage?)",
    )
    add(Tensor(0, (0,), device=(1, 0)))
