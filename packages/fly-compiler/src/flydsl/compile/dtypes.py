# SPDX-License-Identifier: Apache-2.0
"""Element types of tensors and types of scalar arguments: names, sizes, classes of the language."""

from __future__ import annotations

from typing import Any, NamedTuple

import flydsl.expr.values.numeric as numeric

__all__ = ["DATA_TYPES", "DataType", "scalar_type", "tensor_type"]


class DataType(NamedTuple):
    """One type of the artifact's note (docs/artifact.md)."""

    name: str
    size: int
    """Bytes of one element in memory."""
    cls: Any
    """The numeric class that a kernel sees."""


def _table() -> dict[str, DataType]:
    rows = [
        ("bool", 1, numeric.Boolean),
        ("int8", 1, numeric.Int8),
        ("int16", 2, numeric.Int16),
        ("int32", 4, numeric.Int32),
        ("int64", 8, numeric.Int64),
        ("uint8", 1, numeric.Uint8),
        ("uint16", 2, numeric.Uint16),
        ("uint32", 4, numeric.Uint32),
        ("uint64", 8, numeric.Uint64),
        ("float16", 2, numeric.Float16),
        ("bfloat16", 2, numeric.BFloat16),
        ("float32", 4, numeric.Float32),
        ("float64", 8, numeric.Float64),
        ("float8_e4m3fn", 1, numeric.Float8E4M3FN),
        ("float8_e4m3fnuz", 1, numeric.Float8E4M3FNUZ),
        ("float8_e5m2", 1, numeric.Float8E5M2),
        ("float8_e5m2fnuz", 1, numeric.Float8E5M2FNUZ),
    ]
    return {name: DataType(name, size, cls) for name, size, cls in rows}


DATA_TYPES = _table()
_BY_CLASS = {one.cls: one for one in DATA_TYPES.values()}
_WIDE_UNSIGNED = ("uint16", "uint32", "uint64")


def tensor_type(name: str, *, unsigned: bool) -> DataType:
    """Return the element type for a framework's dtype name.

    Args:
        name: such as `float32`.
        unsigned: accept unsigned integers of more than 8 bits.

    Raises:
        TypeError: kernels cannot have tensors of that type.
    """
    known = DATA_TYPES.get(name)
    if known is None or (not unsigned and name in _WIDE_UNSIGNED):
        allowed = [one for one in DATA_TYPES if unsigned or one not in _WIDE_UNSIGNED]
        hint = "" if known is None else ". Unsigned integers of torch are passed as flyc.from_dlpack(t)"
        raise TypeError(f"a kernel tensor cannot have dtype {name}; it can have {', '.join(allowed)}{hint}")
    return known


def scalar_type(cls: Any) -> DataType:
    """Return the type of a scalar launch argument.

    Raises:
        TypeError: the host cannot pass such a scalar (4- and 128-bit integers, 8-bit floats, `Index`).
    """
    known = _BY_CLASS.get(cls)
    if known is None or known.name.startswith("float8"):
        if not isinstance(cls, type):
            raise TypeError(f"a launch argument has a numeric class such as fx.Float32 as its type, not {cls!r}")
        raise TypeError(f"{cls.__name__} cannot be a launch argument; pass a wider type and convert it in the kernel")
    return known
