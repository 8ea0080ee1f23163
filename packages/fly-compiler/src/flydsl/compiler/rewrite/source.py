# SPDX-License-Identifier: Apache-2.0
"""From a function object to its syntax tree, with the line numbers of the user's file or notebook cell."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType

__all__ = ["FunctionNode", "FunctionSource", "SourceUnavailableError", "find_source", "source_line"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class SourceUnavailableError(RuntimeError):
    """The source of a function that has to be rewritten cannot be found, or no longer matches the function."""


@dataclass(frozen=True)
class FunctionSource:
    """Where a function is written."""

    node: FunctionNode
    """The function's own tree; shared, so copy before changing it."""
    filename: str
    class_name: str | None
    """Innermost class around the function, for the mangling of private names."""
    text: str
    """The lines of the function, decorators included; of a lambda, itself alone."""


@dataclass
class _File:
    lines: list[str]
    tree: ast.Module


_files: dict[str, _File] = {}


def find_source(function: FunctionType) -> FunctionSource:
    """Return the syntax tree of `function`.

    Raises:
        SourceUnavailableError: there is no source (typed at the plain interactive prompt, `exec` of a string, only
            byte code installed), or the file changed after it was imported.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise SourceUnavailableError(
            f"cannot read the source of '{function.__qualname__}' (defined in {code.co_filename!r}). FlyDSL rewrites "
            "the control flow of a function from its source: define it in a file or in a notebook cell, not at the "
            "plain Python prompt or through exec()."
        )
    known = _files.get(code.co_filename)
    if known is None or known.lines != lines:
        known = _files[code.co_filename] = _File(lines, _parse(lines, code.co_filename))
    found = list(_functions_at(known.tree, None, code.co_firstlineno, code.co_name))
    if len(found) > 1:
        found = [one for one in found if _same_code(one[0], code)]
    if not found or not _same_arguments(found[0][0], code):
        raise SourceUnavailableError(
            f"the source of '{function.__qualname__}' is not at {code.co_filename}:{code.co_firstlineno} any more: the "
            "file changed after it was imported. Import it again (restart the process or the notebook kernel)."
        )
    node, class_name = found[0]
    if isinstance(node, ast.Lambda):  # others may stand on its line
        text = ast.unparse(node)
    else:
        text = "".join(lines[code.co_firstlineno - 1 : node.end_lineno])
    return FunctionSource(node, code.co_filename, class_name, text)


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
