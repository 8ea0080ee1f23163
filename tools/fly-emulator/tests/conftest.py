# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the emulator, and kernels compiled from C or assembled, cached for the session."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from flydsl.emulator.device import Emulator, Module
from rdna.harness import DEVICES

ARCHITECTURES = ("gfx942", "gfx950")
DATA = Path(__file__).parent / "data"


def tool(name: str) -> str:
    """A tool of LLVM 22, with or without the version in its name."""
    for candidate in (f"{name}-22", name):
        path = shutil.which(candidate)
        if path:
            return path
    pytest.skip(f"{name}-22 (Debian: clang-22 llvm-22 lld-22) is not installed")


@pytest.fixture(scope="session")
def emulator() -> Emulator:
    instance = Emulator()
    instance.set_devices(*ARCHITECTURES)
    return instance


@pytest.fixture(autouse=True)
def defaults(emulator: Emulator) -> None:
    """Each test starts with program order, the default limit, nothing switched on and no device failed."""
    emulator.library.flyemu_forget_failures()
    emulator.set_seed(0)
    emulator.set_instruction_limit(0)


@pytest.fixture(scope="session")
def compile_object(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """Compile C or assembly source for an architecture to a linked code object; `flags` are clang's or llvm-mc's."""
    folder = tmp_path_factory.mktemp("objects")

    def compile_source(source: str, arch: str, language: str = "c", flags: tuple[str, ...] = ("-O2", "-g")) -> bytes:
        key = hashlib.sha256(repr((source, arch, language, flags)).encode()).hexdigest()[:20]
        output = folder / f"{key}.hsaco"
        if not output.exists():
            suffix = {"c": ".c", "asm": ".s"}[language]
            path = folder / (key + suffix)
            path.write_text(source)
            triple, chip = "amdgcn-amd-amdhsa", f"-mcpu={arch}"
            if language == "asm":  # what clang runs, too, but clang itself takes as long as both
                made = str(path.with_suffix(".o"))
                words = [word for word in ("-dwarf-version=5", *flags) if word != "-O2"]
                commands = [
                    (tool("llvm-mc"), f"-triple={triple}", chip, "-filetype=obj", *words, str(path), "-o", made),
                    (tool("ld.lld"), "--no-undefined", "-shared", made, "-o", str(output)),
                ]
            else:
                commands = [(tool("clang"), "-target", triple, chip, "-nogpulib", *flags, str(path), "-o", str(output))]
            for command in commands:
                done = subprocess.run(command, capture_output=True, text=True, timeout=600)
                assert done.returncode == 0, done.stderr
        return output.read_bytes()

    return compile_source


@pytest.fixture
def build(emulator: Emulator, compile_object: Callable[..., bytes]) -> Callable[..., Module]:
    """Compile and load; unloaded after the test."""
    modules: list[Module] = []

    def build_module(source: str, arch: str, language: str = "c", flags: tuple[str, ...] = ("-O2", "-g")) -> Module:
        image = compile_object(source, arch, language, flags)
        modules.append(emulator.load(image, DEVICES.index(arch)))
        return modules[-1]

    yield build_module  # type: ignore[misc]
    for module in modules:
        module.unload()


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)
