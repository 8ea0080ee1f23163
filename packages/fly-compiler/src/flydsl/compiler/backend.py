# SPDX-License-Identifier: Apache-2.0
"""Compile backends: what turns traced modules into code for a kind of device. There is one, `rocm`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..utils import env

__all__ = ["BaseBackend", "GPUTarget", "RocmBackend", "compile_backend_name", "get_backend", "register_backend"]


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

        return GPUTarget(compile_backend_name(), arch, get_warp_size(arch))

    def hash(self) -> str:
        """Return what of the backend and its target a cache key holds."""
        return f"{type(self).__module__}.{type(self).__qualname__} {self.target}"

    @abstractmethod
    def supports_target(self, target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""

    @abstractmethod
    def detect_target(self) -> GPUTarget:
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


class RocmBackend(BaseBackend):
    """AMD devices, hardware or emulated."""

    def supports_target(self, target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""
        return target.backend == "rocm" and target.arch.startswith("gfx")

    def detect_target(self) -> GPUTarget:
        """Return the target that the environment and the devices ask for."""
        from flydsl.runtime.device import get_rocm_arch, get_warp_size

        arch = get_rocm_arch()
        return GPUTarget("rocm", arch, get_warp_size(arch))

    def pipeline_fragments(self, *, compile_hints: Mapping[str, Any]) -> list[str]:
        """Return the passes, as texts of MLIR's pass manager, in order."""
        from .pipeline import stages

        arch = self.target.arch
        found = stages(
            arch,
            hints=dict(compile_hints),
            opt_level=env.compile.opt_level,
            debug_info=env.debug.enable_debug_info,
        )
        return [stage.text for stage in found]

    def gpu_module_targets(self) -> list[str]:
        """Return the target attributes of the device module, as MLIR texts."""
        return [f'#rocdl.target<chip = "{self.target.arch}">']

    def native_lib_patterns(self) -> list[str]:
        """Return glob patterns of the native libraries that the result depends on."""
        return ["_mlirDialects*.so", "libFly*.so*"]

    def jit_runtime_lib_basenames(self) -> list[str]:
        """Return the names of the shared libraries that an artifact needs."""
        return ["libflydsl_runtime.so.0"]


_backends: dict[str, type[BaseBackend]] = {"rocm": RocmBackend}


def register_backend(name: str, cls: type[BaseBackend], *, force: bool = False) -> None:
    """Register a backend.

    Raises:
        ValueError: the name is taken, unless `force`.
    """
    if name in _backends and not force:
        raise ValueError(f"compile backend {name!r} is registered already; pass force=True to replace it")
    _backends[name] = cls


def compile_backend_name() -> str:
    """Return the name of the backend in use (`FLYDSL_COMPILE_BACKEND`)."""
    return str(env.compile.backend)


def get_backend(name: str | None = None, *, arch: str = "") -> BaseBackend:
    """Return a backend, by default the one in use, for an architecture, by default the one that is asked for.

    Raises:
        ValueError: no backend has that name.
    """
    wanted = name or compile_backend_name()
    if wanted not in _backends:
        raise ValueError(f"unknown compile backend {wanted!r}; there are: {', '.join(sorted(_backends))}")
    found = _backends[wanted]
    return found(found.make_target(arch)) if arch else found()
