# SPDX-License-Identifier: Apache-2.0
"""Calls: a Python function that a traced function reaches is rewritten too, when it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .syntax import OPS, call_op, copied, is_named_call

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["const_expr", "iterated", "keyed", "rewrite"]


def rewrite(transformer: FunctionTransformer, node: ast.Call) -> ast.expr:
    """Rewrite `f(x)` to `callee(f)(x)` unless `f` certainly is no user function."""
    certain = certainly_foreign(transformer, node.func)
    taken = _taken(transformer, node)
    if is_named_call(node, "printf"):
        _unfold_message(node)
    node.func = transformer.visit(node.func)
    node.args = [
        iterated(transformer, one) if index in taken else transformer.visit(one) for index, one in enumerate(node.args)
    ]
    for keyword in node.keywords:
        keyword.value = transformer.visit(keyword.value)
    _rewrite_callbacks(transformer, node)
    if not certain:
        node.func = call_op("callee", [node.func], node.func)
    elif isinstance(node.func, ast.Name) and node.func.id in _OF_NAMES and not node.args:
        return call_op("own_names", [node], node)
    return node


def _rewrite_callbacks(transformer: FunctionTransformer, node: ast.Call) -> None:
    """Let the function that Python's own is given to call be rewritten, like one that the code calls itself."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("filter", "map") and transformer.is_builtin(name) and node.args:
        if not isinstance(node.args[0], (ast.Constant, ast.Lambda, ast.Starred)):
            node.args[0] = call_op("callee", [node.args[0]], node.args[0])
    elif name in ("max", "min", "sorted") and transformer.is_builtin(name):
        for keyword in node.keywords:
            if keyword.arg == "key" and not isinstance(keyword.value, (ast.Constant, ast.Lambda)):
                keyword.value = call_op("callee", [keyword.value], keyword.value)


_TAKING = frozenset(
    (
        *("all", "any", "dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "max", "min", "next"),
        *("set", "sorted", "sum", "tuple", "zip"),
    )
)
"""Functions of Python that go through what they are given."""
_OF_NAMES = frozenset(("dir", "locals", "vars"))
"""Functions of Python that, without arguments, give the variables of the function."""
_ASKING = frozenset(("getattr", "hasattr", "input", "open"))
"""Functions of Python that ask the world outside of the program, or for a name that the code need not have."""


def _taken(transformer: FunctionTransformer, node: ast.Call) -> range:
    """Return which arguments of a call are gone through."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in _TAKING or not transformer.is_builtin(name):
        return range(0)
    if name in ("max", "min") and len(node.args) > 1:
        return range(0)
    if name in ("filter", "map", "zip"):
        return range(name != "zip", len(node.args))
    return range(1)


def iterated(transformer: FunctionTransformer, node: ast.expr) -> ast.expr:
    """Rewrite what a loop goes through, and check that it is no iterator that was there before the trace."""
    fresh = not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) or (
        isinstance(node, ast.Call) and certainly_foreign(transformer, node.func)
    )
    visited: ast.expr = transformer.visit(node)
    return visited if fresh else call_op("iterated", [visited], node)


def keyed(node: ast.Subscript) -> None:
    """Check what a name is indexed with: a dict finds no run-time key."""
    base: ast.expr = node.value
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(base, ast.Name) and not isinstance(node.slice, (ast.Constant, ast.Slice)):
        node.slice = call_op("key", [copied(node.value), node.slice], node.slice)


def _unfold_message(node: ast.Call) -> None:
    """Make `printf(f"n = {n}")` a `printf("n = {}", n)`: an f-string is made while tracing, without values."""
    if len(node.args) != 1 or not isinstance(node.args[0], ast.JoinedStr):
        return
    parts = node.args[0].values
    texts = [str(one.value) for one in parts if isinstance(one, ast.Constant)]
    values = [one for one in parts if isinstance(one, ast.FormattedValue)]
    if any("{" in text or "}" in text for text in texts) or any(
        one.format_spec is not None or one.conversion != -1 for one in values
    ):
        return  # `Numeric.__format__` refuses what cannot be kept
    text = "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in parts)
    node.args = [ast.copy_location(ast.Constant(text), node.args[0]), *(one.value for one in values)]


def const_expr(transformer: FunctionTransformer, node: ast.Call) -> ast.expr:
    """Rewrite `const_expr(c)` to the check that `c` is a Python value."""
    if len(node.args) != 1 or node.keywords:
        return rewrite(transformer, node)
    return call_op("const_expr", [transformer.visit(node.args[0])], node)


def certainly_foreign(transformer: FunctionTransformer, function: ast.expr) -> bool:
    """Tell whether the callee is Python's own or this library's, whose functions need no rewriting."""
    if isinstance(function, ast.Name):
        return transformer.is_builtin(function.id) and function.id not in _ASKING
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root is function:
        return False
    if root.id == OPS:
        return True
    return transformer.is_compiler_module(root.id)
