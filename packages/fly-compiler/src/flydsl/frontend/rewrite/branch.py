# SPDX-License-Identifier: Apache-2.0
"""`if / elif / else`: both branches become regions, and the condition decides while tracing what happens to them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .names import effects_of
from .syntax import call_op, is_plain_test, load, located

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["rewrite"]


def rewrite(transformer: FunctionTransformer, node: ast.If) -> ast.stmt | list[ast.stmt]:
    """Rewrite `node` to `if_(test, then, else, description)`; `if const_expr(...)` stays a Python `if`."""
    if getattr(node, "fly_plain", False) or is_plain_test(node.test):
        node.test = transformer.visit(node.test)
        node.body = transformer.statements(node.body)
        node.orelse = transformer.statements(node.orelse)
        return node
    then_effects, else_effects = effects_of(node.body), effects_of(node.orelse)
    effects = transformer.construct_effects([*node.body, *node.orelse])
    test = transformer.visit(node.test)
    then = transformer.region("then", transformer.statements(node.body), effects, node)
    done: list[ast.stmt] = [then]
    otherwise: ast.expr = ast.Constant(None)
    if node.orelse:
        other = transformer.region("else", transformer.statements(node.orelse), effects, node)
        done.append(other)
        otherwise = load(other.name)
    description = transformer.description(effects, then_effects.names, else_effects.names)
    call = call_op("if_", [test, load(then.name), otherwise, description], node.test)
    return [*done, located(ast.Expr(call), node)]
