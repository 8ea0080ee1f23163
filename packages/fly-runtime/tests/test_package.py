# SPDX-License-Identifier: Apache-2.0
"""What importing the package costs, and what the installed wheel holds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from flydsl import runtime

Python = Callable[..., subprocess.CompletedProcess[str]]


def test_import_loads_almost_nothing(python: Python) -> None:
    code = """
import sys
before = set(sys.modules)
import flydsl.runtime
print(*sorted(set(sys.modules) - before))
"""
    loaded = python(["-c", code]).stdout.split()
    assert {name for name in loaded if name.startswith("flydsl")} == {"flydsl", "flydsl.runtime"}
    assert {"torch", "numpy", "tvm_ffi", "ctypes", "logging", "dataclasses"}.isdisjoint(loaded)


def test_devices_need_no_framework(python: Python, doubles: Path) -> None:
    code = """
import sys
from flydsl import runtime
from flydsl.runtime import device, environment, variables
runtime.current_device()
print({"torch", "numpy", "tvm_ffi"} & set(sys.modules))
"""
    assert python(["-c", code], FLYDSL_HIP_LIBRARY=str(doubles / "libhip.so")).stdout == "set()\n"


def test_public_names() -> None:
    for name in runtime.__all__:
        assert getattr(runtime, name) is not None
    assert set(runtime.__all__) <= set(dir(runtime))
    with pytest.raises(AttributeError, match=r"module 'flydsl\.runtime' has no attribute 'nothing'"):
        runtime.nothing  # type: ignore[attr-defined]


def test_installed_files() -> None:
    assert runtime.library_path().name == "libflydsl_runtime.so.0"
    assert (runtime.include_dir() / "flydsl" / "runtime.h").is_file()
    assert (Path(runtime.__file__).parent / "py.typed").is_file()
    assert not (Path(runtime.__file__).parent.parent / "__init__.py").exists()


def test_source_tree_says_so(python: Python, tmp_path: Path) -> None:
    """A PYTHONPATH that leads to a source tree without the library."""
    import shutil

    shutil.copytree(
        Path(runtime.__file__).parent,
        tmp_path / "flydsl" / "runtime",
        ignore=shutil.ignore_patterns("lib", "include", "__pycache__"),
    )
    done = python("from flydsl import runtime; runtime.current_device()")
    assert "flydsl.runtime is imported from a source tree. Install the wheel" in done.stderr


def test_header_is_c_and_cpp(tmp_path: Path) -> None:
    import make_doubles as build

    source = tmp_path / "use.c"
    source.write_text('#include "flydsl/runtime.h"\nint main(void) { return flydsl_last_error()[0]; }\n')
    flags = [f"-I{runtime.include_dir()}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", str(source)]
    build.run([build.compiler("gcc", "clang-22", "cc"), "-std=c11", *flags])
    build.run([build.compiler("g++", "clang++-22", "c++"), "-std=c++11", "-x", "c++", *flags])


def test_library_exports_only_its_interface() -> None:
    import shutil

    nm = shutil.which("nm") or shutil.which("llvm-nm-22")
    if nm is None:
        pytest.skip("neither nm nor llvm-nm-22 is installed")
    listing = subprocess.run(
        [nm, "-D", "--defined-only", str(runtime.library_path())], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1] for line in listing.splitlines()}
    assert names
    assert all(name.startswith("flydsl_") for name in names), names
