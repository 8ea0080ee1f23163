# SPDX-License-Identifier: Apache-2.0
"""Calls: a Python function that a traced function reaches is rewritten too, when it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flydsl.trace.library import is_of_compiler

from .syntax import OPS, call_op, is_named_call

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["const_expr", "rewrite"]


def rewrite(transformer: FunctionTransformer, node: ast.Call) -> ast.expr:
    """Rewrite `f(x)` to `callee(f)(x)` unless `f` certainly is no user function."""
    certain = _certainly_foreign(transformer, node.func)
    if is_named_call(node, "printf"):
        _unfold_message(node)
    node.func = transformer.visit(node.func)
    node.args = [transformer.visit(one) for one in node.args]
    for keyword in node.keywords:
        keyword.value = transformer.visit(keyword.value)
    if not certain:
        node.func = call_op("callee", [node.func], node.func)
    return node


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


def _certainly_foreign(transformer: FunctionTransformer, function: ast.expr) -> bool:
    """Tell whether the callee is Python's own or this library's, whose functions need no rewriting."""
    if isinstance(function, ast.Name):
        return transformer.is_builtin(function.id)
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root is function:
        return False
    if root.id == OPS:
        return True
    module = transformer.known_module(root.id)
    return module is not None and (is_of_compiler(module.__name__) or module.__name__.startswith("flydsl._mlir"))
