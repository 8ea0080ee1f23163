# SPDX-License-Identifier: Apache-2.0
"""Hiding from the compiler what a value is, where what it does with the knowledge costs more than it saves."""

from __future__ import annotations

from typing import Any

from .language import fx

__all__ = ["opaque", "opaque_resource"]


def opaque(value: Any) -> Any:
    """The same 32-bit integer of each lane, of which the compiler knows nothing. Emits no instruction.

    Inside a loop that carries it, it keeps the compiler from adding constants to it once before the loop, in a register
    for each, although instructions have room for an offset. After a loop, it keeps what is computed from it from being
    computed before the loop and held in registers through it.
    """
    return fx.rocdl.inline_asm.inline_asm("", "=v,0", [value], fx.Int32, side_effects=False)


def opaque_resource(resource: Any) -> Any:
    """The same buffer resource, of which the compiler knows nothing. Emits no instruction.

    Of several resources with words in common it keeps the compiler from holding these once and copying them, before
    each use, to where the instruction wants all four.
    """
    from flydsl._mlir.dialects import llvm

    return llvm.inline_asm(resource.type, [resource], "", "=s,0")
