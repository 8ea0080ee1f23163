# SPDX-License-Identifier: Apache-2.0
"""Copy atoms: what one copy instruction moves, as thread-value layouts."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.recast import recast_layout
from ..errors import LayoutError
from ..layout import Layout

__all__ = ["CopyAtom", "copy_atom", "lds_read_transpose", "universal_copy"]


@dataclass(frozen=True)
class CopyAtom:
    """A copy instruction on values of ``val_bits`` bits.

    Attributes:
        name: the dialect's spelling of the operation.
        val_bits: width of the values that the layouts below count.
        thr_layout: lanes that cooperate in one call.
        src_bits, dst_bits, ref_bits: (lane, bit) to bit index of the moved data, for the source, the destination and
            the reference that tiled copies are laid out by.
    """

    name: str
    val_bits: int
    thr_layout: Layout
    src_bits: Layout
    dst_bits: Layout
    ref_bits: Layout

    @property
    def layout_src_tv(self) -> Layout:
        """(lane, value) to value index, on the source side; widths that do not divide are rounded up."""
        return self._values(self.src_bits)

    @property
    def layout_dst_tv(self) -> Layout:
        """(lane, value) to value index, on the destination side."""
        return self._values(self.dst_bits)

    @property
    def layout_ref_tv(self) -> Layout:
        """(lane, value) to value index, of the reference."""
        return self._values(self.ref_bits)

    def _values(self, bits: Layout) -> Layout:
        recast: Layout = recast_layout(bits, 1, self.val_bits)
        return recast

    def __str__(self) -> str:
        return f"{self.name}, {self.val_bits}"


def copy_atom(name: str, bits: int, val_bits: int) -> CopyAtom:
    """An atom in which each lane by itself moves ``bits`` contiguous bits.

    That is every copy of the dialect but the transposing LDS read and the tensor data mover.
    """
    if bits < 1 or val_bits < 1:
        raise LayoutError(f"copy_atom({name!r}, {bits}, {val_bits}): widths are positive numbers of bits")
    layout = Layout((1, bits), (1, 1))
    return CopyAtom(name, val_bits, Layout(1, 1), layout, layout, layout)


def universal_copy(bits: int, val_bits: int) -> CopyAtom:
    """``universal_copy<bits>``: a plain load or store per lane."""
    return copy_atom(f"universal_copy<{bits}>", bits, val_bits)


def lds_read_transpose(granularity: int, bits: int, val_bits: int | None = None) -> CopyAtom:
    """``cdna4.lds_read_trans<trans = Gb, bits>``: 16 lanes read rows of ``bits`` bits and get columns of G-bit values.

    Args:
        granularity: G, the width of the transposed elements: 4, 8 or 16 with 64 bits, or 6 with 96.
        bits: bits per lane.
        val_bits: width of the values, by default G.
    """
    if (granularity, bits) not in ((4, 64), (8, 64), (6, 96), (16, 64)):
        raise LayoutError(f"lds_read_transpose({granularity}, {bits}): expected (4, 64), (8, 64), (6, 96) or (16, 64)")
    g, n = granularity, bits // granularity
    source = Layout((16, bits), (bits, 1))
    result = Layout((16, (g, n)), (g, (1, 16 * g)))
    name = f"cdna4.lds_read_trans<trans = {g}b, {bits}>"
    return CopyAtom(name, val_bits or g, Layout(16, 1), source, result, result)
