# SPDX-License-Identifier: Apache-2.0
"""`while`: a run-time loop whose condition is computed anew from the carried variables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .syntax import call_op, constant, is_named_call, load, located

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["rewrite"]


def rewrite(transformer: FunctionTransformer, node: ast.While) -> ast.stmt | list[ast.stmt]:
    """Rewrite `node` to `while_(test, body, description, stop flags, decorated)`; see `control`.

    `while const_expr(...)` stays Python's.
    """
    if is_named_call(node.test, "const_expr"):
        node.test = transformer.visit(node.test)
        node.body = transformer.statements(node.body)
        node.orelse = transformer.statements(node.orelse)
        return node
    effects = transformer.construct_effects([node.test, *node.body])
    result = located(ast.Return(transformer.visit(node.test)), node.test)
    test = transformer.region("test", [result], effects, node)
    body = transformer.region("while", transformer.statements(node.body), effects, node)
    call = call_op(
        "while_",
        [
            load(test.name),
            load(body.name),
            transformer.description(effects),
            constant(getattr(node, "fly_stop", ())),
            ast.Constant(transformer.decorated),
        ],
        node.test,
    )
    return [test, body, located(ast.Expr(call), node), *transformer.statements(node.orelse)]
