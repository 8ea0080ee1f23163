# SPDX-License-Identifier: Apache-2.0
"""What the traced program may know about an AMD architecture.

One table, so that `fx.num_warp_threads()`, the LDS budget, atom selection and wait-count encodings agree.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Arch", "arch_from_environment", "describe"]

DEFAULT_ARCH = "gfx942"

# LDS bytes that one workgroup may use.
_LDS_BYTES = {"gfx942": 65536, "gfx950": 163840, "gfx1250": 327680}


@dataclass(frozen=True)
class Arch:
    """Facts about one target: `name` as the user wrote it, `chip` without the `-suffix`."""

    name: str
    chip: str
    family: str
    """One of `cdna`, `rdna3`, `rdna4`, `gfx1250`, `unknown`."""
    warp_size: int
    lds_bytes: int


@lru_cache(maxsize=None)
def describe(name: str) -> Arch:
    """Return the facts about the architecture `name` (for example `gfx942` or `gfx1250-strict`)."""
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
    return Arch(name, chip, family, 64 if family == "cdna" else 32, _LDS_BYTES.get(chip, 65536))


def arch_from_environment() -> str:
    """Return the architecture that the environment asks for: `ARCH`, `FLYDSL_GPU_ARCH`, else gfx942."""
    return os.environ.get("ARCH") or os.environ.get("FLYDSL_GPU_ARCH") or DEFAULT_ARCH
