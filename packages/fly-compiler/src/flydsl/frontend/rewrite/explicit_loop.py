# SPDX-License-Identifier: Apache-2.0
"""`for i, state in range(a, b, c, init=[...])` … `results = yield [...]`: a run-time loop with explicit state."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .names import effects_of
from .syntax import RewriteError, call_op, constant, load, located

if TYPE_CHECKING:
    from .transformer import FunctionTransformer

__all__ = ["rewrite"]


def rewrite(transformer: FunctionTransformer, node: ast.For) -> list[ast.stmt]:
    """Rewrite `node` to `results = for_state(range, args, keywords, body, description)`.

    The body becomes a function of the induction variable and the state that returns what was yielded.
    """
    if not isinstance(node.target, (ast.Tuple, ast.List)) or len(node.target.elts) != 2:
        raise RewriteError(
            "a loop with init= has two loop variables, the index and the list of state values: "
            "`for i, state in range(start, stop, step, init=[...])`"
        ).at(node.target)
    iterator = node.iter
    assert isinstance(iterator, ast.Call)
    *body, last = node.body
    targets, yielded = _split_yield(last)
    if yielded is None:
        body, targets = node.body, []
    effects = transformer.construct_effects([node.target, *body])
    index, state = transformer.fresh("iv"), transformer.fresh("state")
    pair = ast.Tuple([load(index), load(state)], ast.Load())
    bind = located(ast.Assign([node.target], pair), node.target)
    value = yielded.value if yielded is not None and yielded.value is not None else constant(())
    result = located(ast.Return(transformer.visit(value)), last)
    region = transformer.region("for", [bind, *transformer.statements(body), result], effects, node, [index, state])
    arguments = ast.Tuple([transformer.visit(one) for one in iterator.args], ast.Load())
    keywords = ast.Dict(
        [ast.Constant(one.arg) if one.arg is not None else None for one in iterator.keywords],
        [transformer.visit(one.value) for one in iterator.keywords],
    )
    call = call_op(
        "for_state",
        [iterator.func, arguments, keywords, load(region.name), transformer.description(effects)],
        iterator,
    )
    statement = ast.Assign(targets, call) if targets else ast.Expr(call)
    return [region, located(statement, node), *transformer.statements(node.orelse)]


def _split_yield(last: ast.stmt) -> tuple[list[ast.expr], ast.Yield | None]:
    """Return the targets and the yield of `targets = yield ...` or `yield ...`."""
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Yield):
        return [], last.value
    if isinstance(last, ast.Assign) and isinstance(last.value, ast.Yield):
        return last.targets, last.value
    if isinstance(last, ast.AnnAssign) and isinstance(last.value, ast.Yield):
        return [last.target], last.value
    if effects_of([last]).names and any(isinstance(node, ast.Yield) for node in ast.walk(last)):
        raise RewriteError("the yield of a loop with init= must be the whole right side of its last statement").at(last)
    return [], None
