# SPDX-License-Identifier: Apache-2.0
"""The code of others that lies inside of our wheels: linked in, or compiled from headers and sources.

Licence texts are in the folder `licenses` of each package, and so in the wheel; `bill_of_materials.py` writes the rest.
A wheel that is published holds what one for this machine finds on it.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .debian import LLVM as LLVM_MAJOR
from .shell import SetupError


@dataclass(frozen=True)
class ThirdParty:
    """One component.

    Attributes:
        name: its name.
        licence: its licence, an SPDX expression.
        purl: a package URL, with {version}.
        files: its texts in the package's folder `licenses`.
        how: what part of it is in the wheel.
        version: finds out which one the build on this machine takes.
    """

    name: str
    licence: str
    purl: str
    files: tuple[str, ...]
    how: str
    version: Callable[[], str]
    release_only: bool = False


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SetupError(f"{' '.join(command)}: failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _debian(package: str) -> str:
    """The upstream version of an installed package of Debian."""
    version = _output("dpkg-query", "--show", "--showformat=${Version}", package)
    return re.split(r"[-+~]", version.partition(":")[2] or version)[0]


def _cpp_library() -> str:
    """The version of libstdc++ that clang links."""
    archive = _output(f"clang++-{LLVM_MAJOR}", "-print-file-name=libstdc++.a")
    found = re.search(r"/gcc/[^/]+/(\d+)/", str(Path(archive).resolve()))
    if found is None:
        raise SetupError(f"no static libstdc++ where clang looks for it: {archive}")
    return _debian(f"libstdc++-{found[1]}-dev")


def _robin_map() -> str:
    header = importlib.metadata.distribution("nanobind").locate_file(
        "nanobind/ext/robin_map/include/tsl/robin_growth_policy.h"
    )
    text = Path(str(header)).read_text()
    return ".".join(re.findall(r"#define TSL_RH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


_LLVM = "Apache-2.0 WITH LLVM-exception"
_LLVM_PURL = "pkg:github/llvm/llvm-project@llvmorg-{version}"
_CPP_LIBRARY = ThirdParty(
    "libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "pkg:generic/libstdc%2B%2B@{version}", ("libstdc++.txt",),
    "linked statically, with libgcc", _cpp_library,
)  # fmt: skip
_ZLIB = ThirdParty("zlib", "Zlib", "pkg:github/madler/zlib@v{version}", ("zlib.txt",), "linked statically",
                   lambda: _debian("zlib1g-dev"))  # fmt: skip
_ZSTD = ThirdParty("zstd", "BSD-3-Clause", "pkg:github/facebook/zstd@v{version}", ("zstd.txt",), "linked statically",
                   lambda: _debian("libzstd-dev"))  # fmt: skip

BY_WHEEL: dict[str, tuple[ThirdParty, ...]] = {
    "fly-dialect": (
        ThirdParty("LLVM", _LLVM, _LLVM_PURL, ("LLVM.txt",), "lld and MLIR's Python bindings, compiled in; when "
                   "published, the compiler itself", lambda: _debian(f"llvm-{LLVM_MAJOR}-dev")),
        ThirdParty("nanobind", "BSD-3-Clause", "pkg:pypi/nanobind@{version}", ("nanobind.txt",), "compiled in",
                   lambda: importlib.metadata.version("nanobind")),
        ThirdParty("robin-map", "MIT", "pkg:github/Tessil/robin-map@v{version}", ("robin-map.txt",),
                   "headers, by nanobind", _robin_map),
        replace(_ZLIB, release_only=True),
        replace(_ZSTD, release_only=True),
        replace(_CPP_LIBRARY, release_only=True),
    ),
    "fly-runtime": (
        ThirdParty("nlohmann-json", "MIT", "pkg:github/nlohmann/json@v{version}", ("nlohmann-json.txt",), "headers",
                   lambda: _debian("nlohmann-json3-dev")),
        ThirdParty("apache-tvm-ffi", "Apache-2.0", "pkg:pypi/apache-tvm-ffi@{version}",
                   ("tvm-ffi.txt", "tvm-ffi-NOTICE.txt"), "C headers, those of DLPack among them",
                   lambda: importlib.metadata.version("apache-tvm-ffi")),
        _CPP_LIBRARY,
    ),
    "fly-emulator": (
        ThirdParty("LLVM", _LLVM, _LLVM_PURL, ("LLVM.txt",), "the AMDGPU disassembler, linked statically",
                   lambda: _debian(f"llvm-{LLVM_MAJOR}-dev")),
        _ZLIB,
        _ZSTD,
        _CPP_LIBRARY,
    ),
}  # fmt: skip
"""By the name of the wheel; wheels of Python alone hold nothing of others."""


def inside(wheel: str, release: bool) -> tuple[ThirdParty, ...]:
    """What is in a wheel, by its name: the one that is published, or the one for this machine."""
    return tuple(one for one in BY_WHEEL.get(wheel, ()) if release or not one.release_only)
