#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the pages about kernels into ``pictures/``; ``--check`` compares instead."""

from __future__ import annotations

import sys
from pathlib import Path

from flydsl.layout import Layout, Swizzle, composition, pictures
from flydsl.layout.atoms import make_tiled_mma, mfma
from flydsl.layout.pictures import Grid, Picture

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "layout"))
from draw import update

BANKS = 32  # of gfx942


def top(picture: Picture, title: str, columns: int | None = None) -> Grid:
    """The first columns of a picture's grid, under another title."""
    grid = picture.grids[0]
    cells = tuple(row[:columns] for row in grid.rows)
    return Grid(title, cells, grid.row_labels, grid.col_labels[:columns])


def turned(atom: object, extents: tuple[int, int]) -> Picture:
    """Who has what of C transposed: the columns of C are the rows of the picture."""
    rows, columns = extents
    flip = Layout((rows, columns), (columns, 1))
    return pictures.ownership(composition(flip, atom.layout_tv("C")), (columns, rows))


def drawings() -> dict[str, Picture]:
    """The pictures by file name."""
    rows, instruction, square = Layout("(16,16):(16,1)"), mfma(16, 16, 16, "f16"), mfma(32, 32, 8, "f16")
    pairs = make_tiled_mma(instruction, Layout("(1,1,1):(0,0,0)"), (None, None, Layout("(4,4,2):(1,8,4)")))
    weights = top(turned(square, (32, 32)), "P^T as the first product leaves it: query row, key", 8)
    operand = top(pictures.ownership(square, operand="B"), "the operand of the second product")
    results = (
        top(pictures.ownership(instruction), "C = A B^T: a thread has 4 rows of a column"),
        top(turned(instruction, (16, 16)), "C^T = B A^T: 4 neighbours of a row"),
    )
    shuffled = Layout("((16,2),(4,2)):((1,128),(16,64))")
    padded = pictures.bank_map(Layout("(16,8):(8,1)"), 128, banks=BANKS, compare=Layout("(16,8):(9,1)"))
    swizzled = composition(Swizzle(4, 0, 4), rows)
    return {
        "gemm-banks": pictures.bank_map(rows, 64, banks=BANKS, compare=swizzled),
        "gemm-pairs": pictures.ownership(pairs, operand="A"),
        "gemm-results": Picture(results, "who has which result"),
        "gemm-shuffled": Picture((top(pictures.show(shuffled, colors=64), "row of B, pack of 16 bytes along K"),), ""),
        "attention-weights": Picture((weights, operand), "each cell: thread and value"),
        "attention-banks": padded,
    }


if __name__ == "__main__":
    sys.exit(update(Path(__file__).parent / "pictures", drawings()))
