# SPDX-License-Identifier: Apache-2.0
"""What the estimates know about devices, in cycles; and the hash of this library that results are kept under."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import flydsl.runtime as runtime

from ..common.arch import architecture

__all__ = [
    "LAUNCH_CYCLES", "LOAD_CYCLES", "Peak", "operands_in_turn", "peak", "place_of_operands", "sets_of_operands",
    "sources_hash",
]  # fmt: skip

T = TypeVar("T")

LAUNCH_CYCLES = 4000.0  # a kernel's start and end
LOAD_CYCLES = 900.0  # from a load to its value, not in L2
_RESIDENT = 1 << 30  # bytes of operands that take turns on a GPU: of 256 MiB some stay in an L2 of 50
_turns = itertools.count()


@dataclass(frozen=True)
class Peak:
    """Per cycle of the shader clock: `flops` of 16-bit matrix instructions of a compute unit, bytes of HBM (all compute
    units) and what one compute unit gets of L2 when all ask (AMD's: half of a line)."""

    units: int
    flops: float
    hbm: float
    l2: float


# AMD's data sheets: MI300X 1307 TFLOP/s (16 bits), 5.3 TB/s, 2.1 GHz; MI355X 2.5 PFLOP/s, 8 TB/s, 2.4 GHz.
# NVIDIA's: H100 SXM 989.4 TFLOP/s (16 bits, without sparsity; 8 bits twice that), 3.35 TB/s, 1.83 GHz. Of the L2 it
# tells 5,120 bytes a cycle of the A100 (its whitepaper), which is what all 132 multiprocessors have here.
_PEAKS = {"gfx942": (2048.0, 2520.0, 32.0), "gfx950": (4096.0, 3330.0, 32.0), "sm_90a": (4096.0, 1830.0, 5120 / 132)}
_H200_HBM = 2620.0  # the H200 is an H100 with 4.8 TB/s


def peak() -> Peak:
    """The target's; of sm_90a the H200's where that is the current device, else the H100's.

    Raises ValueError for a target whose data sheet is not here.
    """
    arch = architecture()
    if arch.name not in _PEAKS:
        raise ValueError(f"the estimates of flydsl.kernels.tuning are for {', '.join(_PEAKS)}, not for {arch.name}")
    flops, hbm, l2 = _PEAKS[arch.name]
    if arch.name == "sm_90a" and "H200" in _device_name():
        hbm = _H200_HBM
    return Peak(arch.compute_units, flops, hbm, l2)


@lru_cache(maxsize=1)
def _device_name() -> str:
    """That of the current device; empty where there is none."""
    try:
        return runtime.current_device().name
    except (runtime.DeviceError, FileNotFoundError):
        return ""


def place_of_operands() -> str:
    """Where problems have their tensors, for torch: on the GPU, or, on the emulated device, on the CPU."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def operands_in_turn(operands: Sequence[T]) -> T:
    """The next of some operands, those of one call after the other."""
    return operands[next(_turns) % len(operands)]


def sets_of_operands(size: int) -> int:
    """How many sets of operands of so many bytes take turns, so that a GPU reads them from its memory: 1 on the CPU."""
    return 1 if place_of_operands() == "cpu" else max(2, -(-_RESIDENT // size))


@lru_cache(maxsize=1)
def sources_hash() -> str:
    """A hash of the sources of this library: what is tuned is more than one function's text."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
