# SPDX-License-Identifier: Apache-2.0
"""An artifact's JSON note, read from the file without loading it (docs/artifact.md has its schema)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import _elf
from .errors import ArtifactError

SECTION = ".flydsl.note"
SCHEMA = 1


def parse_note(file: _elf.ElfFile) -> dict[str, Any]:
    """The note of an ELF file that was read already; errors as in `read_note`."""
    path = file.path
    section = file.sections.get(SECTION)
    if section is None:
        raise ArtifactError(f"{path}: not a FlyDSL artifact: the shared object has no section {SECTION}")
    try:
        note = json.loads(section.rstrip(b"\0").decode())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ArtifactError(f"{path}: damaged: its note is not JSON ({error})") from error
    if not isinstance(note, dict):
        raise ArtifactError(f"{path}: damaged: its note is not a JSON object")
    schema = note.get("schema")
    if schema != SCHEMA:
        raise ArtifactError(
            f"{path}: its note has schema {schema!r}, this fly-runtime reads {SCHEMA}: rebuild the artifact or install "
            "the fly-runtime it needs"
        )
    missing = [name for name in ("name", "entry", "arguments", "kernels", "architectures") if name not in note]
    if missing:
        raise ArtifactError(f"{path}: damaged: its note has no {', '.join(missing)}")
    return note


def read_note(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON note of an artifact. Nothing of the file is loaded or executed; any host's artifact can be read.

    Raises ArtifactError, which names the file and what is wrong with it, for a file that cannot be read, is truncated,
    is no artifact, or has a note of another schema.
    """
    return parse_note(_elf.read_elf(Path(path)))
