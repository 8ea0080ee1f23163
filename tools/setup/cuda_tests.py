# SPDX-License-Identifier: Apache-2.0
"""What a machine with a Hopper GPU needs to run the tests and the benchmarks there, in one folder.

That machine has torch for CUDA, Triton and pytest for some Python of its own, and nothing of ours; it may be cut off
from everything, and what travels to it may have to be small. So the wheels are those that are published, which need
nothing of a system, and kernels are compiled there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from . import environments, wheels
from .paths import BUILD, PACKAGES, ROOT
from .shell import SetupError, run, say

PYTHON = "3.12"
"""The Python of the machine with the GPU; the dialect's wheel is for it and what follows."""

MOST_BYTES = 64 << 20

_BESIDE = tuple(map(Path(__file__).with_name, ("cuda_run.sh", "cuda_plugin.py")))
_BENCHMARKS = ROOT / "tools" / "bench"
_TESTED = ("runtime", "compiler", "kernels")
_PROGRAM = """\
import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.softmax_kernel import build_softmax_module


@flyc.kernel(known_block_size=(64, 1, 1))
def speak(n: fx.Int32):
    fx.printf("{}", fx.coop.warp_reduce(n + fx.thread_idx.x, "add"))


@flyc.jit
def launch(n: fx.Int32):
    speak(n).launch(grid=(1,), block=(64,))


launch(3)
build_softmax_module(4, 64, "f32")
assert b".target sm_90a" in flyc.compilation_reports()[-1].path.read_bytes()
"""


def prepare(folder: Path) -> Path:
    """Fill a folder with a script `run`, our wheels, their tests and the benchmarks; returns the script.

    Raises:
        SetupError: some part cannot be made, or all of it is more than MOST_BYTES.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wheels").mkdir(parents=True)
    for package in wheels.ALL.values():
        if package.short != "emulator":
            shutil.copy(_wheel(package), folder / "wheels")
    run(
        [environments.tools_bin() / "uv", "pip", "install", "--no-deps", "--only-binary", ":all:", "--target",
         folder / "site", "--python-version", PYTHON, "--python-platform", "x86_64-manylinux_2_28",
         "apache-tvm-ffi>=0.1.15"],
        what=f"fetching tvm-ffi for Python {PYTHON}",
        env=environments.environment_variables(),
    )  # fmt: skip
    _try_out(folder)
    _copy_tests(folder)
    make_artifacts(folder)
    script, plugin = _BESIDE
    shutil.copy(plugin, folder)
    script = Path(shutil.copy(script, folder / "run"))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        raise SetupError(f"{folder}: {size / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are wanted")
    say(f"{folder}: {size / 1e6:.0f} MB")
    return script


def _wheel(package: wheels.Package) -> Path:
    """The published wheel of a package's present sources, built unless the last one is of the same."""
    wanted = wheels.fingerprint(package)
    record = BUILD / "cuda-wheels" / f"{package.name}.txt"
    if record.exists():
        sources, _, path = record.read_text().partition(" ")
        if sources == wanted and Path(path).exists():
            return Path(path)
    record.unlink(missing_ok=True)
    made = wheels.release(package, PYTHON if package.needs_llvm_sources else "")
    if wheels.fingerprint(package) != wanted:
        raise SetupError(f"the sources of {package.name} changed while it was built: call this again")
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(f"{wanted} {made}")
    return made


def _try_out(folder: Path) -> None:
    """Have the wheels compile a kernel for sm_90a with nothing beside them, under the Python that they are for.

    Wheels of different states of the sources, and what they lack, show here, and not where the GPU is.
    """
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch, "site")
        shutil.copytree(folder / "site", site)
        for wheel in (folder / "wheels").glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(site)
        program = Path(scratch, "program.py")
        program.write_text(_PROGRAM)
        run(
            [environments.interpreter(PYTHON), "-S", program],
            what="compiling a kernel for sm_90a with the wheels alone",
            env={
                **os.environ, "PYTHONPATH": str(site), "PYTHONNOUSERSITE": "1", "FLYDSL_GPU_ARCH": "sm_90a",
                "COMPILE_ONLY": "1", "FLYDSL_RUNTIME_CACHE_DIR": str(Path(scratch, "cache")),
            },
        )  # fmt: skip


def _copy_tests(folder: Path) -> None:
    """The tests of each package with its settings for pytest, and the benchmarks."""
    for short in _TESTED:
        package = wheels.ALL[short].folder
        for name in ("tests", "examples"):
            if (package / name).is_dir():
                unwanted = shutil.ignore_patterns("__pycache__")
                shutil.copytree(package / name, folder / "packages" / package.name / name, ignore=unwanted)
        shutil.copy(package / "pyproject.toml", folder / "packages" / package.name)
    (folder / "bench").mkdir()
    for path in _BENCHMARKS.glob("cuda*.py"):
        shutil.copy(path, folder / "bench")


def make_artifacts(folder: Path) -> None:
    """Make what the tests of the runtime load, of which some is broken on purpose."""
    (folder / "artifacts").mkdir()
    python = wheels.install("dev", tuple(wheels.ALL), editable=True) / "bin" / "python"
    make = "import sys, pathlib, make_doubles; make_doubles.cuda_artifacts(pathlib.Path(sys.argv[1]))"
    run(
        [python, "-c", make, folder / "artifacts"],
        what="compiling the kernels of the runtime's tests",
        env={**os.environ, **environments.environment_variables(), "PYTHONPATH": str(PACKAGES / "fly-runtime/tests")},
    )


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
