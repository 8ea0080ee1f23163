# SPDX-License-Identifier: Apache-2.0
"""What is put together for a machine with a Hopper GPU."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from setup import commands, cuda_tests
from setup.shell import SetupError


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder made with a runtime of one file, and without compilers."""
    wheel = tmp_path / "runtime.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("flydsl/runtime/__main__.py", "print('the doctor')")

    def make_artifacts(folder: Path) -> None:
        (folder / "artifacts").mkdir()
        (folder / "pack").mkdir()
        (folder / "pack" / "large.so").write_bytes(b"x" * 1000)

    monkeypatch.setattr(cuda_tests.wheels, "build", lambda package: wheel)
    monkeypatch.setattr(cuda_tests, "run", lambda command, **settings: "")
    monkeypatch.setattr(cuda_tests, "make_artifacts", make_artifacts)
    return tmp_path / "cuda"


def test_the_script_goes_through_all_steps(made: Path, tmp_path: Path) -> None:
    """With a python3 that fails for one of them: the others run, and the status says it."""
    script = cuda_tests.prepare(made)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {
        "python3": '#!/bin/bash\necho "python3 $*"\n[[ "$*" != *"cuda.py check pack" ]]',
        "nvidia-smi": "#!/bin/bash\necho Fake H1",
        "compute-sanitizer": '#!/bin/bash\nwhile [[ $1 != python3 ]]; do shift; done; "$@"',
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", script, tmp_path / "out"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    log = (tmp_path / "out" / "log").read_text()
    assert log.count("FAILED") == 1
    assert log.index("== kernels against float64") < log.index("FAILED (1)") < log.index("== memcheck: runtime")
    assert log.count("cuda.py check pack --only=-1000") == 4
    assert f"cuda.py run pack {tmp_path / 'out' / 'results.json'}" in log
    assert log.endswith("status 1\n")
    named = {"tests/test_cuda_hardware.py", "cuda.py", "pack", "artifacts", "site"}
    assert all((made / name).exists() for name in named)


def test_what_does_not_fit_is_refused(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_tests, "MOST_BYTES", 500)
    with pytest.raises(SetupError, match="at most 0 MB are wanted"):
        cuda_tests.prepare(made)


def test_no_package_beside_a_device() -> None:
    assert commands.main(["test", "--device", "cuda", "kernels"]) == 2
