# SPDX-License-Identifier: Apache-2.0
"""The backend for AMD devices."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from flydsl.trace.arch import Arch, describe
from flydsl.trace.diagnostics import DSLCompileError
from flydsl.utils import env

from .base import BaseBackend, DeviceTexts, GPUTarget, Stage

if TYPE_CHECKING:
    from flydsl._mlir import ir

__all__ = ["RocmBackend"]


class RocmBackend(BaseBackend):
    """AMD devices, hardware or emulated."""

    artifact_kind: ClassVar[str] = "hsaco"
    device_api: ClassVar[str | None] = "rocm"
    dlpack_device: ClassVar[int | None] = 10  # kDLROCM

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""
        return target.backend == "rocm" and target.arch.startswith("gfx")

    @staticmethod
    def detect_target() -> GPUTarget:
        """Return the target that the environment and the devices ask for."""
        from flydsl.runtime.device import get_rocm_arch

        return RocmBackend.make_target(get_rocm_arch())

    @classmethod
    def make_target(cls, arch: str) -> GPUTarget:
        """Return the target of an architecture's name, whatever backend is in use."""
        from flydsl.runtime.device import get_warp_size

        return GPUTarget("rocm", arch, get_warp_size(arch))

    def arch(self) -> Arch:
        """Return what traced programs may know of the target."""
        return describe(self.target.arch)

    def stages(
        self,
        *,
        hints: Mapping[str, Any],
        opt_level: int,
        debug_info: bool,
        link_libs: Sequence[str] = (),
        ktrace: bool = False,
        mark_uninitialised: bool = False,
    ) -> list[Stage]:
        """Return the steps from a traced program to code objects: those of `fly-opt --fly-default-pipeline`."""
        from flydsl._mlir._mlir_libs import _fly_emit

        found = _fly_emit.device_pipeline(
            chip=self.target.arch,
            opt_level=opt_level,
            fast_math=bool(hints.get("fast_fp_math")),
            unsafe_math=bool(hints.get("unsafe_fp_math")),
            ktrace=ktrace,
            debug_info=debug_info,
            mark_uninitialised=mark_uninitialised,
            libraries=list(link_libs),
        )
        return [Stage(one.name, one.text) for one in found]

    def device_texts(self, module: ir.Module, *, hints: Mapping[str, Any], opt_level: int) -> DeviceTexts:
        """Return device code as text; the module is as before `TO_BINARY`, and stays so."""
        from flydsl._mlir._mlir_libs import _fly_emit

        try:
            found = _fly_emit.emit_code_object(
                module.operation,
                chip=self.target.arch,
                opt_level=opt_level,
                fast_math=bool(hints.get("fast_fp_math")),
                unsafe_math=bool(hints.get("unsafe_fp_math")),
                isa=True,
                llvm_ir=True,
            )
        except _fly_emit.EmitError as error:
            raise DSLCompileError(f"device code generation failed: {error}") from None
        return DeviceTexts(str(found.llvm_ir), str(found.isa))

    def external_binary(self, module: ir.Module, text: str, *, prefix: str, hints: Mapping[str, Any]) -> None:
        """Do the stage `TO_BINARY` with another LLVM (`FLYDSL_COMPILE_LLVM_DIR`)."""
        from ..external_llvm import run_external_binary

        run_external_binary(
            module, text, prefix=prefix, options=hints.get("llvm_options"), environment=_with_linker(prefix)
        )

    def pipeline_fragments(self, *, compile_hints: Mapping[str, Any]) -> list[str]:
        """Return the passes, as texts of MLIR's pass manager, in order."""
        opt_level, debug_info = env.compile.opt_level, env.debug.enable_debug_info
        return [one.text for one in self.stages(hints=compile_hints, opt_level=opt_level, debug_info=debug_info)]

    def gpu_module_targets(self) -> list[str]:
        """Return the target attributes of the device module, as MLIR texts."""
        return [f'#rocdl.target<chip = "{self.target.arch}">']

    def native_lib_patterns(self) -> list[str]:
        """Return glob patterns of the native libraries that the result depends on."""
        return ["_mlirDialects*.so", "libFly*.so*"]

    def jit_runtime_lib_basenames(self) -> list[str]:
        """Return the names of the shared libraries that an artifact needs."""
        return ["libflydsl_runtime.so.0"]


def _with_linker(prefix: str) -> Callable[[Path], dict[str, str]]:
    """Return what makes the environment of another LLVM's tool.

    Upstream's pass links with the lld of a ROCm, so the LLVM's own stands in for one, in the folder that it is given.
    """

    def environment(folder: Path) -> dict[str, str]:
        variables = dict(os.environ)
        if "ROCM_PATH" not in variables:
            (folder / "rocm" / "amdgcn" / "bitcode").mkdir(parents=True)
            binaries = folder / "rocm" / "llvm" / "bin"
            binaries.mkdir(parents=True)
            (binaries / "ld.lld").symlink_to(Path(prefix).expanduser() / "bin" / "ld.lld")
            variables["ROCM_PATH"] = str(folder / "rocm")
        return variables

    return environment
