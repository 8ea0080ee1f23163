# SPDX-License-Identifier: Apache-2.0
"""Address spaces: where a pointer points."""

from __future__ import annotations

import enum
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import attribute

__all__ = ["AddressSpace", "is_generic_address_space", "is_target_address_space"]


class AddressSpace(enum.IntEnum):
    """The target-neutral address spaces."""

    Generic = 0
    Global = 1
    Shared = 2
    Register = 3

    def __str__(self) -> str:
        return self.name.lower()


_LLVM = {"generic": 0, "global": 1, "shared": 3, "register": 5}


def space_text(space: Any) -> str:
    """Return the spelling of an address space inside a `!fly` type.

    Raises:
        TypeError: not an address space.
    """
    if isinstance(space, AddressSpace):
        return space.name.lower()
    attribute = getattr(space, "attribute_text", None)
    if attribute is not None:
        return str(attribute)
    if isinstance(space, str) and (space in _LLVM or space.startswith("#")):
        return space
    if type(space) is int and 0 <= space <= 3:
        return AddressSpace(space).name.lower()
    if isinstance(space, ir.Attribute):
        return str(fly.space_name(space))
    raise TypeError(f"expected an fx.AddressSpace or a target's address space, got {space!r}")


def space_argument(space: Any) -> str | ir.Attribute:
    """Return an address space as the types of pointers and tensors take it: its name, or the target's attribute."""
    text = space_text(space)
    return attribute(text) if text.startswith("#") else text


def space_from_text(text: str) -> Any:
    """Return the address space that a type spells: an `AddressSpace`, or the target's one."""
    if text in _LLVM:
        return AddressSpace[text.capitalize()]
    return _of_targets.get(text, text)


_of_targets: dict[str, Any] = {}


def register_target_space(text: str, space: Any) -> None:
    """Make `space` what `space_from_text` returns for a target's own address space; a target registers its own."""
    _of_targets[text] = space


def llvm_number(text: str) -> int:
    """Return LLVM's number of an address space on AMD GPUs.

    Raises:
        ValueError: the space has no plain pointer (buffer resources).
    """
    if text not in _LLVM:
        raise ValueError(f"address space {text} has no plain LLVM pointer; fx.rocdl.get_buffer_rsrc gives the resource")
    return _LLVM[text]


def is_generic_address_space(space: Any, which: AddressSpace) -> bool:
    """Tell whether `space` is the target-neutral address space `which`."""
    return space_text(space) == which.name.lower()


def is_target_address_space(space: Any, which: Any) -> bool:
    """Tell whether `space` is the target's address space `which`."""
    return space_text(space) == space_text(which)
