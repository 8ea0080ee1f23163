# SPDX-License-Identifier: Apache-2.0
"""Small syntax trees that the rewriting steps share, and the questions they ask of user trees."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

__all__ = [
    "OPERAND",
    "OPS",
    "REGION",
    "RewriteError",
    "assign",
    "call_op",
    "child_fields",
    "children_of",
    "constant",
    "copied",
    "is_explicit_loop",
    "is_named_call",
    "is_plain_test",
    "is_range_loop",
    "load",
    "located",
    "nodes_in",
    "own_statements_of",
    "parameters_of",
    "region_lambda",
    "statements_in",
    "store",
]

OPS = "__fly_ops__"
"""The name under which rewritten code finds `flydsl.frontend.control`."""
REGION = "__fly_region"
"""Prefix of the functions that control-flow bodies become (`flydsl.trace.context.REGION_PREFIX`)."""
OPERAND = f"{REGION}__"
"""The parameter that tells a deferred operand from the user's lambdas. Python mangles no name that ends like this."""

_N = TypeVar("_N", bound=ast.AST)


class RewriteError(SyntaxError):
    """A construct that cannot be used in a traced function; carries file, line and column like any `SyntaxError`."""

    def __str__(self) -> str:
        if self.filename is None:
            return str(self.msg)
        stripped = (self.text or "").strip()
        lines = [str(self.msg), f'  File "{self.filename}", line {self.lineno}']
        if stripped:
            indent = len(self.text or "") - len((self.text or "").lstrip())
            lines += [f"    {stripped}", "    " + " " * max(0, (self.offset or 1) - 1 - indent) + "^"]
        return "\n".join(lines)

    def at(self, node: ast.AST) -> RewriteError:
        """Set the position to that of `node`, and return the error for raising."""
        self.lineno = getattr(node, "lineno", None)
        self.offset = getattr(node, "col_offset", -1) + 1
        self.end_lineno = getattr(node, "lineno", None)  # a caret under the first line is enough
        return self

    def in_file(self, filename: str) -> RewriteError:
        """Set file and source line, once it is known where the tree came from."""
        self.filename = filename
        self.text = linecache.getline(filename, self.lineno or 0)
        return self


class LoopTargetError(RewriteError, TypeError):
    """A loop over `range` with more than one loop variable."""


def located(node: _N, origin: ast.AST) -> _N:
    """Give `node`, and everything new inside it, the position of `origin`.

    What has a position already is left alone, with all that is inside it: it is the user's, or was located before.
    """
    place: Any = origin
    line, column, end_line, end_column = place.lineno, place.col_offset, place.end_lineno, place.end_col_offset
    new: list[Any] = [node]
    while new:
        one = new.pop()
        if one._attributes:
            one.lineno, one.col_offset, one.end_lineno, one.end_col_offset = line, column, end_line, end_column
        new += [child for child in children_of(one) if not hasattr(child, "lineno")]
    return node


def copied(node: _N) -> _N:
    """Return a copy of a tree: its fields and positions.

    What tools attach to nodes beside those stays behind. `ast.parse` gives every tree of the process the same `Load`
    and `Store` nodes, and a traceback of IPython sets `.parent` on them: to follow that would never end.
    `copy.deepcopy` follows it too, and takes ten times as long.
    """
    copy = type(node)()
    for name in (*node._fields, *node._attributes):
        if not hasattr(node, name):
            continue
        value = getattr(node, name)
        if isinstance(value, ast.AST):
            value = copied(value)
        elif isinstance(value, list):
            value = [copied(one) if isinstance(one, ast.AST) else one for one in value]
        setattr(copy, name, value)
    return copy


def load(name: str) -> ast.Name:
    """Return a read of `name`."""
    return ast.Name(name, ast.Load())


def constant(value: Any) -> ast.Constant:
    """Return a constant; tuples of constants are fine for the compiler too."""
    return ast.Constant(value)


def store(name: str) -> ast.Name:
    """Return `name` as an assignment target."""
    return ast.Name(name, ast.Store())


def assign(name: str, value: ast.expr, origin: ast.AST) -> ast.Assign:
    """Return `name = value` at the position of `origin`."""
    return located(ast.Assign([store(name)], value), origin)


def call_op(operation: str, arguments: Iterable[ast.expr], origin: ast.AST) -> ast.Call:
    """Return a call of one of the trace-time operations."""
    function = ast.Attribute(load(OPS), operation, ast.Load())
    return located(ast.Call(function, list(arguments), []), origin)


def region_lambda(body: ast.expr) -> ast.Lambda:
    """Return a lambda for a lazily evaluated operand; its argument marks it as a region (see `function.py`)."""
    arguments = ast.arguments(
        posonlyargs=[], args=[], vararg=ast.arg(OPERAND), kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return located(ast.Lambda(arguments, body), body)


# Fields that hold texts, or nodes that say no more than their class: whether a name is read, which operator it is.
_PLAIN_FIELDS = frozenset(("arg", "attr", "ctx", "id", "kind", "level", "module", "op", "ops", "type_comment"))
_BLOCKS = frozenset(("body", "orelse", "finalbody", "handlers", "cases"))
_child_fields: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: (), ast.Name: ()}
_statement_fields: dict[type[ast.AST], tuple[str, ...]] = {}


def child_fields(node: ast.AST) -> tuple[str, ...]:
    """Return the fields of a node that can have nodes which `children_of` gives."""
    kind = type(node)
    fields = _child_fields.get(kind)
    if fields is None:
        fields = _child_fields[kind] = tuple(one for one in node._fields if one not in _PLAIN_FIELDS)
    return fields


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    """Return the parameters of a function."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return found + [one for one in (arguments.vararg, arguments.kwarg) if one is not None]


def children_of(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, without operators and without whether a name is read or stored.

    `ast.iter_child_nodes` takes most of the time that it takes to rewrite a function.
    """
    fields = _child_fields.get(type(node))
    if fields is None:
        fields = child_fields(node)
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            for one in value:
                if isinstance(one, ast.AST):
                    found.append(one)
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes_in(node: ast.AST) -> list[ast.AST]:
    """Return `node` and all that is inside it, nested functions too, in no particular order; see `children_of`."""
    found = [node]
    for one in found:  # which grows
        found += children_of(one)
    return found


def own_statements_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield `node` and all that is inside it, without entering nested functions, lambdas and classes."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(children_of(one))


def statements_in(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield those of `nodes` and of what is inside them that are statements (or their handlers and cases).

    As `own_statements_of`, nested functions and classes are not entered; expressions, most of all nodes, neither.
    """
    stack = list(nodes)
    while stack:
        one = stack.pop()
        yield one
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        kind = type(one)
        fields = _statement_fields.get(kind)
        if fields is None:
            fields = _statement_fields[kind] = tuple(name for name in one._fields if name in _BLOCKS)
        if fields and not isinstance(one, ast.expr):
            for name in fields:
                stack += getattr(one, name)


def is_named_call(node: ast.AST, name: str) -> bool:
    """Tell whether `node` is `name(...)` or `something.name(...)`."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    return (isinstance(function, ast.Name) and function.id == name) or (
        isinstance(function, ast.Attribute) and function.attr == name
    )


def is_plain_test(test: ast.AST) -> bool:
    """Tell whether a condition is known to be plain Python from the source alone: `const_expr(...)` or a literal."""
    return is_named_call(test, "const_expr") or isinstance(test, ast.Constant)


def is_range_loop(node: ast.For) -> bool:
    """Tell whether a loop is written over `range(...)`, the form that becomes a run-time loop."""
    return isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range"


def is_explicit_loop(node: ast.For) -> bool:
    """Tell whether a range loop carries explicit state (`range(..., init=[...])`)."""
    return is_range_loop(node) and any(keyword.arg == "init" for keyword in node.iter.keywords)  # type: ignore[attr-defined]
