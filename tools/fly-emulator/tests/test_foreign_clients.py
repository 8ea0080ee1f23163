# SPDX-License-Identifier: Apache-2.0
"""Programs that know nothing of the emulator: they use the library where libamdhip64.so would be."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import tool

from flydsl.emulator._library import library_path
from flydsl.emulator.device import Emulator, EmulatorError

CLIENTS = Path(__file__).parent / "hip_clients"
DATA = Path(__file__).parent / "data"
SOURCE = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()
# What drivers of other compilers, array libraries and Python wrappers look up by name.
LOOKED_UP = (DATA / "hip-entry-points.txt").read_text().split()


def run(command: list[str], arch: str) -> tuple[str, str]:
    """What the client prints, and what the library has to say."""
    environment = dict(os.environ, FLYDSL_GPU_ARCH=arch, LD_LIBRARY_PATH=str(Path(library_path()).parent))
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    return done.stdout, done.stderr


@pytest.mark.parametrize("compressed", [False, True])
def test_hip_program(tmp_path: Path, arch: str, compressed: bool) -> None:
    """Compiled by clang for host and device: a fat binary, host stubs, symbols, graphs, a cooperative launch."""
    flags = ["--offload-arch=gfx942", "--offload-arch=gfx950", "-nogpulib", "-nogpuinc"]
    flags += ["--offload-compress"] if compressed else []
    program, unit = tmp_path / "program", tmp_path / "program.o"
    build = [
        tool("clang++"),
        "-x",
        "hip",
        "-std=c++17",
        "-O1",
        *flags,
        "-c",
        str(CLIENTS / "program.hip"),
        "-o",
        str(unit),
    ]
    done = subprocess.run(build, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    link = [tool("clang++"), str(unit), library_path(), "-o", str(program)]
    done = subprocess.run(link, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    said = "fly-emulator: hipMalloc3DArray is not offered by the emulator\n"
    assert run([str(program)], arch) == ("all right\n", said)


def test_client_that_loads_the_library(tmp_path: Path, arch: str, compile_object: Callable[..., bytes]) -> None:
    image, client = tmp_path / "kernel.hsaco", tmp_path / "client"
    image.write_bytes(compile_object(SOURCE, arch))
    build = [tool("clang"), "-O1", str(CLIENTS / "client.c"), "-o", str(client), "-ldl"]
    done = subprocess.run(build, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert run([str(client), library_path(), str(image)], arch) == ("all right\n", "")


def test_names_that_clients_look_up(emulator: Emulator) -> None:
    assert [name for name in LOOKED_UP if not hasattr(emulator.library, name)] == []


@pytest.mark.parametrize("other", ["gfx1201", "gfx1100", "gfx90a"])
def test_code_for_other_architectures_is_refused_by_name(
    emulator: Emulator, compile_object: Callable[..., bytes], other: str
) -> None:
    source = (DATA / "device.h").read_text() + "KERNEL void one(GLOBAL int *x) { x[TID] = 1; }"
    with pytest.raises(EmulatorError, match=other) as raised:
        emulator.load(compile_object(source, other, "c", ("-O2",)))
    assert raised.value.name == "hipErrorNoBinaryForGpu"


def test_what_is_not_offered_says_so(emulator: Emulator) -> None:
    assert emulator.library.hipTexRefSetFormat(None, 0, 0) == 801
    emulator.library.flyemu_last_error.restype = ctypes.c_char_p
    assert b"hipTexRefSetFormat is not offered" in emulator.library.flyemu_last_error()
