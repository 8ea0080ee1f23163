# SPDX-License-Identifier: Apache-2.0
"""Debian packages that the native builds need."""

from __future__ import annotations

import os
import shutil
import subprocess

from .shell import SetupError, alone, run

LLVM = "22"  # the major version that the whole repository is built against

BUILD_PACKAGES = (
    f"libmlir-{LLVM}-dev",
    f"mlir-{LLVM}-tools",
    f"llvm-{LLVM}-dev",
    f"llvm-{LLVM}-tools",
    f"liblld-{LLVM}-dev",
    f"lld-{LLVM}",
    f"clang-{LLVM}",
    f"clang-tools-{LLVM}",  # clang-offload-bundler, which clang calls for HIP programs with device code
    "cmake",
    "ninja-build",
    "ccache",
    "g++",
    "nlohmann-json3-dev",
    "libzstd-dev",
    "zlib1g-dev",
    "xz-utils",
    "python3-dev",
    "git",
)
LINT_PACKAGES = (f"clang-format-{LLVM}",)
TIDY_PACKAGES = (f"clang-tidy-{LLVM}",)


def missing(packages: tuple[str, ...]) -> list[str]:
    """Those of the packages that are not installed."""
    listing = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status} ${binary:Package}\n"], capture_output=True, text=True
    ).stdout
    installed = {line.split()[1].split(":")[0] for line in listing.splitlines() if line.startswith("installed ")}
    return [package for package in packages if package not in installed]


def ensure(packages: tuple[str, ...]) -> None:
    """Install what is missing, with apt.

    Raises SetupError on a system without apt, and when apt fails.
    """
    if shutil.which("apt-get") is None:
        raise SetupError(
            "this is not a Debian system (no apt-get). Install the equivalents of these packages by hand, and build "
            f"each folder of packages/ with pip: {' '.join(packages)}"
        )
    with alone("Debian"):
        _install(missing(packages))


def _install(wanted: list[str]) -> None:
    if not wanted:
        return
    root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    hint = "Run it as root, or install the packages by hand: apt-get install " + " ".join(wanted)
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run([*root, "apt-get", "update"], what="updating Debian's package lists", env=quiet, hint=hint)
    run(
        [*root, "apt-get", "install", "--yes", "--no-install-recommends", *wanted],
        what=f"installing {len(wanted)} Debian packages: {' '.join(wanted)}",
        env=quiet,
        hint=hint,
    )
