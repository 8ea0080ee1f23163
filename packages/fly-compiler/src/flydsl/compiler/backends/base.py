# SPDX-License-Identifier: Apache-2.0
"""What a compile backend answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["BaseBackend", "GPUTarget"]


@dataclass(frozen=True)
class GPUTarget:
    """A device to compile for: backend, architecture, lanes of a wave."""

    backend: str
    arch: str
    warp_size: int


class BaseBackend(ABC):
    """What a backend answers for one target.

    Args:
        target: what to compile for; by default what the environment and the devices ask for.
    """

    def __init__(self, target: GPUTarget | None = None) -> None:
        self.target = self.detect_target() if target is None else target
        if not self.supports_target(self.target):
            raise ValueError(f"{type(self).__name__} compiles for no target {self.target}")

    @classmethod
    def make_target(cls, arch: str) -> GPUTarget:
        """Return the target of an architecture's name."""
        from flydsl.runtime.device import get_warp_size

        from . import compile_backend_name

        return GPUTarget(compile_backend_name(), arch, get_warp_size(arch))

    def hash(self) -> str:
        """Return what of the backend and its target a cache key holds."""
        return f"{type(self).__module__}.{type(self).__qualname__} {self.target}"

    @staticmethod
    @abstractmethod
    def supports_target(target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""

    @staticmethod
    @abstractmethod
    def detect_target() -> GPUTarget:
        """Return the target that the environment and the devices ask for."""

    @abstractmethod
    def pipeline_fragments(self, *, compile_hints: Mapping[str, Any]) -> list[str]:
        """Return the passes, as texts of MLIR's pass manager, in order."""

    @abstractmethod
    def gpu_module_targets(self) -> list[str]:
        """Return the target attributes of the device module, as MLIR texts."""

    @abstractmethod
    def native_lib_patterns(self) -> list[str]:
        """Return glob patterns of the native libraries that the result depends on."""

    @abstractmethod
    def jit_runtime_lib_basenames(self) -> list[str]:
        """Return the names of the shared libraries that an artifact needs."""
