# SPDX-License-Identifier: Apache-2.0
"""The backend for NVIDIA devices: PTX, which the driver compiles when an artifact is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from flydsl.trace.arch import Arch, describe
from flydsl.trace.diagnostics import DSLCompileError
from flydsl.utils import env

from .base import BaseBackend, DeviceCode, DeviceTexts, GPUTarget, Stage

if TYPE_CHECKING:
    from flydsl._mlir import ir

__all__ = ["CudaBackend"]

CHIPS = ("sm_90a",)
"""What it compiles for: Hopper. The `a` stands for instructions that no later architecture has."""

STATIC_SHARED_BYTES = 48 << 10
"""Static shared memory of a kernel in PTX, at most."""


class CudaBackend(BaseBackend):
    """NVIDIA devices."""

    artifact_kind: ClassVar[str] = "ptx"
    device_api: ClassVar[str | None] = "cuda"
    dlpack_device: ClassVar[int | None] = 2  # kDLCUDA

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""
        return target.backend == "cuda" and target.arch in CHIPS

    @staticmethod
    def detect_target() -> GPUTarget:
        """Return the target that the environment and the devices ask for."""
        from flydsl.runtime.device import get_rocm_arch

        return CudaBackend.make_target(get_rocm_arch())

    @classmethod
    def make_target(cls, arch: str) -> GPUTarget:
        """Return the target of an architecture's name, whatever backend is in use."""
        from flydsl.runtime.device import get_warp_size

        return GPUTarget("cuda", arch, get_warp_size(arch))

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
        """Return the steps from a traced program to PTX: those of `fly-opt --fly-default-pipeline=chip=sm_90a`.

        Raises:
            ValueError: something is asked for that there is for AMD devices only.
        """
        from flydsl._mlir._mlir_libs import _fly_emit

        asked = {
            "bitcode of external functions": link_libs,
            "events of fx.ktrace": ktrace,
            "FLYDSL_EMU_SANITIZE=init": mark_uninitialised,
            "the hint unsafe_fp_math (fast_fp_math, and fastmath= of operations, it has)": hints.get("unsafe_fp_math"),
            "the hint waves_per_eu": hints.get("waves_per_eu"),
        }
        for what, wanted in asked.items():
            if wanted:
                raise ValueError(f"compile backend 'cuda' does not have {what}")
        found = _fly_emit.device_pipeline(
            chip=self.target.arch,
            opt_level=opt_level,
            fast_math=bool(hints.get("fast_fp_math")),
            debug_info=debug_info,
        )
        return [Stage(one.name, one.text) for one in found]

    def device_code(self, lowered: ir.Module, *, hints: Mapping[str, Any]) -> list[DeviceCode]:
        """Return what a lowered program's PTX says of its kernels: static shared memory. Registers are the driver's.

        Raises:
            DSLCompileError: a kernel has more static shared memory than PTX may.
        """
        from flydsl._mlir._mlir_libs import _fly_emit

        found = []
        for one in _fly_emit.code_objects(lowered):
            for kernel in one.kernels:
                if kernel.lds_bytes > STATIC_SHARED_BYTES:
                    raise DSLCompileError(
                        f"kernel {kernel.name} has {kernel.lds_bytes} bytes of static shared memory, and PTX for "
                        f"{one.arch} may have {STATIC_SHARED_BYTES}; use dynamic shared memory (launch(smem=...)) for "
                        "the rest"
                    )
            found.append(DeviceCode(one.arch, {kernel.name: {"lds_bytes": kernel.lds_bytes} for kernel in one.kernels}))
        return found

    def device_texts(self, module: ir.Module, *, hints: Mapping[str, Any], opt_level: int) -> DeviceTexts:
        """Return device code as text; the module is as before `TO_BINARY`, and stays so."""
        from flydsl._mlir._mlir_libs import _fly_emit

        try:
            ptx, llvm_ir = _fly_emit.emit_ptx(
                module.operation,
                chip=self.target.arch,
                opt_level=opt_level,
                fast_math=bool(hints.get("fast_fp_math")),
            )
        except _fly_emit.EmitError as error:
            raise DSLCompileError(f"device code generation failed: {error}") from None
        return DeviceTexts(str(llvm_ir), str(ptx))

    def pipeline_fragments(self, *, compile_hints: Mapping[str, Any]) -> list[str]:
        """Return the passes, as texts of MLIR's pass manager, in order."""
        opt_level, debug_info = env.compile.opt_level, env.debug.enable_debug_info
        return [one.text for one in self.stages(hints=compile_hints, opt_level=opt_level, debug_info=debug_info)]

    def gpu_module_targets(self) -> list[str]:
        """Return the target attributes of the device module, as MLIR texts."""
        return [f'#nvvm.target<chip = "{self.target.arch}">']

    def native_lib_patterns(self) -> list[str]:
        """Return glob patterns of the native libraries that the result depends on."""
        return ["_mlirDialects*.so", "libFly*.so*"]

    def jit_runtime_lib_basenames(self) -> list[str]:
        """Return the names of the shared libraries that an artifact needs."""
        return ["libflydsl_runtime.so.0"]
