# SPDX-License-Identifier: Apache-2.0
"""What a traced function cannot do with a run-time value is refused by name and line.

Some refusals need only the source (`check_function`); the others are checks that the rewritten code makes while
tracing, because the same construct on a Python value is fine.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from .names import effects_of, has_yield
from .syntax import RewriteError, call_op, is_explicit_loop, own_statements_of, statements_in

if TYPE_CHECKING:
    from .transformer import FunctionTransformer, Scope

__all__ = ["assertion", "binds", "check_function", "is_generator", "match", "static_test"]


def binds(node: ast.AST) -> bool:
    """Tell whether evaluating an expression assigns a variable or suspends, which a deferred operand cannot do."""
    return any(isinstance(one, (ast.NamedExpr, ast.Yield, ast.Await)) for one in own_statements_of(node))


def static_test(transformer: FunctionTransformer, node: ast.expr, what: str) -> ast.expr:
    """Return a test that raises, naming `what`, when its value is a run-time one."""
    return call_op("static_test", [transformer.visit(node), ast.Constant(what)], node)


def assertion(transformer: FunctionTransformer, node: ast.Assert) -> ast.stmt:
    """Make an assertion on a run-time value one of the device, or of the host function."""
    if node.msg is not None:
        node.msg = transformer.visit(node.msg)
    parts = _message_parts(node.msg)
    none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    message = ast.Lambda(none, ast.Tuple([copy.deepcopy(one) for one in parts], ast.Load()))
    node.test = call_op("asserted", [transformer.visit(node.test), message], node.test)
    return node


def _message_parts(message: ast.expr | None) -> list[ast.expr]:
    """Return the texts and values of a message, so that those of an f-string can be filled in when the kernel runs."""
    if message is None:
        return []
    if isinstance(message, ast.JoinedStr):
        return [one.value if isinstance(one, ast.FormattedValue) else one for one in message.values]
    return [message]


def match(transformer: FunctionTransformer, node: ast.Match) -> ast.stmt:
    """Check that the subject of a match is a Python value."""
    node.subject = call_op("static_subject", [transformer.visit(node.subject)], node.subject)
    for case in node.cases:
        if case.guard is not None:
            case.guard = static_test(transformer, case.guard, "the guard of a case")
        case.body = transformer.statements(case.body)
    return node


def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a function suspends other than through the yields of explicit loops."""
    if not has_yield(node.body):
        return False
    allowed = set()
    for one in [inner for statement in node.body for inner in own_statements_of(statement)]:
        if isinstance(one, ast.For) and is_explicit_loop(one) and one.body:
            last = one.body[-1]
            value = getattr(last, "value", None)
            if isinstance(value, ast.Yield):
                allowed.add(value)
    return any(
        isinstance(one, (ast.Yield, ast.YieldFrom, ast.Await)) and one not in allowed
        for statement in node.body
        for one in own_statements_of(statement)
    )


def check_function(node: ast.FunctionDef, scope: Scope) -> None:
    """Refuse a nested function that updates a variable of the function around it without saying so.

    Python makes such a name local, and the update fails with an `UnboundLocalError` that does not tell why.
    """
    if scope.parent is None:
        return
    declared = scope.effects.declared_nonlocal | scope.effects.declared_global
    updates = [
        (one, name)
        for one, name in _updates(node)
        if name not in scope.parameters and name not in declared and _outer_owns(scope, name)
    ]
    if not updates:
        return
    otherwise = _bound_otherwise(node, updates)
    for one, name in sorted(updates, key=lambda update: update[0].lineno):
        if name not in otherwise:
            raise RewriteError(
                f"the nested function '{node.name}' writes the variable '{name}' of the function around it. Pass it in "
                f"and return it, `{name} = {node.name}({name})`, or declare `nonlocal {name}`"
            ).at(one)


_Update = tuple[ast.AugAssign | ast.Assign, str]


def _updates(node: ast.FunctionDef) -> list[_Update]:
    """Return the statements `x += …` and `x = … x …` of a function, each with its variable."""
    found: list[_Update] = []
    for one in statements_in(node.body):
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            found.append((one, one.target.id))
        elif isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            name = one.targets[0].id
            if any(isinstance(read, ast.Name) and read.id == name for read in ast.walk(one.value)):
                found.append((one, name))
    return found


def _bound_otherwise(node: ast.FunctionDef, updates: list[_Update]) -> set[str]:
    """Return the names that a function binds by anything but `updates`."""
    targets = [one.target if isinstance(one, ast.AugAssign) else one.targets[0] for one, _ in updates]
    others = {
        one.id
        for statement in node.body
        for one in own_statements_of(statement)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and not any(one is target for target in targets)
    }
    return (
        others | effects_of([one for one in node.body if isinstance(one, (ast.Import, ast.FunctionDef))]).names.keys()
    )


def _outer_owns(scope: Scope, name: str) -> bool:
    outer = scope.parent
    while outer is not None:
        if outer.owns(name):
            return True
        outer = outer.parent
    return False
