# SPDX-License-Identifier: Apache-2.0
"""Bare addresses as arguments."""

from __future__ import annotations

import ctypes
from typing import Any

from flydsl.compile.dtypes import DATA_TYPES, scalar_type
from flydsl.compile.specs import PointerSpec

__all__ = ["PointerArgument", "from_c_void_p"]


class PointerArgument:
    """An address with the type that a kernel sees; made by `from_c_void_p`."""

    __slots__ = ("address", "spec")

    def __init__(self, address: int, spec: PointerSpec) -> None:
        self.address = address
        self.spec = spec

    def __cache_signature__(self) -> Any:
        """Return what of this argument a compilation depends on: class of the elements, space and alignment."""
        return (type(self), DATA_TYPES[self.spec.dtype].cls, self.spec.space, self.spec.align)

    def __get_ir_types__(self) -> list[Any]:
        """Return the MLIR types of the host function's parameters; needs a current context."""
        return list(self.spec.ir_types())

    def __c_abi_spec__(self) -> list[tuple[Any, Any]]:
        """Return how the argument fills the slots of the host function."""
        from .slots import pointer_slots

        return pointer_slots(self)

    def __repr__(self) -> str:
        return f"PointerArgument({self.address:#x}, {self.spec.dtype}, {self.spec.space}, align={self.spec.align})"


def from_c_void_p(
    dtype: Any, address: int | ctypes.c_void_p | None, *, address_space: Any = None, assumed_align: int | None = None
) -> PointerArgument:
    """Wrap an address for a call; the kernel gets an `fx.Pointer`.

    Args:
        dtype: numeric class of the elements.
        address: the address; `None` is the null pointer.
        address_space: `fx.AddressSpace`, by default `Global`.
        assumed_align: alignment of the address in bytes, by default that of one element.

    Raises:
        TypeError: no address, or a dtype without a memory format.
        ValueError: an alignment that is not a positive multiple of the element size.
    """
    data = scalar_type(dtype)
    if isinstance(address, ctypes.c_void_p):
        address = address.value
    if address is None:
        address = 0
    if isinstance(address, bool) or not isinstance(address, int):
        raise TypeError(
            f"from_c_void_p takes an int, a ctypes.c_void_p or None as address, not {type(address).__name__}"
        )
    align = data.size if assumed_align is None else assumed_align
    if align < data.size or align % data.size:
        raise ValueError(f"assumed_align must be a positive multiple of the element size {data.size}, got {align}")
    space = "global" if address_space is None else address_space.name.lower()
    return PointerArgument(address, PointerSpec(data.name, space, align))
