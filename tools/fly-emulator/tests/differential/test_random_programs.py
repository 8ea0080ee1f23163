# SPDX-License-Identifier: Apache-2.0
"""One C source, compiled for amdgcn and for x86; the results agree bit for bit.

``pytest -m slow`` runs 500 programs for each architecture, the normal run 20. FLYDSL_EMU_PROGRAM=<seed> runs one.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generator import BLOCKS, COUNTERS, INPUTS, OUTPUTS, THREADS, Generator

from flydsl.emulator.device import Emulator, Module

_FLOAT = ("-ffp-contract=off", "-fno-strict-aliasing", "-Wno-everything")
_HOST = (
    "-Xclang",
    "-ffloat16-excess-precision=none",
    "-Xclang",
    "-fbfloat16-excess-precision=none",
    "-mfma",
    "-mf16c",
    "-mavx2",
)


LEVELS = ("-O1", "-O2", "-O3", "-Os", "-O0")


def inputs_of(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**32, (BLOCKS, THREADS, INPUTS), dtype=np.uint32)
    floats = rng.random(words.shape) < 0.5
    words[floats] = (10 * rng.standard_normal(int(floats.sum()))).astype(np.float32).view(np.uint32)
    return words


def run_on_host(source: str, tmp_path: Path, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    path, library = tmp_path / "program.c", tmp_path / "program.so"
    path.write_text(source)
    clang = "clang-22"
    command = [clang, "-O1", "-shared", "-fPIC", *_FLOAT, *_HOST, str(path), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    out, counters = np.zeros((BLOCKS, THREADS, OUTPUTS), np.uint32), initial_counters()
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (words, out, counters)]
    ctypes.CDLL(str(library)).run(*pointers)
    return out, counters


def initial_counters() -> np.ndarray:
    counters = np.full(COUNTERS, 0x0F0F0F0F, np.uint32)
    counters[16:] = 0  # doubles
    return counters


def check(seed: int, arch: str, build: Callable[..., Module], emulator: Emulator, tmp_path: Path) -> None:
    source = Generator(seed).program()
    words = inputs_of(seed)
    want, want_counters = run_on_host(source, tmp_path, words)
    level = LEVELS[seed % len(LEVELS)]
    module = build(source, arch, flags=(level, *_FLOAT))
    out, counters = np.zeros_like(want), initial_counters()
    emulator.set_seed(seed % 3)
    module.kernel("run")(BLOCKS, THREADS, words, out, counters)
    np.testing.assert_array_equal(out, want, err_msg=f"program {seed}")
    np.testing.assert_array_equal(counters, want_counters, err_msg=f"program {seed}")


_ONE = os.environ.get("FLYDSL_EMU_PROGRAM")


@pytest.mark.parametrize("seed", [int(_ONE)] if _ONE else range(20))
def test_program(seed: int, arch: str, build: Callable[..., Module], emulator: Emulator, tmp_path: Path) -> None:
    check(seed, arch, build, emulator, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_many_programs(seed: int, arch: str, build: Callable[..., Module], emulator: Emulator, tmp_path: Path) -> None:
    check(seed, arch, build, emulator, tmp_path)
