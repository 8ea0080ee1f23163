# SPDX-License-Identifier: Apache-2.0
"""AMD's matrix instructions as data: who holds which element of A, B, C and D."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import LayoutError
from ..layout import Layout
from ..parsing import parse
from .mma_atom import MmaAtom

__all__ = ["MatrixInstruction", "architectures", "matrix_instruction", "matrix_instructions"]

# Processors whose instructions are those of another entry of the table.
_SAME_AS = {
    "gfx940": "gfx942", "gfx941": "gfx942",
    "gfx1100": "gfx11", "gfx1101": "gfx11", "gfx1102": "gfx11", "gfx1103": "gfx11", "gfx1150": "gfx11",
    "gfx1151": "gfx11", "gfx1200": "gfx12", "gfx1201": "gfx12", "gfx120x": "gfx12",
}  # fmt: skip


@dataclass(frozen=True)
class MatrixInstruction:
    """One MFMA, SMFMAC, WMMA or SWMMAC instruction.

    Attributes:
        arch: ``gfx942``, ``gfx950``, ``gfx11``, ``gfx12`` or ``gfx1250``.
        mnemonic: the assembler's name.
        wave: lanes, 32 or 64.
        shape_mnk: M, N and K; K counts the dense elements.
        blocks: independent products in one instruction.
        sparse: True when A is stored 2:4 sparse, with K/2 columns.
        elem_types: element types of A, B, C and D.
        layout_A_tv, layout_B_tv, layout_C_tv, layout_D_tv: (lane, value) to ``m + k*M + block*M*K``,
            ``n + k*N + block*N*K`` and ``m + n*M + block*M*N``.
        source: ``calculator`` (AMD's published formulas), ``contract`` (the dialect's), or ``derived`` (the same
            pattern at another K).
    """

    arch: str
    mnemonic: str
    wave: int
    shape_mnk: tuple[int, int, int]
    blocks: int
    sparse: bool
    elem_types: tuple[str, str, str, str]
    layout_A_tv: Layout
    layout_B_tv: Layout
    layout_C_tv: Layout
    layout_D_tv: Layout
    source: str

    def layout_tv(self, operand: str) -> Layout:
        """The layout of operand ``"A"``, ``"B"``, ``"C"`` or ``"D"``; small letters too."""
        layouts = {"A": self.layout_A_tv, "B": self.layout_B_tv, "C": self.layout_C_tv, "D": self.layout_D_tv}
        if operand.upper() not in layouts:
            raise LayoutError(f"layout_tv({operand!r}): the operands are A, B, C and D")
        return layouts[operand.upper()]

    def operand_shape(self, operand: str) -> tuple[int, int]:
        """Rows and columns of an operand's matrix (of one block), as stored."""
        m, n, k = self.shape_mnk
        stored = k // 2 if self.sparse else k
        return {"A": (m, stored), "B": (n, k)}.get(operand.upper(), (m, n))

    def as_atom(self) -> MmaAtom:
        """The instruction as an atom for `make_tiled_mma`.

        Raises:
            LayoutError: it has several blocks or sparse A, which a tiled MMA cannot tile.
        """
        if self.blocks != 1 or self.sparse:
            raise LayoutError(f"{self.mnemonic}: a tiled MMA takes dense instructions of one block")
        return MmaAtom(
            self.mnemonic, self.shape_mnk, Layout(self.wave, 1), self.layout_A_tv, self.layout_B_tv, self.layout_C_tv,
            self.elem_types[:3],
        )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.mnemonic} ({self.arch}, wave{self.wave})"


@cache
def _table() -> tuple[MatrixInstruction, ...]:
    rows = []
    for line in (Path(__file__).parent / "amd_matrix.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        arch, mnemonic, wave, shape, blocks, density, ta, tb, tc, td, a, b, c, d, source = line.split("\t")
        m, n, k = map(int, shape.split("x"))
        facts = (arch, mnemonic, int(wave), (m, n, k), int(blocks), density == "sparse", (ta, tb, tc, td))
        rows.append(MatrixInstruction(*facts, parse(a), parse(b), parse(c), parse(d), source))
    return tuple(rows)


def architectures() -> tuple[str, ...]:
    """The architectures in the table."""
    return tuple(dict.fromkeys(i.arch for i in _table()))


def matrix_instructions(arch: str | None = None) -> tuple[MatrixInstruction, ...]:
    """All instructions, or those of one architecture (``gfx1201`` and the like are understood).

    Raises:
        LayoutError: the architecture is not in the table.
    """
    if arch is None:
        return _table()
    name = _SAME_AS.get(arch, arch)
    found = tuple(i for i in _table() if i.arch == name)
    if not found:
        raise LayoutError(f"matrix_instructions({arch!r}): known are {', '.join(architectures())}")
    return found


def matrix_instruction(arch: str, mnemonic: str, wave: int | None = None) -> MatrixInstruction:
    """The instruction of that name (the leading ``v_`` may be left out); ``wave`` where it exists for 32 and 64 lanes.

    Raises:
        LayoutError: there is none; the message lists similar ones.
    """
    from difflib import get_close_matches

    of_arch = matrix_instructions(arch)
    name = mnemonic if mnemonic.startswith("v_") else f"v_{mnemonic}"
    found = [i for i in of_arch if i.mnemonic == name and wave in (None, i.wave)]
    if not found:
        near = get_close_matches(name, dict.fromkeys(i.mnemonic for i in of_arch), n=4)
        hint = f"; similar: {', '.join(near)}" if near else ""
        raise LayoutError(f"matrix_instruction({arch!r}, {mnemonic!r}, wave={wave}): not on {arch}{hint}")
    return found[0]
