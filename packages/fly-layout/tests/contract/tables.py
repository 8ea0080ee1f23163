# SPDX-License-Identifier: Apache-2.0
"""Reader of the contract's example tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from flydsl.layout import CoordTensor, LayoutLike, Tile, parse, parse_tile

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True)
class Row:
    """One example: operands and result as written, attributes as a dictionary."""

    op: str
    operands: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    expected: str

    def __str__(self) -> str:
        attributes = "".join(f" {k}={v}" for k, v in self.attributes)
        return f"{self.op}: {' ; '.join(self.operands)}{attributes}"


def rows(file: str) -> list[Row]:
    """All examples of a table file."""
    found = []
    op = ""
    for line in (DATA / file).read_text().splitlines():
        if line.startswith("# "):
            op = line[2:]
        elif "=>" in line:
            left, expected = re.split(r"\s*=>\s*", line, maxsplit=1)
            # Attributes are set off by three blanks, so that "?{div=8}" is not taken for one.
            match = re.search(r"\s{3}\{(.*)\}$", left)
            attributes: tuple[tuple[str, str], ...] = ()
            if match:
                left = left[: match.start()]
                attributes = tuple(re.findall(r"(\w+)=(\[[^\]]*\]|\S+)", match.group(1)))
            operands = tuple(o.strip() for o in re.split(r"\s+;\s+", left))
            found.append(Row(op, operands, attributes, expected.strip()))
    return found


def is_failure(expected: str) -> bool:
    """True where the reference aborts or reports an error."""
    return expected.startswith(("assertion failure", "trap", "error"))


def layout_of_memref(text: str) -> str:
    """The layout in ``memref<elem, space, layout[, align<n>][, swizzle]>``."""
    inner = text[len("memref<") : -1]
    inner = re.sub(r", S<\d+,\d+,\d+>$", "", inner)
    inner = re.sub(r", align<\d+>$", "", inner)
    return inner.split(", ", 2)[2]


def operand(text: str) -> object:
    """The value of an operand; a memref stands for a tensor at index 0."""
    if text.startswith("memref<"):
        return CoordTensor(0, parse(layout_of_memref(text)))
    if text.startswith("tile "):
        return parse_tile(text[5:])
    return parse(text)


def expected_text(text: str) -> str:
    """The part of a result that is a value of this library."""
    if text.startswith("memref<"):
        return layout_of_memref(text)
    match = re.fullmatch(r"swizzle<(.*)>|coord_swizzle<(.*)>", text)
    if match:
        return match.group(1) or match.group(2)
    return text


def layout_part(x: object) -> object:
    """The layout of a tensor, other values as they are."""
    return x.layout if isinstance(x, CoordTensor) else x


__all__ = ["LayoutLike", "Row", "Tile", "expected_text", "is_failure", "layout_part", "operand", "rows"]
