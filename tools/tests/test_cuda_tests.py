# SPDX-License-Identifier: Apache-2.0
"""What is put together for a machine with a Hopper GPU."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from setup import commands, cuda_tests, wheels
from setup.shell import SetupError


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder made with wheels of one file, and without compilers."""

    def wheel(package: wheels.Package, version: str = "") -> Path:
        path = tmp_path / f"{package.name}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"flydsl/{package.short}/__init__.py", f"python = {version!r}")
        return path

    def make_artifacts(folder: Path) -> None:
        (folder / "artifacts").mkdir()
        (folder / "artifacts" / "large.so").write_bytes(b"x" * 1000)

    def fetch(command: list[str | Path], **settings: object) -> str:
        if "--target" in command:
            Path(command[command.index("--target") + 1]).mkdir()
        return ""

    monkeypatch.setattr(cuda_tests.wheels, "release", wheel)
    monkeypatch.setattr(cuda_tests, "BUILD", tmp_path / "build")
    monkeypatch.setattr(cuda_tests.environments, "interpreter", lambda version: Path(sys.executable))
    monkeypatch.setattr(cuda_tests, "run", fetch)
    monkeypatch.setattr(cuda_tests, "make_artifacts", make_artifacts)
    return tmp_path / "cuda"


def ran(script: Path, out: Path, *steps: str) -> tuple[int, str]:
    """The status and the log of the script, with a python3 that does nothing but fail for one of its steps."""
    programs = out.parent / "programs"
    programs.mkdir(exist_ok=True)
    real = sys.executable
    for name, text in {
        "python3": f'#!/bin/bash\n[[ "$*" == "-m zipfile"* ]] && exec {real} "$@"\n'
        'echo "python3 $*"\n[[ "$*" != *"cuda.py check pack" ]]',
        "nvidia-smi": "#!/bin/bash\necho Fake H1",
        "compute-sanitizer": '#!/bin/bash\nwhile [[ $1 != python3 ]]; do shift; done; "$@"',
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", script, out, *steps], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, (out / "log").read_text()


def test_the_script_goes_through_all_steps(made: Path, tmp_path: Path) -> None:
    """One fails: the others run, and the status says it."""
    status, log = ran(cuda_tests.prepare(made), tmp_path / "out")
    assert status == 1
    assert log.count("FAILED") == 1
    assert log.index("== kernels against float64") < log.index("FAILED (1)") < log.index("== memcheck: runtime")
    kept = log.index("--record-launches")
    assert (
        kept < log.index("cuda_sanitize.py record") < log.index("cuda_sanitize.py run") < log.index("== times of rows")
    )
    for said in (
        "-k not (inductor or graph or compile or opcheck) fly-kernels/tests/norm",
        "fly-kernels/tests/test_awkward_shapes.py fly-kernels/tests/attention/test_sliding_window.py",
        f"--out {tmp_path / 'out' / 'sanitizers'} --seconds 240",
        f"-n 12 --junitxml {tmp_path / 'out' / 'kernels.xml'} fly-kernels/tests/norm",
        "fly-compiler/tests/expr/run",
        f"cuda.py run pack {tmp_path / 'out' / 'results.json'}",
        f"cuda_gemm.py run products {tmp_path / 'out' / 'products.json'}",
        f"cuda_attention.py run attention {tmp_path / 'out' / 'attention.json'}",
    ):
        assert said in log
    assert log.endswith("status 1\n")


def test_steps_may_be_named(made: Path, tmp_path: Path) -> None:
    status, log = ran(cuda_tests.prepare(made), tmp_path / "out", "language", "attention")
    assert status == 0
    steps = [line for line in log.splitlines() if line.startswith("==")]
    said = ["attention, compiled here", "attention against float64", "times of attention"]
    assert steps == ["== doctor", "== language with tensors on the GPU", *(f"== {one}" for one in said)]


def test_what_travels(made: Path) -> None:
    cuda_tests.prepare(made)
    named = {
        "packages/fly-runtime/tests/test_cuda_hardware.py", "packages/fly-kernels/tests/conftest.py",
        "packages/fly-compiler/pyproject.toml", "bench/cuda_timing.py", "cuda_plugin.py", "wheels/fly-kernels.whl",
        "bench/cuda_sanitize.py", "bench/cuda_launches.py", "bench/cuda_planted.py",
    }  # fmt: skip
    assert all((made / name).exists() for name in named)
    assert not (made / "wheels" / "fly-emulator.whl").exists()
    with zipfile.ZipFile(made / "wheels" / "fly-dialect.whl") as archive:
        assert archive.read("flydsl/dialect/__init__.py") == b"python = '3.12'"


def test_wheels_of_different_states_are_refused_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler asks the dialect for what it has not: that shows before anything travels."""
    monkeypatch.setattr(cuda_tests.environments, "interpreter", lambda version: Path(sys.executable))
    (tmp_path / "site").mkdir()
    (tmp_path / "wheels").mkdir()
    for name, text in {"compiler": "from flydsl.dialect import newer_name", "dialect": "older_name = 1"}.items():
        with zipfile.ZipFile(tmp_path / "wheels" / f"{name}.whl", "w") as archive:
            archive.writestr(f"flydsl/{name}/__init__.py", text)
    with pytest.raises(SetupError, match="cannot import name 'newer_name'"):
        cuda_tests._try_out(tmp_path)


def test_a_wheel_is_taken_again_while_its_sources_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def release(package: wheels.Package, version: str) -> Path:
        built.append(version)
        path = tmp_path / "wheel.whl"
        path.touch()
        return path

    sources = ["one"]
    monkeypatch.setattr(cuda_tests, "BUILD", tmp_path)
    monkeypatch.setattr(cuda_tests.wheels, "release", release)
    monkeypatch.setattr(cuda_tests.wheels, "fingerprint", lambda package: sources[0])
    for _ in range(2):
        assert cuda_tests._wheel(wheels.ALL["dialect"]) == tmp_path / "wheel.whl"
    assert built == ["3.12"]
    sources[0] = "two"
    cuda_tests._wheel(wheels.ALL["dialect"])
    (tmp_path / "wheel.whl").unlink()
    cuda_tests._wheel(wheels.ALL["dialect"])
    assert len(built) == 3


def test_what_does_not_fit_is_refused(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_tests, "MOST_BYTES", 500)
    with pytest.raises(SetupError, match="at most 0 MB are wanted"):
        cuda_tests.prepare(made)


def test_no_package_beside_a_device() -> None:
    assert commands.main(["test", "--device", "cuda", "kernels"]) == 2
