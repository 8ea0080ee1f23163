# SPDX-License-Identifier: Apache-2.0
"""hatch and uv, in a virtual environment of their own; the environments themselves are in hatch.toml."""

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

TOOLS = ("hatch==1.18.2", "uv>=0.9,<1")


@cache
def tools_bin() -> Path:
    """The folder with `hatch` and `uv`, installed on first use."""
    home = cache_dir() / "tools"
    stamp = home / "installed.txt"
    wanted = "\n".join((*TOOLS, sys.executable))
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(home, ignore_errors=True)
        if importlib.util.find_spec("ensurepip") is None:  # Debian's Python comes without it
            debian.ensure(("python3-venv",))
        run(
            [sys.executable, "-m", "venv", home],
            what="making an environment for hatch and uv",
            hint="On Debian: apt-get install python3-venv",
        )
        run([home / "bin" / "pip", "install", "--quiet", *TOOLS], what="installing hatch and uv")
        stamp.write_text(wanted)
    return home / "bin"


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
    """The folder of the hatch environment `name`, created on first use and when its entry in hatch.toml changes.

    hatch takes a second to look at an environment, so that is done only when the file has changed.
    """
    declared = hashlib.sha256((ROOT / "hatch.toml").read_bytes()).hexdigest()
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
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(f"{folder}\n{declared}")
    return Path(folder)
