# SPDX-License-Identifier: Apache-2.0
"""Fixtures: all sanitizers on for a test, and a kernel in assembly run under them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from assembly import aligned_words, kernel_f

from flydsl.emulator.device import Emulator, EmulatorError, Module


@pytest.fixture
def checked(emulator: Emulator) -> Iterator[Emulator]:
    emulator.set_sanitizers("all")
    yield emulator
    emulator.set_sanitizers()
    emulator.set_report_options()


@pytest.fixture
def check(checked: Emulator, build: Callable[..., Module]) -> Callable[..., list[dict[str, Any]]]:
    """Run `f(in, out)` in assembly; the result is what was found (empty: the kernel is clean)."""

    def run(
        code: str, arch: str, *, groups: int = 1, threads: int = 64, words: int = 1024, **options: int
    ) -> list[dict[str, Any]]:
        # Assembly about another check is written without wait states (test_hazards.py is about those).
        checked.set_sanitizers(*(name for name in checked.sanitizers() if name != "hazard"))
        kernel = build(kernel_f(code, arch, **options), arch, "asm", ()).kernel("f")
        x, y = aligned_words(words), aligned_words(words)
        x[:] = np.arange(words)
        failed = None
        try:
            kernel(groups, threads, x, y, names=["in", "out"])
        except EmulatorError as error:
            failed = error
        reports = checked.reports()
        if failed is not None and not reports:
            raise failed
        return reports

    return run
