# SPDX-License-Identifier: Apache-2.0
"""The checks that run no test: style, types, layers, formatting of C++."""

from __future__ import annotations

import configparser
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import debian, hatch, wheels
from .paths import BUILD, ROOT
from .shell import say

# Source roots whose flydsl namespaces mypy and import-linter see together.
SOURCE_ROOTS = tuple(
    package.folder / source
    for package in wheels.ALL.values()
    for source in ("src", "python")
    if (package.folder / source / "flydsl").is_dir()
)
STAND_INS = BUILD / "lint" / "stand-ins"
CPP_SUFFIXES = (".c", ".h", ".cpp", ".hpp")


def _tracked(*suffixes: str) -> list[str]:
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    return [name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()]


def _check(what: str, command: list[str], env: dict[str, str]) -> bool:
    say(f"lint: {what}")
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout, flush=True)
        say(f"lint: {what}: FAILED")
    return done.returncode == 0


def stand_ins(source_roots: Sequence[Path], folder: Path) -> Path:
    """Empty packages in `folder` for the layers that exist only after a build, so that imports of them resolve.

    import-linter wants each of its root packages to be importable, and `flydsl._mlir` is generated.
    """
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter")
    for name in config["importlinter"]["root_packages"].split():
        path = Path(*name.split("."))
        if not any((root / path).is_dir() for root in source_roots):
            (folder / path).mkdir(parents=True, exist_ok=True)
            (folder / path / "__init__.py").touch()
    return folder


def layers_command(source_roots: Sequence[Path], scratch: Path) -> tuple[list[str], dict[str, str]]:
    """The command and environment that check the layer table over some source roots."""
    folder = hatch.environment("lint")
    roots = (*source_roots, stand_ins(source_roots, scratch))
    command = [str(folder / "bin" / "lint-imports"), "--config", str(ROOT / ".importlinter"), "--no-cache"]
    return command, {**os.environ, "PYTHONPATH": os.pathsep.join(str(root) for root in roots)}


def run() -> tuple[int, int]:
    """Run every check; returns how many passed and how many failed."""
    debian.ensure(debian.LINT_PACKAGES)
    folder = hatch.environment("lint")
    variables = hatch.environment_variables()
    env = {
        **os.environ,
        **variables,
        "PATH": f"{folder / 'bin'}{os.pathsep}{variables['PATH']}",
        "MYPYPATH": os.pathsep.join(str(root) for root in (*SOURCE_ROOTS, ROOT / "tools")),
    }
    python = str(folder / "bin" / "python")
    results = [
        _check("ruff check", [str(folder / "bin" / "ruff"), "check", "."], env),
        _check("ruff format", [str(folder / "bin" / "ruff"), "format", "--check", "."], env),
        _check("layers", *layers_command(SOURCE_ROOTS, STAND_INS)),
        _check("tests of the checks", [python, "-m", "pytest", "-q", "tools/tests"], env),
        _check("clang-format", [f"clang-format-{debian.LLVM}", "--dry-run", "-Werror", *_tracked(*CPP_SUFFIXES)], env),
    ]
    for root in SOURCE_ROOTS:
        arguments = [python, "-m", "mypy", *_mypy_packages(root / "flydsl")]
        results.append(_check(f"mypy {root.parent.name}", arguments, env))
    results.append(_check("mypy tools", [python, "-m", "mypy", "-p", "setup"], env))
    return sum(results), len(results) - sum(results)


def _mypy_packages(source: Path) -> list[str]:
    names = sorted(child.name for child in source.iterdir() if (child / "__init__.py").exists())
    return [word for name in names if not name.startswith("_") for word in ("-p", f"flydsl.{name}")]


def tidy() -> bool:
    """clang-tidy over all C++ (minutes; not part of the tests)."""
    debian.ensure((*debian.BUILD_PACKAGES, *debian.TIDY_PACKAGES))
    passed = True
    for package in wheels.ALL.values():
        if not package.native:
            continue
        wheels.build(package)
        database = BUILD / package.name
        prefix = str(package.folder.relative_to(ROOT))
        files = [name for name in _tracked(".cpp") if name.startswith(prefix) and "/tests/" not in name]
        passed &= _check(
            f"clang-tidy {package.name}",
            [f"run-clang-tidy-{debian.LLVM}", "-quiet", "-p", str(database), *files],
            dict(os.environ),
        )
    return passed
