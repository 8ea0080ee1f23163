# SPDX-License-Identifier: Apache-2.0
"""How launch arguments fill the slots of a compiled host function (docs/artifact.md), for callers in Python.

Calls of this library pack natively; this is the same in ctypes, for `flydsl.compiler.protocol.c_abi_spec`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

from flydsl.compile.specs import Dynamic
from flydsl.expr.values.numeric import BFloat16, Float16, Float32, Float64, Numeric
from flydsl.expr.values.struct import StructBase
from flydsl.expr.values.typing import Stream

__all__ = ["Slot", "pointer_slots", "slots_of", "tensor_slots"]

Slot = tuple[Any, Callable[[Any, Any], None]]
"""A ctypes class, and what fills an object of it: `fill(argument, slot)`."""

_INTEGERS = {
    (8, True): ctypes.c_int8,
    (16, True): ctypes.c_int16,
    (32, True): ctypes.c_int32,
    (64, True): ctypes.c_int64,
    (8, False): ctypes.c_uint8,
    (16, False): ctypes.c_uint16,
    (32, False): ctypes.c_uint32,
    (64, False): ctypes.c_uint64,
}


def slots_of(value: Any) -> list[Slot]:
    """Return the slots of a number, a stream, a struct or an object with `__c_abi_spec__`.

    Raises:
        TypeError: it cannot be a launch argument.
    """
    if hasattr(type(value), "__c_abi_spec__"):
        return list(value.__c_abi_spec__())
    if isinstance(value, Numeric):
        return [_number_slot(type(value))]
    if isinstance(value, Stream):
        return [(ctypes.c_void_p, lambda one, slot: setattr(slot, "value", one.handle()))]
    if isinstance(value, StructBase):
        return [part for name in value._dynamic() for part in _field_slots(name, getattr(value, name))]
    raise TypeError(f"'{type(value).__name__}' has no __c_abi_spec__: it is no launch argument")


def _field_slots(name: str, value: Any) -> list[Slot]:
    def of_field(fill: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        return lambda owner, slot: fill(getattr(owner, name), slot)

    return [(kind, of_field(fill)) for kind, fill in slots_of(value)]


def _number_slot(cls: Any) -> Slot:
    if cls.width == 1:
        return ctypes.c_bool, lambda one, slot: setattr(slot, "value", bool(one.value))
    if cls in (Float32, Float64):
        kind = ctypes.c_float if cls is Float32 else ctypes.c_double
        return kind, lambda one, slot: setattr(slot, "value", float(one.value))
    if cls in (Float16, BFloat16):
        return ctypes.c_int16, lambda one, slot: setattr(slot, "value", _half_bits(cls, float(one.value)))
    kind_of_integer = _INTEGERS.get((cls.width, bool(cls.signed))) if cls.is_integer else None
    if kind_of_integer is None:
        raise TypeError(f"{cls.__name__} (width={cls.width}) has no C type and cannot be a launch argument")
    return kind_of_integer, lambda one, slot: setattr(slot, "value", int(one.value))


def _half_bits(cls: Any, value: float) -> int:
    if cls is Float16:
        return int(struct.unpack("<h", struct.pack("<e", value))[0])
    return int(struct.unpack("<hh", struct.pack("<f", value))[1])  # cut off, as the native side does


def pointer_slots(argument: Any) -> list[Slot]:
    """Return the slot of a wrapped pointer."""
    return [(ctypes.c_void_p, lambda one, slot: setattr(slot, "value", one.address))]


def tensor_slots(argument: Any) -> list[Slot]:
    """Return the slots of a wrapped tensor: its address and, when any leaf is dynamic, the packed leaves.

    Dynamic extents come first, as int32 in the order of the axes, then dynamic strides, as int64 or int32.
    """
    found: list[Slot] = [(ctypes.c_void_p, lambda one, slot: setattr(slot, "value", _address(one.tensor)))]
    size = len(packed_leaves(argument))

    def pack(one: Any, slot: Any) -> None:
        ctypes.memmove(slot, packed_leaves(one), size)

    return [*found, (ctypes.c_byte * size, pack)] if size else found


def packed_leaves(argument: Any) -> bytes:
    """Return the dynamic extents and strides of a wrapped tensor as the host function reads them."""
    spec = argument.spec
    extents = [one for one, leaf in zip(argument.extents, spec.shape, strict=True) if isinstance(leaf, Dynamic)]
    steps = [one for one, leaf in zip(argument.steps, spec.stride, strict=True) if isinstance(leaf, Dynamic)]
    return struct.pack(f"<{len(extents)}i{len(steps)}{'i' if spec.stride_bits == 32 else 'q'}", *extents, *steps)


def _address(tensor: Any) -> int:
    if hasattr(tensor, "data_ptr"):
        return int(tensor.data_ptr())
    if hasattr(tensor, "__array_interface__"):
        return int(tensor.__array_interface__["data"][0])
    import tvm_ffi

    return int(tvm_ffi.from_dlpack(tensor).data_ptr())
