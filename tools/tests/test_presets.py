# SPDX-License-Identifier: Apache-2.0
"""The presets that native packages are built by."""

import json
import subprocess

import pytest
from setup import debian, wheels
from setup.paths import ROOT

NATIVE = [package for package in wheels.ALL.values() if package.native]


@pytest.mark.parametrize("package", NATIVE, ids=lambda package: package.name)
def test_each_native_package_has_both(package):
    """CMake itself reads the file, with what it includes."""
    debian.ensure(debian.BUILD_PACKAGES)
    done = subprocess.run(["cmake", "--list-presets"], cwd=package.folder, capture_output=True, text=True, check=True)
    listed = [line.split('"')[1] for line in done.stdout.splitlines() if '"' in line]
    assert listed == ["dev", "release"]


@pytest.mark.parametrize("package", NATIVE, ids=lambda package: package.name)
def test_each_builds_where_its_wheel_is_built(package):
    presets = json.loads((package.folder / "CMakePresets.json").read_text())["configurePresets"]
    folders = {preset["name"]: preset["binaryDir"].replace("${sourceDir}", str(package.folder)) for preset in presets}
    assert {name: (ROOT / folder).resolve() for name, folder in folders.items()} == {
        "dev": wheels.BUILD / package.name,
        "release": wheels.BUILD / f"{package.name}-release",
    }


def test_the_compiler_is_the_one_that_is_installed():
    (preset,) = json.loads((ROOT / "tools" / "setup" / "presets.json").read_text())["configurePresets"]
    compilers = {preset["cacheVariables"][f"CMAKE_{language}_COMPILER"] for language in ("C", "CXX")}
    assert compilers == {f"clang-{debian.LLVM}", f"clang++-{debian.LLVM}"}
    assert f"clang-{debian.LLVM}" in debian.BUILD_PACKAGES
