# SPDX-License-Identifier: Apache-2.0
"""`a if c else b`: a value from two regions when the condition is a run-time one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .refusals import binds, static_test
from .syntax import call_op, is_plain_test, region_lambda

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["rewrite"]


def rewrite(transformer: FunctionTransformer, node: ast.IfExp) -> ast.expr:
    """Rewrite `node` to `select(test, lambda: then, lambda: else)`."""
    if binds(node.body) or binds(node.orelse):
        node.test = static_test(transformer, node.test, "a conditional expression whose arms assign with `:=`")
    else:
        node.test = transformer.visit(node.test)
    node.body, node.orelse = transformer.visit(node.body), transformer.visit(node.orelse)
    if is_plain_test(node.test) or binds(node.body) or binds(node.orelse):
        return node
    return call_op("select", [node.test, region_lambda(node.body), region_lambda(node.orelse)], node)
