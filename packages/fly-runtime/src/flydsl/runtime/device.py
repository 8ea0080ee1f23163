# SPDX-License-Identifier: Apache-2.0
"""The target architecture and what follows from it. This is the one source of truth: code generation, kernels that ask
for the architecture, and the emulator all get it here.
"""

from __future__ import annotations

import re

from . import hardware, variables
from .errors import DeviceError

DEFAULT_ARCH = "gfx942"

SMEM_CAPACITY_MAP: dict[str, int] = {
    "gfx942": 65536,
    "gfx950": 163840,
    "gfx1100": 65536,
    "gfx1151": 65536,
    "gfx1201": 65536,
    "gfx1250": 327680,
}
"""LDS of one workgroup, in bytes, by processor."""

_ARCH = re.compile(r"gfx[0-9a-f]{3,4}(-[a-z0-9_-]+)?(:[a-z]+[+-])*")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def processor(arch: str) -> str:
    """The processor of an architecture's name: "gfx942" of "gfx942:xnack-", "gfx1250" of "gfx1250-strict"."""
    return re.split("[:-]", arch, maxsplit=1)[0]


def _checked(arch: str, variable: str) -> str:
    if not _ARCH.fullmatch(arch):
        raise ValueError(f"environment variable {variable}={arch!r}: expected an architecture like gfx942")
    return arch


def _from_version(text: str) -> str:
    """`gfx942` from ROCm's way of writing it, "9.4.2"; stepping and minor version are hexadecimal digits."""
    parts = _VERSION.fullmatch(text)
    if parts is None:
        return _checked(text, variables.HSA_OVERRIDE.name)
    major, minor, stepping = (int(part) for part in parts.groups())
    if minor > 15 or stepping > 15:
        raise ValueError(f"environment variable {variables.HSA_OVERRIDE.name}={text!r}: expected gfx942 or 9.4.2")
    return f"gfx{major}{minor:x}{stepping:x}"


def requested_arch() -> str | None:
    """The architecture that the environment asks for, or None.

    `ARCH` and `FLYDSL_GPU_ARCH` mean the same; `HSA_OVERRIDE_GFX_VERSION` counts when neither is set. Raises ValueError
    for a value that is no architecture, and when the first two are both set and differ.
    """
    arch, gpu_arch = variables.ARCH.get(), variables.GPU_ARCH.get()
    if arch and gpu_arch and arch != gpu_arch:
        raise ValueError(
            f"environment variables ARCH={arch!r} and FLYDSL_GPU_ARCH={gpu_arch!r} mean the same thing but differ: "
            "set one of them, or both to the same architecture"
        )
    if arch:
        return _checked(arch, "ARCH")
    if gpu_arch:
        return _checked(gpu_arch, "FLYDSL_GPU_ARCH")
    override = variables.HSA_OVERRIDE.get()
    return _from_version(override) if override else None


def get_rocm_arch() -> str:
    """The target architecture: what the environment asks for, else the current device's, else gfx942.

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
    return processor(arch or get_rocm_arch()).startswith(("gfx10", "gfx11", "gfx120"))


def get_warp_size(arch: str | None = None) -> int:
    """Lanes of a wave: 64 on GCN and CDNA (gfx9 and before), 32 on RDNA and gfx125x."""
    return 32 if processor(arch or get_rocm_arch()).startswith(("gfx10", "gfx11", "gfx12")) else 64


def check_smem_capacity(allocated_bytes: int, arch: str | None = None) -> None:
    """Raise RuntimeError when a workgroup's LDS is more than the architecture (None: the target) has.

    An architecture that SMEM_CAPACITY_MAP doesn't list is not checked.
    """
    name = processor(arch or get_rocm_arch())
    capacity = SMEM_CAPACITY_MAP.get(name)
    if capacity is not None and allocated_bytes > capacity:
        raise RuntimeError(f"LDS of {allocated_bytes} bytes is more than the {capacity} that a workgroup has on {name}")
