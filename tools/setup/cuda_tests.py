# SPDX-License-Identifier: Apache-2.0
"""What a machine with a Hopper GPU needs to run the tests and the benchmark there, in one folder.

That machine has torch for CUDA, Triton and pytest for some Python of its own, and nothing of ours; it may be cut off
from everything, and what travels to it may have to be small. So no compiler goes along: kernels travel as artifacts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from . import environments, wheels
from .paths import BUILD, PACKAGES, ROOT
from .shell import SetupError, run, say

PYTHON = "3.12"
"""The Python of the machine with the GPU, which tvm-ffi's wheel is for."""

MOST_BYTES = 64 << 20

_SCRIPT = Path(__file__).with_name("cuda_run.sh")
_BENCHMARK = ROOT / "tools" / "bench" / "cuda.py"


def prepare(folder: Path) -> Path:
    """Fill a folder with a script `run`, the runtime, its tests, and artifacts of the row kernels; returns the script.

    Raises:
        SetupError: some part cannot be made, or all of it is more than MOST_BYTES.
    """
    shutil.rmtree(folder, ignore_errors=True)
    site = folder / "site"
    site.mkdir(parents=True)
    with zipfile.ZipFile(wheels.build(wheels.ALL["runtime"])) as wheel:
        wheel.extractall(site)
    run(
        [environments.tools_bin() / "uv", "pip", "install", "--no-deps", "--only-binary", ":all:", "--target", site,
         "--python-version", PYTHON, "--python-platform", "x86_64-manylinux_2_28", "apache-tvm-ffi>=0.1.15"],
        what=f"fetching tvm-ffi for Python {PYTHON}",
        env=environments.environment_variables(),
    )  # fmt: skip
    _copy_tests(folder)
    make_artifacts(folder)
    script = Path(shutil.copy(_SCRIPT, folder / "run"))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        raise SetupError(f"{folder}: {size / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are wanted")
    say(f"{folder}: {size / 1e6:.0f} MB")
    return script


def _copy_tests(folder: Path) -> None:
    tests = PACKAGES / "fly-runtime" / "tests"
    shutil.copytree(tests, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGES / "fly-runtime" / "examples", folder / "examples")
    shutil.copy(_BENCHMARK, folder)


def make_artifacts(folder: Path) -> None:
    """Compile what the tests and the benchmark run, for sm_90a."""
    (folder / "artifacts").mkdir()
    python = wheels.install("dev", tuple(wheels.ALL), editable=True) / "bin" / "python"
    variables = {**os.environ, **environments.environment_variables(), "FLYDSL_GPU_ARCH": "sm_90a"}
    make = "import sys, pathlib, make_doubles; make_doubles.cuda_artifacts(pathlib.Path(sys.argv[1]))"
    run(
        [python, "-c", make, folder / "artifacts"],
        what="compiling the kernels of the runtime's tests",
        env=variables | {"PYTHONPATH": str(folder / "tests")},
    )
    run([python, _BENCHMARK, "pack", folder / "pack"], what="compiling the row kernels for sm_90a", env=variables)


def test() -> int:
    """Prepare build/cuda, and run it where this machine has a GPU of NVIDIA's; else say how another one runs it."""
    script = prepare(BUILD / "cuda")
    if shutil.which("nvidia-smi") is None:
        print(
            f"This machine has no NVIDIA GPU. Copy {script.parent} to one with a Hopper GPU, and with torch for CUDA, "
            f"Triton and pytest for Python {PYTHON}, and run there:\n  bash {script.parent.name}/run"
        )
        return 0
    return subprocess.run(["bash", str(script)], check=False).returncode
