# SPDX-License-Identifier: Apache-2.0
"""What the estimates know about devices, in cycles; and the hash of this library that results are kept under."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..common.arch import architecture

__all__ = ["LAUNCH_CYCLES", "LOAD_CYCLES", "Peak", "peak", "sources_hash"]

LAUNCH_CYCLES = 4000.0  # a kernel's start and end
LOAD_CYCLES = 900.0  # from a load to its value, not in L2


@dataclass(frozen=True)
class Peak:
    """Per cycle of the shader clock: `flops` of 16-bit matrix instructions of a compute unit, bytes of HBM (all compute
    units) and what one compute unit gets of L2 when all ask (half of a line)."""

    units: int
    flops: float
    hbm: float
    l2: float


# AMD's data sheets: MI300X 1307 TFLOP/s (16 bits), 5.3 TB/s, 2.1 GHz; MI355X 2.5 PFLOP/s, 8 TB/s, 2.4 GHz.
_PEAKS = {"gfx942": (2048.0, 2520.0), "gfx950": (4096.0, 3330.0)}


def peak() -> Peak:
    """The target's.

    Raises ValueError for a target whose data sheet is not here.
    """
    arch = architecture()
    if arch.name not in _PEAKS:
        raise ValueError(f"the estimates of flydsl.kernels.tuning are for {', '.join(_PEAKS)}, not for {arch.name}")
    flops, hbm = _PEAKS[arch.name]
    return Peak(arch.compute_units, flops, hbm, 32.0)


@lru_cache(maxsize=1)
def sources_hash() -> str:
    """A hash of the sources of this library: what is tuned is more than one function's text."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
