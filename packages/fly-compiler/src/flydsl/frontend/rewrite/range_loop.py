# SPDX-License-Identifier: Apache-2.0
"""`for i in range(...)`: a run-time loop that carries the variables its body assigns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .syntax import LoopTargetError, call_op, constant, load, located

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["rewrite"]


def rewrite(transformer: FunctionTransformer, node: ast.For) -> list[ast.stmt]:
    """Rewrite `node` to `for_range(range, args, keywords, body, description, stop flags, decorated)`."""
    if not isinstance(node.target, ast.Name):
        raise LoopTargetError(
            "a loop over range() has one loop variable; state that goes around as a second one needs "
            "range(start, stop, step, init=[...])"
        ).at(node.target)
    iterator = node.iter
    assert isinstance(iterator, ast.Call)
    effects = transformer.construct_effects([node.target, *node.body])
    induction = transformer.fresh("iv")
    bind = located(ast.Assign([node.target], load(induction)), node.target)
    body = transformer.region("for", [bind, *transformer.statements(node.body)], effects, node, [induction])
    arguments = ast.Tuple([transformer.visit(one) for one in iterator.args], ast.Load())
    keywords = ast.Dict(
        [ast.Constant(one.arg) if one.arg is not None else None for one in iterator.keywords],
        [transformer.visit(one.value) for one in iterator.keywords],
    )
    call = call_op(
        "for_range",
        [
            iterator.func,
            arguments,
            keywords,
            load(body.name),
            transformer.description(effects),
            constant(getattr(node, "fly_stop", ())),
            ast.Constant(transformer.decorated),
        ],
        iterator,
    )
    done: list[ast.stmt] = [body, located(ast.Expr(call), node)]
    return [*done, *transformer.statements(node.orelse)]
