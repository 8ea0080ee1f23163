# SPDX-License-Identifier: Apache-2.0
"""The wheels that claim every Python from 3.10 on: each Python at hand, with the newest and the oldest dependencies.

What the compiler of this environment's Python exported runs there. fly-dialect, and so the compiler, compiles and runs
with nothing installed but what the wheels ask for. With `-m slow` it is built for each Python at hand, once for all
from 3.12 on, compiles and runs there (some minutes of C++ each).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from kernels import scale

import flydsl.compiler as flyc

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "build" / "wheels"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PACKAGES = ("fly-layout", "fly-runtime", "fly-autotune", "fly-kernels", "fly-emulator")
COMPILER = ("fly-layout", "fly-runtime", "fly-dialect", "fly-compiler", "fly-emulator")
SMOKE = """
import json, pathlib, sys
import numpy as np
import flydsl.autotune, flydsl.emulator, flydsl.kernels, flydsl.layout as layout, flydsl.runtime as runtime

artifact = runtime.load_artifact(sys.argv[1])
a = np.random.default_rng(3).standard_normal(1000, dtype=np.float32)
b = np.full(1000, np.nan, dtype=np.float32)
artifact(a, b, 1.5, 1000)
try:
    artifact(a, b, "1.5", 1000)
    refused = False
except TypeError as error:
    refused = "factor" in str(error)
print(json.dumps({
    "python": sys.version_info[:2],
    "error": float(np.abs(b - a * np.float32(1.5)).max()),
    "device": repr(runtime.current_device()),
    "refused": refused,
    "size": layout.size(layout.make_layout((4, 8), (8, 1))),
}))
"""


COMPILE = """
import json, sys
import numpy as np
sys.path.append(sys.argv[1])
from kernels import scale

a = np.random.default_rng(5).standard_normal(1001, dtype=np.float32)
b = np.full(1001, np.nan, dtype=np.float32)
scale(a, b, 1.5, 1001)
print(json.dumps({"error": float(np.abs(b - a * np.float32(1.5)).max()), "torch": "torch" in sys.modules}))
"""


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "scale.so"
    flyc.compile.only(scale, torch.ones(8), torch.ones(8), 2.0, 8).export(path)
    return path


def uv(*words):
    program = os.environ.get("UV") or shutil.which("uv")
    if program is None:
        pytest.fail("uv is not on PATH: run this through tools/dev test integration")
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True)


def python_at_hand(version):
    """An interpreter of that version: one that uv finds, or one of pyenv that is not on PATH; None without any."""
    found = uv("python", "find", "--no-python-downloads", version)
    if found.returncode == 0:
        return found.stdout.strip()
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return next(iter(sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True)), None)


def wheel(name):
    found = sorted(WHEELS.glob(f"{name}-*/*.whl"), key=lambda path: path.stat().st_mtime)
    assert found, f"tools/dev build {name} was not run"
    return found[-1]  # the newest: this run installed it


def environment_of(folder, interpreter, resolution, packages, *more):
    """A Python with wheels of ours and the newest or oldest of what they ask for, and the variables to run it with."""
    made = uv("venv", "--quiet", "--no-python-downloads", "--python", interpreter, folder)
    assert made.returncode == 0, made.stderr
    python = folder / "bin" / "python"
    # Of the dependencies only what is built: the oldest that a Python has.
    options = ("--quiet", "--python", python, "--resolution", resolution, "--only-binary", ":all:")
    installed = uv("pip", "install", *options, "numpy>=1.26", *map(wheel, packages), *more)
    assert installed.returncode == 0, installed.stderr
    return python, {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@pytest.mark.parametrize("resolution", ["highest", "lowest-direct"])
def test_the_compiler_runs(tmp_path, resolution):
    compile_and_run(tmp_path, *environment_of(tmp_path / "env", sys.executable, resolution, COMPILER))


@pytest.fixture(scope="module")
def dialect_for():
    """A function that returns the wheel of fly-dialect for a Python: from 3.12 on one, which the oldest builds."""
    made = {}

    def build(version):
        stable = [one for one in VERSIONS[VERSIONS.index("3.12") :] if python_at_hand(one)]
        builder = stable[0] if version in stable else version
        if builder not in made:
            done = subprocess.run(
                [ROOT / "tools" / "dev", "build", "dialect", "--python", builder], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
            made[builder] = Path(done.stdout.splitlines()[-1])
            assert ("-abi3-" in made[builder].name) == (version in stable)
        return made[builder]

    return build


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_compiler_is_built_for_each_python(tmp_path, dialect_for, version):
    interpreter = python_at_hand(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on this machine")
    dialect = dialect_for(version)
    others = [name for name in COMPILER if name != "fly-dialect"]
    compile_and_run(tmp_path, *environment_of(tmp_path / "env", interpreter, "highest", others, dialect))


def compile_and_run(tmp_path, python, environment):
    """Compile a kernel from source with a Python, and run it."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    environment["FLYDSL_RUNTIME_CACHE_DIR"] = str(cache)
    done = subprocess.run(
        [python, "-I", "-c", COMPILE, Path(__file__).parent],
        capture_output=True, text=True, env=environment, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {"error": 0, "torch": False}
    assert list(cache.rglob("*.so"))  # it compiled


@pytest.mark.parametrize("resolution", ["highest", "lowest-direct"])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_artifact_runs(tmp_path, artifact, version, resolution):
    interpreter = python_at_hand(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on this machine")
    python, environment = environment_of(tmp_path / "env", interpreter, resolution, PACKAGES)
    done = subprocess.run(
        [python, "-I", "-c", SMOKE, artifact], capture_output=True, text=True, env=environment, timeout=600
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["python"] == [int(part) for part in version.split(".")]
    assert said["error"] == 0
    assert "emulated" in said["device"]
    assert said["refused"]
    assert said["size"] == 32
