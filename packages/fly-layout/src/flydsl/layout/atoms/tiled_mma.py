# SPDX-License-Identifier: Apache-2.0
"""Tiled MMAs: an MMA atom spread over the waves of a workgroup; the tiled copies that fit their operands."""

from __future__ import annotations

from dataclasses import dataclass

from .. import above
from ..algebra.compact import fragment_of
from ..algebra.composition import composition
from ..algebra.divide import join, logical_divide, zipped_divide
from ..algebra.inverse import right_inverse
from ..algebra.product import tiled_product
from ..algebra.sizes import size
from ..composed import CoordTensor
from ..errors import LayoutError, fail
from ..functions import idx2crd
from ..int_tuple import product
from ..layout import Layout, make
from ..modes import slice_
from ..tile import Tile, tile_modes
from .copy_atom import CopyAtom
from .mma_atom import MmaAtom
from .tiled_copy import TiledCopy, as_tensor, invert_tv, make_tiled_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import AnyLayout, Coord, Shape, Tiler

__all__ = [
    "ThrMma",
    "TiledMma",
    "make_tiled_copy_A",
    "make_tiled_copy_B",
    "make_tiled_copy_C",
    "make_tiled_mma",
]

# Which of M, N and K an operand's two axes are.
_AXES = {"A": (0, 2), "B": (1, 2), "C": (0, 1), "D": (0, 1)}


def _axes(operand: str) -> tuple[int, int]:
    if operand.upper() not in _AXES:
        raise LayoutError(f"operand {operand!r}: the operands are A, B, C and D")
    return _AXES[operand.upper()]


@dataclass(frozen=True)
class TiledMma:
    """An MMA on tiles by many waves.

    Attributes:
        atom: the matrix instruction.
        atom_layout: how the atoms of M, N and K go to groups of threads.
        permutation_mnk: a tiler per axis that reorders it before it is cut into atoms; None leaves it in order.
    """

    atom: MmaAtom
    atom_layout: Layout
    permutation_mnk: tuple[Any, Any, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.atom_layout, Layout) or not self.atom_layout.is_static:
            raise fail("make_tiled_mma", "the atom layout is not static", self.atom_layout)
        if self.atom_layout.rank != 3:
            raise fail("make_tiled_mma", "the atom layout has three modes, M, N and K", self.atom_layout)

    # -- parts -----------------------------------------------------------------------------------------------------
    @property
    def mma_atom(self) -> MmaAtom:
        """The matrix instruction."""
        return self.atom

    @property
    def thr_layout_vmnk(self) -> Layout:
        """(lane of the atom, atom in M, N, K) to the flat thread index."""
        layout: Layout = tiled_product(self.atom.thr_layout, self.atom_layout)
        return layout

    @property
    def threads(self) -> int:
        """Threads that take part."""
        return int(self.thr_layout_vmnk.cosize())

    @property
    def tile_size_mnk(self) -> tuple[int, int, int]:
        """M, N and K of one step of all atoms: the permutation's extents, by default those of atom times atoms."""
        m, n, k = (size(self._permutation(axis)) for axis in range(3))
        return m, n, k

    def _permutation(self, axis: int) -> Any:
        given = self.permutation_mnk[axis]
        return given if given is not None else self.atom.shape_mnk[axis] * self.atom_layout[axis].size()

    # -- views -----------------------------------------------------------------------------------------------------
    def view(self, operand: str, tensor: AnyLayout) -> CoordTensor:
        """The tensor as ``((lane, (group0, group1)), (values, (rest0, rest1)), further modes...)``."""
        axes = _axes(operand)

        def viewed(layout: Layout) -> Layout:
            if layout.rank < 2:
                raise fail("tiled_mma.partition", f"operand {operand} has at least two modes", layout)
            extra = [layout[i] for i in range(2, layout.rank)]
            permuted = logical_divide(join([layout[0], layout[1]]), tuple([self._permutation(x) for x in axes]))
            atoms = zipped_divide(permuted, tuple([self.atom.shape_mnk[x] for x in axes]))
            held = composition(atoms[0], self.atom.layout_tv(operand))
            groups = zipped_divide(atoms[1], tuple([self.atom_layout[x].size() for x in axes]))
            return join([join([held[0], groups[0]]), join([held[1], groups[1]]), *extra])

        return as_tensor(tensor).lift(viewed)

    def partition(self, operand: str, tensor: AnyLayout, thread: Coord) -> CoordTensor:
        """What a thread holds of a tensor: ``(values, rest0, rest1, ...)`` with its base."""
        v, *mnk = idx2crd(thread, self.thr_layout_vmnk)
        group = tuple([mnk[axis] for axis in _axes(operand)])
        view = self.view(operand, tensor)
        part: CoordTensor = slice_(view, ((v, group), (None, (None, None)), *[None] * (view.rank - 2)))
        return part

    def partition_shape(self, operand: str, shape: Shape) -> Any:
        """The shape that `partition` gives for a tensor of that shape."""
        view = self.view(operand, Layout(shape)).plain()
        values = view[1].shape
        return (values[0], *values[1], *[view[i].shape for i in range(2, view.rank)])

    def fragment_layout(self, operand: str, tensor: AnyLayout, stages: int | None = None) -> Layout:
        """The register layout for a thread's part of ``tensor``.

        With ``stages``, the modes after the two tiled ones are replaced by one of that extent.

        Raises:
            LayoutError: ``stages`` is not positive, or the tensor has fewer than two modes.
        """
        layout = as_tensor(tensor).plain()
        if stages is not None:
            if stages < 1:
                raise LayoutError(f"MmaMakeFragmentOp: stages must be positive, got {stages}")
            if layout.rank < 2:
                raise LayoutError("MmaMakeFragmentOp: stages requires an input layout with at least two modes")
            layout = join([layout[0], layout[1], make(stages, layout.cosize(), layout._static)])
        part = self.partition(operand, layout, 0)
        return fragment_of(part.plain())

    # -- thread-value layouts of the whole tile --------------------------------------------------------------------
    def tv_layout(self, operand: str, tensor: Layout | None = None) -> Layout:
        """(thread, value) to the column-major index in the operand's tile, or to the index of a tensor of tiles."""
        axes = _axes(operand)
        whole = Layout(tuple([self.tile_size_mnk[axis] for axis in axes])) if tensor is None else tensor
        view = self.view(operand, whole).plain()
        lane, groups = view[0][0], view[0][1]
        modes = [make(self.atom_layout[axis].size(), 0, True) for axis in range(3)]
        for i, axis in enumerate(axes):
            modes[axis] = groups[i]
        threads = composition(join([lane, *modes]), right_inverse(self.thr_layout_vmnk))
        return join([threads, view[1]])

    @property
    def tv_layout_A_tiled(self) -> Layout:
        """(thread, value) to the index in the (M, K) tile."""
        return self.tv_layout("A")

    @property
    def tv_layout_B_tiled(self) -> Layout:
        """(thread, value) to the index in the (N, K) tile."""
        return self.tv_layout("B")

    @property
    def tv_layout_C_tiled(self) -> Layout:
        """(thread, value) to the index in the (M, N) tile."""
        return self.tv_layout("C")

    def invert(self, operand: str) -> Layout:
        """Index in the operand's tile to ``thread + threads * value``.

        Raises:
            LayoutError: elements are held by several threads, as those of A and B are when several waves share them.
        """
        axes = _axes(operand)
        return invert_tv(self.tv_layout(operand), product(tuple([self.tile_size_mnk[x] for x in axes])))

    def get_slice(self, thread: Coord) -> ThrMma:
        """The part of one thread."""
        return ThrMma(self, thread)

    thr_slice = get_slice

    def __str__(self) -> str:
        permutation = "" if self.permutation_mnk == (None, None, None) else f", {Tile(self.permutation_mnk)}"
        return f"tiled_mma<{self.atom}, {self.atom_layout}{permutation}>"

    def _repr_svg_(self) -> str:
        svg: str = above.pictures.ownership(self).svg()
        return svg


@dataclass(frozen=True)
class ThrMma:
    """What one thread of a tiled MMA holds."""

    tiled: TiledMma
    thr_idx: Any

    def partition_A(self, tensor: AnyLayout) -> CoordTensor:
        """``(values, rest M, rest K, ...)`` of A."""
        return self.tiled.partition("A", tensor, self.thr_idx)

    def partition_B(self, tensor: AnyLayout) -> CoordTensor:
        """``(values, rest N, rest K, ...)`` of B."""
        return self.tiled.partition("B", tensor, self.thr_idx)

    def partition_C(self, tensor: AnyLayout) -> CoordTensor:
        """``(values, rest M, rest N, ...)`` of C."""
        return self.tiled.partition("C", tensor, self.thr_idx)


def make_tiled_mma(atom: MmaAtom, atom_layout: Layout, permutation: Tiler = None) -> TiledMma:
    """A tiled MMA; ``permutation`` is a tuple or `Tile` with an int, None or Layout for each of M, N and K."""
    modes = tile_modes(permutation) if permutation is not None else (None, None, None)
    if type(modes) is not tuple or len(modes) != 3:
        raise fail("make_tiled_mma", "the permutation has one mode for each of M, N and K", Tile(modes))
    return TiledMma(atom, atom_layout, Tile(modes).modes)


def make_tiled_copy_A(atom: CopyAtom, mma: TiledMma) -> TiledCopy:
    """A copy in which each thread moves what it holds of A in ``mma``; the tile is (M, K)."""
    m, _, k = mma.tile_size_mnk
    return make_tiled_copy(atom, mma.tv_layout_A_tiled, (m, k))


def make_tiled_copy_B(atom: CopyAtom, mma: TiledMma) -> TiledCopy:
    """The same for B; the tile is (N, K)."""
    _, n, k = mma.tile_size_mnk
    return make_tiled_copy(atom, mma.tv_layout_B_tiled, (n, k))


def make_tiled_copy_C(atom: CopyAtom, mma: TiledMma) -> TiledCopy:
    """The same for C; the tile is (M, N)."""
    m, n, _ = mma.tile_size_mnk
    return make_tiled_copy(atom, mma.tv_layout_C_tiled, (m, n))
