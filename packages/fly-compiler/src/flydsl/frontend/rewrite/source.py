# SPDX-License-Identifier: Apache-2.0
"""From a function object to its syntax tree, with the line numbers of the user's file or notebook cell."""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import NamedTuple

from .compiled import FunctionNode, imported_names, is_compiled_from, is_transformed
from .syntax import copied

__all__ = ["FunctionNode", "FunctionSource", "SourceUnavailableError", "find_source", "source_line"]


class SourceUnavailableError(RuntimeError):
    """The source of a function that has to be rewritten cannot be found, or no longer matches the function."""


class FunctionSource(NamedTuple):
    """Where a function is written."""

    node: FunctionNode
    """The function's own tree, which nobody else has."""
    filename: str
    class_name: str | None
    """Innermost class around the function, for the mangling of private names."""
    text: str
    """The lines of the function, decorators included; of a lambda, itself alone."""
    file_lines: list[str]
    """The lines of the whole file."""


class _File(NamedTuple):
    lines: list[str]
    tree: ast.Module


_files: dict[str, _File] = {}
_imports: dict[str, tuple[list[str], frozenset[str]]] = {}
"""The names that a file imports, with its lines."""


def find_source(function: FunctionType) -> FunctionSource:
    """Return the syntax tree of `function`.

    Raises:
        SourceUnavailableError: there is no source (typed at the plain interactive prompt, `exec` of a string, only
            byte code installed), or it is not what the function was compiled from: the file changed after it was
            imported, or `__code__` was replaced.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise SourceUnavailableError(
            f"cannot read the source of '{function.__qualname__}' (defined in {code.co_filename!r}). FlyDSL rewrites "
            "the control flow of a function from its source: define it in a file or in a notebook cell, not at the "
            "plain Python prompt, through exec(), or in a cell under %%time or %%timeit, which leaves no source behind."
        )
    found = _alone(function, lines)
    shared = not found
    if shared:
        known = _files.get(code.co_filename)
        if known is None or known.lines != lines:
            known = _files[code.co_filename] = _File(lines, _parse(lines, code.co_filename))
        found = list(_functions_at(known.tree, None, code.co_firstlineno, code.co_name))
    if len(found) > 1:
        found = [one for one in found if _same_code(one[0], code)]
    if (
        not found
        or not _same_arguments(found[0][0], code)
        or not (is_transformed(function) or is_compiled_from(*found[0], function, _imported(code.co_filename, lines)))
    ):
        raise SourceUnavailableError(
            f"the source of '{function.__qualname__}' is not at {code.co_filename}:{code.co_firstlineno} any more: the "
            "file changed after it was imported, or the function's code was replaced. Import it again (restart the "
            "process or the notebook kernel)."
        )
    node, class_name = found[0]
    if shared:
        node = copied(node)
    if isinstance(node, ast.Lambda):  # others may stand on its line
        text = ast.unparse(node)
    else:
        text = "".join(lines[code.co_firstlineno - 1 : node.end_lineno])
    return FunctionSource(node, code.co_filename, class_name, text, lines)


def _imported(filename: str, lines: list[str]) -> frozenset[str]:
    known = _imports.get(filename)
    if known is None or known[0] != lines:
        known = _imports[filename] = (lines, imported_names("".join(lines)))
    return known[1]


def _alone(function: FunctionType, lines: list[str]) -> list[tuple[FunctionNode, str | None]]:
    """Parse a function's own lines: a file takes as long as it is, and most of it is not traced.

    Returns nothing where that is not possible: of lambdas, and where text in the function stands further left than it.
    """
    code = function.__code__
    first, last = code.co_firstlineno, _last_line(code)
    if code.co_name == "<lambda>" or not 0 < first <= last <= len(lines):
        return []
    indent = _indent(lines[first - 1])
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
        last += 1
    if indent and first < 2:
        return []
    head = "\n" * (first - 2) + "if 1:\n" if indent else "\n" * (first - 1)
    try:
        tree = ast.parse(head + "".join(lines[first - 1 : last]), code.co_filename)
    except SyntaxError:
        return []
    body = tree.body[0].body if isinstance(tree.body[0], ast.If) else tree.body
    node = body[0]
    if len(body) != 1 or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != code.co_name:
        return []
    names = getattr(code, "co_qualname", function.__qualname__).split(".")
    classes = [name for name, inner in itertools.pairwise(names) if "<locals>" not in (name, inner)]
    return [(node, classes[-1] if classes else None)]


def _last_line(code: CodeType) -> int:
    last = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    return max([last, *(_last_line(one) for one in code.co_consts if isinstance(one, CodeType))])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def source_line(filename: str, line: int) -> str:
    """Return one line of a file or cell without its indentation, or an empty string."""
    return linecache.getline(filename, line).strip()


def _functions_at(
    node: ast.AST, class_name: str | None, line: int, name: str
) -> Iterator[tuple[FunctionNode, str | None]]:
    """Find the functions of a name that begin in a line, each with its class; only what holds the line is looked at."""
    inner = node.name if isinstance(node, ast.ClassDef) else class_name
    for child in ast.iter_child_nodes(node):
        first = getattr(child, "lineno", None)
        if first is not None:
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and child.decorator_list:
                first = min(first, child.decorator_list[0].lineno)
            if not first <= line <= (getattr(child, "end_lineno", None) or first):
                continue
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if first == line and child.name == name:
                    yield child, inner
            elif isinstance(child, ast.Lambda) and first == line and name == "<lambda>":
                yield child, inner
        yield from _functions_at(child, inner, line, name)


def _parse(lines: list[str], filename: str) -> ast.Module:
    try:
        return ast.parse("".join(lines), filename)
    except SyntaxError:
        # A notebook cell may hold magics (`%time`, `!ls`): they are not Python, and no function contains them.
        kept = ["\n" if line.lstrip().startswith(("%", "!")) else line for line in lines]
        try:
            return ast.parse("".join(kept), filename)
        except SyntaxError as error:
            raise SourceUnavailableError(f"the source in {filename!r} is not plain Python: {error}") from None


def _same_arguments(node: FunctionNode, code: CodeType) -> bool:
    arguments = node.args
    names = [one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    expected = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    # Private parameters (`__x` in a class) are mangled in the code object only.
    return len(names) == len(expected) and all(have.endswith(name) for have, name in zip(expected, names, strict=True))


def _same_code(node: FunctionNode, code: CodeType) -> bool:
    """Tell lambdas apart that stand on one line, by position where Python records it, else by what they do."""
    if not isinstance(node, ast.Lambda):
        return _same_arguments(node, code)
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        # The first instruction of a function has an empty span at column 0.
        spans = [(line, column) for line, last, column, end in positions() if (line, column) != (last, end)]
        low = (node.body.lineno, node.body.col_offset)
        high = (node.body.end_lineno or node.lineno, node.body.end_col_offset or 0)
        return bool(spans) and all(low <= span < high for span in spans)
    compiled = compile(ast.Expression(node), code.co_filename, "eval")
    inner = next(const for const in compiled.co_consts if isinstance(const, CodeType))
    return inner.co_code == code.co_code and inner.co_names == code.co_names and inner.co_consts == code.co_consts
