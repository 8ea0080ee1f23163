# SPDX-License-Identifier: Apache-2.0
"""Helpers that a traced function reaches: rewritten like the function itself, when they are called."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import BuiltinMethodType, CodeType, FunctionType, MethodType
from typing import Any, TypeVar
from weakref import ref

from flydsl.trace.diagnostics import NO_LOOKUP, compile_error

from ..rewrite import (
    SUSPENDS,
    SourceUnavailableError,
    find_source,
    is_rewrite_of,
    is_rewritten,
    names_agree,
    names_behind,
    rewrite_function,
)
from ..rewrite.refusals import is_generator
from .audit import FOREIGN, OWN, heard
from .logic import is_dynamic
from .outside import asked, asked_of, note_asked

__all__ = ["callee", "key"]

_T = TypeVar("_T")


@dataclass(eq=False, repr=False)
class _Helper:
    """What a helper became, and what it was made from: IPython's autoreload replaces code of functions.

    Attributes:
        code, defaults, by_name: of the function.
        rewritten: what is called for it; the function itself, where it stays as it is.
        assignments: how many to parts of functions there had been in this process when the parts of this one were read
            last. Each read raises an audit event, and a trace calls helpers thousands of times.
        names: what names around it stood for, where what it became depends on that.
        is_foreign: it is of Python or of a package, and that it was called is noted.
    """

    code: CodeType
    defaults: Any
    by_name: Any
    rewritten: FunctionType
    assignments: int
    names: dict[tuple[str, str], bool] | None
    is_foreign: bool


_helpers: dict[ref[FunctionType], _Helper] = {}


def callee(function: Any) -> Any:
    """Return what to call for `function` in traced code."""
    kind = type(function)
    if kind is FunctionType:
        return _helper(function)
    if kind is MethodType:
        inner = function.__func__
        if type(inner) is FunctionType:
            rewritten = _helper(inner)
            if rewritten is not inner:
                return MethodType(rewritten, function.__self__)
            return asked_of(function, function.__self__) if _is_foreign(inner) else function
    elif kind is BuiltinMethodType:
        if isinstance(function.__self__, dict) and function.__name__ in ("get", "pop", "setdefault"):
            return _lookup(function)
    elif not isinstance(function, type):
        method = getattr(kind, "__call__", None)  # noqa: B004 - the function itself is wanted, not whether there is one
        if type(method) is FunctionType:
            rewritten = _helper(method)
            return function if rewritten is method else MethodType(rewritten, function)
    return asked(function)


def _lookup(method: Any) -> Any:
    """Return a method of a dict that finds by key, which refuses run-time keys: it would give its default."""

    def call(*arguments: Any) -> Any:
        if arguments and is_dynamic(arguments[0]):
            raise compile_error(
                f"the key of dict.{method.__name__}() is a run-time {type(arguments[0]).__name__}: {NO_LOOKUP}"
            )
        return method(*arguments)

    return call


def key(container: object, found: _T) -> _T:
    """Return what something is indexed with, which for a dict is no run-time value.

    A dict that makes what is not there, such as a `defaultdict`, would make an item for it, and another one each time.
    """
    if isinstance(container, dict) and _is_dynamic_key(found) and not any(one is found for one in container):
        raise compile_error(f"a dict is indexed with a run-time {_kind_of(found)}: {NO_LOOKUP}")
    return found


def _is_dynamic_key(value: Any) -> bool:
    return any(map(_is_dynamic_key, value)) if isinstance(value, tuple) else is_dynamic(value)


def _kind_of(value: Any) -> str:
    if isinstance(value, tuple):
        return _kind_of(next(one for one in value if _is_dynamic_key(one)))
    return type(value).__name__


def _helper(function: FunctionType) -> FunctionType:
    known = _helpers.get(ref(function))
    if (
        known is None
        or known.assignments != heard.assignments
        or not heard.tried
        or (known.names is not None and not names_agree(known.names, function))
    ):
        known = _looked_at(function, known)
    if known.is_foreign:
        note_asked(function)
    return known.rewritten


def _looked_at(function: FunctionType, known: _Helper | None) -> _Helper:
    """Return what a helper became; it is rewritten anew where it is no longer what that was made from."""
    assignments = heard.assignments  # before anything is looked at
    code, defaults, by_name = function.__code__, function.__defaults__, function.__kwdefaults__
    if (
        known is None
        or known.code is not code
        or known.defaults is not defaults
        or known.by_name is not by_name
        or not is_rewrite_of(known.rewritten, function)
    ):
        rewritten = _rewritten(function)
        is_foreign = rewritten is function and _is_foreign(function)
        known = _Helper(code, defaults, by_name, rewritten, assignments, names_behind(rewritten), is_foreign)
        _helpers[ref(function, _forget)] = known
    known.assignments = assignments
    return known


def _forget(reference: ref[FunctionType], helpers: dict[ref[FunctionType], _Helper] = _helpers) -> None:
    """Called when a function is gone, also when the interpreter ends and names of modules are."""
    helpers.pop(reference, None)


def _is_foreign(function: FunctionType) -> bool:
    module = function.__globals__.get("__name__", "")
    return module.split(".", 1)[0] in FOREIGN


def _rewritten(function: FunctionType) -> FunctionType:
    if _is_foreign(function):
        return asked(function)  # type: ignore[no-any-return]
    if is_rewritten(function):
        return function
    module = function.__globals__.get("__name__", "")
    root = module.split(".", 1)[0]
    if root == "flydsl" and ".".join(module.split(".")[:2]) in OWN:
        return function
    try:
        if function.__code__.co_flags & SUSPENDS:
            node = find_source(function).node
            if not isinstance(node, ast.Lambda) and is_generator(node):
                return function
        return rewrite_function(function, decorated=False)
    except SourceUnavailableError:
        return function  # runs as it is; a run-time condition in it raises there
