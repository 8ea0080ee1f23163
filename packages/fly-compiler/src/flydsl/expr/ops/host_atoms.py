# SPDX-License-Identifier: Apache-2.0
"""Atoms and tilings as `flydsl.layout` describes them, from the facts of their types.

The layouts of atoms are the dialect's; those of tilings are computed by `flydsl.layout`, and not by operations of the
trace.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flydsl._mlir.facts import CopyAtomFacts, MmaAtomFacts, TiledCopyFacts, TiledMmaFacts
from flydsl.layout import Layout
from flydsl.layout.atoms.copy_atom import CopyAtom
from flydsl.layout.atoms.tiled_copy import TiledCopy, make_tiled_copy

from ..values.layout.host import to_host

if TYPE_CHECKING:
    from flydsl.layout.atoms.mma_atom import MmaAtom
    from flydsl.layout.atoms.tiled_mma import TiledMma

__all__ = ["copy_atom", "mma_atom", "mma_tv_layout", "tiled_copy", "tiled_mma"]


@lru_cache(maxsize=256)
def copy_atom(facts: CopyAtomFacts) -> CopyAtom:
    """Return the atom.

    Raises:
        ValueError: the operation moves whole tiles and has no thread-value layout.
    """
    if facts.thr_layout is None:
        raise ValueError(f"{facts.operation} moves a whole tile; it has no thread-value layout")
    layouts = [to_host(one) for one in (facts.thr_layout, facts.src_bits, facts.dst_bits, facts.ref_bits)]
    return CopyAtom(facts.mnemonic.partition(".")[2], facts.val_bits, *layouts)


@lru_cache(maxsize=256)
def mma_atom(facts: MmaAtomFacts) -> MmaAtom:
    """Return the atom."""
    from flydsl.layout.atoms.mma_atom import MmaAtom  # kernels without products go without

    return MmaAtom(
        facts.operation,
        facts.shape_mnk,
        thr_layout=to_host(facts.thr_layout),
        layout_A_tv=to_host(facts.layout_A_tv),
        layout_B_tv=to_host(facts.layout_B_tv),
        layout_C_tv=to_host(facts.layout_C_tv),
        elem_types=facts.element_types,
    )


@lru_cache(maxsize=256)
def tiled_copy(facts: TiledCopyFacts) -> TiledCopy:
    """Return the tiling."""
    return make_tiled_copy(copy_atom(facts.atom), to_host(facts.layout_tv), to_host(facts.tile))


@lru_cache(maxsize=256)
def tiled_mma(facts: TiledMmaFacts) -> TiledMma:
    """Return the tiling."""
    from flydsl.layout.atoms.tiled_mma import make_tiled_mma

    return make_tiled_mma(mma_atom(facts.atom), to_host(facts.atom_layout), to_host(facts.permutation))


@lru_cache(maxsize=256)
def mma_tv_layout(facts: TiledMmaFacts, operand: str) -> Layout:
    """Return the (thread, value) layout of an operand's tile."""
    layout: Layout = tiled_mma(facts).tv_layout(operand)
    return layout
