# SPDX-License-Identifier: Apache-2.0
"""The wheels of the repository: built when their sources change, kept by content, installed into environments."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import debian, environments, llvm_sources, old_glibc
from .paths import BUILD, PACKAGES, ROOT, cache_dir
from .release_notes import release_notes
from .shell import SetupError, alone, run


@dataclass(frozen=True)
class Package:
    """A wheel of this repository: its name, its folder, and whether it holds native code.

    How native code is built stands in the folder's `CMakePresets.json`: `dev` here, `release` for what is published.
    """

    name: str
    folder: Path
    native: bool = False
    needs_llvm_sources: bool = False
    most_bytes: tuple[float, float] = (math.inf, math.inf)
    """The size that the published wheel may have, unpacked and packed."""
    tested_beside: tuple[str, ...] = ()
    """The other packages of ours that its tests have: an upward import must fail there."""
    tested_on: tuple[str, ...] = ("gfx942",)
    """The emulated architectures that its tests run on, one after the other."""

    @property
    def short(self) -> str:
        """The name without the common prefix, as the commands take it."""
        return self.name.removeprefix("fly-")


# The one list of the packages, the lower ones first: what builds, tests, checks and publishes them reads it.
ALL = {
    package.short: package
    for package in (
        Package("fly-layout", PACKAGES / "fly-layout"),
        Package("fly-runtime", PACKAGES / "fly-runtime", native=True, tested_beside=("emulator",)),
        Package("fly-emulator", ROOT / "tools" / "fly-emulator", native=True),
        Package(
            "fly-dialect",
            PACKAGES / "fly-dialect",
            native=True,
            needs_llvm_sources=True,
            most_bytes=(130e6, 45e6),
        ),
        Package("fly-compiler", PACKAGES / "fly-compiler", tested_beside=("layout", "runtime", "dialect", "emulator")),
        Package(
            "fly-autotune",
            PACKAGES / "fly-autotune",
            tested_beside=("layout", "runtime", "dialect", "compiler", "emulator"),
        ),
        Package(
            "fly-kernels",
            PACKAGES / "fly-kernels",
            tested_beside=("layout", "runtime", "dialect", "compiler", "autotune", "emulator"),
            tested_on=("gfx942", "gfx950"),
        ),
    )
}


# What wheels are built with, and what is written into each.
_BUILDERS = (
    environments.LOCKS / "build.txt",
    *map(Path(__file__).with_name, ("bill_of_materials.py", "compile.sh", "presets.json", "third_party.py")),
)


# Of libraries. Programs are linked only where CMake tries the compiler, against this machine's shared libstdc++.
_LINKER_FLAGS = ("CMAKE_SHARED_LINKER_FLAGS", "CMAKE_MODULE_LINKER_FLAGS")


def _sources(package: Package) -> list[Path]:
    """The files that a package is built from: what git tracks in it, and what it does not ignore."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", str(package.folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    built_from = (ROOT / name for name in sorted(set(listing.split("\0"))) if name)
    skipped = {"tests", "test", "unittests", "examples", "docs"}
    return [path for path in built_from if path.is_file() and path.relative_to(package.folder).parts[0] not in skipped]


def fingerprint(package: Package) -> str:
    """A hash of everything that a package is built from."""
    digest = hashlib.sha256()
    for path in (*_sources(package), *_BUILDERS):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def build(package: Package) -> Path:
    """The wheel of a package, built if there is none of its present sources."""
    if package.native:  # before the wheel is looked for: tests call some of these programs, too
        debian.ensure(debian.BUILD_PACKAGES)
    with alone(f"wheel {package.name}"):
        return _build(package)


def _build(package: Package) -> Path:
    shelf = BUILD / "wheels" / f"{package.name}-{fingerprint(package)}"
    ready = sorted(shelf.glob("*.whl"))
    if ready:
        return ready[0]
    (BUILD / "wheels").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD / "wheels") as scratch:
        wheel = _build_into(Path(scratch), package, BUILD / package.name)
        _add_bill_of_materials(package, wheel)
        for stale in (BUILD / "wheels").glob(f"{package.name}-*"):
            shutil.rmtree(stale, ignore_errors=True)
        shelf.mkdir()
        return Path(shutil.move(wheel, shelf / wheel.name))


def build_for(package: Package, version: str) -> Path:
    """The wheel of a package for another Python ("3.12"), in build/pythons; native code has a build tree for each.

    Raises:
        SetupError: there is no such Python on this machine, or the build fails.
    """
    target = BUILD / "pythons" / f"{package.name}-{version}"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if package.native:
        debian.ensure(debian.BUILD_PACKAGES)
    return _build_into(target, package, BUILD / f"{package.name}-{version}", version=version)


def _build_into(
    folder: Path,
    package: Package,
    tree: Path,
    *,
    preset: str = "dev",
    link_with: Path | None = None,
    version: str = "",
) -> Path:
    """Build the wheel of a package into a folder, in a build tree; native code by a preset of its `CMakePresets.json`.

    What is linked finds the libraries of `link_with` first. `version` names another Python than this one.
    """
    settings: list[str] = []
    variables = dict(environments.environment_variables())
    if package.native:
        settings += ["-C", f"build-dir={tree}", "-C", f"cmake.args=--preset={preset}"]
        linked = {} if link_with is None else dict.fromkeys(_LINKER_FLAGS, f"-L{link_with}")
        for name, value in linked.items():
            settings += ["-C", f"cmake.define.{name}={value}"]
        variables |= {
            "CCACHE_DIR": str(cache_dir() / "ccache"),
            "CCACHE_BASEDIR": str(ROOT),
            "CCACHE_NOHASHDIR": "1",
            # What ccache asks for where headers are precompiled.
            "CCACHE_SLOPPINESS": "pch_defines,time_macros",
            "CCACHE_PCH_EXTSUM": "1",  # compile.sh
            "CMAKE_BUILD_PARALLEL_LEVEL": str(len(os.sched_getaffinity(0))),
        }
    if package.needs_llvm_sources:
        try:
            variables["FLY_LLVM_SOURCES"] = str(llvm_sources.fetch(cache_dir(), int(debian.LLVM)))
        except llvm_sources.SetupError as error:
            raise SetupError(f"the sources of MLIR's Python bindings: {error}") from error
    python = environments.environment("build", version) / "bin" / "python"
    variables["PATH"] = f"{python.parent}{os.pathsep}{variables['PATH']}"
    run(
        [environments.tools_bin() / "uv", "build", "--wheel", "--no-build-isolation", "--python", python,
         "--out-dir", folder, *settings, package.folder],
        what=f"building {package.name}",
        env=variables,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    _check(wheel)
    return wheel


def _add_bill_of_materials(package: Package, wheel: Path, *options: str) -> None:
    run(
        [environments.environment("build") / "bin" / "python", "-m", "setup.bill_of_materials", *options, wheel],
        what=f"writing the bill of materials of {package.name}",
        cwd=ROOT / "tools",
    )


def release(package: Package, version: str = "") -> Path:
    """The wheel of a package as it is published, in build/release: native ones need glibc 2.28 and nothing else.

    Its release notes lie beside it, under the package's name. `version` ("3.12") names another Python than this one;
    the wheels for other Pythons stay.

    Raises:
        SetupError: it needs more than that, is larger than `Package.most_bytes` allows, has no release notes, or there
            is no such Python on this machine.
    """
    target = BUILD / "release"
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{package.name}.md").write_text(release_notes(package.name, package.folder))
    if not package.native:
        made = build(package)
        _remove_like(made.name, target)
        return Path(shutil.copy(made, target))
    debian.ensure(debian.BUILD_PACKAGES)
    tools = environments.environment("release") / "bin"
    variables = environments.environment_variables()
    with tempfile.TemporaryDirectory(dir=target) as scratch:
        wheel = _build_into(
            # As deep as the tree of the other build, so that ccache knows the objects.
            Path(scratch), package, BUILD / "-".join(filter(None, (package.name, "release", version))),
            preset="release", link_with=old_glibc.link_folder(), version=version,
        )  # fmt: skip
        repaired_in = Path(scratch, "repaired")
        run(
            [tools / "auditwheel", "repair", "--plat", old_glibc.PLATFORM, "--only-plat", "--wheel-dir", repaired_in,
             wheel],
            what=f"checking what {package.name} needs of a system",
            env=variables | {"PATH": f"{tools}{os.pathsep}{variables['PATH']}"},
        )  # fmt: skip
        (found,) = repaired_in.glob("*.whl")
        _remove_like(found.name, target)
        repaired = Path(shutil.move(found, target))
    _add_bill_of_materials(package, repaired, "--release")
    _check_release(package, repaired)
    return repaired


def _remove_like(name: str, folder: Path) -> None:
    """Remove the wheels of a folder that are of the same package, for the same Python, as a wheel's name says."""
    package, _, python = name.split("-")[:3]
    for stale in folder.glob(f"{package}-*-{python}-*.whl"):
        stale.unlink()


def sizes(wheel: Path) -> str:
    """How large a wheel is, for people."""
    unpacked, packed = _bytes_of(wheel)
    return f"{packed / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked"


def _bytes_of(wheel: Path) -> tuple[int, int]:
    with zipfile.ZipFile(wheel) as archive:
        return sum(entry.file_size for entry in archive.infolist()), wheel.stat().st_size


def _check_release(package: Package, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        grafted = [name for name in archive.namelist() if ".libs/" in name]
    if grafted:
        raise SetupError(f"{wheel.name}: links libraries of this machine: {', '.join(grafted)}")
    for size, most, how in zip(_bytes_of(wheel), package.most_bytes, ("unpacked", "packed"), strict=True):
        if size > most:
            raise SetupError(f"{wheel.name}: {size / 1e6:.1f} MB {how}; at most {most / 1e6:.0f} MB are wanted")


def _check(wheel: Path) -> None:
    """Refuse a wheel that would end the flydsl namespace for the others."""
    if "flydsl/__init__.py" in zipfile.ZipFile(wheel).namelist():
        raise SetupError(f"{wheel.name} ships flydsl/__init__.py: flydsl is a namespace that all wheels share")


def install(
    environment: str, packages: Sequence[str], *, with_tests: Sequence[str] = (), editable: bool = False
) -> Path:
    """Put wheels of the repository, with what they declare, into an environment; returns its folder.

    Those of `with_tests` come with their extra `test`. With `editable`, pure Python packages are installed as links to
    their sources.
    """
    with alone(f"wheels in environment {environment}"):
        return _install(environment, packages, with_tests, editable)


def _install(environment: str, packages: Sequence[str], with_tests: Sequence[str], editable: bool) -> Path:
    folder = environments.environment(environment)
    requirements: list[str] = []
    record: list[str] = []
    for short in packages:
        package = ALL[short]
        extra = "[test]" if short in with_tests else ""
        if editable and not package.native:
            requirements += ["-e", f"{package.folder}{extra}"]
            record.append(f"{package.name} editable {(package.folder / 'pyproject.toml').read_text()}")
        else:
            wheel = build(package)
            requirements += ["--reinstall-package", package.name, f"{package.name}{extra} @ {wheel.as_uri()}"]
            record.append(f"{package.name} {wheel.parent.name}")
    stamp = folder / "flydsl-installed.txt"
    wanted = "\n".join(record)
    if not stamp.exists() or stamp.read_text() != wanted:
        build_python = environments.environment("build") / "bin"
        path = f"{build_python}{os.pathsep}{environments.environment_variables()['PATH']}"
        names = ", ".join(ALL[short].name for short in packages)
        environments.install(
            folder,
            "install",
            *requirements,
            what=f"installing {names} into environment {environment}",
            env={"PATH": path},
        )
        _compile_imports(folder, environment)
        stamp.write_text(wanted)
    return folder


# What the first call of a process imports beside our own.
_OFTEN_IMPORTED = """
import importlib.util
for name in ("numpy", "torch"):
    if importlib.util.find_spec(name) is not None:
        __import__(name)
"""


def _compile_imports(folder: Path, environment: str) -> None:
    """Write the byte code of what most processes import.

    Where the machine says PYTHONDONTWRITEBYTECODE, each process that a test starts would compile 1,100 files of torch
    and 400 of ours, which takes longer than the test. Ours is checked by its source's hash: wheels of two versions have
    files of the same time.
    """
    python, what = folder / "bin" / "python", f"environment {environment}: byte code"
    run([python, "-c", _OFTEN_IMPORTED], what=what, env={"PYTHONDONTWRITEBYTECODE": ""})
    for ours in folder.glob("lib/python*/site-packages/flydsl"):
        run([python, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "checked-hash", ours], what=what)
