# SPDX-License-Identifier: Apache-2.0
"""Which names a piece of code binds, and which objects it may change in place.

Both look at one function's own scope: nested functions, classes and lambdas have scopes of their own, and the targets
of comprehensions stay inside them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from .syntax import OPS, children_of, nodes_in, own_statements_of, statements_in

__all__ = ["ANY_ITEM", "Effects", "effects_of", "has_yield", "nested_nonlocals", "unread_names"]

AttributePath = tuple[str, ...]
"""A dotted path, such as `("self", "acc")`; `ANY_ITEM` in it stands for the items of a container."""

ANY_ITEM = "[]"

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OTHER_SCOPES = frozenset((*_SCOPES, *_COMPREHENSIONS))


class Effects:
    """What running some statements may change.

    Attributes:
        names: bound names in order of appearance, each with the last line that binds it.
        attributes: dotted paths whose last part is assigned as an attribute (`self.acc = …`), with that line.
        objects: dotted paths of objects that a subscript assignment or a method call may change in place.
        has_call: something is called, so that nested functions may run.
        declared_global: names that the statements declare `global`.
        declared_nonlocal: names that the statements declare `nonlocal`.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.attributes: dict[AttributePath, int] = {}
        self.objects: dict[AttributePath, int] = {}
        self.has_call = False
        self.declared_global: set[str] = set()
        self.declared_nonlocal: set[str] = set()

    def _bind(self, name: str, line: int) -> None:
        self.names[name] = max(line, self.names.get(name, 0))

    def add(self, node: ast.AST) -> None:
        """Add the effects of `node` and of everything inside it that belongs to the same scope."""
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                self._bind(node.id, node.lineno)  # type: ignore[attr-defined]
            return
        note = _NOTES.get(kind)
        if note is not None:
            note(self, node)
            if kind in _OTHER_SCOPES:
                return
        for child in children_of(node):
            self.add(child)

    def _add_attribute(self, node: ast.Attribute) -> None:
        if type(node.ctx) is ast.Load:
            return
        path = _path(node)
        if path is not None and ANY_ITEM in path:
            self.objects[path[:-1]] = node.lineno
        elif path is not None:
            self.attributes[path] = node.lineno

    def _add_subscript(self, node: ast.Subscript) -> None:
        path = None if type(node.ctx) is ast.Load else _path(node.value)
        if path is not None:
            self.objects[path] = node.lineno

    def _add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name.split(".", 1)[0], node.lineno)

    def _add_name(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name, node.lineno)

    def _add_rest(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self._bind(node.rest, node.lineno)

    def _add_global(self, node: ast.Global) -> None:
        self.declared_global.update(node.names)

    def _add_nonlocal(self, node: ast.Nonlocal) -> None:
        self.declared_nonlocal.update(node.names)

    def _add_comprehension(self, node: ast.AST) -> None:
        for child in ast.walk(node):
            if isinstance(child, ast.NamedExpr):
                self._bind(child.target.id, child.lineno)
            elif isinstance(child, ast.Call):
                self._add_call(child)

    def _add_scope(self, node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._bind(node.name, node.lineno)
            for decorator in node.decorator_list:
                self.add(decorator)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    self.add(default)

    def _add_call(self, node: ast.Call) -> None:
        path = _path(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if path != (OPS,):
            self.has_call = True
            if path is not None:
                self.objects.setdefault(path, node.lineno)


_NOTES: dict[type[ast.AST], Callable[[Effects, Any], None]] = {
    ast.Attribute: Effects._add_attribute,
    ast.Subscript: Effects._add_subscript,
    ast.Call: Effects._add_call,
    ast.Import: Effects._add_import,
    ast.ImportFrom: Effects._add_import,
    ast.ExceptHandler: Effects._add_name,
    ast.MatchAs: Effects._add_name,
    ast.MatchStar: Effects._add_name,
    ast.MatchMapping: Effects._add_rest,
    ast.Global: Effects._add_global,
    ast.Nonlocal: Effects._add_nonlocal,
    **dict.fromkeys(_SCOPES, Effects._add_scope),
    **dict.fromkeys(_COMPREHENSIONS, Effects._add_comprehension),
}
"""What each kind of node does itself."""


def effects_of(nodes: Iterable[ast.AST]) -> Effects:
    """Return the effects of running `nodes` in a function's scope."""
    effects = Effects()
    for node in nodes:
        effects.add(node)
    return effects


def _path(node: ast.AST) -> AttributePath | None:
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        parts.append(node.attr if isinstance(node, ast.Attribute) else ANY_ITEM)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(parts))


def has_yield(nodes: Iterable[ast.AST]) -> bool:
    """Tell whether running `nodes` yields or awaits."""
    kinds = (ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(node, kinds) for one in nodes for node in own_statements_of(one))


def nested_nonlocals(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that functions nested in `nodes` declare `nonlocal` and do not own between here and there."""
    found: set[str] = set()
    for node in statements_in(nodes):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = effects_of(node.body)
            owned = set(inner.names) - inner.declared_nonlocal - inner.declared_global
            owned |= {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
            found |= (nested_nonlocals(node.body) | inner.declared_nonlocal) - owned
    return found


def unread_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that `nodes` assign and nothing in them reads, nested functions included."""
    written: set[str] = set()
    read: set[str] = set()
    for node in (inner for one in nodes for inner in nodes_in(one)):
        if isinstance(node, ast.Name):
            (written if isinstance(node.ctx, ast.Store) else read).add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read.add(node.target.id)
    return written - read
