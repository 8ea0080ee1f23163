# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest

from flydsl.emulator.device import Emulator

from .harness import Probe


@pytest.fixture
def probe(emulator: Emulator, compile_object: Callable[..., bytes], arch: str) -> Probe:
    return Probe(emulator, compile_object, arch, ("gfx942", "gfx950").index(arch))
