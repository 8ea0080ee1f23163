# SPDX-License-Identifier: Apache-2.0
"""Helpers that a traced function reaches: rewritten like the function itself, when they are called."""

from __future__ import annotations

import ast
import sys
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from ..rewrite import SourceUnavailableError, find_source, is_rewritten, rewrite_function
from ..rewrite.refusals import is_generator

__all__ = ["callee"]

# Packages whose functions never see run-time control flow of a kernel, or bring their own.
_FOREIGN = frozenset(sys.stdlib_module_names) | {"numpy", "torch", "jax", "jaxlib", "ml_dtypes", "tvm_ffi", "pytest"}
_OWN = ("flydsl.compiler", "flydsl.expr", "flydsl._mlir", "flydsl.layout", "flydsl.runtime", "flydsl.utils")
_USER_MODULES = frozenset({"__main__"})

_helpers: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()


def callee(function: Any) -> Any:
    """Return what to call for `function` in traced code."""
    kind = type(function)
    if kind is FunctionType:
        return _helper(function)
    if kind is MethodType:
        inner = function.__func__
        if type(inner) is FunctionType:
            rewritten = _helper(inner)
            return function if rewritten is inner else MethodType(rewritten, function.__self__)
    elif not isinstance(function, type):
        method = getattr(kind, "__call__", None)  # noqa: B004 - the function itself is wanted, not whether there is one
        if type(method) is FunctionType:
            rewritten = _helper(method)
            return function if rewritten is method else MethodType(rewritten, function)
    return function


def _helper(function: FunctionType) -> FunctionType:
    known = _helpers.get(function)
    if known is None:
        known = _helpers[function] = _rewritten(function)
    return known


def _rewritten(function: FunctionType) -> FunctionType:
    module = function.__globals__.get("__name__", "")
    root = module.split(".", 1)[0]
    if (root in _FOREIGN and module not in _USER_MODULES) or is_rewritten(function):
        return function
    if root == "flydsl" and ".".join(module.split(".")[:2]) in _OWN:
        return function
    try:
        source = find_source(function)
        if not isinstance(source.node, ast.Lambda) and is_generator(source.node):
            return function
        return rewrite_function(function, decorated=False)
    except SourceUnavailableError:
        return function  # runs as it is; a run-time condition in it raises there
