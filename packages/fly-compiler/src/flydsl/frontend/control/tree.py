# SPDX-License-Identifier: Apache-2.0
"""Snapshots of Python values for control flow: what is in them, how to put it back, how to rebuild it from SSA values.

A snapshot is a tree: leaves are DSL values, SSA values and Python numbers (which become `Int32`, `Float32` or `Boolean`
when a region carries them); containers are lists, deques, tuples, dicts and `SimpleNamespace`; everything else is
static and can only pass through a region unchanged. Mutable containers keep their identity: restoring and rebuilding
write into the very object, so that aliases and closures see the result.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from flydsl._mlir import ir
from flydsl.expr.values.numeric import Numeric, as_numeric
from flydsl.trace.protocol import construct_from_ir_values, extract_to_ir_values

__all__ = [
    "Leaf",
    "Mismatch",
    "Node",
    "Static",
    "Tree",
    "Whole",
    "capture",
    "is_changed_in_place",
    "is_same",
    "leaves",
    "match",
    "rebuild",
    "restore",
]

_SEQUENCES = (list, deque)
_TABLES = (dict, OrderedDict, defaultdict, Counter)
_WHOLES = (set, bytearray, array)
_MOST_BYTES = 1 << 20
"""An array larger than this is not looked at: to copy it at each branch would take longer than to trace."""


@dataclass(frozen=True, eq=False, repr=False)
class Leaf:
    """A value that has SSA form; `value` is as the user's variable holds it."""

    value: Any

    def promoted(self) -> Any:
        """Return the value with Python numbers made DSL scalars."""
        return as_numeric(self.value) if isinstance(self.value, (bool, int, float)) else self.value

    def extract(self) -> list[ir.Value]:
        """Return the SSA values, emitting constants at the current insertion point."""
        return extract_to_ir_values(self.promoted())

    def types(self) -> list[ir.Type]:
        """Return the MLIR types of the SSA values without emitting anything for scalars."""
        promoted = self.promoted()
        if isinstance(promoted, Numeric):
            return [type(promoted).ir_type]
        return [value.type for value in self.extract()]

    def type_name(self) -> str:
        """Return the type as a user would write it."""
        promoted = self.promoted()
        if isinstance(promoted, ir.Value):
            return str(promoted.type)
        types = ", ".join(str(one) for one in self.types())
        return type(promoted).__name__ if isinstance(promoted, Numeric) else f"{type(promoted).__name__} ({types})"


@dataclass(frozen=True, eq=False, repr=False)
class Static:
    """A value without SSA form."""

    value: Any

    def type_name(self) -> str:
        """Return the Python type."""
        return "None" if self.value is None else f"Python {type(self.value).__name__} {self.value!r}"


@dataclass(frozen=True, eq=False, repr=False)
class Whole(Static):
    """A set or an array: its items cannot be run-time values of their own, so it can only pass through unchanged."""

    content: Any

    def type_name(self) -> str:
        """Return the Python type."""
        return f"Python {type(self.value).__name__}"


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A container with its content at the time of the snapshot."""

    source: Any
    keys: tuple[Any, ...]
    children: tuple[Node, ...]

    def type_name(self) -> str:
        """Return kind and size of the container."""
        return f"{type(self.source).__name__} of {len(self.children)}"


Node = Leaf | Static | Tree


def capture(value: Any) -> Node:
    """Take a snapshot of `value`."""
    kind = type(value)
    if kind in _SEQUENCES or isinstance(value, tuple):
        return Tree(value, tuple(range(len(value))), tuple(capture(one) for one in value))
    if kind in _TABLES:
        return Tree(value, tuple(value), tuple(capture(one) for one in value.values()))
    if kind is SimpleNamespace:
        return Tree(value, tuple(vars(value)), tuple(capture(one) for one in vars(value).values()))
    if isinstance(value, (bool, int, float, ir.Value)):
        return Leaf(value)
    if not isinstance(value, type) and hasattr(kind, "__extract_to_ir_values__"):
        return Leaf(value)
    content = _content(value)
    return Static(value) if content is None else Whole(value, content)


def is_changed_in_place(value: object) -> bool:
    """Tell whether a snapshot of a value shows what a method of it, or an assignment to an item, changes."""
    kind = type(value)
    return kind in (*_SEQUENCES, *_TABLES, SimpleNamespace) or _content(value) is not None


def _content(value: object) -> Any:
    """Return a copy of what is in a set or an array of Python, NumPy or torch; `None` for anything else."""
    kind = type(value)
    if kind in _WHOLES:
        return copy(value)
    # Another thread may be importing them: what has not been made yet, no value is of.
    array, tensor = getattr(sys.modules.get("numpy"), "ndarray", ()), getattr(sys.modules.get("torch"), "Tensor", ())
    if isinstance(value, array) and not value.dtype.hasobject:
        return (value.shape, value.tobytes()) if value.nbytes <= _MOST_BYTES else None
    if isinstance(value, tensor):
        return (tuple(value.shape), f"version {value._version}")
    return None


def leaves(node: Node) -> Iterator[Leaf]:
    """Yield the leaves in order."""
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Tree):
        for child in node.children:
            yield from leaves(child)


def is_same(a: Node, b: Node) -> bool:
    """Tell whether two snapshots hold the very same values in the very same containers."""
    if isinstance(a, Tree) and isinstance(b, Tree):
        if a.source is not b.source and not (isinstance(a.source, tuple) and isinstance(b.source, tuple)):
            return False
        return a.keys == b.keys and all(map(is_same, a.children, b.children))
    if isinstance(a, Tree) or isinstance(b, Tree):
        return False
    if isinstance(a, Whole) and isinstance(b, Whole):
        return a.value is b.value and bool(a.content == b.content)
    if a.value is b.value:
        return True
    return type(a.value) is type(b.value) and isinstance(a.value, (int, float, str, tuple)) and a.value == b.value


class Mismatch(Exception):
    """Two snapshots cannot be the same variable; `path` leads to the difference inside the variable."""

    def __init__(self, path: str, reference: Node, expected: str, produced: str) -> None:
        super().__init__(path, expected, produced)
        self.path, self.reference, self.expected, self.produced = path, reference, expected, produced


def match(reference: Node, node: Node, path: str = "") -> list[Leaf]:
    """Return the leaves of `node` in the order of `reference`, which fixes structure and types.

    Raises:
        Mismatch: structure or type differ.
    """
    if isinstance(reference, Leaf):
        if isinstance(node, Leaf) and reference.types() == node.types():
            return [node]
        raise Mismatch(path, reference, reference.type_name(), node.type_name())
    if isinstance(reference, Static):
        if isinstance(node, Static) and is_same(reference, node):
            return []
        raise Mismatch(path, reference, reference.type_name(), node.type_name())
    if not isinstance(node, Tree) or type(node.source) is not type(reference.source):
        raise Mismatch(path, reference, reference.type_name(), node.type_name())
    named = isinstance(reference.source, (dict, SimpleNamespace))
    same_keys = set(reference.keys) == set(node.keys) if named else len(reference.keys) == len(node.keys)
    if not same_keys:
        have, want = (f"{one.type_name()} {list(one.keys)}" if named else one.type_name() for one in (node, reference))
        raise Mismatch(path, reference, want, have)
    by_key = dict(zip(node.keys, node.children, strict=True))
    found: list[Leaf] = []
    for key, child in zip(reference.keys, reference.children, strict=True):
        inner = f"{path}.{key}" if isinstance(reference.source, SimpleNamespace) else f"{path}[{key!r}]"
        found += match(child, by_key[key], inner)
    return found


def rebuild(reference: Node, values: list[ir.Value]) -> Any:
    """Return a value of the form of `reference` made from SSA values, taken from the front of `values`."""
    if isinstance(reference, Leaf):
        exemplar = reference.promoted()
        count = len(reference.types())
        taken, values[:count] = values[:count], []
        return taken[0] if isinstance(exemplar, ir.Value) else construct_from_ir_values(exemplar, taken)
    if isinstance(reference, Static):
        return reference.value
    return _fill(reference, [rebuild(child, values) for child in reference.children])


def restore(node: Node) -> Any:
    """Put the content of the snapshot back into its containers and return the value."""
    if not isinstance(node, Tree):
        return node.value
    return _fill(node, [restore(child) for child in node.children])


def _fill(tree: Tree, content: list[Any]) -> Any:
    source = tree.source
    if isinstance(source, tuple):
        if all(map(lambda a, b: a is b, source, content)):
            return source
        return type(source)(*content) if hasattr(source, "_fields") else type(source)(content)
    if isinstance(source, _SEQUENCES):
        source.clear()
        source.extend(content)
        return source
    table: Any = source if isinstance(source, dict) else vars(source)
    table.clear()
    for key, one in zip(tree.keys, content, strict=True):  # the `update` of a `Counter` would count them
        table[key] = one
    return source
