# SPDX-License-Identifier: Apache-2.0
"""What the traced program may know about an AMD architecture.

The facts are those of `flydsl.runtime.device`, so that tracing, code generation and the device agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

__all__ = ["Arch", "arch_from_environment", "describe"]

_DEFAULT_LDS_BYTES = 65536  # of architectures that the runtime's table does not list


@dataclass(frozen=True)
class Arch:
    """Facts about one target: `name` as the user wrote it, `chip` without the `-suffix`."""

    name: str
    chip: str
    family: str
    """One of `cdna`, `rdna3`, `rdna4`, `gfx1250`, `unknown`."""
    warp_size: int
    lds_bytes: int


@cache
def describe(name: str) -> Arch:
    """Return the facts about the architecture `name` (for example `gfx942` or `gfx1250-strict`)."""
    from flydsl.runtime.device import SMEM_CAPACITY_MAP, get_warp_size

    chip = name.split("-", 1)[0].split(":", 1)[0]
    if chip.startswith("gfx9"):
        family = "cdna"
    elif chip.startswith("gfx11"):
        family = "rdna3"
    elif chip.startswith("gfx125"):
        family = "gfx1250"
    elif chip.startswith("gfx12"):
        family = "rdna4"
    else:
        family = "unknown"
    return Arch(name, chip, family, get_warp_size(chip), SMEM_CAPACITY_MAP.get(chip, _DEFAULT_LDS_BYTES))


def arch_from_environment() -> str:
    """Return the target of this process: what the environment asks for, else the current device's, else gfx942."""
    from flydsl.runtime.device import get_rocm_arch

    return get_rocm_arch()
