# SPDX-License-Identifier: Apache-2.0
"""Is a function compiled from the source that stands in its file now?

A file may be edited after it was imported, and `__code__` may be replaced. What is traced is the source, so it has to
say what Python would run.
"""

from __future__ import annotations
import __future__

import ast
import dis
import re
from collections.abc import Iterator, Set
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["FunctionNode", "imported_names", "is_compiled_from", "is_transformed"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUTURES = 0
_OF_CALLS = {"PUSH_NULL", "PRECALL", "NOP", "EXTENDED_ARG", "CACHE"}
_OF_METHODS = {"LOAD_METHOD": "LOAD_ATTR", "CALL_METHOD": "CALL", "CALL_FUNCTION": "CALL"}
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


def is_transformed(function: FunctionType) -> bool:
    """Whether an import hook compiled the function's module from another tree than the source's, as pytest does.

    Of such a module nothing can be said.
    """
    loader = function.__globals__.get("__loader__")
    # A notebook's `__main__` has a built-in importer, which is a class.
    return loader is not None and not isinstance(loader, type) and type(loader) is not SourceFileLoader


def is_compiled_from(
    node: FunctionNode, class_name: str | None, function: FunctionType, imported: Set[str] = frozenset()
) -> bool:
    """Compile the tree of a function again, in scopes like its own, and compare the code.

    Args:
        node: of the function, with the lines of its file.
        class_name: of the innermost class around it, for the mangling of private names.
        function: what Python runs.
        imported: names that import statements of the file bind, as far as they are known.
    """
    code = function.__code__
    free = [one for one in code.co_freevars if one.isidentifier() and (one != "__class__" or class_name is None)]
    itself = "" if isinstance(node, ast.Lambda) or node.name in free else f"global {node.name}"  # it may call itself
    modules = "".join(f"import {name}\n" for name in _imports_read(code, function.__globals__, imported))
    module = ast.parse(f"{modules}class {class_name or 'Around'}:\n def around({', '.join(free)}):\n  {itself}\n  pass")
    scope: Any = module.body[-1]
    around = scope.body[0]
    if class_name is None:
        module.body[-1] = around
    around.body[-1] = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    try:
        compiled = compile(module, code.co_filename, "exec", code.co_flags & _FUTURES, dont_inherit=True)
    except (SyntaxError, ValueError):  # a `nonlocal` of a name that the code has no cell for
        return False
    return any(_is_same(one, code) for one in _inside(compiled) if one.co_name == code.co_name)


_IMPORT = re.compile(r"^[ \t]*(?:from[ \t][\w. \t]+?[ \t])?import[ \t]*(\([^)]*\)|[^\n;#]+)", re.MULTILINE)
_BOUND = re.compile(r"(?:^|[\s(,])(\w+)[\w.]*(?:\s+as\s+(\w+))?\s*(?:,|\)|#|$)", re.MULTILINE)


def imported_names(text: str) -> frozenset[str]:
    """Return the names that import statements of a file bind, wherever they stand; see `_imports_read`.

    To look for them in the text takes a tenth of the time that it takes to parse a file.
    """
    found = [name for one in _IMPORT.findall(text) for name in _BOUND.findall(one)]
    return frozenset(alias or name for name, alias in found)


def _imports_read(code: CodeType, namespace: dict[str, Any], imported: Set[str]) -> set[str]:
    """Return the names of imported things that the code reads: how Python calls `name.f()` depends on an import of
    `name`.

    Where the guess is wrong, the instructions are compared one by one (`_steps`), which takes longer.
    """
    found = {
        name
        for name in code.co_names
        if name in namespace and (name in imported or isinstance(namespace[name], ModuleType))
    }
    for one in code.co_consts:
        if isinstance(one, CodeType):
            found |= _imports_read(one, namespace, imported)
    return found


def _inside(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _inside(one)


def _is_same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType):
        return (
            one.co_names == other.co_names
            and one.co_varnames == other.co_varnames
            and one.co_freevars == other.co_freevars
            and _is_same(one.co_consts, other.co_consts)
            and (one.co_code == other.co_code or _steps(one) == _steps(other))
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, str):
        return _without_scopes(one) == _without_scopes(other)
    return repr(one) == repr(other) if isinstance(one, (float, complex)) else bool(one == other)


def _without_scopes(text: str) -> str:
    """A qualified name, which is a constant of the function around, without the scopes that it stands in."""
    return text.rpartition("<locals>.")[2]


def _steps(code: CodeType) -> list[tuple[str, Any]]:
    """The instructions without how methods are called: that depends on what the rest of the module imports."""
    steps = []
    for one in dis.get_instructions(code):
        if one.opname in _OF_CALLS:
            continue
        name = _OF_METHODS.get(one.opname, one.opname)
        # What is left out moves the targets of jumps. Code objects are compared among the constants.
        at_code = one.opcode in dis.hasjrel or one.opcode in dis.hasjabs or isinstance(one.argval, CodeType)
        steps.append((name, None if at_code else _without_scopes(repr(one.argval))))
    return steps
