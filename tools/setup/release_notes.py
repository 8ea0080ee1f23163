# SPDX-License-Identifier: Apache-2.0
"""The release notes of a package: what its changelog says of the version that its `pyproject.toml` states."""

from __future__ import annotations

import re
from pathlib import Path

from .shell import SetupError

__all__ = ["release_notes"]


def release_notes(name: str, folder: Path) -> str:
    """Return the notes of the package in a folder, as Markdown with its name and version as title.

    Raises:
        SetupError: the changelog has no section of that version, or nothing in it.
    """
    version = re.search(r'^version = "([^"]+)"$', (folder / "pyproject.toml").read_text(), re.MULTILINE)
    if version is None:
        raise SetupError(f"{folder / 'pyproject.toml'}: states no version")
    changelog = folder / "CHANGELOG.md"
    section = re.search(
        rf"^## {re.escape(version[1])}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", changelog.read_text(), re.MULTILINE | re.DOTALL
    )
    if section is None or not section[1].strip():
        raise SetupError(f"{changelog}: says nothing of version {version[1]}; write its section '## {version[1]}'")
    return f"# {name} {version[1]}\n\n{section[1].strip()}\n"
