# SPDX-License-Identifier: Apache-2.0
"""`return`, `break` and `continue` become structured control flow.

A jump out of a region that is decided at run time has no form in structured IR, so before anything else is rewritten:

- what follows an `if` whose one branch always leaves moves into the other branch (`if c: return` … becomes
  `if c: … else: …`);
- elsewhere a jump sets a flag, what follows is guarded by the flag, and loops stop on it.

Flags are ordinary variables that start as Python's `False`: where no run-time condition is involved they stay Python
values, the guards are decided while tracing, and nothing is emitted. Jumps whose way out crosses only `const_expr`
conditions and Python loops are left alone.

The loop statements that stop on flags get an attribute `fly_stop`, the names of these flags.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .syntax import (
    RewriteError,
    assign,
    call_op,
    is_explicit_loop,
    is_plain_test,
    is_range_loop,
    load,
    located,
    own_statements_of,
    statements_in,
)

__all__ = ["RETURN_VALUE", "lower_exits", "mark_plain"]

# The two underscores at their end keep Python from mangling them with the name of a class.
RETURN_FLAG = "__fly_returned__"
RETURN_VALUE = "__fly_return_value__"


class _Loop(NamedTuple):
    break_flag: str
    continue_flag: str


@dataclass(eq=False, repr=False)
class _Block:
    """Lowered statements and how control may leave them."""

    statements: list[ast.stmt]
    exits: set[str] = field(default_factory=set)
    """Flags that may be set when the block ends."""
    always: bool = False
    """Some flag is set on every path."""


def lower_exits(body: list[ast.stmt], fresh: Callable[[str], str], *, keep_value: bool = True) -> list[ast.stmt]:
    """Return the statements of a function body with all jumps out of run-time constructs made structured.

    Args:
        body: the statements; changed in place where nothing needs lowering.
        fresh: makes a unique name from a stem.
        keep_value: the function's result matters (it does not for a kernel body).
    """
    lowering = _Lowering(fresh, keep_value)
    _mark_native(body, inside_dynamic=False, loop_dynamic=False)
    if not any(map(_jumps, statements_in(body))):
        return body
    returns = [
        node
        for statement in body
        for node in statements_in([statement])
        if isinstance(node, ast.Return) and _jumps(node)
    ]
    if not returns:
        return lowering.block(body, None).statements
    lowering.valued = keep_value and any(
        isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value)
        for node in statements_in(body)
    )
    for node in statements_in(body):  # one way out for all of them, the native ones too
        if isinstance(node, ast.Return):
            _set_native(node, False)
    origin = returns[-1]
    if lowering.valued and not _always_returns(body):
        body = [*body, located(ast.Return(None), origin)]
    lowered = lowering.block(body, None)
    statements = [assign(RETURN_FLAG, ast.Constant(False), body[0]), *lowered.statements]
    if lowering.valued:
        statements.append(located(ast.Return(load(RETURN_VALUE)), origin))
    return _without_unread_flag(statements, RETURN_FLAG)


def mark_plain(node: ast.If) -> ast.If:
    """Mark an `if` that this module made and whose test is a Python value: it stays a Python `if`."""
    node.fly_plain = True  # type: ignore[attr-defined]
    return node


def _set_native(node: ast.AST, native: bool) -> None:
    node.fly_native = native  # type: ignore[attr-defined]


def _jumps(node: ast.AST) -> bool:
    return isinstance(node, (ast.Return, ast.Break, ast.Continue)) and not getattr(node, "fly_native", False)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return _always_returns(last.body)
    return False


def _mark_native(body: Sequence[ast.stmt], *, inside_dynamic: bool, loop_dynamic: bool) -> None:
    """Mark the jumps that Python itself can make: those that cross nothing which may be decided at run time.

    Args:
        body: statements of one nesting level.
        inside_dynamic: some construct between here and the function may be a run-time one.
        loop_dynamic: some construct between here and the innermost loop (that loop included) may be one.
    """
    for node in body:
        if isinstance(node, ast.Return):
            _set_native(node, not inside_dynamic)
        elif isinstance(node, (ast.Break, ast.Continue)):
            _set_native(node, not loop_dynamic)
        elif isinstance(node, ast.If):
            dynamic = not is_plain_test(node.test)
            for part in (node.body, node.orelse):
                _mark_native(part, inside_dynamic=inside_dynamic or dynamic, loop_dynamic=loop_dynamic or dynamic)
        elif isinstance(node, (ast.For, ast.While)):
            dynamic = is_range_loop(node) if isinstance(node, ast.For) else not is_plain_test(node.test)
            if isinstance(node, ast.While) and isinstance(node.test, ast.Constant):
                dynamic = True  # `while True` is a run-time loop; `while const_expr(True)` is Python's
            _mark_native(node.body, inside_dynamic=inside_dynamic or dynamic, loop_dynamic=dynamic)
            _mark_native(node.orelse, inside_dynamic=inside_dynamic or dynamic, loop_dynamic=loop_dynamic)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            _mark_native(node.body, inside_dynamic=inside_dynamic, loop_dynamic=loop_dynamic)
        elif isinstance(node, ast.Try):
            for part in (node.body, node.orelse, node.finalbody, *(handler.body for handler in node.handlers)):
                _mark_native(part, inside_dynamic=inside_dynamic, loop_dynamic=loop_dynamic)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                _mark_native(case.body, inside_dynamic=inside_dynamic, loop_dynamic=loop_dynamic)


class _Lowering:
    def __init__(self, fresh: Callable[[str], str], keep_value: bool) -> None:
        self.fresh = fresh
        self.keep_value = keep_value
        self.valued = False

    def block(self, statements: Sequence[ast.stmt], loop: _Loop | None) -> _Block:
        done: list[ast.stmt] = []
        exits: set[str] = set()
        for position, node in enumerate(statements):
            rest = statements[position + 1 :]
            if isinstance(node, ast.If) and self._has_jump(node):
                block = self._branch(node, rest, loop)
                return _Block(done + block.statements, exits | block.exits, block.always)
            lowered = self._statement(node, loop)
            done += lowered.statements
            exits |= lowered.exits
            if lowered.always:
                return _Block(done, exits, True)
            if lowered.exits and rest:
                guarded = self.block(rest, loop)
                done.append(self._guard(lowered.exits, guarded.statements, rest[0]))
                return _Block(done, exits | guarded.exits, False)
        return _Block(done, exits, False)

    def _has_jump(self, node: ast.AST) -> bool:
        return any(_jumps(one) for one in statements_in([node]) if self._leaves(node, one))

    @staticmethod
    def _leaves(node: ast.AST, jump: ast.AST) -> bool:
        """Tell whether `jump` leaves `node`: a `break` of a loop that lies inside `node` does not."""
        return isinstance(jump, ast.Return) or not any(
            isinstance(loop, (ast.For, ast.While)) and any(inner is jump for inner in statements_in(loop.body))
            for loop in statements_in([node])
        )

    def _branch(self, node: ast.If, rest: Sequence[ast.stmt], loop: _Loop | None) -> _Block:
        then = self.block(node.body, loop)
        if then.always:
            other, rest = self.block([*node.orelse, *rest], loop), ()
        else:
            other = self.block(node.orelse, loop)
            if other.always and rest:
                then, rest = self._followed_by(then, rest, loop), ()
        new = located(ast.If(node.test, then.statements or [located(ast.Pass(), node)], other.statements), node)
        joined = _Block([new], then.exits | other.exits, then.always and other.always)
        return self._followed_by(joined, rest, loop) if rest else joined

    def _followed_by(self, first: _Block, rest: Sequence[ast.stmt], loop: _Loop | None) -> _Block:
        second = self.block(rest, loop)
        if not first.exits:
            return _Block(first.statements + second.statements, second.exits, second.always)
        guard = self._guard(first.exits, second.statements, rest[0])
        return _Block([*first.statements, guard], first.exits | second.exits, False)

    def _statement(self, node: ast.stmt, loop: _Loop | None) -> _Block:
        if _jumps(node):
            return self._jump(node, loop)
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, loop)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            body = self.block(node.body, loop)
            node.body = body.statements
            return _Block([node], body.exits, body.always)
        if isinstance(node, ast.Try):
            return self._try(node, loop)
        if isinstance(node, ast.Match):
            exits: set[str] = set()
            for case in node.cases:
                body = self.block(case.body, loop)
                case.body = body.statements
                exits |= body.exits
            return _Block([node], exits, False)
        if isinstance(node, ast.If):
            for name in ("body", "orelse"):
                setattr(node, name, self.block(getattr(node, name), loop).statements)
        return _Block([node])

    def _jump(self, node: ast.stmt, loop: _Loop | None) -> _Block:
        if isinstance(node, ast.Return):
            done: list[ast.stmt] = []
            value = node.value or located(ast.Constant(None), node)
            if self.valued:
                done.append(assign(RETURN_VALUE, value, node))
            elif not _is_none(value):
                done.append(located(ast.Expr(value), node))
            return _Block([*done, assign(RETURN_FLAG, ast.Constant(True), node)], {RETURN_FLAG}, True)
        assert loop is not None, "Python's own parser refuses break and continue outside a loop"
        flag = loop.break_flag if isinstance(node, ast.Break) else loop.continue_flag
        return _Block([assign(flag, ast.Constant(True), node)], {flag}, True)

    def _loop(self, node: ast.For | ast.While, outer: _Loop | None) -> _Block:
        loop = _Loop(self.fresh("break"), self.fresh("continue"))
        body = self.block(node.body, loop)
        if body.exits and isinstance(node, ast.For) and is_explicit_loop(node):
            raise RewriteError(
                "break, continue and return cannot be used in a loop with init=: its state goes around through "
                "`yield`. Let the loop carry its variables by itself (no init=), or guard the statements with `if`"
            ).at(node)
        orelse = self.block(node.orelse, outer)
        stops = sorted(body.exits & {loop.break_flag, RETURN_FLAG})
        statements = list(body.statements)
        if loop.continue_flag in body.exits:
            statements.insert(0, assign(loop.continue_flag, ast.Constant(False), node))
            statements = _without_unread_flag(statements, loop.continue_flag)
        node.body, node.orelse = statements, []
        node.fly_stop = tuple(stops)  # type: ignore[union-attr]
        if stops and not _is_run_time_loop(node):
            node.body = self._python_loop_body(node, stops)
        done: list[ast.stmt] = [node]
        if loop.break_flag in stops:
            done.insert(0, assign(loop.break_flag, ast.Constant(False), node))
        if orelse.statements:
            done += [self._guard(set(stops), orelse.statements, orelse.statements[0])] if stops else orelse.statements
        exits = (body.exits & {RETURN_FLAG}) | orelse.exits
        return _Block(done, exits, orelse.always and not stops)

    def _python_loop_body(self, node: ast.For | ast.While, stops: list[str]) -> list[ast.stmt]:
        """Once a flag is set, the other iterations of an unrolled loop do nothing; they are not even traced when the
        flag is a Python value."""
        inner = node.body
        if isinstance(node, ast.For):
            item = self.fresh("item")
            inner = [located(ast.Assign([node.target], load(item)), node), *inner]
            node.target = located(ast.Name(item, ast.Store()), node)
        leave = mark_plain(
            located(ast.If(call_op("stopped", [load(flag) for flag in stops], node), [_native_break(node)], []), node)
        )
        return [self._guard(set(stops), inner, node), leave]

    def _try(self, node: ast.Try, loop: _Loop | None) -> _Block:
        body = self.block(node.body, loop)
        node.body = body.statements
        exits = set(body.exits)
        for handler in node.handlers:
            lowered = self.block(handler.body, loop)
            handler.body = lowered.statements
            exits |= lowered.exits
        if node.orelse:
            lowered = self.block(node.orelse, loop)
            origin = node.orelse[0]
            node.orelse = [self._guard(body.exits, lowered.statements, origin)] if body.exits else lowered.statements
            exits |= lowered.exits
        if node.finalbody:
            lowered = self.block(node.finalbody, loop)
            node.finalbody = lowered.statements
            exits |= lowered.exits
        return _Block([node], exits, False)

    def _guard(self, flags: set[str], statements: list[ast.stmt], origin: ast.AST) -> ast.stmt:
        test = call_op("running", [load(flag) for flag in sorted(flags)], origin)
        return located(ast.If(test, statements, []), origin)


def _native_break(origin: ast.AST) -> ast.Break:
    node = located(ast.Break(), origin)
    _set_native(node, True)
    return node


def _is_run_time_loop(node: ast.For | ast.While) -> bool:
    return is_range_loop(node) if isinstance(node, ast.For) else not is_named_const_expr(node.test)


def is_named_const_expr(test: ast.expr) -> bool:
    """Tell whether a loop condition is `const_expr(...)`."""
    return is_plain_test(test) and not isinstance(test, ast.Constant)


def _without_unread_flag(statements: list[ast.stmt], flag: str) -> list[ast.stmt]:
    """Drop the assignments of a flag that nothing reads."""
    for statement in statements:
        for node in own_statements_of(statement):
            if isinstance(node, ast.Name):
                if node.id == flag and isinstance(node.ctx, ast.Load):
                    return statements
            elif flag in getattr(node, "fly_stop", ()):
                return statements
    return _without_assignments(statements, flag)


def _without_assignments(statements: list[ast.stmt], flag: str) -> list[ast.stmt]:
    """Drop the assignments of a flag, which are statements of their own, but not in nested functions and classes."""
    kept: list[ast.stmt] = []
    for node in statements:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id == flag:
            continue
        kept.append(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        parts: list[Any] = [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        for part in parts:
            for name in ("body", "orelse", "finalbody"):
                block = getattr(part, name, None)
                if isinstance(block, list):
                    block[:] = _without_assignments(block, flag)
            if getattr(part, "body", None) == []:
                part.body = [located(ast.Pass(), node)]
    return kept
