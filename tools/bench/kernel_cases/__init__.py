# SPDX-License-Identifier: Apache-2.0
"""What tools/bench/kernels.py compares: by operation, shape and dtype our kernel, Triton's and the peer's entry."""

from __future__ import annotations

from collections.abc import Iterator

from . import attention, gemm, quant, rope, rows
from .model import Case


def all_cases(arch: str) -> Iterator[Case]:
    """Every case for an architecture."""
    for family in (rows, quant, rope, gemm, attention):
        yield from family.cases(arch)
