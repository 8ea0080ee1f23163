# SPDX-License-Identifier: Apache-2.0
"""hatch and uv, in a virtual environment of their own; the environments themselves are in hatch.toml.

What builds and ships wheels is pinned with hashes in `locks/`: hatch and uv themselves, and the environments that have
a lock of their name. `tools/dev lock` makes the locks.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from . import debian
from .paths import BUILD, ROOT, cache_dir
from .shell import run

LOCKS = Path(__file__).with_name("locks")


@cache
def tools_bin() -> Path:
    """The folder with `hatch` and `uv`, installed on first use."""
    lock = LOCKS / "tools.txt"
    # Clones that are at different locks, or under different Pythons, share the cache and not the folder.
    home = cache_dir() / f"tools-{hashlib.sha256(lock.read_bytes() + sys.executable.encode()).hexdigest()[:12]}"
    stamp = home / "installed.txt"
    if not stamp.exists():
        shutil.rmtree(home, ignore_errors=True)
        if importlib.util.find_spec("ensurepip") is None:  # Debian's Python comes without it
            debian.ensure(("python3-venv",))
        run(
            [sys.executable, "-m", "venv", home],
            what="making an environment for hatch and uv",
            hint="On Debian: apt-get install python3-venv",
        )
        run(
            [home / "bin" / "pip", "install", "--quiet", "--require-hashes", "--requirement", lock],
            what="installing hatch and uv",
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
    """What every hatch and uv call of ours runs under."""
    bin_dir = tools_bin()
    variables = {
        "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
        "HATCH_DATA_DIR": str(ROOT / "build" / "hatch"),
        "HATCH_ENV_TYPE_VIRTUAL_UV_PATH": str(bin_dir / "uv"),
        "PYTHONNOUSERSITE": "1",
    }
    links = _pip_find_links()
    if links and "UV_FIND_LINKS" not in os.environ:
        variables["UV_FIND_LINKS"] = links
    return variables


def environment(name: str) -> Path:
    """The folder of the hatch environment `name`, created on first use and when hatch.toml or its lock changes.

    hatch takes a second to look at an environment, so that is done only when the file has changed.
    """
    lock = LOCKS / f"{name}.txt"
    declared = _digest(ROOT / "hatch.toml", *([lock] if lock.exists() else []))
    record = BUILD / "environments" / f"{name}.txt"
    if record.exists():
        folder, was = record.read_text().split("\n")
        if was == declared and Path(folder, "bin", "python").exists():
            return Path(folder)
    hatch = tools_bin() / "hatch"
    run([hatch, "--no-color", "run", f"{name}:python", "-c", "pass"], what=f"environment {name}",
        env=environment_variables(), cwd=ROOT)  # fmt: skip
    found = run([hatch, "--no-color", "env", "find", name], what=f"environment {name}: ready",
                env=environment_variables(), cwd=ROOT)  # fmt: skip
    folder = found.strip().splitlines()[-1]
    if lock.exists():
        run(
            [
                tools_bin() / "uv",
                "pip",
                "sync",
                "--quiet",
                "--require-hashes",
                "--python",
                f"{folder}/bin/python",
                lock,
            ],
            what=f"environment {name}: what its lock says",
            env=environment_variables(),
        )
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(f"{folder}\n{declared}")
    return Path(folder)


def lock() -> list[Path]:
    """Resolve the requirements of `locks/*.in` again, into the newest versions that the public index has.

    Local wheels and other indexes of this machine are left out, so that everybody gets the same files.
    """
    made = []
    for requirements in sorted(LOCKS.glob("*.in")):
        pinned = requirements.with_suffix(".txt")
        run(
            [tools_bin() / "uv", "pip", "compile", "--quiet", "--no-config", "--upgrade", "--universal",
             "--python-version", "3.10", "--generate-hashes", "--no-emit-index-url", "--no-annotate", "--no-header",
             "--output-file", pinned, requirements],
            what=f"locking {requirements.stem}",
            env={"UV_FIND_LINKS": "", "UV_INDEX": "", "UV_EXTRA_INDEX_URL": ""},
        )  # fmt: skip
        made.append(pinned)
    return made
