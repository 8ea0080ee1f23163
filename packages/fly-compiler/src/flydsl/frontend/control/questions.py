# SPDX-License-Identifier: Apache-2.0
"""Which files an answer depends on, of functions that ask about several, or about others than they are given.

They open nothing, or not always, so that Python does not tell of it (`audit.py`).
"""

from __future__ import annotations

import importlib.machinery
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["FILES_OF"]

_SUFFIXES_OF_DATABASES = ("", ".bak", ".dat", ".db", ".dir", ".pag")


def _two(first: Any, second: Any, *_: Any, **__: Any) -> Iterable[Any]:
    return (first, second)


def _each(a: Any, b: Any, common: Iterable[Any], *_: Any, **__: Any) -> Iterable[Any]:
    return [os.path.join(folder, one) for one in common for folder in (a, b)]


def _trees(a: Any, b: Any, *_: Any, **__: Any) -> Iterator[Any]:
    """All below two folders: `filecmp.dircmp` looks later, when it is asked."""
    for base in (a, b):
        yield base
        for folder, folders, files in os.walk(base):
            yield from (os.path.join(folder, one) for one in (*folders, *files))


def _links(path: Any, *_: Any, **__: Any) -> Iterator[Any]:
    """A path and the links on the way to it."""
    yield path
    seen = set()
    todo = [os.path.abspath(os.fsdecode(path))]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        if os.path.islink(one):
            yield one
            todo.append(os.path.normpath(os.path.join(os.path.dirname(one), os.readlink(one))))
        if one != os.path.dirname(one):
            todo.append(os.path.dirname(one))


def _program(cmd: Any, mode: int = 0, path: Any = None) -> Iterable[Any]:
    """Where `shutil.which` looks."""
    name = os.fsdecode(cmd)
    if os.path.dirname(name):
        return [name]
    text = os.fsdecode(path) if path is not None else os.environ.get("PATH", os.defpath)
    return [os.path.join(folder, name) for folder in text.split(os.pathsep)]


def _database(filename: Any, *_: Any, **__: Any) -> Iterable[Any]:
    return [os.fsdecode(filename) + suffix for suffix in _SUFFIXES_OF_DATABASES]


def _source(thing: Any) -> Iterable[Any]:
    path = inspect.getsourcefile(thing)
    return [] if path is None else [path]


def _module(name: str, *_: Any, **__: Any) -> Iterable[Any]:
    """Where a module can lie, or its outermost package."""
    first = name.partition(".")[0]
    endings = ("", *importlib.machinery.all_suffixes())
    return [os.path.join(folder or os.curdir, first + ending) for folder in sys.path for ending in endings]


def _distributions(*_: Any, **__: Any) -> Iterable[Any]:
    """The folders where notes on installed packages lie; the notes themselves are opened."""
    return [folder or os.curdir for folder in sys.path]


FILES_OF: dict[tuple[str, str], Callable[..., Iterable[Any]]] = {
    ("genericpath", "samefile"): _two,
    ("pathlib", "Path.samefile"): _two,
    ("filecmp", "cmp"): _two,
    ("filecmp", "cmpfiles"): _each,
    ("filecmp", "dircmp"): _trees,
    ("posixpath", "realpath"): _links,
    ("pathlib", "Path.resolve"): _links,
    ("shutil", "which"): _program,
    **{(module, "open"): _database for module in ("_dbm", "_gdbm", "dbm", "dbm.dumb", "shelve")},
    ("dbm", "whichdb"): _database,
    **{("inspect", name): _source for name in ("findsource", "getcomments", "getsource", "getsourcelines")},
    ("importlib.util", "find_spec"): _module,
    **{
        ("importlib.metadata", name): _distributions
        for name in (
            *("Distribution.discover", "Distribution.from_name", "distribution", "distributions", "entry_points"),
            *("files", "metadata", "packages_distributions", "requires", "version"),
        )
    },
}
"""By module and qualified name: what gives the files, for the arguments of the function."""
