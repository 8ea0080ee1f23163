# SPDX-License-Identifier: Apache-2.0
"""What a user is told when the bindings do not load."""

import subprocess
import sys
from pathlib import Path

import pytest

from flydsl.dialect import doctor
from flydsl.dialect.doctor import explain, pythons_built_for, running_python


def fake_libraries(folder: Path, *tags: str) -> Path:
    libraries = folder / "_mlir" / "_mlir_libs"
    libraries.mkdir(parents=True)
    for tag in tags:
        (libraries / f"_mlir.{tag}-x86_64-linux-gnu.so").touch()
    return libraries


def test_a_good_installation() -> None:
    report = doctor()
    assert report.loads
    assert {running_python(), "abi3"} & set(report.built_for)
    assert "load" in str(report)


def test_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "flydsl.dialect"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert running_python() in done.stdout


def test_built_for_other_pythons(tmp_path: Path) -> None:
    folder = fake_libraries(tmp_path, "cpython-399", "cpython-398t")
    assert pythons_built_for(folder) == ("cpython-398t", "cpython-399")
    message = explain(ImportError("No module named '_mlir'"), folder)
    assert "cpython-398t, cpython-399" in message
    assert running_python() in message


@pytest.mark.parametrize(("version", "why"), [((3, 11), "for Python 3.12 and later"), ((3, 13), "undefined symbol")])
def test_built_for_later_pythons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: object, why: str) -> None:
    folder = tmp_path / "_mlir_libs"
    folder.mkdir()
    (folder / "_mlir.abi3.so").touch()
    assert pythons_built_for(folder) == ("abi3",)
    monkeypatch.setattr(sys, "version_info", version)
    assert why in explain(ImportError("undefined symbol: PyObject_GetTypeData"), folder)


def test_half_built_tree(tmp_path: Path) -> None:
    assert "PYTHONPATH" in explain(ImportError("No module named '_mlir'"), fake_libraries(tmp_path))


def test_missing_library(tmp_path: Path) -> None:
    folder = fake_libraries(tmp_path, running_python())
    error = ImportError("libMLIR.so.22.1: cannot open shared object file: No such file or directory")
    assert "needs libMLIR.so.22.1" in explain(error, folder)


def test_other_failures_are_passed_on(tmp_path: Path) -> None:
    folder = fake_libraries(tmp_path, running_python())
    assert "undefined symbol: foo" in explain(ImportError("undefined symbol: foo"), folder)


@pytest.mark.parametrize("tag", ["cpython-399"])
def test_the_import_itself_explains(tmp_path: Path, tag: str) -> None:
    """A package without a module for this Python raises an ImportError that names those that it has."""
    from flydsl import _mlir, dialect

    package = tmp_path / "flydsl"
    libraries = fake_libraries(package, tag)
    (libraries / "__init__.py").write_text("from . import _mlir\n")
    (package / "_mlir" / "__init__.py").write_text(Path(_mlir.__file__).read_text())
    (package / "dialect").mkdir()
    for name in ("__init__.py", "doctor.py"):
        (package / "dialect" / name).write_text((Path(dialect.__file__).parent / name).read_text())
    code = "import flydsl._mlir"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, env={}, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert f"was built for {tag}" in done.stderr
