# SPDX-License-Identifier: Apache-2.0
"""The backend for AMD devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...utils import env
from .base import BaseBackend, GPUTarget

__all__ = ["RocmBackend"]


class RocmBackend(BaseBackend):
    """AMD devices, hardware or emulated."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""
        return target.backend == "rocm" and target.arch.startswith("gfx")

    @staticmethod
    def detect_target() -> GPUTarget:
        """Return the target that the environment and the devices ask for."""
        from flydsl.runtime.device import get_rocm_arch, get_warp_size

        arch = get_rocm_arch()
        return GPUTarget("rocm", arch, get_warp_size(arch))

    def pipeline_fragments(self, *, compile_hints: Mapping[str, Any]) -> list[str]:
        """Return the passes, as texts of MLIR's pass manager, in order."""
        from ..pipeline import stages

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
