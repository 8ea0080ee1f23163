# SPDX-License-Identifier: Apache-2.0
"""Imports by name, which import-linter does not see: `importlib.import_module("flydsl…")` and `__import__`.

A literal name is held against the same contracts as an import statement. A name that is computed is refused, unless it
begins with the importing package itself (`f"{__name__}.part"`), or `.importlinter` lists the module with a reason.
"""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["violations"]

_EXEMPT = "flydsl:computed-imports"
_OWN = ("__name__", "__package__", "__spec__.parent")
_FUNCTIONS = ("import_module", "__import__")


def violations(source_roots: Sequence[Path], contracts: Path) -> list[str]:
    """Return what is wrong with the imports by name under some source roots, one line each.

    Args:
        source_roots: folders that hold a `flydsl` namespace.
        contracts: the file `.importlinter`.
    """
    config = configparser.ConfigParser()
    config.read(contracts)
    exempt = {one.partition("#")[0].strip() for one in config.get(_EXEMPT, "modules", fallback="").splitlines()}
    found, unused = [], exempt - {""}
    for root in source_roots:
        for file in sorted((root / "flydsl").rglob("*.py")):
            module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            text = file.read_text()
            if not any(name in text for name in _FUNCTIONS):  # most files: not worth a walk
                continue
            for line, target in _imports_by_name(ast.parse(text), package):
                place = f"{module} ({file}:{line})"
                if target is None:
                    unused.discard(module)
                    if module not in exempt:
                        found.append(f"{place}: the name of the module that is imported is computed; write it out")
                elif (other := _forbidden(config, module, target)) is not None:
                    found.append(f"{place}: {other[0]} is not allowed to import {other[1]}")
    return found + [f".importlinter: {one} computes no name of a module any more" for one in sorted(unused)]


def _imports_by_name(tree: ast.AST, package: str) -> Iterator[tuple[int, str | None]]:
    """Yield line and absolute name of each import by name in a module of `package`; `None` for a computed name."""
    functions = set(_FUNCTIONS)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "importlib":
            functions.update(one.asname for one in node.names if one.name in _FUNCTIONS and one.asname)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in functions:
            continue
        keywords = {one.arg: one.value for one in node.keywords}
        text, is_whole = _beginning(node.args[0] if node.args else keywords.get("name"))
        dots = len(text) - len(text.lstrip("."))
        if dots:  # relative to the package, as an import statement's are
            text = ".".join([*package.split(".")[: package.count(".") + 2 - dots], text[dots:]])
        if is_whole or text.count(".") >= 2:  # f"flydsl.kernels.{part}" says the layer, f"flydsl.{part}" does not
            yield node.lineno, text.rstrip(".")
        else:
            yield node.lineno, None


def _beginning(name: ast.expr | None) -> tuple[str, bool]:
    """Return the literal text that an expression for a name begins with, and whether that is all of it."""
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return name.value, True
    if isinstance(name, ast.JoinedStr) and name.values:
        first = name.values[0]
        if isinstance(first, ast.Constant):
            return str(first.value), False
        if isinstance(first, ast.FormattedValue) and ast.unparse(first.value) in _OWN:
            return ".", False
    return "", False


def _forbidden(config: configparser.ConfigParser, module: str, target: str) -> tuple[str, str] | None:
    """Return the source and the target of the contract that an import breaks, if any."""
    for name in config.sections():
        if not name.startswith("importlinter:contract:"):
            continue
        contract = config[name]
        if contract["type"] == "forbidden":
            source = _within(module, contract["source_modules"].split())
            other = _within(target, contract["forbidden_modules"].split())
            if source and other:
                return source, other
        elif contract["type"] == "layers":
            container = contract.get("containers", "").strip()
            prefix = f"{container}." if container else ""
            layers = [
                [prefix + one.strip() for one in line.split("|")] for line in contract["layers"].splitlines() if line
            ]
            own, theirs = (_layer(one, layers) for one in (module, target))
            if own is not None and theirs is not None and theirs[0] < own[0]:
                return own[1], theirs[1]
    return None


def _within(module: str, packages: Sequence[str]) -> str | None:
    return next((one for one in packages if f"{module}.".startswith(f"{one}.")), None)


def _layer(module: str, layers: list[list[str]]) -> tuple[int, str] | None:
    """Return the height of a module, counted from the top, and the name that the contract has for it."""
    for height, names in enumerate(layers):
        found = _within(module, names)
        if found is not None:
            return height, found
    return None
