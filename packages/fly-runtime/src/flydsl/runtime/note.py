# SPDX-License-Identifier: Apache-2.0
"""An artifact's JSON note, read from the file without loading it (docs/artifact.md has its schema)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from . import _elf, _file
from .errors import ArtifactError

SECTION = ".flydsl.note"
SCHEMA = 1

NO_HASH = "sha256:" + "0" * 64
"""What a note has in `file_hash` until `seal_artifact` writes the hash there."""
_HASH = re.compile(rb'"file_hash"\s*:\s*"sha256:([0-9a-f]{64})"')


def parse_note(file: _elf.ElfFile) -> dict[str, Any]:
    """The note of an ELF file that was read already; errors as in `read_note`."""
    path = file.path
    section = file.sections.get(SECTION)
    if section is None:
        raise ArtifactError(f"{path}: not a FlyDSL artifact: the shared object has no section {SECTION}")
    try:
        note = json.loads(file.content(section).rstrip(b"\0").decode())
    except (ValueError, RecursionError) as error:  # among them: no UTF-8, no JSON, integers of thousands of digits
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
    if not isinstance(note["architectures"], list) or not all(isinstance(one, str) for one in note["architectures"]):
        raise ArtifactError(f"{path}: damaged: its note's architectures are not a list of names")
    _verify(file, section, note)
    return note


def file_hash(data: bytes, blank: int | None = None) -> str:
    """The hash of a file's bytes, of which the 64 from `blank` on count as zeros: "sha256:…"."""
    import hashlib  # costs more than all other imports of a process that loads nothing

    if blank is None:
        return f"sha256:{hashlib.sha256(data).hexdigest()}"
    view = memoryview(data)
    digest = hashlib.sha256(view[:blank])
    digest.update(b"0" * 64)
    digest.update(view[blank + 64 :])
    return f"sha256:{digest.hexdigest()}"


def _place_of_hash(file: _elf.ElfFile, section: _elf.Section, claimed: object) -> int:
    """Where in a file are the digits of the hash that its note claims."""
    found = _HASH.search(file.content(section))
    if found is None or claimed != f"sha256:{found[1].decode()}":
        raise ArtifactError(f"{file.path}: damaged: its note's file_hash is not 'sha256:' with 64 hexadecimal digits")
    return section.offset + found.start(1)


def _verify(file: _elf.ElfFile, section: _elf.Section, note: dict[str, Any]) -> None:
    """Raise ArtifactError when the file is not the one whose hash its note has.

    What the compiler made always has a hash. What somebody has written by hand need not.
    """
    claimed = note.get("file_hash")
    if claimed is None:
        toolchain = note.get("toolchain")
        if isinstance(toolchain, dict) and "fly-compiler" in toolchain:
            raise ArtifactError(f"{file.path}: damaged, or made by an old fly-compiler: its note has no file_hash")
        return
    if claimed != file_hash(file.data, _place_of_hash(file, section, claimed)):
        raise ArtifactError(f"{file.path}: damaged: its bytes do not have the hash that its note says. Make it again")


def seal_artifact(path: str | os.PathLike[str]) -> None:
    """Write the hash of a new artifact into its note, which has `NO_HASH` there.

    Raises ArtifactError for a file that is no such artifact or cannot be read, OSError when it cannot be written.
    """
    target = Path(path)
    with _file.opened(target) as found:
        data = found.data
    file = _elf.parse_elf(target, data)
    section = file.sections.get(SECTION)
    if section is None:
        raise ArtifactError(f"{target}: not a FlyDSL artifact: the shared object has no section {SECTION}")
    place = _place_of_hash(file, section, NO_HASH)
    with open(target, "r+b") as stream:
        stream.seek(place)
        stream.write(file_hash(data, place).removeprefix("sha256:").encode())


def read_note(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON note of an artifact. Nothing of the file is loaded or executed; any host's artifact can be read.

    Raises ArtifactError, which names the file and what is wrong with it, for a file that cannot be read, is truncated
    or damaged, is no artifact, or has a note of another schema.
    """
    with _file.opened(Path(path)) as file:
        return parse_note(_elf.parse_elf(file.path, file.data))
