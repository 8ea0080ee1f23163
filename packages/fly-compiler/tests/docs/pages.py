# SPDX-License-Identifier: Apache-2.0
"""The blocks of a guide page: Python to run, and the output that the page shows for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GUIDE = Path(__file__).resolve().parents[4] / "docs" / "language"


@dataclass(frozen=True)
class Block:
    """One Python block: its source, the line of the page that it begins on, and the output shown after it."""

    source: str
    line: int
    output: str | None


def pages() -> list[Path]:
    """Return the pages of the guide, in their order."""
    return sorted((path for path in GUIDE.glob("[0-9]*.md")), key=lambda path: int(path.name.split("-")[0]))


def blocks(page: Path) -> list[Block]:
    """Return the Python blocks of a page; a `text` block that follows one at once is its output."""
    text = page.read_text()
    found: list[Block] = []
    end = -1
    for match in _FENCE.finditer(text):
        language, body = match[1], match[2]
        line = text.count("\n", 0, match.start()) + 2
        if language == "python":
            found.append(Block(body, line, None))
            end = match.end()
        elif language == "text" and found and not text[end : match.start()].strip():
            found[-1] = Block(found[-1].source, found[-1].line, body)
    return found
