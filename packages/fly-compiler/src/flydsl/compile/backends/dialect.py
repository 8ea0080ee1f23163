# SPDX-License-Identifier: Apache-2.0
"""What the backends have in common whose stages are those of fly-dialect."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from flydsl.trace.arch import Arch, describe
from flydsl.trace.diagnostics import DSLCompileError
from flydsl.utils import env

from .base import BaseBackend, DeviceTexts, GPUTarget, Stage

if TYPE_CHECKING:
    from flydsl._mlir import ir

__all__ = ["DialectBackend"]


class DialectBackend(BaseBackend):
    """A backend whose stages are those of `fly-opt --fly-default-pipeline=chip=ARCH`.

    Its architectures are rows of `flydsl.runtime.chips`.

    Attributes:
        name: what it is registered as.
        target_attribute: MLIR's attribute of its targets, without the `#`.
    """

    name: ClassVar[str]
    target_attribute: ClassVar[str]

    @classmethod
    def make_target(cls, arch: str) -> GPUTarget:
        """Return the target of an architecture's name, whatever backend is in use."""
        from flydsl.runtime.device import get_warp_size

        return GPUTarget(cls.name, arch, get_warp_size(arch))

    @classmethod
    def detect_target(cls) -> GPUTarget:
        """Return the target that the environment and the devices ask for."""
        from flydsl.runtime.device import get_rocm_arch

        return cls.make_target(get_rocm_arch())

    @classmethod
    def supports_target(cls, target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""
        return target.backend == cls.name and target.arch.startswith(cls.arch_prefix)

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
        """Return the steps from a traced program to device code: those of `fly-opt --fly-default-pipeline`.

        Raises:
            ValueError: something is asked for that the backend does not have.
        """
        from flydsl._mlir._mlir_libs import _fly_emit

        asked = {"link_libs": list(link_libs), "ktrace": ktrace, "mark_uninitialised": mark_uninitialised}
        self.refuse_lacking({**hints, **asked})
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
        # Up to there operations say what a user may write. What the conversions behind it make is verified once,
        # directly before code generation.
        last = next(number for number, one in enumerate(found) if one.name.startswith("convert-fly-to-"))
        verified = {*range(last + 1), len(found) - 2, len(found) - 1}
        return [Stage(one.name, one.text, number in verified) for number, one in enumerate(found)]

    def device_texts(self, module: ir.Module, *, hints: Mapping[str, Any], opt_level: int) -> DeviceTexts:
        """Return device code as text; the module is as before `TO_BINARY`, and stays so.

        Raises:
            DSLCompileError: code generation fails.
        """
        from flydsl._mlir._mlir_libs import _fly_emit

        try:
            return self.emit_texts(module.operation, hints=hints, opt_level=opt_level)
        except _fly_emit.EmitError as error:
            raise DSLCompileError(f"device code generation failed: {error}") from None

    @abstractmethod
    def emit_texts(self, module: ir.Operation, *, hints: Mapping[str, Any], opt_level: int) -> DeviceTexts:
        """Return what `device_texts` does, or raise `EmitError` of the dialect's bindings."""

    def pipeline_fragments(self, *, compile_hints: Mapping[str, Any]) -> list[str]:
        """Return the passes, as texts of MLIR's pass manager, in order."""
        opt_level, debug_info = env.compile.opt_level, env.debug.enable_debug_info
        return [one.text for one in self.stages(hints=compile_hints, opt_level=opt_level, debug_info=debug_info)]

    def gpu_module_targets(self) -> list[str]:
        """Return the target attributes of the device module, as MLIR texts."""
        return [f'#{self.target_attribute}<chip = "{self.target.arch}">']

    def native_lib_patterns(self) -> list[str]:
        """Return glob patterns of the native libraries that the result depends on."""
        return ["_mlirDialects*.so", "libFly*.so*"]

    def jit_runtime_lib_basenames(self) -> list[str]:
        """Return the names of the shared libraries that an artifact needs."""
        return ["libflydsl_runtime.so.0"]
