# SPDX-License-Identifier: Apache-2.0
"""Every relative link in the documentation leads to a file, and every `#part` of one to a heading."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def pages(root: Path) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [root / name for name in listing.split("\0") if name and (root / name).is_file()]


def anchors(text: str) -> set[str]:
    """The names that a Markdown renderer gives to the headings of a page."""
    headings = re.findall(r"^#+ +(.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    found = []
    for plain, picture in LINK.findall(CODE.sub("", page.read_text())):
        target, _, part = (plain or picture).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (page.parent / target) if target else page
        if not file.exists():
            found.append(f"{target}: no such file")
        elif part and file.suffix == ".md" and part not in anchors(file.read_text()):
            found.append(f"{target}#{part}: no such heading")
    return found


@pytest.mark.parametrize("page", pages(ROOT), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](missing.md) [b](#here) [c](#there)\n")
    assert broken_links(page) == ["missing.md: no such file", "#there: no such heading"]
    page.write_text("# Here\n```\n[d](code.md)\n```\n`x[0](code.md)` [`e`](page.md#here)\n")
    assert broken_links(page) == []
