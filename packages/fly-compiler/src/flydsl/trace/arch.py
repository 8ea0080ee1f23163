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
    """One of `flydsl.runtime.chips.FAMILIES`; `unknown`, or what its backend says."""
    warp_size: int
    lds_bytes: int
    clusters: bool = False
    """Whether workgroups can be launched in clusters."""

    @property
    def nvidia(self) -> bool:
        """Whether it is one of NVIDIA's."""
        from flydsl.runtime.architecture import is_nvidia

        return is_nvidia(self.chip)


@cache
def describe(name: str) -> Arch:
    """Return the facts about an architecture of AMD or NVIDIA (for example `gfx942`, `gfx1250-strict` or `sm_90a`)."""
    from flydsl.runtime.chips import family_of
    from flydsl.runtime.device import SMEM_CAPACITY_MAP, get_warp_size

    chip = name.split("-", 1)[0].split(":", 1)[0]
    family = family_of(chip)
    lds_bytes = SMEM_CAPACITY_MAP.get(chip, DEFAULT_LDS_BYTES)
    clusters = family is not None and family.clusters
    return Arch(name, chip, family.name if family else "unknown", get_warp_size(chip), lds_bytes, clusters)


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
