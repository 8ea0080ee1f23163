# SPDX-License-Identifier: Apache-2.0
"""The other compiler of the same language, in an environment of its own, for the benchmarks of this folder.

The peer is the wheel `flydsl` of the Python index. It needs torch, and a ROCm folder with a linker to compile; here
LLVM's own lld and an empty folder of device libraries do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PEER = "flydsl==0.4.2"
TORCH = "torch==2.13.0"
_TIMEOUT = 900


def make_peer(folder: Path) -> Path:
    """Return the Python of the peer's environment, which is made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEER, TORCH, "numpy"], check=True)
    return python


def make_rocm(folder: Path) -> Path:
    """Return a folder that the peer takes for ROCm: a linker, and no device libraries."""
    linker = shutil.which("ld.lld-22") or shutil.which("ld.lld")
    if linker is None:
        raise SystemExit("ld.lld not found: apt-get install lld-22")
    (folder / "amdgcn" / "bitcode").mkdir(parents=True, exist_ok=True)
    binaries = folder / "llvm" / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    if not (binaries / "ld.lld").exists():
        (binaries / "ld.lld").symlink_to(linker)
    return folder


def peer_variables(rocm: Path) -> dict[str, str]:
    """Return the environment of the peer's process: nothing of this project is on its path."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and not name.startswith("FLYDSL")}
    return {**kept, "ROCM_PATH": str(rocm)}


def run_json(
    python: str | Path, script: Path, arguments: list[str], variables: dict[str, str], timeout: float = _TIMEOUT
) -> Any:
    """Run a script and return the JSON of the last line that it prints."""
    done = subprocess.run(
        [str(python), str(script), *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    if done.returncode != 0:
        raise SystemExit(
            f"{python} {script.name} {' '.join(arguments)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        )
    return json.loads(done.stdout.strip().splitlines()[-1])
