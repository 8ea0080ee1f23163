# SPDX-License-Identifier: Apache-2.0
"""One hash for everything that turns a traced function into an artifact."""

from __future__ import annotations

import hashlib
import importlib.util
import operator
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from flydsl.trace.library import MODULES
from flydsl.utils import env
from flydsl.utils.file import atomic_write

__all__ = ["extra_sources_hash", "package_versions", "remember_toolchain", "toolchain_hash"]

_PYTHON_PACKAGES = (
    *MODULES,
    "flydsl.layout",
    "flydsl.runtime",
)
_DISTRIBUTIONS = ("fly-compiler", "fly-dialect", "fly-layout", "fly-runtime")
_MEMORY = ".toolchain"
"""The file of the cache folder that says which hash the tool chain had when its files had which facts."""
_YOUNG_NS = 2_000_000_000
_found: list[tuple[str, str]] = []
"""Facts of the tool chain's files, and the hash of their content, that are yet to be remembered."""


@lru_cache(maxsize=1)
def package_versions() -> dict[str, str]:
    """Return the versions of the installed layers; those run from a source tree have none."""
    found = {}
    for name in _DISTRIBUTIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "source tree"
    return found


@lru_cache(maxsize=1)
def toolchain_hash() -> str:
    """Return a hash of the Python sources of the compiler and of the native libraries under it.

    Versions are no part of it: the sources say more than their numbers. Native libraries are large, so size and time
    of last change stand for their content. The sources are not read again where the cache folder remembers
    (`remember_toolchain`) their hash for files of just these facts.
    """
    facts = _facts()
    digest = None if facts is None else _remembered(facts)
    if digest is None:
        digest = _hash_of_sources()
        if facts is not None:
            _found.append((facts, digest))
    return digest


def remember_toolchain(root: Path) -> None:
    """Write into the cache folder which hash the files of the tool chain have, for the processes after this one.

    Nothing is written where the folder says so already, or while a file is so young that it may change again within
    one tick of the file system's clock.

    Args:
        root: the cache folder, which is private to the user.
    """
    # The facts are older than the content that was read: were a file changed in between, they fit no file any more.
    while _found:
        facts, digest = _found.pop()
        with suppress(OSError), atomic_write(root / _MEMORY, mode="w") as file:
            file.write(_line(facts, digest))


def _hash_of_sources() -> str:
    digest = hashlib.sha256()
    for package in _PYTHON_PACKAGES:
        for folder in _locations(package):
            _add_sources(digest, folder)
    for one in _libraries():
        facts = one.stat()
        digest.update(f"{one.name}:{facts.st_size}:{facts.st_mtime_ns}".encode())
    return digest.hexdigest()


def _libraries() -> list[os.DirEntry[str]]:
    found = []
    for folder in _locations("flydsl._mlir"):
        with os.scandir(folder / "_mlir_libs") as entries:
            found += sorted((one for one in entries if ".so" in one.name), key=lambda one: one.name)
    return found


def _facts() -> str | None:
    """Return a hash of what the file system says of all files that `toolchain_hash` reads; `None` if one is too young.

    The time of a file's last change of state (ctime) and its inode are among it: unlike the time of modification, no
    installer, archive or `touch` sets them. So files of equal facts have equal content.
    """
    found = []
    youngest = 0
    folders = [str(folder) for package in _PYTHON_PACKAGES for folder in _locations(package)]
    files = [(one.path, one) for one in _libraries()]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                for one in entries:
                    if one.name.endswith(".py"):
                        files.append((one.path, one))
                    elif one.name != "__pycache__" and one.is_dir():
                        folders.append(one.path)
        except OSError:
            return None
    for path, one in sorted(files, key=operator.itemgetter(0)):
        try:
            facts = one.stat()
        except OSError:
            return None
        youngest = max(youngest, facts.st_ctime_ns)
        found.append(f"{path}\0{facts.st_dev}:{facts.st_ino}:{facts.st_size}:{facts.st_mtime_ns}:{facts.st_ctime_ns}")
    if youngest > time.time_ns() - _YOUNG_NS:
        return None
    return hashlib.sha256("\n".join(found).encode("utf-8", "surrogateescape")).hexdigest()


def _remembered(facts: str) -> str | None:
    """Return the hash that the cache folder has for these facts; `None` if there is none, or none to be trusted."""
    if not env.runtime.enable_cache:
        return None
    try:
        descriptor = os.open(Path(env.runtime.cache_dir) / _MEMORY, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            owner = os.fstat(descriptor)
            if not stat.S_ISREG(owner.st_mode) or owner.st_uid != os.geteuid() or owner.st_mode & 0o022:
                return None
            text = file.read(1024).decode("ascii")
    except (OSError, ValueError):
        return None
    known, _, rest = text.partition(" ")
    digest = rest.partition(" ")[0]
    return digest if known == facts and text == _line(facts, digest) else None


def _line(facts: str, digest: str) -> str:
    check = hashlib.sha256(f"{facts} {digest}".encode()).hexdigest()
    return f"{facts} {digest} {check}\n"


@lru_cache(maxsize=8)
def extra_sources_hash(folders: str) -> str:
    """Return a hash of the Python files under the folders of `FLYDSL_EXTRA_SOURCE_DIRS`."""
    digest = hashlib.sha256()
    for folder in filter(None, folders.split(":")):
        _add_sources(digest, Path(folder).expanduser())
    return digest.hexdigest()


def _locations(package: str) -> Iterable[Path]:
    spec = importlib.util.find_spec(package)
    return [Path(one) for one in (spec.submodule_search_locations or ())] if spec is not None else []


def _add_sources(digest: hashlib._Hash, folder: Path) -> None:
    """Add the names, relative to `folder`, and the contents of all Python files below it."""
    _add_folder(digest, str(folder), "")


def _add_folder(digest: hashlib._Hash, folder: str, prefix: str) -> None:
    # Plain strings: this is part of every cold start, and pathlib would take longer than reading the files.
    try:
        with os.scandir(folder) as entries:
            found = sorted((one.name, one.is_dir()) for one in entries)
    except OSError:
        return
    for name, is_folder in found:
        if is_folder:
            if name != "__pycache__":
                _add_folder(digest, f"{folder}/{name}", f"{prefix}{name}/")
        elif name.endswith(".py"):
            digest.update(f"{prefix}{name}\0".encode())
            with open(f"{folder}/{name}", "rb") as file:
                digest.update(file.read())
