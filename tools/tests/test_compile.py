# SPDX-License-Identifier: Apache-2.0
"""What native packages are compiled through: clones in several folders share objects that use precompiled headers."""

import os
import subprocess

import pytest
from setup import debian
from setup.paths import ROOT

COMPILE = str(ROOT / "tools" / "setup" / "compile.sh")
FLAGS = ["-O2", "-fPIC", "-std=c++17", "-Winvalid-pch", "-Werror", "-Xclang", "-fno-pch-timestamp"]


@pytest.fixture
def build(tmp_path):
    """Compiles a header and a file that uses it as CMake does, in a folder; returns how many ccache found of both."""
    debian.ensure(debian.BUILD_PACKAGES)

    def run(name, header):
        folder = tmp_path / name
        tree = folder / "build" / "CMakeFiles"
        tree.mkdir(parents=True)
        (folder / "header.h").write_text(header)
        (folder / "user.cpp").write_text("int f() { return g() + M; }\n")
        (tree / "cmake_pch.hxx").write_text(f'#include "{folder}/header.h"\n')
        (tree / "cmake_pch.hxx.cxx").write_text("")
        env = {
            **os.environ,
            "CCACHE_DIR": str(tmp_path / "ccache"),
            "CCACHE_BASEDIR": str(folder),
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_SLOPPINESS": "pch_defines,time_macros",
            "CCACHE_PCH_EXTSUM": "1",
        }

        def compiled(*words):
            command = [COMPILE, f"clang++-{debian.LLVM}", *FLAGS, "-MD", "-MT", "x", "-MF", "x.d", *words]
            subprocess.run(command, cwd=folder / "build", env=env, check=True)

        def hits():
            counted = subprocess.run(["ccache", "--print-stats"], env=env, check=True, capture_output=True, text=True)
            counts = dict(line.split("\t")[:2] for line in counted.stdout.splitlines())
            return int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])

        header = f"{tree}/cmake_pch.hxx"
        before = hits()
        compiled("-fpch-instantiate-templates", "-Xclang", "-emit-pch", "-Xclang", "-include", "-Xclang", header,
                 "-x", "c++-header", "-o", "CMakeFiles/cmake_pch.hxx.pch", "-c", f"{header}.cxx")  # fmt: skip
        compiled("-Xclang", "-include-pch", "-Xclang", f"{header}.pch", "-Xclang", "-include", "-Xclang", header,
                 "-o", "user.o", "-c", f"{folder}/user.cpp")  # fmt: skip
        assert (folder / "build" / "user.o").stat().st_size > 0
        assert not (tree / "cmake_pch.hxx.pch.text").exists()
        return hits() - before

    return run


def test_objects_are_found_from_a_clone_in_another_folder(build):
    header = "#define M 3\ninline int g() { return 1; }\n"
    assert build("here", header) == 0
    assert build("elsewhere", header) == 1  # the header itself is of its folder


@pytest.mark.parametrize(
    "changed", ["#define M 4\ninline int g() { return 1; }\n", "#define M 3\ninline int g() { return 2; }\n"]
)
def test_objects_of_another_header_are_not_found(build, changed):
    build("here", "#define M 3\ninline int g() { return 1; }\n")
    assert build("elsewhere", changed) == 0
