# SPDX-License-Identifier: Apache-2.0
"""Control flow under the names by which code that generates kernels calls it.

The rewriting itself is `flydsl.frontend.rewrite`; what rewritten code calls while it is traced is
`flydsl.frontend.control`. Here are the same operations for explicit names and values (`control.functional`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from flydsl.frontend.control import and_, not_, or_, select
from flydsl.frontend.control.functional import conditional, counted_loop, while_loop
from flydsl.frontend.rewrite import rewrite_function
from flydsl.frontend.rewrite.names import effects_of

__all__ = [
    "ASTRewriter",
    "CanonicalizeWhile",
    "InsertEmptyYieldForSCFFor",
    "ReplaceIfWithDispatch",
    "RewriteBoolOps",
]


class ASTRewriter:
    """The rewriting of a function."""

    @classmethod
    def transform(cls, function: FunctionType) -> FunctionType:
        """Return a function with its control flow rewritten, as the decorators do it."""
        return rewrite_function(function, decorated=True)


class ReplaceIfWithDispatch:
    """Conditionals."""

    @staticmethod
    def scf_if_dispatch(
        cond: Any,
        then_fn: Callable[..., Any],
        else_fn: Callable[..., Any] | None = None,
        *,
        result_names: Sequence[str] = (),
        result_values: Sequence[Any] = (),
        state_names: Sequence[str] = (),
        state_values: Sequence[Any] = (),
        auto_else: bool = False,
    ) -> Any:
        """Return what the variables are after the conditional: `None`, the value of the only one, or a tuple.

        Args:
            cond: a Python condition calls one function and emits nothing; a `Boolean` builds both branches.
            then_fn: takes the values (after the names, if it takes one argument more) and returns the new ones: a dict
                by name, a sequence, or the value of the only variable.
            else_fn: the same; without one the variables keep their values.
            result_names: the variables.
            result_values: what they are before.
            state_names: the same under another keyword; used where `result_names` is empty.
            state_values: as `state_names`.
            auto_else: has no effect: a missing branch keeps the values anyway.

        Raises:
            TypeError: a branch leaves a variable with another type, or a variable is `None` before.
        """
        names, values = (result_names, result_values) if result_names else (state_names, state_values)
        return conditional(cond, then_fn, else_fn, names, values)

    @staticmethod
    def scf_ifexp_dispatch(cond: Any, then_fn: Callable[[], Any], else_fn: Callable[[], Any]) -> Any:
        """Return `then_fn() if cond else else_fn()`; both must give the same types when `cond` is a run-time value."""
        return select(cond, then_fn, else_fn)


class InsertEmptyYieldForSCFFor:
    """Loops over `range`."""

    @staticmethod
    def scf_for_dispatch(
        start: Any,
        stop: Any,
        step: Any,
        body_fn: Callable[..., Any],
        *,
        result_names: Sequence[str] = (),
        result_values: Sequence[Any] = (),
        unroll: int = -1,
        unroll_full: bool = False,
    ) -> Any:
        """Return what the variables are after a run-time loop.

        Args:
            start: first value of the loop variable; as for `range`.
            stop: end, not included.
            step: distance.
            body_fn: takes the loop variable, the names and the values, and returns the new values.
            result_names: the carried variables.
            result_values: what they are before.
            unroll: how often to unroll; -1 leaves it to the backend, 1 forbids it.
            unroll_full: unroll completely.

        Raises:
            TypeError: the body leaves a variable with another type, or a variable is `None` before.
        """
        hints: dict[str, Any] = {"unroll": unroll, "unroll_full": unroll_full}
        return counted_loop(start, stop, step, body_fn, result_names, result_values, **hints)


class CanonicalizeWhile:
    """Loops with a condition."""

    @staticmethod
    def scf_while_dispatch(
        before_fn: Callable[..., Any],
        after_fn: Callable[..., Any],
        *,
        result_names: Sequence[str] = (),
        result_values: Sequence[Any] = (),
    ) -> Any:
        """Return what the variables are after a run-time loop.

        Args:
            before_fn: takes the values and returns the condition.
            after_fn: takes the values and returns the new ones.
            result_names: the carried variables.
            result_values: what they are before.

        Raises:
            TypeError: the body leaves a variable with another type, or a variable is `None` before.
        """
        return while_loop(before_fn, after_fn, result_names, result_values)


class RewriteBoolOps:
    """Boolean operators without short circuit."""

    @staticmethod
    def dsl_and_(lhs: Any, rhs: Any) -> Any:
        """Return `lhs and rhs`."""
        return and_(lhs, lambda: rhs)

    @staticmethod
    def dsl_or_(lhs: Any, rhs: Any) -> Any:
        """Return `lhs or rhs`."""
        return or_(lhs, lambda: rhs)

    @staticmethod
    def dsl_not_(x: Any) -> Any:
        """Return `not x`."""
        return not_(x)


def _collect_assigned_vars(
    body_stmts: Iterable[ast.stmt],
    active_symbols: Iterable[Any],
    orelse_stmts: Iterable[ast.stmt] | None = None,
    test_expr: ast.expr | None = None,
) -> list[str]:
    """Return which of the active names (a collection of names, or of scopes) some statements may change."""
    active = {name for one in active_symbols for name in ([one] if isinstance(one, str) else one)}
    effects = effects_of([*body_stmts, *(orelse_stmts or ()), *([test_expr] if test_expr is not None else ())])
    roots = [path[0] for path in (*effects.attributes, *effects.objects)]
    return [name for name in dict.fromkeys([*effects.names, *roots]) if name in active]
