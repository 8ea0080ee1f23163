# SPDX-License-Identifier: Apache-2.0
"""How a kernel whose threads need nothing from each other's vectors is cut into workgroups, and the defaults."""

from __future__ import annotations

from dataclasses import dataclass

from .arch import architecture
from .checks import chosen_config
from .defaults import kernel_defaults
from .row_plan import MAX_THREADS


@dataclass(frozen=True)
class WorkgroupConfig:
    """`threads` of a workgroup, each of which moves `vectors` times 16 bytes; `workgroup_config` has the defaults.

    Raises ValueError unless `threads` is a multiple of 64 up to 1024 and `vectors` is 1 to 16.
    """

    threads: int = 256
    vectors: int = 1

    def __post_init__(self) -> None:
        for name in ("threads", "vectors"):
            if isinstance(getattr(self, name), bool) or not isinstance(getattr(self, name), int):
                raise ValueError(f"WorkgroupConfig: {name} must be an integer, got {getattr(self, name)!r}")
        if self.threads % 64 or not 0 < self.threads <= MAX_THREADS:
            raise ValueError(
                f"WorkgroupConfig: threads must be a multiple of 64 up to {MAX_THREADS}, got {self.threads}"
            )
        if not 1 <= self.vectors <= 16:
            raise ValueError(f"WorkgroupConfig: vectors must be 1 to 16, got {self.vectors}")


def workgroup_config(kernel: str, config: WorkgroupConfig | None = None) -> WorkgroupConfig:
    """`config`, or where it is None the default of a kernel on the target ("workgroups" of `defaults.json`).

    Raises RuntimeError for a target that the library is not written for, TypeError for a `config` of another class.
    """
    return chosen_config(config, WorkgroupConfig(**kernel_defaults("workgroups", architecture().name, kernel)))
