# SPDX-License-Identifier: Apache-2.0
"""The target architecture and what follows from it. This is the one source of truth: code generation, kernels that ask
for the architecture, and the emulator all get it here.
"""

from __future__ import annotations

from . import hardware
from .architecture import is_nvidia, processor, requested_arch
from .chips import CHIPS, family_of
from .errors import DeviceError

DEFAULT_ARCH = "gfx942"

SMEM_CAPACITY_MAP: dict[str, int] = {name: chip.lds_bytes for name, chip in CHIPS.items()}
"""LDS of one workgroup (on NVIDIA, shared memory of one block), in bytes, by processor."""


def get_rocm_arch() -> str:
    """The target architecture, AMD's or NVIDIA's: what the environment asks for, else the current device's, else
    gfx942.

    Raises ValueError as `requested_arch` does.
    """
    return requested_arch() or hardware.find_arch() or DEFAULT_ARCH


def get_rocm_device_count() -> int:
    """How many devices there are, emulated ones included; 0 when no library has any."""
    try:
        return len(hardware.devices())
    except DeviceError:
        return 0


def is_rdna_arch(arch: str | None = None) -> bool:
    """Whether an architecture (None: the target) is RDNA: gfx10*, gfx11*, gfx120*. gfx1250 is not."""
    family = family_of(processor(arch or get_rocm_arch()))
    return family is not None and family.rdna


def get_warp_size(arch: str | None = None) -> int:
    """Lanes of a wave: 64 on GCN and CDNA (gfx9 and before), 32 on RDNA, gfx125x and NVIDIA's."""
    name = processor(arch or get_rocm_arch())
    family = family_of(name)
    if family is not None:
        return family.wave
    return 32 if is_nvidia(name) else 64


def check_smem_capacity(allocated_bytes: int, arch: str | None = None) -> None:
    """Raise RuntimeError when a workgroup's LDS is more than the architecture (None: the target) has.

    An architecture that SMEM_CAPACITY_MAP doesn't list is not checked.
    """
    name = processor(arch or get_rocm_arch())
    capacity = SMEM_CAPACITY_MAP.get(name)
    if capacity is not None and allocated_bytes > capacity:
        raise RuntimeError(f"LDS of {allocated_bytes} bytes is more than the {capacity} that a workgroup has on {name}")
