# SPDX-License-Identifier: Apache-2.0
"""What a copy needs of a tensor and its type has to prove: static extents, and elements side by side for one atom.

The dialect refuses static layouts that scatter what one atom moves. A stride that is known only when the kernel runs is
refused here: the atom would move neighbours in memory, which may be no neighbours in the tensor.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

from flydsl.trace import context as _trace

from ..values.layout import typetext as tt
from ..values.tensor import Tensor
from .atom import CopyAtom, _Atom

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
    if not tensor.type_text.startswith("!fly.memref"):
        return
    found = _fault(_atom_text(atom), tensor.type_text, one_atom)
    if found is not None:
        raise ValueError(f"{what}: the {name} {tensor} {found}")


def _atom_text(atom: _Atom) -> str:
    text: str = atom.type_text
    return text if isinstance(atom, CopyAtom) else tt.split(tt.arguments(text))[0]


@lru_cache(maxsize=4096)
def _fault(atom: str, tensor: str, one_atom: bool) -> str | None:
    facts = tt.parse_tensor(tensor)
    layout = tt.parse_layout(facts.layout or "")
    bits = _bits_of_a_thread(atom)
    if bits is None or (tt.is_static_tree(layout.shape) and tt.is_static_tree(layout.stride)):
        return None
    if not one_atom and not tt.is_static_tree(layout.shape):
        return (
            "has an extent that is known only when the kernel runs, and a copy is unrolled. Take a tile of static "
            "extents (fx.zipped_divide, fx.logical_divide, a partition of a tiled copy), with pred= where it sticks out"
        )
    shape, stride = layout.shape, layout.stride
    if not one_atom and isinstance(shape, tuple):
        shape, stride = shape[0], stride[0]
    elements = bits // tt.element_bits(facts.element)
    run = 1
    for extent, step in zip(tt.leaves_of(shape), tt.leaves_of(stride), strict=True):
        if run >= elements:
            break
        if extent == 1:
            continue
        if isinstance(step, tt.Dynamic):
            return (
                f"has a stride that is known only when the kernel runs between the {elements} elements ({bits} bits) "
                "that the atom moves as neighbours in memory. Copy along the axis of stride 1 (of a plain argument the "
                "first such axis is known to be one; else mark_layout_dynamic(leading_dim=axis) of flyc.from_dlpack "
                f"says which), or use an atom of one element ({tt.element_bits(facts.element)} bits)"
            )
        if step != run or not isinstance(extent, int):
            break
        run *= extent
    return None


@lru_cache(maxsize=256)
def _bits_of_a_thread(atom: str) -> int | None:
    """Return the bits that a thread moves by one atom; `None` for an atom that moves whole tiles."""
    from flydsl.layout import size

    from .host_atoms import copy_atom

    try:
        known = copy_atom(atom)
    except ValueError:
        return None
    return max(int(size(known.src_bits[1])), int(size(known.dst_bits[1])))


# Operations that go by the place in LDS that lanes and hardware agree on, by the operand that is there.
_TO_LDS = (
    "!fly_rocdl.cdna3.buffer_copy_lds<",
    "!fly_rocdl.cdna4.buffer_load_async_lds<",
    "!fly_rocdl.cdna4.global_load_async_lds<",
)
_FROM_LDS = ("!fly_rocdl.cdna4.lds_read_trans<",)


def warn_of_ignored_swizzle(what: str, atom: _Atom, source: Tensor, target: Tensor) -> None:
    """Warn, at the user's line, where an atom does not apply the swizzle of a tensor's pointer.

    That is no error: a program may well permute the other operand instead.
    """
    operation = tt.split(tt.arguments(_atom_text(atom)))[0]
    if operation.startswith(_TO_LDS):
        tensor, name, instead = target, "destination", "permute the source, or copy through registers"
    elif operation.startswith(_FROM_LDS):
        tensor, name, instead = source, "source", "use a composed layout, whose swizzle is applied"
    else:
        return
    swizzle = tensor.facts.swizzle if tensor.type_text.startswith("!fly.memref") else None
    place = _trace.user_frame() if swizzle is not None and not swizzle.startswith("S<0,") else None
    if place is not None:
        warnings.warn_explicit(
            f"{what}: {operation} does not apply the swizzle {swizzle} of the {name}'s pointer, and elements lie where "
            f"they would without it; {instead}",
            UserWarning,
            *place,
        )
