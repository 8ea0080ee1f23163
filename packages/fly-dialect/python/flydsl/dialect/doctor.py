# SPDX-License-Identifier: Apache-2.0
"""Why `flydsl._mlir` loads, or doesn't: which Pythons the wheel holds extension modules for, and what is missing."""

from __future__ import annotations

import importlib
import importlib.machinery
import re
import sys
from dataclasses import dataclass
from pathlib import Path

#: The extension module that everything else in flydsl._mlir needs.
CORE = "_mlir"


@dataclass(frozen=True)
class Report:
    """The state of an installation."""

    folder: Path
    """Where the extension modules lie."""
    python: str
    """The running Python, as extension modules name it: `cpython-311`."""
    built_for: tuple[str, ...]
    """The Pythons that there are extension modules for, in the same form."""
    error: str | None
    """What the import of the bindings said; None when they load."""

    @property
    def loads(self) -> bool:
        """Whether `flydsl._mlir` can be used."""
        return self.error is None

    def __str__(self) -> str:
        """The report as lines of text."""
        lines = [
            f"fly-dialect in {self.folder}",
            f"  this Python: {self.python} ({sys.executable})",
            f"  built for:   {', '.join(self.built_for) or 'no Python at all'}",
            f"  bindings:    {'load' if self.loads else 'do not load'}",
        ]
        return "\n".join(lines if self.error is None else [*lines, "", self.error])


def libraries_folder() -> Path:
    """Return the folder of the extension modules, whether they load or not."""
    return Path(__file__).resolve().parent.parent / "_mlir" / "_mlir_libs"


def running_python() -> str:
    """Return the tag of the running Python in the names of extension modules."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    return "-".join(suffix.strip(".").split("-")[:2])


def pythons_built_for(folder: Path) -> tuple[str, ...]:
    """Return the tags of the Pythons that `folder` has a core extension module for."""
    tags = (re.match(rf"{CORE}\.(cpython-\d+t?|abi3)[.-]", path.name) for path in folder.glob(f"{CORE}.*.so"))
    return tuple(sorted({tag[1] for tag in tags if tag}))


def explain(error: ImportError, folder: Path | None = None) -> str:
    """Return why the bindings could not be imported, and what to do, for the `ImportError` that said so."""
    folder = folder or libraries_folder()
    built_for, python = pythons_built_for(folder), running_python()
    if not built_for:
        return (
            f"fly-dialect in {folder.parent} has no extension modules: this is an unfinished build tree or a source "
            "folder. Is a build tree on PYTHONPATH? Remove it, or install the wheel: pip install fly-dialect"
        )
    if python not in built_for and "abi3" not in built_for:
        return (
            f"fly-dialect in {folder.parent} was built for {', '.join(built_for)}, but this is {python} "
            f"({sys.executable}). Run one of those Pythons, or install fly-dialect for this one"
        )
    if python not in built_for and sys.version_info < (3, 12):
        return (
            f"fly-dialect in {folder.parent} was built for Python 3.12 and later, but this is {python} "
            f"({sys.executable}). Run a later Python, or install fly-dialect for this one"
        )
    if missing := re.search(r"(lib(?:MLIR|LLVM)[^:\s]*): cannot open shared object file", str(error)):
        return (
            f"fly-dialect in {folder.parent} needs {missing[1]}, which is not on this machine: install Debian's "
            "libmlir-22 and libllvm22, or a wheel that bundles them"
        )
    return f"fly-dialect in {folder.parent} does not load: {error}"


def doctor() -> Report:
    """Try to load the bindings and report how it went; never raises because of them."""
    try:
        importlib.import_module("flydsl._mlir.ir")
        error = None
    except ImportError as failure:
        error = str(failure)
    folder = libraries_folder()
    return Report(folder=folder, python=running_python(), built_for=pythons_built_for(folder), error=error)
