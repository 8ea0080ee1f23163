# SPDX-License-Identifier: Apache-2.0
"""What a copy needs of a tensor and its type has to prove: static extents, and elements side by side for one atom.

The dialect refuses static layouts that scatter what one atom moves. A stride that is known only when the kernel runs is
refused here: the atom would move neighbours in memory, which may be no neighbours in the tensor.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

from flydsl._mlir.facts import CopyAtomFacts, MemRefFacts, TiledCopyFacts
from flydsl.trace import context as _trace

from ..values.layout import trees
from ..values.tensor import Tensor
from .atom import _Atom

__all__ = ["check_neighbours", "warn_of_ignored_swizzle"]


def check_neighbours(what: str, atom: Any, tensor: Any, name: str, *, one_atom: bool) -> None:
    """Refuse a tensor whose type does not say which elements an atom moves.

    Args:
        what: the copying function.
        atom: a copy atom or tiled copy.
        tensor: an operand.
        name: the operand's.
        one_atom: the tensor is what one atom moves; else its mode 0 is, and the others are repetitions.

    Raises:
        ValueError: an extent, or the stride between elements of one atom, is known only when the kernel runs.
    """
    if tensor.is_coordinate:
        return
    found = _fault(_atom_facts(atom), tensor.facts, one_atom)
    if found is not None:
        raise ValueError(f"{what}: the {name} {tensor} {found}")


def _atom_facts(atom: _Atom) -> CopyAtomFacts:
    facts = atom._facts
    return facts.atom if type(facts) is TiledCopyFacts else facts


@lru_cache(maxsize=4096)
def _fault(atom: CopyAtomFacts, tensor: MemRefFacts, one_atom: bool) -> str | None:
    layout = tensor.layout
    bits = _bits_of_a_thread(atom)
    if bits is None or (trees.is_static(layout.shape) and trees.is_static(layout.stride)):
        return None
    if not one_atom and not trees.is_static(layout.shape):
        return (
            "has an extent that is known only when the kernel runs, and a copy is unrolled. Take a tile of static "
            "extents (fx.zipped_divide, fx.logical_divide, a partition of a tiled copy), with pred= where it sticks out"
        )
    shape, stride = layout.shape, layout.stride
    if not one_atom and isinstance(shape, tuple):
        shape, stride = shape[0], stride[0]
    elements = bits // tensor.element_bits
    run = 1
    for extent, step in zip(trees.leaves_of(shape), trees.leaves_of(stride), strict=True):
        if run >= elements:
            break
        if extent == 1:
            continue
        if isinstance(step, trees.Dynamic):
            return (
                f"has a stride that is known only when the kernel runs between the {elements} elements ({bits} bits) "
                "that the atom moves as neighbours in memory. Copy along the axis of stride 1 (of a plain argument the "
                "first such axis is known to be one; else mark_layout_dynamic(leading_dim=axis) of flyc.from_dlpack "
                f"says which), or use an atom of one element ({tensor.element_bits} bits)"
            )
        if step != run or not isinstance(extent, int):
            break
        run *= extent
    return None


def _bits_of_a_thread(atom: CopyAtomFacts) -> int | None:
    """Return the bits that a thread moves by one atom; `None` for an atom that moves whole tiles."""
    if atom.src_bits is None or atom.dst_bits is None:
        return None
    return max(trees.product_of(atom.src_bits.shape[1]), trees.product_of(atom.dst_bits.shape[1]))


_INSTEAD = {
    "destination": "permute the source, or copy through registers",
    "source": "use a composed layout, whose swizzle is applied",
}


def warn_of_ignored_swizzle(what: str, atom: _Atom, source: Tensor, target: Tensor) -> None:
    """Warn, at the user's line, where an atom does not apply the swizzle of a tensor's pointer.

    That is no error: a program may well permute the other operand instead.
    """
    operation = _atom_facts(atom)
    name = operation.unswizzled
    if name is None:
        return
    tensor = source if name == "source" else target
    swizzle = None if tensor.is_coordinate else tensor.facts.swizzle
    place = _trace.user_frame() if swizzle is not None and swizzle.mask != 0 else None
    if place is not None:
        warnings.warn_explicit(
            f"{what}: {operation.operation} does not apply the swizzle {swizzle} of the {name}'s pointer, and elements "
            f"lie where they would without it; {_INSTEAD[name]}",
            UserWarning,
            *place,
        )
