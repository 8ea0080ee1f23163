# SPDX-License-Identifier: Apache-2.0
"""What all kernel tests share: sanitizers, wave orders, poisoned outputs, counters.

On the emulator every test runs with all sanitizers on; a launch with a finding fails with its report. `run` launches a
kernel under several orders of the waves into outputs full of poison and compares the results bit by bit. On hardware
the same tests run with one order and without sanitizers.

    def test_scale(run):
        y = run.empty(x)                              # like x, full of poison
        run(scale, x, y, 4, writes=[y])               # every order of waves gave these bits
        assert (y.double() - 2 * x.double()).abs().max() <= 2.0**-9

The device is the one of the process: FLYDSL_GPU_ARCH=gfx950 pytest packages/fly-kernels/tests
"""

from __future__ import annotations

import itertools
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import torch

from flydsl.runtime import current_device
from flydsl.runtime.device import get_rocm_arch

# tests/rows.py and tests/artifact_ptx.py, which test modules of several folders import as `rows` and `artifact_ptx`.
sys.path.insert(0, str(Path(__file__).parent))

# Program order, and two interleavings of the waves of a workgroup. FLYDSL_TEST_SEEDS=0,1,2,… tries others.
SEEDS = tuple(int(seed) for seed in os.environ.get("FLYDSL_TEST_SEEDS", "0,1,7919").split(","))

SANITIZERS = os.environ.get("FLYDSL_TEST_SANITIZERS", "all").split(",")

_POISON_BYTE = 0xA5  # of integers; no test expects it


def _emulator() -> Any:
    """The emulator's library, or None where the device is real."""
    if not current_device().emulated:
        return None
    from flydsl.emulator.device import Emulator

    return Emulator()


@pytest.fixture(scope="session")
def emulator() -> Any:
    """`flydsl.emulator.device.Emulator`, or None on hardware."""
    return _emulator()


@pytest.fixture(scope="session")
def arch() -> str:
    """The architecture that kernels are compiled for, as "gfx942"."""
    return get_rocm_arch().split(":")[0]


# Of the cases of a test, one in so many runs, and at least one; 1 runs all.
ONE_OF = int(os.environ.get("FLYDSL_TEST_ONE_OF", "1"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is marked `once` to the suite's first architecture, and take the share of the cases that is asked."""
    kept = items
    if get_rocm_arch().split(":")[0] != "gfx942":
        kept = [item for item in kept if not item.get_closest_marker("once")]
    if ONE_OF > 1:
        cases: dict[tuple[Any, ...], list[pytest.Item]] = {}
        for item in kept:
            cases.setdefault((item.path, item.parent, getattr(item, "originalname", item.name)), []).append(item)
        # Not every n-th: cases alternate between types and the like. The same ones in every process.
        chosen = {
            id(item)
            for group in cases.values()
            for item in ([one for one in group if crc32(one.name.encode()) % ONE_OF == 0] or group[:1])
        }
        kept = [item for item in kept if id(item) in chosen]
    left = {id(item) for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in left])
    items[:] = kept


@pytest.fixture(autouse=True)
def _watched(emulator: Any) -> Any:
    """All sanitizers on, waves in program order, counters off, whatever the test before this one did."""
    if emulator is not None:
        emulator.set_code_check(True)  # what some path of any kernel does wrong, whichever the test takes
        emulator.set_sanitizers(*SANITIZERS)
        emulator.set_seed(0)
        emulator.set_profiling(False)
    yield
    if emulator is not None:
        emulator.set_seed(0)
        emulator.set_profiling(False)


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """Random numbers are those of the test alone, whatever ran before it in this process."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def poison(tensor: torch.Tensor) -> torch.Tensor:
    """Fill with NaN, or with 0xA5 bytes where the type has none, in place: what a kernel leaves out shows."""
    if tensor.dtype.is_floating_point and tensor.element_size() > 1:
        return tensor.fill_(float("nan"))
    if tensor.dtype.is_floating_point:  # fp8: no fill_ for every one of them
        tensor.view(torch.uint8).fill_(0x80 if "fnuz" in str(tensor.dtype) else 0x7F)
        return tensor
    if tensor.dtype == torch.bool:
        return tensor.fill_(True)
    value = int.from_bytes(bytes([_POISON_BYTE]) * tensor.element_size(), "little", signed=tensor.dtype.is_signed)
    return tensor.fill_(value)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone(memory_format=torch.contiguous_format).view(torch.uint8)


class Runner:
    """Launch a kernel in every order of waves."""

    def __init__(self, emulator: Any) -> None:
        self._emulator = emulator

    @staticmethod
    def empty(like: torch.Tensor, shape: Iterable[int] | None = None, dtype: torch.dtype | None = None) -> torch.Tensor:
        """A poisoned tensor of the shape and type of `like`, or of those given."""
        return poison(torch.empty(tuple(like.shape if shape is None else shape), dtype=dtype or like.dtype))

    def __call__(
        self,
        kernel: Callable[..., Any],
        *arguments: Any,
        writes: Iterable[torch.Tensor],
        updates: Iterable[torch.Tensor] = (),
        same_bits: bool = True,
        seeds: Iterable[int] = SEEDS,
    ) -> Any:
        """Call `kernel(*arguments)` once per seed.

        Before each call the tensors of `writes` are poisoned and those of `updates` (read and written, as an
        accumulator is) get their first values back. After it, both must have the bits that the first call gave, unless
        `same_bits` is false: floating-point atomics add in the order of arrival. Tensors that are neither must not
        change. Returns what the last call returned.
        """
        writes, updates = list(writes), list(updates)
        held = {id(tensor) for tensor in (*writes, *updates)}
        inputs = [one for one in arguments if isinstance(one, torch.Tensor) and id(one) not in held]
        before = [_bits(one) for one in inputs]
        initial = [one.detach().clone() for one in updates]
        first: list[torch.Tensor] | None = None
        result = None
        seeds = list(seeds) if self._emulator is not None else [0]
        for seed in seeds:
            for tensor in writes:
                poison(tensor)
            for tensor, values in zip(updates, initial, strict=True):
                tensor.copy_(values)
            if self._emulator is not None:
                self._emulator.set_seed(seed)
            result = kernel(*arguments)
            got = [_bits(one) for one in (*writes, *updates)]
            if first is None:
                first = got
            elif same_bits:
                for index, (one, other) in enumerate(zip(first, got, strict=True)):
                    assert torch.equal(one, other), f"output {index} of seed {seed} differs from that of {seeds[0]}"
        for index, (tensor, bits) in enumerate(zip(inputs, before, strict=True)):
            assert torch.equal(_bits(tensor), bits), f"tensor argument {index}, an input, was written to"
        return result


@pytest.fixture
def hopper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kernels are compiled for sm_90a, and nothing is called."""
    monkeypatch.delenv("ARCH", raising=False)
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "sm_90a")
    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def run(emulator: Any) -> Runner:
    """See the page's top and `Runner.__call__`."""
    return Runner(emulator)


class Draws:
    """Random cases, until time is over: `for seed, choose in draws: …`, each with a generator of its own."""

    def __init__(self) -> None:
        self.seed = int(os.environ.get("FLYDSL_FUZZ_SEED", "0"))
        self.until = time.monotonic() + 60.0 * float(os.environ.get("FLYDSL_FUZZ_MINUTES", "0.2"))
        self.count = 0

    def __iter__(self) -> Iterator[tuple[int, random.Random]]:
        for seed in itertools.count(self.seed):
            if self.count and time.monotonic() > self.until:
                return
            self.count += 1
            yield seed, random.Random(seed)

    @staticmethod
    def length(choose: random.Random, most: int) -> int:
        """Any length up to `most`, short ones as often as long ones, and often next to a power of two."""
        exact = int(2.0 ** choose.uniform(0.0, math.log2(most)))
        near = (1 << exact.bit_length()) + choose.choice((-1, 0, 1))
        return max(1, min(most, choose.choice((exact, near))))

    @staticmethod
    def orders(choose: random.Random) -> list[int]:
        """Three orders of the waves, program order first."""
        return [0, choose.randrange(1, 2**31), choose.randrange(1, 2**31)]


@pytest.fixture
def draws() -> Draws:
    """See `Draws`; the messages of a test that uses it name the seed."""
    return Draws()


@pytest.fixture
def counters(emulator: Any) -> Callable[..., dict[str, Any]]:
    """`counters(kernel, *arguments)`: what the last kernel that the call launched did, as the emulator counts it.

    The keys are those of `flyemu_profile_json`. Skips on hardware.
    """
    if emulator is None:
        pytest.skip("counters are the emulator's")

    def profiled(kernel: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        emulator.set_sanitizers()
        emulator.set_profiling(True)
        kernel(*arguments)
        return emulator.profile()

    return profiled
