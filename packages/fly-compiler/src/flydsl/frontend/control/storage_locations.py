# SPDX-License-Identifier: Apache-2.0
"""The storage locations that a region may write: closure cells, attributes, and containers changed in place."""

from __future__ import annotations

import builtins
import dis
import functools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CellType, FunctionType, ModuleType
from typing import Any

from flydsl._mlir import ir
from flydsl.expr.values.numeric import Numeric
from flydsl.expr.values.vector import Vector
from flydsl.trace.diagnostics import compile_error

from ..rewrite.names import ANY_ITEM
from .tree import Node, Tree, capture, is_changed_in_place, restore

__all__ = ["UNBOUND", "StorageLocation", "find_storage_locations", "is_internal"]

Description = tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], tuple[str, ...]]
"""What the rewriter says about a construct: `FunctionTransformer.description`."""


class _Unbound:
    def __repr__(self) -> str:
        return "unbound"


UNBOUND: Any = _Unbound()


@dataclass(eq=False, repr=False)
class StorageLocation:
    """Something that holds a value and that a region may change.

    Attributes:
        name: as in the user's source.
        lines: where each part of the construct last binds it, 0 where a part does not.
        read: return the value, or `UNBOUND`.
        write: store a value; `UNBOUND` removes it.
        in_place: a container that is changed, not a variable that is bound.
    """

    name: str
    lines: tuple[int, ...]
    read: Callable[[], Any]
    write: Callable[[Any], None]
    in_place: bool = False

    def snapshot(self) -> Node | None:
        """Return what is there now, `None` for nothing."""
        value = self.read()
        return None if value is UNBOUND else capture(value)

    def put_back(self, node: Node | None) -> None:
        """Return to the state of a snapshot."""
        self.write(UNBOUND if node is None else restore(node))


def is_internal(storage: StorageLocation) -> bool:
    """Tell whether a storage location is one of the rewriter's own variables."""
    return storage.name.startswith("__fly_")


def find_storage_locations(description: Description, *regions: Callable[..., Any]) -> list[StorageLocation]:
    """Return the storage locations that the regions of a run-time construct may write.

    Raises:
        DSLCompileError: a region assigns a global variable.
    """
    names, attributes, objects, shared = description
    if shared:
        listed = ", ".join(f"'{name}'" for name in shared)
        raise compile_error(
            f"global variable {listed} is assigned in code that is decided at run time; Python globals exist only "
            "while tracing. Keep the value in a local variable and return it"
        )
    cells: dict[str, CellType] = {}
    function: Any = None
    for region in regions:
        function = region
        assert isinstance(region, FunctionType)
        cells.update(zip(region.__code__.co_freevars, region.__closure__ or (), strict=True))
    storages = [_variable(name, tuple(lines), cells[name]) for name, *lines in names if name in cells]
    covered = {storage.name for storage in storages}
    for path, line in attributes:
        (holder,) = _resolve(path[:-1], cells, function) or (UNBOUND,)
        if holder is not UNBOUND and not isinstance(holder, type(builtins)):
            storages.append(_attribute(".".join(path), line, holder, path[-1]))
            covered.add(".".join(path))
    seen = {id(one) for storage in storages if (one := storage.read()) is not UNBOUND}
    for path, line in objects:
        name = ".".join(path).replace(f".{ANY_ITEM}", "[...]")
        for value in () if name in covered else _resolve(path, cells, function):
            if id(value) in seen:
                continue
            if is_changed_in_place(value):
                seen.add(id(value))
                storages.append(StorageLocation(name, (line,), lambda value=value: value, lambda _: None, True))  # type: ignore[misc]
            elif len(path) == 1 and path[0] in cells and _is_foreign_value(value):
                seen.add(id(value))
                storages.append(_variable(name, (line,), cells[path[0]]))
            else:
                found = [one for one in _attributes_of_methods(value) if f"{name}.{one}" not in covered]
                storages += [_attribute(f"{name}.{one}", line, value, one) for one in found]
                seen.add(id(value))
    return _outermost(storages)


def _outermost(storages: list[StorageLocation]) -> list[StorageLocation]:
    """Leave out the containers that another location holds already."""
    if len(storages) < 2 or not any(storage.in_place for storage in storages):
        return storages
    inside: set[int] = set()
    for storage in storages:
        value = storage.read()
        if value is not UNBOUND:
            inside.update(id(one) for one in _containers_in(capture(value)))
    return [storage for storage in storages if not storage.in_place or id(storage.read()) not in inside]


def _containers_in(node: Node) -> Iterator[Any]:
    if isinstance(node, Tree):
        for child in node.children:
            if isinstance(child, Tree):
                yield child.source
            yield from _containers_in(child)


def _is_foreign_value(value: Any) -> bool:
    """A user's class that takes part in the protocol may change in its methods; this library's values do not."""
    kind = type(value)
    return hasattr(kind, "__extract_to_ir_values__") and not kind.__module__.startswith("flydsl.")


def _attributes_of_methods(value: Any) -> list[str]:
    """Return the attributes with values of the language that methods of a user's object may assign."""
    if isinstance(value, (type, ModuleType, FunctionType)) or not hasattr(value, "__dict__"):
        return []
    kind: Any = type(value)
    if kind.__module__.split(".", 1)[0] in _LIBRARIES:
        return []
    held = [name for name, one in vars(value).items() if isinstance(one, (Numeric, Vector, ir.Value))]
    return [name for name in held if name in _assigned_in_methods(kind)] if held else []


_LIBRARIES = frozenset(("flydsl", "builtins", "torch", "numpy"))


@functools.lru_cache(maxsize=256)
def _assigned_in_methods(kind: type) -> frozenset[str]:
    """Return the names of attributes that methods of a class assign, its constructor apart."""
    methods = [
        one
        for base in kind.__mro__
        for name, one in vars(base).items()
        if isinstance(one, FunctionType) and name not in ("__init__", "__post_init__", "__setattr__")
    ]
    return frozenset(
        one.argval for method in methods for one in dis.get_instructions(method.__code__) if one.opname == "STORE_ATTR"
    )


def _variable(name: str, lines: tuple[int, ...], cell: CellType) -> StorageLocation:
    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return UNBOUND

    def write(value: Any) -> None:
        if value is not UNBOUND:
            cell.cell_contents = value
        elif read() is not UNBOUND:
            del cell.cell_contents

    return StorageLocation(name, lines, read, write)


def _attribute(name: str, line: int, holder: Any, attribute: str) -> StorageLocation:
    def write(value: Any) -> None:
        if value is not UNBOUND:
            if getattr(holder, attribute, UNBOUND) is not value:
                setattr(holder, attribute, value)
        elif hasattr(holder, attribute):
            delattr(holder, attribute)

    return StorageLocation(name, (line,), lambda: getattr(holder, attribute, UNBOUND), write)


def _resolve(path: tuple[str, ...], cells: dict[str, CellType], function: FunctionType) -> list[Any]:
    """Return what a path leads to: one value, several where it crosses a container, none where it does not exist."""
    root, *rest = path
    try:
        values = [cells[root].cell_contents if root in cells else function.__globals__[root]]
        for part in rest:
            values = [inner for one in values for inner in (_items(one) if part == ANY_ITEM else [getattr(one, part)])]
    except (ValueError, KeyError, AttributeError):
        return []
    return values


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(dict.values(value))
    return list(value) if isinstance(value, (list, tuple, deque)) else []
