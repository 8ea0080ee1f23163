# SPDX-License-Identifier: Apache-2.0
"""Rewritten functions on disk: a file for each source file whose functions were traced (docs/cache.md).

A file holds a hash of the rest, the hash of the source's bytes, and the entries by their names
(`flydsl.frontend.rewrite.kept`). It is byte code, and runs in the process as the artifacts beside it do.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from flydsl.frontend.rewrite.kept import Entry
from flydsl.utils import log
from flydsl.utils.file import atomic_write

from .eviction import evict, touch
from .folder import CacheFolderError, check_parents, private_folder
from .toolchain import toolchain_hash

__all__ = ["RewritesOnDisk"]

_HASH = 32
_MOST_ENTRIES = 1000
"""Of a file; one that had more begins anew, with what the process that adds to it has used."""


@dataclass(eq=False, repr=False)
class _File:
    """What is known of a source file."""

    source: bytes
    """Hash of its bytes."""
    kept: dict[str, bytes]
    used: dict[str, bytes] = field(default_factory=dict)
    is_new: bool = False
    lines: list[str] | None = None
    """Lines that are those of the file with that hash."""


class RewritesOnDisk:
    """The rewritten functions that one trace finds, and those that it adds when it is done (`write`).

    Nothing here raises: what cannot be read or written is made again.

    Args:
        root: the cache folder (`FLYDSL_RUNTIME_CACHE_DIR`).
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / f"rewrites_{toolchain_hash()[:32]}"
        self._files: dict[str, _File | None] = {}
        self._trusted: bool | None = None

    def find(self, filename: str, name: str) -> Entry | None:
        """Return an entry that was made from the text which the file has now."""
        file = self._file(filename)
        content = None if file is None else file.kept.get(name)
        if file is None or content is None:
            return None
        file.used[name] = content
        entry: Entry = marshal.loads(content)
        return entry

    def add(self, filename: str, name: str, entry: Entry, lines: list[str]) -> None:
        """Keep an entry that was made from these lines of the file."""
        file = self._file(filename)
        if file is None:
            return
        if file.lines is not lines:  # of most files several functions are traced, each of which comes with these
            if not _is_text_of(lines, filename, file.source):
                return
            file.lines = lines
        with suppress(ValueError):  # a constant that marshal does not write
            file.used[name] = marshal.dumps(entry)
            file.is_new = True

    def write(self, limit: int) -> None:
        """Write what was added.

        Args:
            limit: the most bytes that the cache takes, 0 for any number.
        """
        added = {filename: file for filename, file in self._files.items() if file is not None and file.is_new}
        if not added:
            return
        try:
            private_folder(self.root)
            check_parents(self.root)
            private_folder(self.folder)
            for filename, file in added.items():
                merged = {**file.kept, **file.used}
                entries = merged if len(merged) <= _MOST_ENTRIES else file.used
                content = marshal.dumps((file.source, entries))
                with atomic_write(self._path(filename), mode="wb", sync=False) as output:
                    output.write(hashlib.sha256(content).digest() + content)
                file.is_new = False
            evict(self.root, limit)
        except (CacheFolderError, OSError) as error:
            log().info("rewritten functions are not kept: %s", error)

    def _file(self, filename: str) -> _File | None:
        """What is kept of a source file; `None` for what is no file, such as the cell of a notebook."""
        if filename not in self._files:
            self._files[filename] = self._read(filename)
        return self._files[filename]

    def _read(self, filename: str) -> _File | None:
        source = _hash_of_file(filename)
        if source is None:
            return None
        path = self._path(filename)
        content = self._content(path)
        if content is not None:
            known, entries = marshal.loads(content)
            if known == source:
                touch(path)
                return _File(source, entries)
        return _File(source, {})

    def _path(self, filename: str) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(filename)).hexdigest()[:32]}.code"

    def _content(self, path: Path) -> bytes | None:
        """What stands in a file of this user's that is whole, behind its hash."""
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                facts = os.fstat(file.fileno())
                if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
                    return None
                content = file.read()
        except OSError:
            return None
        if hashlib.sha256(content[_HASH:]).digest() != content[:_HASH] or not self._is_trusted():
            return None
        return content[_HASH:]

    def _is_trusted(self) -> bool:
        """Whether nobody else can have put the file there. Folders that are not private are refused by the store."""
        if self._trusted is None:
            try:
                private_folder(self.root)
                check_parents(self.root)
                private_folder(self.folder)
                self._trusted = True
            except CacheFolderError:
                self._trusted = False
        return self._trusted


def _bytes_of(filename: str) -> bytes | None:
    if not os.path.isabs(filename):
        return None
    try:
        with open(os.open(filename, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):  # ValueError: no file can have this name
        return None


def _hash_of_file(filename: str) -> bytes | None:
    content = _bytes_of(filename)
    return None if content is None else hashlib.sha256(content).digest()


def _is_text_of(lines: list[str], filename: str, source: bytes) -> bool:
    """Whether the lines are those of a file whose bytes have this hash."""
    content = _bytes_of(filename)
    if content is None or hashlib.sha256(content).digest() != source:
        return False
    try:
        text = importlib.util.decode_source(content)
    except (SyntaxError, UnicodeDecodeError):
        return False
    return "".join(lines).removesuffix("\n") == text.removesuffix("\n")
