# SPDX-License-Identifier: Apache-2.0
"""What tools/bench/kernel_compile_time.py compiles: every family of the library, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import gemm, operators


def all_cases(arch: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(name, what compiles it) of each kernel for a target."""
    yield from operators.cases(arch)
    for name, fields in gemm.cases(arch):
        yield name, lambda fields=fields: gemm.compile_one(arch, fields)
