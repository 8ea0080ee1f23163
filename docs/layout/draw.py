#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the guide into ``pictures/``; ``--check`` compares instead."""

from __future__ import annotations

import sys
from pathlib import Path

from flydsl.layout import (
    Layout,
    Swizzle,
    blocked_product,
    complement,
    composition,
    pictures,
    raked_product,
)
from flydsl.layout.atoms import make_layout_tv, mfma
from flydsl.layout.pictures import Picture


def side_by_side(caption: str, *layouts) -> Picture:
    """Several layouts in one picture."""
    grids = tuple(grid for a in layouts for grid in pictures.show(a).grids)
    return Picture(grids, caption)


def drawings() -> dict[str, Picture]:
    """The pictures by file name."""
    a, b = Layout("(6,2):(8,2)"), Layout("(4,3):(3,1)")
    gaps = Layout("(2,2):(1,6)")
    block, places = Layout("(2,2):(1,2)"), Layout("(2,3):(1,2)")
    tile = Layout("(8,8):(8,1)")
    lds = Layout("(16,64):(64,1)")
    shape, tv = make_layout_tv(Layout("(4,2):(2,1)"), Layout("(1,2):(2,1)"))
    return {
        "row-major": pictures.show(Layout("(4,8):(8,1)")),
        "nested": pictures.show(Layout("((2,2),8):((1,16),2)")),
        "composition": side_by_side("A, B, and A after B", a, b, composition(a, b)),
        "complement": side_by_side("a layout and its complement in 24", gaps, complement(gaps, 24)),
        "divide": pictures.divide(Layout("(8,12):(12,1)"), (4, 6)),
        "products": side_by_side(
            "the block, the places, blocked and raked product",
            block,
            places,
            blocked_product(block, places),
            raked_product(block, places),
        ),
        "swizzle": side_by_side("colours: index modulo 8", tile, composition(Swizzle(3, 0, 3), tile)),
        "ownership": pictures.ownership(tv, shape),
        "mfma-c": pictures.ownership(mfma(16, 16, 16, "f16")),
        "banks": pictures.bank_map(lds, 16, banks=64, compare=composition(Swizzle(2, 4, 3), lds)),
    }


def update(folder: Path, drawn: dict[str, Picture]) -> int:
    """Write the files, or with ``--check`` report those that are out of date."""
    stale = 0
    for name, picture in drawn.items():
        path = folder / f"{name}.svg"
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text(encoding="utf-8") != picture.svg():
                print(f"{path.name} is out of date; run {Path(sys.argv[0]).name} of {folder.parent}", file=sys.stderr)
                stale = 1
        else:
            picture.write(path)
    return stale


if __name__ == "__main__":
    sys.exit(update(Path(__file__).parent / "pictures", drawings()))
