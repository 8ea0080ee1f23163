# SPDX-License-Identifier: Apache-2.0
"""The wheels that are published need neither this machine's libraries nor its glibc.

They are installed for each Python at hand, and their libraries run what the compiler exported under glibc 2.31, Debian
11's, from a C++ program: that system's own Python is older than the ones that the wheels are for.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from kernels import scale, vector_add

import flydsl.compiler as flyc

ROOT = Path(__file__).resolve().parents[2]
OLD_SUITE = "bullseye"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
STABLE = PYTHONS[2:]  # fly-dialect has one wheel for all of these
SERVICE = ("fly_layout", "fly_runtime", "fly_autotune", "fly_kernels", "fly_emulator")

pytestmark = pytest.mark.slow


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1800, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheels():
    """All wheels of a release, by the name of their package."""
    said = run(ROOT / "tools" / "dev", "build", "--release")
    return {path.name.partition("-")[0]: path for path in map(Path, re.findall(r"^(\S+\.whl) ", said, re.MULTILINE))}


@pytest.fixture(scope="session")
def stable_dialect():
    """The wheel of fly-dialect for Python 3.12 and whatever follows, from the oldest of these at hand."""
    builder = next(filter(of_version, STABLE), None)
    if builder is None:
        pytest.skip("no Python from 3.12 on on this machine")
    said = run(ROOT / "tools" / "dev", "build", "--release", "--python", builder, "dialect")
    wheel = Path(said.splitlines()[-1].split()[0])
    assert "-cp312-abi3-" in wheel.name
    return wheel


def plain_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FLYDSL_"))}


def of_version(version):
    """A Python of a version: on the path, or one of pyenv's."""
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")]
    for python in filter(None, found):
        if subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("version", PYTHONS)
def test_the_service_for_each_python(wheels, version, tmp_path):
    """All wheels but that of the compiler's core are for every Python."""
    python = of_version(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    run(python, "-m", "venv", tmp_path / "venv")
    inside = tmp_path / "venv" / "bin" / "python"
    run(
        inside, "-m", "pip", "install", "--quiet", *(wheels[name] for name in SERVICE), "numpy", env=plain_environment()
    )
    a, b = torch.ones(8), torch.ones(8)
    flyc.compile.only(scale, a, b, 2.0, 8).export(tmp_path / "scale.so")
    code = """
import json, sys
import numpy as np
import flydsl.autotune, flydsl.emulator, flydsl.kernels, flydsl.layout
import flydsl.runtime as runtime
scale = runtime.load_artifact(sys.argv[1])
a, b = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
scale(a, b, 3.0, 8)
print(json.dumps([b.tolist(), runtime.current_device().arch]))
"""
    said = run(inside, "-I", "-c", code, tmp_path / "scale.so", env=plain_environment())
    assert json.loads(said.splitlines()[-1])[0] == [3.0 * i for i in range(8)]


def test_the_compiler(wheels, tmp_path):
    """All wheels, for the Python that fly-dialect was built for."""
    compiles_and_runs(of_version(f"{sys.version_info[0]}.{sys.version_info[1]}"), wheels, tmp_path)


@pytest.mark.parametrize("version", STABLE)
def test_the_compiler_for_later_pythons(wheels, stable_dialect, version, tmp_path):
    python = of_version(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    compiles_and_runs(python, wheels | {"fly_dialect": stable_dialect}, tmp_path)


def compiles_and_runs(python, wheels, tmp_path):
    """Compile a kernel with wheels that are all there is, run it, and look at what the compiler's library exports."""
    run(python, "-m", "venv", tmp_path / "venv")
    inside = tmp_path / "venv" / "bin" / "python"
    run(inside, "-m", "pip", "install", "--quiet", *wheels.values(), "numpy", env=plain_environment())
    program = tmp_path / "saxpy.py"
    program.write_text(
        """
import numpy as np
import flydsl.compiler as flyc
import flydsl.expr as fx

@flyc.kernel
def saxpy_kernel(a: fx.Float32, X: fx.Tensor, Y: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        Y[i] = a * X[i] + Y[i]

@flyc.jit
def saxpy(a: fx.Float32, X: fx.Tensor, Y: fx.Tensor, n: fx.Int32):
    saxpy_kernel(a, X, Y, n).launch(grid=((n + 63) // 64,), block=(64,))

x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
saxpy(2.0, x, y, 100)
assert (y == 2 * x + 1).all()
print("right")
try:
    import flydsl._mlir.ir as ir
    ir.Module.parse("this is no module", ir.Context())
except Exception as error:  # C++ exceptions cross the libraries
    print(type(error).__name__)
"""
    )
    environment = plain_environment() | {"FLYDSL_RUNTIME_CACHE_DIR": str(tmp_path / "cache")}
    said = run(inside, "-I", program, env=environment).split()
    assert said == ["right", "MLIRError"]
    (library,) = tmp_path.glob("venv/lib/*/site-packages/flydsl/_mlir/_mlir_libs/libFlyDialect.so")
    exported = run("nm", "--dynamic", "--defined-only", library).split()[2::3]
    assert exported
    assert all(name.startswith("FlyInit_") for name in exported)


@pytest.fixture(scope="session")
def old_system(tmp_path_factory):
    """The folder of an old Debian's C library."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from setup import llvm_sources
    finally:
        sys.path.pop(0)
    folder = tmp_path_factory.mktemp("old")
    lines = [line.replace("deb-src ", "deb ").replace(llvm_sources.SUITE, OLD_SUITE)
             for line in llvm_sources.archive_lines()]  # fmt: skip
    apt = llvm_sources.Apt(folder / "apt", lines)
    apt.run("apt-get", "update", "-q")
    apt.run("apt-get", "download", "-q", f"libc6/{OLD_SUITE}")
    (package,) = apt.download.glob("libc6_*.deb")
    run("dpkg-deb", "-x", package, folder / "root")
    return folder / "root" / "lib" / "x86_64-linux-gnu"


def test_an_old_system(wheels, old_system, tmp_path):
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from setup import old_glibc
    finally:
        sys.path.pop(0)
    for name in ("fly_runtime", "fly_emulator"):
        zipfile.ZipFile(wheels[name]).extractall(tmp_path)
    (runtime,) = tmp_path.glob("**/libflydsl_runtime.so.0")
    (emulator,) = tmp_path.glob("**/libfly_emulator.so")
    a = torch.zeros(1000)
    flyc.compile.only(vector_add, a, a.clone(), a.clone(), 1000).export(tmp_path / "vector_add.so")
    program = tmp_path / "program"
    run("clang++-22", "-std=c++17", "-static-libstdc++", "-static-libgcc",
        ROOT / "packages" / "fly-runtime" / "examples" / "call_from_cpp.cpp", f"-I{ROOT}/packages/fly-runtime/include",
        tmp_path / "vector_add.so", runtime, f"-L{old_glibc.link_folder()}", "-o", program)  # fmt: skip
    (loader,) = old_system.glob("ld-linux-x86-64.so.2")
    folders = os.pathsep.join(map(str, (old_system, runtime.parent, tmp_path)))
    environment = {"PATH": os.environ["PATH"], "FLYDSL_HIP_LIBRARY": str(emulator), "HOME": str(tmp_path)}
    said = run(loader, "--library-path", folders, program, env=environment)
    assert "0 of 1000 wrong" in said
