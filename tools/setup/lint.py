# SPDX-License-Identifier: Apache-2.0
"""The checks that run no test: style, types, layers, formatting of C++."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from . import debian, dynamic_imports, environments, untyped, wheels
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
STUBS = BUILD / "lint" / "stubs"
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


GENERATED = "flydsl._mlir"


def stand_ins(source_roots: Sequence[Path], folder: Path) -> Path:
    """Empty modules in `folder` for those that exist only after a build, so that imports of them resolve.

    They have the names that the sources import: import-linter sees no import of a module that it does not find, such as
    `flydsl._mlir.dialects.gpu`. What `flydsl._mlir` has in the sources lies beside them, for Python looks for the
    modules of a package in one folder.
    """
    path = Path(*GENERATED.split("."))
    shutil.rmtree(folder, ignore_errors=True)
    for root in source_roots:
        if (root / path).is_dir():
            shutil.copytree(root / path, folder / path, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in sorted({GENERATED}.union(*map(_generated_modules, source_roots))):
        place = folder.joinpath(*name.split("."))
        if not place.with_suffix(".py").is_file():
            place.mkdir(parents=True, exist_ok=True)
            (place / "__init__.py").touch()
    return folder


def _generated_modules(source_root: Path) -> set[str]:
    """The modules of the generated package that sources name, with the packages around them."""
    named = r"\bflydsl\._mlir(?:\.\w+)*"
    found: set[str] = set()
    for file in (source_root / "flydsl").rglob("*.py"):
        text = file.read_text()
        if GENERATED not in text:
            continue
        for name in re.findall(rf"^\s*(?:from|import)\s+({named})", text, re.MULTILINE):
            parts = name.split(".")
            found.update(".".join(parts[:count]) for count in range(2, len(parts) + 1))
    return found


def binding_stubs(folder: Path) -> Path:
    """The Python files and generated stubs of the bindings in `folder`, from the wheel of the present sources."""
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheels.build(wheels.ALL["dialect"])) as archive:
        for name in archive.namelist():
            if name.startswith(f"{GENERATED.replace('.', '/')}/") and name.endswith((".py", ".pyi")):
                archive.extract(name, folder)
    return folder


def layers_command(source_roots: Sequence[Path], scratch: Path) -> tuple[list[str], dict[str, str]]:
    """The command and environment that check the layer table over some source roots."""
    folder = environments.environment("lint")
    roots = (stand_ins(source_roots, scratch), *source_roots)
    command = [str(folder / "bin" / "lint-imports"), "--config", str(ROOT / ".importlinter"), "--no-cache"]
    return command, {**os.environ, "PYTHONPATH": os.pathsep.join(str(root) for root in roots)}


def _imports_by_name() -> bool:
    say("lint: imports by name")
    found = dynamic_imports.violations(SOURCE_ROOTS, ROOT / ".importlinter")
    if found:
        print("\n".join(found), flush=True)
        say("lint: imports by name: FAILED")
    return not found


def _untyped() -> bool:
    say("lint: Any in public signatures")
    recorded = json.loads(untyped.RECORDED.read_text())
    found = untyped.too_many(untyped.counts(), recorded)
    if found:
        print("\n".join(found), flush=True)
        say("lint: Any in public signatures: FAILED")
    return not found


def run() -> tuple[int, int]:
    """Run every check; returns how many passed and how many failed."""
    debian.ensure(debian.LINT_PACKAGES)
    folder = environments.environment("lint")
    variables = environments.environment_variables()
    env = {
        **os.environ,
        **variables,
        "PATH": f"{folder / 'bin'}{os.pathsep}{variables['PATH']}",
        "MYPYPATH": os.pathsep.join(map(str, (STUBS, *SOURCE_ROOTS, ROOT / "tools"))),
    }
    python = str(folder / "bin" / "python")
    ruff = str(folder / "bin" / "ruff")
    clang_format = [f"clang-format-{debian.LLVM}", "--dry-run", "-Werror", *_tracked(*CPP_SUFFIXES)]
    checks: list[Callable[[], bool]] = [
        partial(_check, "tests of the checks", [python, "-m", "pytest", "-q", "tools/tests"], env),
        partial(_check, "ruff check", [ruff, "check", "."], env),
        partial(_check, "ruff format", [ruff, "format", "--check", "."], env),
        partial(_check, "layers", *layers_command(SOURCE_ROOTS, STAND_INS)),
        _imports_by_name,
        _untyped,
        partial(_check, "clang-format", clang_format, env),
    ]
    # Each keeps one core busy, the tests of the checks about as long as all others together.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        results = [*threads.map(lambda check: check(), checks)]
    binding_stubs(STUBS)
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
