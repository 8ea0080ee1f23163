# SPDX-License-Identifier: Apache-2.0
"""What the types of the `fly` dialect say, as plain values that belong to no MLIR context.

`dialects.fly.facts_of` gives the record of a type, or of a value's type; asked again, the same object. Records are
equal where the types are, and can be keys. A tree is an int, `None` (the leaf `*`), a `dialects.fly.Dynamic`, a
`dialects.fly.Basis`, or a tuple of trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Union

if TYPE_CHECKING:
    from ._mlir_libs._flyDialect import Basis, Dynamic

__all__ = [
    "BasisFacts",
    "ComposedLayoutFacts",
    "CoordSwizzleFacts",
    "CoordTensorFacts",
    "CopyAtomFacts",
    "IntTupleFacts",
    "LayoutFacts",
    "MemRefFacts",
    "MmaAtomFacts",
    "PointerFacts",
    "SwizzleFacts",
    "TileFacts",
    "TiledCopyFacts",
    "TiledMmaFacts",
    "Tree",
]

Tree: TypeAlias = Union[int, None, "Dynamic", "Basis", "tuple[Tree, ...]"]


class IntTupleFacts(NamedTuple):
    """An int-tuple."""

    tree: Tree


class BasisFacts(NamedTuple):
    """A multiple of a unit vector."""

    tree: Tree


class LayoutFacts(NamedTuple):
    """A layout: two trees."""

    shape: Tree
    stride: Tree


class SwizzleFacts(NamedTuple):
    """`S<mask, base, shift>`."""

    mask: int
    base: int
    shift: int

    def __str__(self) -> str:
        return f"S<{self.mask},{self.base},{self.shift}>"


class CoordSwizzleFacts(NamedTuple):
    """`CS<mask, base_row, mode_row, base_col, mode_col>`; modes are paths, outermost first."""

    mask: int
    base_row: int
    mode_row: tuple[int, ...]
    base_col: int
    mode_col: tuple[int, ...]


class ComposedLayoutFacts(NamedTuple):
    """`inner` after (`offset` + `outer`).

    Attributes:
        inner: a `SwizzleFacts`, `CoordSwizzleFacts`, `LayoutFacts` or `ComposedLayoutFacts`.
        offset: a tree.
        outer: a `LayoutFacts` or `ComposedLayoutFacts`.
    """

    inner: SwizzleFacts | CoordSwizzleFacts | LayoutFacts | ComposedLayoutFacts
    offset: Tree
    outer: LayoutFacts | ComposedLayoutFacts

    @property
    def shape(self) -> Tree:
        """The shape of the plain layout that coordinates enter."""
        return self.outer.shape

    @property
    def stride(self) -> Tree:
        """The strides of the plain layout that coordinates enter."""
        return self.outer.stride


class TileFacts(NamedTuple):
    """A tile: one tiler (an int, `None`, a `LayoutFacts`), or a tuple of them, nested like the tile."""

    tree: Any


class PointerFacts(NamedTuple):
    """A pointer.

    Attributes:
        element: the element type's name ("bf16").
        element_bits: its width.
        space: "generic", "global", "shared" or "register", or the text of a target's own attribute.
        alignment: in bytes.
        swizzle: of the byte address; None for none.
    """

    element: str
    element_bits: int
    space: str
    alignment: int
    swizzle: SwizzleFacts | None


class MemRefFacts(NamedTuple):
    """A tensor in memory: as `PointerFacts`, with its layout (`LayoutFacts` or `ComposedLayoutFacts`)."""

    element: str
    element_bits: int
    space: str
    layout: LayoutFacts | ComposedLayoutFacts
    alignment: int
    swizzle: SwizzleFacts | None


class CoordTensorFacts(NamedTuple):
    """A coordinate tensor: the tree of its first coordinate, and its layout."""

    base: Tree
    layout: LayoutFacts | ComposedLayoutFacts


class CopyAtomFacts(NamedTuple):
    """A copy operation on values of `val_bits` bits.

    Attributes:
        mnemonic: which operation: "fly.universal_copy".
        operation: how the dialect spells it, without the dialect: "universal_copy<32>".
        val_bits: bits of one value.
        thr_layout: the lanes of one call; this and the next three are None for a copy of whole tiles.
        src_bits: (lane, bit) to the bit of what is moved, at the source.
        dst_bits: the same at the destination.
        ref_bits: the same in the order that tiled copies count in.
        operand_bits: the bits that either operand of one call holds, where both hold as many; else None.
        unswizzled: "source" or "destination", where the swizzle of that operand's pointer is not applied; else None.
    """

    mnemonic: str
    operation: str
    val_bits: int
    thr_layout: LayoutFacts | None
    src_bits: LayoutFacts | None
    dst_bits: LayoutFacts | None
    ref_bits: LayoutFacts | None
    operand_bits: int | None
    unswizzled: str | None


class MmaAtomFacts(NamedTuple):
    """A matrix operation.

    Attributes:
        mnemonic: which operation: "fly_rocdl.cdna3.mfma".
        operation: how the dialect spells it, without the dialect.
        shape_mnk: the extents M, N and K.
        thr_layout: the lanes of one call.
        layout_A_tv: (lane, value) to the column-major index in (M, K).
        layout_B_tv: (lane, value) to the column-major index in (N, K).
        layout_C_tv: (lane, value) to the column-major index in (M, N).
        element_types: names of the element types of A, B and C.
    """

    mnemonic: str
    operation: str
    shape_mnk: tuple[int, int, int]
    thr_layout: LayoutFacts
    layout_A_tv: LayoutFacts
    layout_B_tv: LayoutFacts
    layout_C_tv: LayoutFacts
    element_types: tuple[str, str, str]


class TiledCopyFacts(NamedTuple):
    """A copy atom over the threads and values of a tile."""

    atom: CopyAtomFacts
    layout_tv: LayoutFacts
    tile: TileFacts


class TiledMmaFacts(NamedTuple):
    """A matrix atom over groups of threads; `permutation` has a tiler for each of M, N and K."""

    atom: MmaAtomFacts
    atom_layout: LayoutFacts
    permutation: TileFacts
