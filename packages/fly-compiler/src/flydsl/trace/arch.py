# SPDX-License-Identifier: Apache-2.0
"""What the traced program may know about its target.

The facts about AMD's and NVIDIA's architectures are those of `flydsl.runtime.device`, so that tracing, code generation
and the device agree. Those about other targets are their backends' (`flydsl.compiler.BaseBackend.arch`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

__all__ = ["DEFAULT_LDS_BYTES", "Arch", "default_arch", "describe", "register_default_arch"]

DEFAULT_LDS_BYTES = 65536
"""Of architectures that no table lists."""


@dataclass(frozen=True)
class Arch:
    """Facts about one target: `name` as the user wrote it, `chip` without the `-suffix`."""

    name: str
    chip: str
    family: str
    """One of `cdna`, `rdna3`, `rdna4`, `gfx1250`, `hopper`; `unknown`, or what its backend says."""
    warp_size: int
    lds_bytes: int
    clusters: bool = False
    """Whether workgroups can be launched in clusters."""

    @property
    def nvidia(self) -> bool:
        """Whether it is one of NVIDIA's."""
        return self.chip.startswith("sm_")


@cache
def describe(name: str) -> Arch:
    """Return the facts about an architecture of AMD or NVIDIA (for example `gfx942`, `gfx1250-strict` or `sm_90a`)."""
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
    elif chip.startswith("sm_90"):
        family = "hopper"
    else:
        family = "unknown"
    lds_bytes = SMEM_CAPACITY_MAP.get(chip, DEFAULT_LDS_BYTES)
    return Arch(name, chip, family, get_warp_size(chip), lds_bytes, clusters=family in ("gfx1250", "hopper"))


def _amd_default() -> Arch:
    from flydsl.runtime.device import get_rocm_arch

    return describe(get_rocm_arch())


_default: Callable[[], Arch] = _amd_default


def default_arch() -> Arch:
    """Return the target of this process: what the environment asks for, else the current device's, else gfx942."""
    return _default()


def register_default_arch(default: Callable[[], Arch]) -> None:
    """Have `default()` answer for `default_arch`: the layer that has backends asks the one in use."""
    global _default
    _default = default
