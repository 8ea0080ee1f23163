# SPDX-License-Identifier: Apache-2.0
"""`and`, `or`, `not`, chains of comparisons and `in`: operators that ask Python for a truth value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .refusals import binds, static_test
from .syntax import call_op, constant, region_lambda

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["boolean", "comparison", "negation"]


def boolean(transformer: FunctionTransformer, node: ast.BoolOp) -> ast.expr:
    """Rewrite `a and b` to `and_(a, lambda: b)`, and `or` likewise; `b` is not evaluated when Python would not."""
    if any(binds(one) for one in node.values[1:]):
        *tests, last = node.values
        word = "and" if isinstance(node.op, ast.And) else "or"
        tests = [static_test(transformer, one, f"`{word}` with an operand that assigns with `:=`") for one in tests]
        node.values = [*tests, transformer.visit(last)]
        return node
    first, *others = [transformer.visit(one) for one in node.values]
    operation = "and_" if isinstance(node.op, ast.And) else "or_"
    return call_op(operation, [first, *(region_lambda(one) for one in others)], node)


def negation(transformer: FunctionTransformer, node: ast.UnaryOp) -> ast.expr:
    """Rewrite `not a` to `not_(a)`; the other unary operators are ordinary."""
    node.operand = transformer.visit(node.operand)
    return call_op("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node


_WORDS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}


def comparison(transformer: FunctionTransformer, node: ast.Compare) -> ast.expr:
    """Rewrite `a < b < c` so that `b` is evaluated once and the parts are joined as `and` would; `in`, and `is 5`."""
    decided = any(isinstance(one, (ast.In, ast.NotIn)) for one in node.ops) or _compares_with_literal(node)
    node.left = transformer.visit(node.left)
    node.comparators = [transformer.visit(one) for one in node.comparators]
    if (len(node.ops) == 1 and not decided) or any(binds(one) for one in node.comparators):
        return node
    words = constant(tuple(_WORDS[type(one)] for one in node.ops))
    return call_op("compare", [words, node.left, *(region_lambda(one) for one in node.comparators)], node)


def _compares_with_literal(node: ast.Compare) -> bool:
    """Tell whether `is` stands beside a number, a text or a truth value (`is None` is fine for every object)."""
    if not any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops):
        return False
    literals = (one for one in (node.left, *node.comparators) if isinstance(one, ast.Constant))
    return any(isinstance(one.value, (bool, int, float, str)) for one in literals)
