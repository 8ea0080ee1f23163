# SPDX-License-Identifier: Apache-2.0
"""One hash for everything that turns a traced function into an artifact."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from flydsl.trace.library import MODULES
from flydsl.utils import env, log

from . import record
from .linked import linked_libraries

__all__ = ["extra_sources_hash", "package_versions", "record_toolchain", "toolchain_hash"]

_PACKAGES = (
    *MODULES,
    "flydsl.layout",
    "flydsl.runtime",
    "flydsl._mlir",
)
_DISTRIBUTIONS = ("fly-compiler", "fly-dialect", "fly-layout", "fly-runtime")
_LOADER = ("LD_LIBRARY_PATH", "LD_PRELOAD")
"""The variables that may make the system's loader find other libraries."""
_found: list[tuple[str, record.Known]] = []
"""What is known of a tool chain by its name, and is yet to be recorded."""


@lru_cache(maxsize=1)
def package_versions() -> dict[str, str]:
    """Return the versions of the installed layers; those run from a source tree have none."""
    found = _installed()
    return {name: found.get(name) or _version(name) for name in _DISTRIBUTIONS}


def _installed() -> dict[str, str]:
    """Return the versions that the names of folders of installed wheels say."""
    found: dict[str, str] = {}
    for place in sys.path:
        with suppress(OSError):
            for entry in os.listdir(place or os.curdir):
                if entry.startswith("fly_") and entry.endswith(".dist-info"):
                    name, _, version = entry.removesuffix(".dist-info").partition("-")
                    found.setdefault(name.replace("_", "-"), version)
    return found


def _version(name: str) -> str:
    """Return the version of a distribution that is in no folder of its own."""
    from importlib import metadata  # brings email, csv and more: a fifth of a small compilation

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "source tree"


@lru_cache(maxsize=1)
def toolchain_hash() -> str:
    """Return a hash of the content of the compiler's Python sources and of the native libraries under it.

    Versions are no part of it: the content says more than their numbers. It is read once for each installation; later
    processes find the hash in a record, which holds for just these files, unchanged (`record_toolchain`). Where a file
    changed after this process began, what the process has loaded may be none of what lies on disk, so that what it
    compiles is found by nobody else.

    Raises:
        OSError: a file cannot be read.
    """
    roots = [(package, os.path.abspath(one)) for package in _PACKAGES for one in _locations(package)]
    name = hashlib.sha256(repr((roots, [os.environ.get(one) for one in _LOADER])).encode()).hexdigest()[:32]
    known = record.find(name)
    if known is None:
        known = _read(roots)
        if env.runtime.enable_cache:
            _found.append((name, known))
    if known.youngest >= _BEGAN:  # Python takes longer to start than a tick of the file system's clock
        log().warning(
            "files of the compiler were changed after this process began: what it compiles is not found in the disk "
            "cache by other processes"
        )
        return hashlib.sha256(f"{known.digest} {os.urandom(16).hex()}".encode()).hexdigest()
    return known.digest


def record_toolchain() -> None:
    """Write down which hash the files of the tool chain have, for the processes after this one, where that is news."""
    while _found:
        record.add(*_found.pop())


def _read(roots: list[tuple[str, str]]) -> record.Known:
    """Read the tool chain in these folders, with the name that each has in the hash."""
    # The facts are older than the content: were anything changed in between, they fit nothing any more.
    files, facts = _listed(roots)
    libraries = [(f"system/{os.path.basename(one)}", one) for one in linked_libraries(one for _, one in files)]
    files = sorted([*files, *libraries])
    facts |= record.facts_of(one for _, one in files)
    digest = hashlib.sha256()
    for name, path in files:
        content = hashlib.sha256()
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                content.update(part)
        digest.update(f"{name}\0{content.hexdigest()}\n".encode("utf-8", "surrogateescape"))
    youngest = max((facts[path][-1] for _, path in files), default=0)  # Python makes folders for byte code later
    return record.Known(digest.hexdigest(), youngest, facts)


def _listed(roots: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], dict[str, record.Facts]]:
    """Return the names and paths of all sources and libraries in some folders, and the facts of these before that."""
    files: list[tuple[str, str]] = []
    folders: dict[str, record.Facts] = {}
    waiting = list(roots)
    while waiting:
        prefix, folder = waiting.pop()
        folders |= record.facts_of([folder])
        with os.scandir(folder) as entries:
            for one in entries:
                if one.name.endswith(".py") or ".so" in one.name:
                    if one.is_file():  # editors leave links to nowhere beside what is being edited
                        files.append((f"{prefix}/{one.name}", one.path))
                elif one.name != "__pycache__" and one.is_dir():
                    waiting.append((f"{prefix}/{one.name}", one.path))
    return files, folders


def _start_of_process() -> int:
    """Return when this process began, on the clock of the files, in ns; the present if that is hidden."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])  # field 22 of proc(5), behind the name
        began = ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        return record.now() - (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - began)
    except (OSError, ValueError, IndexError):
        return record.now()


_BEGAN = _start_of_process()
"""When the process began that imported this; one that was forked off has loaded what its parent had."""


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
