# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/emulator run: Python blocks of a page one after the other, and its `fly-emu` commands.

They find what the pages take for granted: kernels.hsaco, artifact.so and a.npy, b.npy, c.npy in the folder, and kernels
and arrays in Python.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator.cli import main
from flydsl.emulator.device import Emulator, Module

PAGES = Path(__file__).resolve().parents[3] / "docs" / "emulator"
DATA = Path(__file__).parent / "data"
SOURCE = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()
BLOCKS = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in sorted(PAGES.glob("*.md"))])
def test_examples(
    page: Path, emulator: Emulator, build: Callable[..., Module], compile_object: Callable[..., bytes],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    blocks = BLOCKS.findall(page.read_text())
    if not blocks:
        assert page.stem in ("opcodes", "fidelity", "rdna"), "a page without examples"
        return
    monkeypatch.chdir(tmp_path)
    image = compile_object(SOURCE, "gfx942")
    Path("kernels.hsaco").write_bytes(image)
    Path("artifact.so").write_bytes(Path(sys.executable).resolve().read_bytes()[:4096] + image)
    a, b, c = np.random.default_rng(0).standard_normal((3, 1000), dtype=np.float32)
    for name, array in (("a", a), ("b", b), ("c", c)):
        np.save(name, array)
    half = np.ones((64, 64), np.float16)
    kernels = build(SOURCE, "gfx942")
    names = {
        "a": a.copy(), "b": b.copy(), "c": c.copy(), "x": half, "y": half, "z": np.zeros((64, 64), np.float32),
        "vector_add": kernels.kernel("vector_add"), "gemm_f16": kernels.kernel("gemm_f16"),
    }  # fmt: skip
    try:
        for language, text in blocks:
            if language == "python":
                exec(compile(text, page.name, "exec"), names)
                continue
            for line in text.splitlines():
                command, *arguments = shlex.split(line)
                assert command == "fly-emu"
                assert main(arguments) == 0, line
    finally:
        emulator.set_devices("gfx942", "gfx950")
        emulator.set_sanitizers()
        emulator.set_profiling(0)
