# SPDX-License-Identifier: Apache-2.0
"""The virtual environments, made by uv from the dependency groups of `pyproject.toml`.

What builds and ships wheels is pinned with hashes in `locks/`: uv itself (the group `bootstrap`), and the environments
that have a lock of their name. `tools/dev lock` makes the locks.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from . import debian
from .paths import BUILD, ROOT, cache_dir
from .shell import SetupError, alone, run

LOCKS = Path(__file__).with_name("locks")
PROJECT = ROOT / "pyproject.toml"


@cache
def tools_bin() -> Path:
    """The folder with `uv`, installed on first use."""
    with alone("uv"):
        return _tools_bin()


def _tools_bin() -> Path:
    lock = LOCKS / "bootstrap.txt"
    # Clones that are at different locks, or under different Pythons, share the cache and not the folder.
    home = cache_dir() / f"tools-{hashlib.sha256(lock.read_bytes() + sys.executable.encode()).hexdigest()[:12]}"
    stamp = home / "installed.txt"
    if not stamp.exists():
        shutil.rmtree(home, ignore_errors=True)
        if importlib.util.find_spec("ensurepip") is None:  # Debian's Python comes without it
            debian.ensure(("python3-venv",))
        run(
            [sys.executable, "-m", "venv", home],
            what="making an environment for uv",
            hint="On Debian: apt-get install python3-venv",
        )
        run(
            [home / "bin" / "pip", "install", "--quiet", "--require-hashes", "--requirement", lock],
            what="installing uv",
        )
        stamp.touch()
    return home / "bin"


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


@cache
def _pip_find_links() -> str:
    """Local wheel folders that pip is configured with; uv does not read pip's configuration, so it is handed over."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.find-links"], capture_output=True, text=True
    )
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def environment_variables() -> dict[str, str]:
    """What every call of uv, and every test, runs under."""
    bin_dir = tools_bin()
    variables = {
        "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
        "UV": str(bin_dir / "uv"),
        "PYTHONNOUSERSITE": "1",
    }
    links = _pip_find_links()
    if links and "UV_FIND_LINKS" not in os.environ:
        variables["UV_FIND_LINKS"] = links
    return variables


def environment(name: str, version: str = "") -> Path:
    """The folder of an environment, with the dependency group of its name if there is one.

    Made on first use, and anew when `pyproject.toml` or its lock changes. `version` ("3.12") names another Python than
    this one.
    """
    with alone(f"environment {name} {version}"):
        return _environment(name, version)


def _environment(name: str, version: str) -> Path:
    lock = LOCKS / f"{name}.txt"
    declared = _digest(PROJECT, *([lock] if lock.exists() else []))
    folder = BUILD / "environments" / (f"{name}-{version}" if version else name)
    record = folder / "declared.txt"
    if record.exists() and record.read_text() == declared:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    python = interpreter(version) if version else sys.executable
    _uv("venv", "--quiet", "--no-python-downloads", "--python", python, folder, what=f"environment {folder.name}")
    if lock.exists():
        install(folder, "sync", "--require-hashes", lock, what=f"environment {name}: what its lock says")
    elif name in groups():
        install(folder, "install", "--group", name, what=f"environment {name}: its dependency group")
    record.write_text(declared)
    return folder


def interpreter(version: str) -> Path:
    """The Python of a version ("3.12") that is at hand: on PATH, one of uv's, or one of pyenv's.

    Raises:
        SetupError: there is none.
    """
    done = subprocess.run(
        [tools_bin() / "uv", "python", "find", "--no-python-downloads", version], capture_output=True, text=True
    )
    if done.returncode == 0:
        return Path(done.stdout.strip())
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True)
    if not found:
        raise SetupError(f"there is no Python {version} on PATH, of uv's or of pyenv's: install one")
    return found[0]


def install(folder: Path, command: str, *words: str | Path, what: str, env: Mapping[str, str] | None = None) -> None:
    """Run `uv pip install` or `sync` on an environment; the constraints of `pyproject.toml` hold."""
    _uv("pip", command, "--quiet", "--python", folder / "bin" / "python", *words, what=what, env=env)


def _uv(*words: str | Path, what: str, env: Mapping[str, str] | None = None) -> None:
    variables = environment_variables()
    run([tools_bin() / "uv", *words], what=what, env={**variables, **(env or {})}, cwd=ROOT)


@cache
def groups() -> dict[str, list[str]]:
    """The dependency groups of `pyproject.toml`, read without a parser of TOML: Python 3.10 has none."""
    table = PROJECT.read_text().partition("[dependency-groups]\n")[2].partition("\n[tool")[0]
    found = re.findall(r"^([\w-]+) = \[(.*?)\]$", table, re.MULTILINE | re.DOTALL)
    return {name: re.findall(r'"([^"]+)"', requirements) for name, requirements in found}


def lock() -> list[Path]:
    """Resolve the dependency groups that have a lock again, into the newest versions that the public index has.

    Local wheels and other indexes of this machine are left out, so that everybody gets the same files.
    """
    made = sorted(LOCKS.glob("*.txt"))
    for pinned in made:
        run(
            [tools_bin() / "uv", "pip", "compile", "--quiet", "--no-config", "--upgrade", "--universal",
             "--python-version", "3.10", "--generate-hashes", "--no-emit-index-url", "--no-annotate", "--no-header",
             "--output-file", pinned, "--group", pinned.stem],
            what=f"locking {pinned.stem}",
            env=dict.fromkeys(
                ("UV_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"), ""
            ),
            cwd=ROOT,
        )  # fmt: skip
    return made
