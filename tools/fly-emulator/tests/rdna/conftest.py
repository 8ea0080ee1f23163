# SPDX-License-Identifier: Apache-2.0
"""What the tests of waves of 32 lanes share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from flydsl.emulator.device import Emulator, Module
from rdna.harness import DEVICES, Runner


@pytest.fixture(scope="package")
def emulator() -> Iterator[Emulator]:
    """The one of all tests, with devices of RDNA beside its own while the tests of this folder run."""
    instance = Emulator()
    instance.set_devices(*DEVICES)
    yield instance
    instance.set_devices(*DEVICES[:2])


@pytest.fixture
def run(build: Callable[..., Module]) -> Runner:
    return Runner(build)
