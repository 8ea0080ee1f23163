# SPDX-License-Identifier: Apache-2.0
"""The walk over one function's tree that hands each construct to the module that rewrites it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import branch, calls, conditional, explicit_loop, operators, range_loop, refusals, while_loop
from .exits import lower_exits
from .names import Effects, effects_of, nested_nonlocals, unread_names
from .namespace import Namespace
from .syntax import (
    REGION,
    RewriteError,
    call_op,
    child_fields,
    constant,
    is_explicit_loop,
    is_named_call,
    is_range_loop,
    load,
    located,
    parameters_of,
    store,
)

__all__ = ["FunctionTransformer", "Scope"]

_visitors: dict[type[ast.AST], Any] = {}


@dataclass(eq=False, repr=False)
class Scope:
    """The names of the function whose body is being rewritten."""

    parameters: set[str]
    effects: Effects
    nested_nonlocal: set[str]
    parent: Scope | None
    regional: dict[str, None] = field(default_factory=dict)
    """Names that a region binds: the function itself must own them (see `FunctionTransformer.function`)."""
    unread: frozenset[str] = frozenset()
    """Parameters of a decorated function that it assigns and never reads."""

    def owns(self, name: str) -> bool:
        """Tell whether `name` is a local variable of this function."""
        return name in self.parameters or (
            name in self.effects.names
            and name not in self.effects.declared_global
            and name not in self.effects.declared_nonlocal
        )


class FunctionTransformer(ast.NodeTransformer):
    """Rewrites the body of one function and of the functions nested in it.

    Args:
        namespace: the names around the function, to see which are Python's own or modules of this library.
        decorated: the function is `@flyc.kernel` or `@flyc.jit`, so that every `range` and `while` is a run-time loop;
            in a helper that was merely reached, loops over Python integers stay Python.
        keep_value: the result of the function is used.
    """

    def __init__(self, namespace: Namespace, *, decorated: bool, keep_value: bool) -> None:
        self.namespace = namespace
        self.decorated = decorated
        self.keep_value = keep_value
        self.class_name: str | None = None
        """The innermost class around the function."""
        self.scope: Scope | None = None
        self._counter = 0

    # -- what the construct modules use --------------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        """Return a name that no user variable has."""
        self._counter += 1
        return f"__fly_{stem}_{self._counter}__"

    def as_python_has_it(self, name: str) -> str:
        """Return a name as code in a class has it: Python puts the name of the class before private ones."""
        if not name.startswith("__") or name.endswith("__"):
            return name
        owner = (self.class_name or "").lstrip("_")
        return f"_{owner}{name}" if owner else name

    def region(
        self,
        stem: str,
        statements: Sequence[ast.stmt],
        effects: Effects,
        origin: ast.AST,
        parameters: Sequence[str] = (),
    ) -> ast.FunctionDef:
        """Return a function that runs `statements` (rewritten already) on the variables of the function around it.

        `effects` are those of the whole construct, so that every region of it shares the same variables.
        """
        assert self.scope is not None
        body: list[ast.stmt] = []
        local = [name for name in effects.names if not self._is_global(name)]
        shared = [name for name in effects.names if self._is_global(name)]
        for name in local:
            if name not in self.scope.effects.declared_nonlocal:
                self.scope.regional[name] = None
        if local:
            body.append(ast.Nonlocal(local))
        if shared:
            body.append(ast.Global(shared))
        name = f"{REGION}_{self.fresh(stem)[6:]}"
        arguments = ast.arguments(
            posonlyargs=[], args=[ast.arg(one) for one in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        function = ast.FunctionDef(name, arguments, [*body, *statements] or [ast.Pass()], [])
        function.type_params = []  # type: ignore[attr-defined]
        for one in body:
            located(one, origin)
        return located(function, origin)

    def construct_effects(self, parts: Sequence[ast.AST]) -> Effects:
        """Return the effects of a construct, with what nested functions may change when it calls any."""
        assert self.scope is not None
        effects = effects_of(parts)
        if effects.has_call:
            for name in sorted(self.scope.nested_nonlocal):
                effects.names.setdefault(name, 0)
        return effects

    def description(self, effects: Effects, *lines: dict[str, int]) -> ast.Constant:
        """Return what the trace-time operation has to know, as a constant.

        It is `(names, attributes, objects, globals)`: names with the line that binds each in each part, attributes and
        objects as dotted paths with a line, and the names that are globals.
        """
        said = self.as_python_has_it
        names = tuple(
            (said(name), *(one.get(name, 0) for one in lines or (effects.names,)))
            for name in effects.names
            if not self._is_global(name)
        )
        shared = tuple(said(name) for name in effects.names if self._is_global(name))
        attributes = tuple((tuple(map(said, path)), line) for path, line in effects.attributes.items())
        objects = tuple((tuple(map(said, path)), line) for path, line in effects.objects.items())
        return constant((names, attributes, objects, shared))

    def statements(self, nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite a list of statements."""
        done: list[ast.stmt] = []
        for node in nodes:
            result = self.visit(node)
            if isinstance(result, list):
                done += result
            elif result is not None:
                done.append(result)
        return done

    def is_compiler_module(self, name: str) -> bool:
        """Tell whether `name` certainly is a module of this library."""
        return not self._is_bound(name) and self.namespace.is_compiler_module(name)

    def is_builtin(self, name: str) -> bool:
        """Tell whether `name` certainly is Python's own."""
        return not self._is_bound(name) and self.namespace.is_builtin(name)

    def _is_bound(self, name: str) -> bool:
        scope = self.scope
        while scope is not None:
            if scope.owns(name):
                return True
            scope = scope.parent
        return False

    def _is_global(self, name: str) -> bool:
        assert self.scope is not None
        return name in self.scope.effects.declared_global

    # -- functions -----------------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Any:
        """Return what a node becomes; as the base class's, with the methods looked up once for each kind of node."""
        kind = type(node)
        method = _visitors.get(kind)
        if method is None:
            method = _visitors[kind] = getattr(type(self), f"visit_{kind.__name__}", type(self).generic_visit)
        return method(self, node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rewrite what is inside a node; texts, operators and contexts (`_PLAIN_FIELDS`) are left out."""
        for name in child_fields(node):
            value = getattr(node, name, None)
            if type(value) is list:
                done: list[Any] = []
                for one in value:
                    result = self.visit(one) if isinstance(one, ast.AST) else one
                    if type(result) is list:
                        done += result
                    elif result is not None or one is None:
                        done.append(result)
                value[:] = done
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def function(self, node: ast.FunctionDef | ast.Lambda) -> None:
        """Rewrite the body of `node` in place."""
        arguments = node.args
        parameters = {one.arg for one in parameters_of(arguments)}
        if isinstance(node, ast.Lambda):
            self.scope = Scope(parameters, effects_of([node.body]), set(), self.scope)
            node.body = self.visit(node.body)
            self.scope = self.scope.parent
            return
        self.scope = Scope(parameters, Effects(), nested_nonlocals(node.body), self.scope)
        keep_value = self.keep_value or self.scope.parent is not None
        body = lower_exits(node.body, self.fresh, keep_value=keep_value)
        self.scope.effects = effects_of(body)
        assigned = parameters & self.scope.effects.names.keys()
        if assigned and self.decorated and self.scope.parent is None:
            self.scope.unread = frozenset(assigned & unread_names(body))
        refusals.check_function(node, self.scope)
        body = self.statements(body)
        owned = [name for name in self.scope.regional if name not in parameters and self._owned_here(name)]
        if owned:
            # Never runs: it makes the names local to this function when only regions bind them.
            targets: list[ast.expr] = [store(name) for name in owned]
            body.insert(0, located(ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], []), node))
        node.body = body
        self.scope = self.scope.parent

    def _owned_here(self, name: str) -> bool:
        assert self.scope is not None
        return self.scope.owns(name) or name.startswith("__fly_")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rewrite a nested function; its decorators and defaults belong to the function around it."""
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.args.defaults = [self.visit(one) for one in node.args.defaults]
        node.args.kw_defaults = [one and self.visit(one) for one in node.args.kw_defaults]
        if not refusals.is_generator(node):
            self.function(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Rewrite a lambda of the user."""
        node.args.defaults = [self.visit(one) for one in node.args.defaults]
        node.args.kw_defaults = [one and self.visit(one) for one in node.args.kw_defaults]
        self.function(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Leave it: nothing traced can await."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Leave it: its methods are rewritten when they are reached."""
        return node

    # -- statements ----------------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        """Rewrite a branch."""
        return branch.rewrite(self, node)

    def visit_For(self, node: ast.For) -> list[ast.stmt] | ast.For:
        """Rewrite a loop over `range`; other loops are Python's."""
        if is_explicit_loop(node):
            return explicit_loop.rewrite(self, node)
        if is_range_loop(node):
            return range_loop.rewrite(self, node)
        node.iter = calls.iterated(self, node.iter)
        node.body = self.statements(node.body)
        node.orelse = self.statements(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        """Rewrite a `while` loop."""
        return while_loop.rewrite(self, node)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """Look at what a parameter becomes that is never read: a tensor whose index was forgotten."""
        assert self.scope is not None
        target = node.targets[0]
        rebinds = len(node.targets) == 1 and isinstance(target, ast.Name) and target.id in self.scope.unread
        self.generic_visit(node)
        if rebinds:
            node.value = call_op("rebound", [load(target.id), node.value, ast.Constant(target.id)], node.value)  # type: ignore[attr-defined]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:
        """Check the key where an item is read and written."""
        self.generic_visit(node)
        if isinstance(node.target, ast.Subscript):
            calls.keyed(node.target)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign | ast.If | ast.AnnAssign:
        """Leave the annotation out: Python evaluates none inside functions, and a region cannot annotate its names."""
        if node.value is not None:
            return located(ast.Assign([self.visit(node.target)], self.visit(node.value)), node)
        if isinstance(node.target, ast.Name):  # binds nothing, but makes the name a local one
            return located(ast.If(ast.Constant(False), [ast.Assign([node.target], ast.Constant(None))], []), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        """Look at what a name that stands alone is: a function of the language that somebody forgot to call."""
        bare = isinstance(node.value, (ast.Name, ast.Attribute))
        node.value = self.visit(node.value)
        if bare:
            node.value = call_op("unused", [node.value], node.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """Rewrite an assertion, which may be on a run-time value."""
        return refusals.assertion(self, node)

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        """Refuse a match on a run-time value."""
        return refusals.match(self, node)

    def visit_Yield(self, node: ast.Yield) -> Any:
        """Refuse a stray yield; those of explicit loops never get here."""
        raise RewriteError(
            "yield can only end the body of a loop with init= (`results = yield [...]`) in a traced function"
        ).at(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        """Refuse `yield from`."""
        raise RewriteError("`yield from` cannot be used in a traced function").at(node)

    def visit_Await(self, node: ast.Await) -> Any:
        """Refuse `await`."""
        raise RewriteError("`await` cannot be used in a traced function").at(node)

    # -- expressions ---------------------------------------------------------------------------------------------------

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Rewrite a conditional expression."""
        return conditional.rewrite(self, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Rewrite `and` and `or`."""
        return operators.boolean(self, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Rewrite `not`."""
        return operators.negation(self, node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Rewrite chains of comparisons and `in`."""
        return operators.comparison(self, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        """Check the key where an item is read."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            calls.keyed(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Let the callee be rewritten when it is a Python function."""
        if is_named_call(node, "const_expr"):
            return calls.const_expr(self, node)
        return calls.rewrite(self, node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        """Refuse a filter on a run-time value."""
        node.iter = calls.iterated(self, node.iter)
        node.ifs = [refusals.static_test(self, one, "the filter of a comprehension") for one in node.ifs]
        return node
