# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments as the command line has them: arrays in ``.npy`` files, and scalars as ``TYPE:VALUE``."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_INTEGERS = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
}
_FLOATS = {"f32": ctypes.c_float, "f64": ctypes.c_double}
_HALVES = ("f16", "bf16")
_TYPES = (*_INTEGERS, *_HALVES, *_FLOATS)


def read_argument(text: str) -> tuple[Any, Path | None]:
    """A kernel argument and, for arrays that are written back (``out=`` before the name), the file.

    Raises ValueError for what is neither a scalar of a known type, in its range, nor a file of numbers.
    """
    kind, separator, value = text.partition(":")
    if separator and kind in _TYPES:
        try:
            return _scalar(kind, value), None
        except ValueError:
            raise ValueError(f"argument {text!r}: {value!r} is no {kind}") from None
    writes = text.startswith("out=")
    path = Path(text[4:] if writes else text)
    if not path.is_file():
        kinds = ", ".join(_TYPES)
        raise ValueError(f"argument {text!r}: there is no file {path}; scalars are TYPE:VALUE with one of {kinds}")
    return _array(text, path), path if writes else None


def _scalar(kind: str, text: str) -> Any:
    import numpy as np

    if kind in _FLOATS:
        return _FLOATS[kind](float(text))
    if kind in _INTEGERS:
        made = _INTEGERS[kind](int(text, 0))
        if made.value != int(text, 0):
            raise ValueError
        return made
    if kind == "f16":
        return ctypes.c_uint16(int(np.float16(float(text)).view(np.uint16)))
    bits = int(np.float32(float(text)).view(np.uint32))
    if bits & 0x7FFFFFFF > 0x7F800000:  # a NaN: keep it one
        return ctypes.c_uint16(bits >> 16 | 0x40)
    return ctypes.c_uint16(bits + 0x7FFF + (bits >> 16 & 1) >> 16)


def _array(text: str, path: Path) -> Any:
    import numpy as np

    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"argument {text!r}: {path} is no .npy file ({error})") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ValueError(f"argument {text!r}: {path} is an archive of arrays; save each with numpy.save")
    if array.ndim == 0:
        raise ValueError(f"argument {text!r}: {path} holds a scalar; write TYPE:VALUE")
    # Types that numpy does not know (bf16, fp8) are saved as raw bytes: kind V.
    if array.dtype.kind not in "biufcV":
        raise ValueError(f"argument {text!r}: {path} holds {array.dtype}, no numbers")
    return np.ascontiguousarray(array)


def check_arguments(kernel: dict[str, Any], texts: Sequence[str], values: Sequence[Any]) -> None:
    """Number and sizes of the arguments against the kernel's metadata; ValueError names what does not fit."""
    expected = [one for one in kernel["arguments"] if not one["kind"].startswith("hidden_")]
    if len(expected) != len(values):
        names = ", ".join(f"{one['name'] or '?'} ({one['kind']}, {one['size']} bytes)" for one in expected)
        raise ValueError(f"{kernel['name']} takes {len(expected)} arguments, {len(values)} came: {names or 'none'}")
    for one, text, value in zip(expected, texts, values, strict=True):
        array = not isinstance(value, ctypes._SimpleCData)
        size = 8 if array else ctypes.sizeof(value)
        if array and one["kind"] == "by_value" and one["size"] != 8:
            raise ValueError(f"argument {text!r}: {kernel['name']} takes {one['size']} bytes by value there, no array")
        if size != one["size"]:
            raise ValueError(f"argument {text!r}: {size} bytes, and {kernel['name']} takes {one['size']} there")
