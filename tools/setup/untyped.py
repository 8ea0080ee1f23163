# SPDX-License-Identifier: Apache-2.0
"""How often public signatures say `Any`, by package: the numbers in `untyped.json` may only fall.

`Any` is right where a value may be of any type (an element of what the user passes). Where a value has a type, the
signature says it. `python -m setup.untyped` in `tools/` writes the numbers that there are now.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from . import wheels

__all__ = ["count", "too_many"]

RECORDED = Path(__file__).with_name("untyped.json")


def count(folder: Path) -> int:
    """Return how many parameters and results of public functions and methods below a folder are annotated `Any`."""
    return sum(
        ast.unparse(annotation).strip("'") == "Any"
        for file in folder.rglob("*.py")
        for function in _public(ast.parse(file.read_text()))
        for annotation in _annotations(function)
    )


def _public(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            yield node


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    parameters = function.args
    for one in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        if one.annotation is not None:
            yield one.annotation
    if function.returns is not None:
        yield function.returns


def counts() -> dict[str, int]:
    """Return the number of each package."""
    return {
        package.name: sum(count(package.folder / source / "flydsl") for source in ("src", "python"))
        for package in wheels.ALL.values()
    }


def too_many(found: dict[str, int], recorded: dict[str, int]) -> list[str]:
    """Return a line for each package that says `Any` more often than was recorded."""
    return [
        f"{name}: {number} parameters and results of public functions are annotated Any, {recorded.get(name, 0)} were "
        f"(tools/setup/{RECORDED.name}): say what they are"
        for name, number in found.items()
        if number > recorded.get(name, 0)
    ]


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(counts(), indent=2) + "\n")
