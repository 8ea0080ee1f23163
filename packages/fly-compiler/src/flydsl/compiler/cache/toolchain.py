# SPDX-License-Identifier: Apache-2.0
"""One hash for everything that turns a traced function into an artifact."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterable
from functools import lru_cache
from importlib import metadata
from pathlib import Path

__all__ = ["extra_sources_hash", "package_versions", "toolchain_hash"]

_PYTHON_PACKAGES = ("flydsl.compiler", "flydsl.expr", "flydsl.utils", "flydsl.layout")
_DISTRIBUTIONS = ("fly-compiler", "fly-dialect", "fly-layout", "fly-runtime")


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

    Native libraries are large, so size and time of last change stand for their content.
    """
    digest = hashlib.sha256(repr(sorted(package_versions().items())).encode())
    for package in _PYTHON_PACKAGES:
        for folder in _locations(package):
            _add_sources(digest, folder)
    for folder in _locations("flydsl._mlir"):
        with os.scandir(folder / "_mlir_libs") as entries:
            libraries = sorted((one for one in entries if ".so" in one.name), key=lambda one: one.name)
        for one in libraries:
            facts = one.stat()
            digest.update(f"{one.name}:{facts.st_size}:{facts.st_mtime_ns}".encode())
    return digest.hexdigest()


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
