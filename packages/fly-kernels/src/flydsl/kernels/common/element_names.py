# SPDX-License-Identifier: Apache-2.0
"""Names, sizes and vector lengths of element types, however they are given."""

from __future__ import annotations

from typing import Any

from .arch import architecture
from .language import fx

__all__ = ["element_type", "get_dtype_bytes", "get_dtype_str", "get_dtype_vec_size"]

_VECTOR_BYTES = 16

# The language's class of each name; the first name of a class is the one that `get_dtype_str` gives.
_CLASSES = {
    "f32": "Float32",
    "f16": "Float16",
    "bf16": "BFloat16",
    "f64": "Float64",
    "i8": "Int8",
    "i16": "Int16",
    "i32": "Int32",
    "i64": "Int64",
    "u8": "Uint8",
    "u16": "Uint16",
    "u32": "Uint32",
    "u64": "Uint64",
    "f8e4m3fn": "Float8E4M3FN",
    "f8e4m3fnuz": "Float8E4M3FNUZ",
    "f8e5m2": "Float8E5M2",
    "f8e5m2fnuz": "Float8E5M2FNUZ",
}
_OTHER_NAMES = {
    "float32": "f32",
    "float16": "f16",
    "half": "f16",
    "fp16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2": "f8e5m2",
    "float8_e5m2fnuz": "f8e5m2fnuz",
}


def element_type(dtype: Any) -> Any:
    """The language's numeric class.

    Args:
        dtype: a numeric class, an MLIR type (also `T.f32`), a dtype of torch or numpy, or a name such as "f32", "bf16",
            "int8"; "fp8" is the 8-bit float with 3 bits of mantissa that the target's instructions take.

    Raises:
        ValueError: another name or type.
    """
    if isinstance(dtype, type) and hasattr(dtype, "mnemonic"):
        return dtype
    name = str(dtype).rpartition(".")[2]
    if name == "fp8":
        return getattr(fx, architecture().fp8.name)
    name = _OTHER_NAMES.get(name, name)
    if name in _CLASSES:
        return getattr(fx, _CLASSES[name])
    kind = dtype() if callable(dtype) and not isinstance(dtype, type) else dtype
    try:
        return fx.Numeric.from_ir_type(kind)
    except (TypeError, ValueError):
        raise ValueError(f"element type {dtype!r} is not known; use one of {', '.join(_CLASSES)}, fp8") from None


def get_dtype_str(dtype: Any) -> str:
    """The short name ("f32", "bf16", "i8", …) of what `element_type` takes; raises as it does."""
    found = element_type(dtype).__name__
    for name, kind in _CLASSES.items():
        if kind == found:
            return name
    raise ValueError(f"element type {found} has no short name")


def get_dtype_bytes(dtype: Any) -> int:
    """Bytes of an element of what `element_type` takes; raises as it does, and ValueError for parts of a byte."""
    width: int = element_type(dtype).width
    if width % 8:
        raise ValueError(f"an element of {get_dtype_str(dtype)} is {width} bits, no whole number of bytes")
    return width // 8


def get_dtype_vec_size(dtype: Any) -> int:
    """Elements of an access of 16 bytes, the widest; raises as `get_dtype_bytes` does."""
    return _VECTOR_BYTES // get_dtype_bytes(dtype)
