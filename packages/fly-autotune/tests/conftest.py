# SPDX-License-Identifier: Apache-2.0
"""Every test has folders of its own for what the tuner and the compiler keep, and nothing set that it did not set."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """The tuner's cache folder."""
    for name in ("FLYDSL_AUTOTUNE", "FLYDSL_AUTOTUNE_CONFIG_DIR", "COMPILE_ONLY", "FLYDSL_EMU_SANITIZE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "autotune"
    monkeypatch.setenv("FLYDSL_AUTOTUNE_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(autouse=True)
def same_numbers():
    """Random numbers are those of the test alone, whatever ran before it in this process."""
    random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def compile_cache(tmp_path_factory):
    """The compiler's cache folder, one for the run: private as the compiler wants it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("compiled")
        folder.chmod(0o700)
        patch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(folder))
        yield folder


class Bench:
    """A `do_bench` that calls once, and gives each configuration the time of its BLOCK.

    Attributes:
        times: milliseconds by BLOCK.
        calls: (BLOCK, warmup, rep) of each measurement.
    """

    def __init__(self, **times: float) -> None:
        self.times = {int(name.removeprefix("b")): value for name, value in times.items()}
        self.calls: list[tuple[int, int, int]] = []
        self.last = 0

    def __call__(self, call: Callable[[], None], warmup: int, rep: int) -> float:
        call()
        self.calls.append((self.last, warmup, rep))
        return self.times[self.last]


@pytest.fixture
def bench() -> Bench:
    """BLOCK=2 is the fastest of 1, 2 and 3."""
    return Bench(b1=5.0, b2=3.0, b3=4.0)


@pytest.fixture
def kernel(bench: Bench) -> Any:
    """A function with the parameters of a launcher that records its calls in `kernel.runs`."""
    runs: list[SimpleNamespace] = []

    def kernel(x: Any, n: int, out: Any = None, BLOCK: int = 0, stream: Any = None) -> int:
        bench.last = BLOCK
        runs.append(SimpleNamespace(x=x, n=n, out=None if out is None else out.tolist(), block=BLOCK))
        return BLOCK

    kernel.runs = runs  # type: ignore[attr-defined]
    return kernel
