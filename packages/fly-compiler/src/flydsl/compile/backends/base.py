# SPDX-License-Identifier: Apache-2.0
"""What a compile backend answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from flydsl.trace.arch import DEFAULT_LDS_BYTES, Arch

if TYPE_CHECKING:
    from flydsl._mlir import ir

__all__ = [
    "ARTIFACT_KINDS",
    "TO_BINARY",
    "BaseBackend",
    "DeviceCode",
    "DeviceTexts",
    "GPUTarget",
    "Stage",
]

ARTIFACT_KINDS = ("hsaco", "ptx")
"""The kinds of device code that an artifact can hold (docs/artifact.md)."""

TO_BINARY = "gpu-module-to-binary"
"""The stage of every pipeline that makes device code; those before it lower the program."""


_OPTIONAL = {
    "link_libs": "bitcode of external functions",
    "ktrace": "events of fx.ktrace",
    "mark_uninitialised": "FLYDSL_EMU_SANITIZE=init",
}
"""The arguments of `stages` that not every backend knows, as users call them."""


@dataclass(frozen=True)
class GPUTarget:
    """A device to compile for: backend, architecture, lanes of a wave."""

    backend: str
    arch: str
    warp_size: int


class Stage(NamedTuple):
    """One step of the pipeline.

    Attributes:
        name: what dumps and reports call it.
        text: its passes, as text of the pass manager.
        verify: the program is verified after each of its passes, else with what a later step makes of it.
    """

    name: str
    text: str
    verify: bool = True


class DeviceCode(NamedTuple):
    """Device code of a lowered program for one architecture.

    Attributes:
        arch: the architecture.
        kernels: by the name of each kernel, in the order of the code's table, what an artifact's note says of it: the
            resources that it uses, the hints that it was made with. Values that JSON has.
        kind: the backend's `artifact_kind`; empty where it does not say.
        ptx: what a CUDA driver compiles, which begins with that while the artifact is made; empty where there is none.
    """

    arch: str
    kernels: Mapping[str, Mapping[str, Any]]
    kind: str = ""
    ptx: bytes = b""


class DeviceTexts(NamedTuple):
    """Device code as text, for dumps: LLVM IR, and assembly with the lines it came from (`.file`, `.loc`)."""

    llvm_ir: str
    isa: str


class BaseBackend(ABC):
    """What a backend answers for one target: its stages, the kind of its code, and what runs it.

    A backend may live in any package: `flydsl.compiler.register_backend` makes it known, and
    `FLYDSL_COMPILE_BACKEND` chooses it.

    Args:
        target: what to compile for; by default what the environment and the devices ask for.

    Attributes:
        artifact_kind: the kind of its device code, one of `ARTIFACT_KINDS` for what shall be an artifact.
        device_api: the kind of device runtime that runs it (`flydsl.runtime.register_device_runtime`); None where
            `flydsl.runtime.register_compile_runtime_mapping` says it.
        dlpack_device: the kind of its devices in DLPack; None where tensors do not say which device they are on.
        arch_prefix: what the names of its architectures begin with; such a name chooses the backend where
            `FLYDSL_COMPILE_BACKEND` chooses none. Empty where it is chosen by its own name only.
        lacks: what it does not have, as users call it, by the argument of `stages` or the hint that asks for it.
    """

    artifact_kind: ClassVar[str] = "hsaco"
    device_api: ClassVar[str | None] = None
    dlpack_device: ClassVar[int | None] = None
    arch_prefix: ClassVar[str] = ""
    lacks: ClassVar[Mapping[str, str]] = _OPTIONAL

    def __init__(self, target: GPUTarget | None = None) -> None:
        self.target = self.detect_target() if target is None else target
        if not self.supports_target(self.target):
            raise ValueError(f"{type(self).__name__} compiles for no target {self.target}")

    @classmethod
    def make_target(cls, arch: str) -> GPUTarget:
        """Return the target of an architecture's name."""
        from flydsl.runtime.device import get_warp_size

        # Asked of an object, for classes whose detect_target is no static method.
        return replace(cls.__new__(cls).detect_target(), arch=arch, warp_size=get_warp_size(arch))

    def hash(self) -> str:
        """Return what of the backend and its target a cache key holds."""
        return f"{type(self).__module__}.{type(self).__qualname__} {self.target}"

    def arch(self) -> Arch:
        """Return what traced programs may know of the target."""
        target = self.target
        return Arch(target.arch, target.arch, "unknown", target.warp_size, DEFAULT_LDS_BYTES)

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
        """Return the steps from a traced program to device code, in order; the last one is `TO_BINARY`.

        By default, each of `pipeline_fragments` is a step. They know nothing of the last three arguments.

        Args:
            hints: effective compile hints.
            opt_level: LLVM's level of optimisation.
            debug_info: keep line tables.
            link_libs: bitcode that external functions need.
            ktrace: kernels record events.
            mark_uninitialised: mark registers that are read before they are written.

        Raises:
            ValueError: something is asked for that the backend does not have.
        """
        self.refuse_lacking({"link_libs": link_libs, "ktrace": ktrace, "mark_uninitialised": mark_uninitialised})
        fragments = self.pipeline_fragments(compile_hints=hints)
        return [Stage(text.partition("{")[0].strip(), text) for text in fragments]

    def refuse_lacking(self, asked: Mapping[str, object]) -> None:
        """Refuse what is asked for and `lacks` lists.

        Args:
            asked: arguments of `stages` and hints by name; what is false is not asked for.

        Raises:
            ValueError: naming the backend and what it does not have.
        """
        for name, what in self.lacks.items():
            if asked.get(name):
                raise ValueError(f"compile backend {self.target.backend!r} does not have {what}")

    def device_code(self, lowered: ir.Module, *, hints: Mapping[str, Any]) -> list[DeviceCode]:
        """Return what device code a lowered program holds.

        Args:
            lowered: what the stages made.
            hints: effective compile hints.

        Raises:
            NotImplementedError: the backend makes another kind of code than AMD's code objects, and does not say.
        """
        if self.artifact_kind != "hsaco":
            raise NotImplementedError(
                f"compile backend {self.target.backend!r} does not say what its {self.artifact_kind} holds: override "
                "device_code"
            )
        from .code_objects import describe_code_objects

        return [DeviceCode(arch, kernels) for arch, kernels in describe_code_objects(lowered, hints)]

    def device_texts(self, module: ir.Module, *, hints: Mapping[str, Any], opt_level: int) -> DeviceTexts:
        """Return device code as text; the module is as before `TO_BINARY`, and stays so.

        Raises:
            DSLCompileError: code generation fails.
            NotImplementedError: the backend has no texts.
        """
        raise NotImplementedError(f"compile backend {self.target.backend!r} cannot show its device code as text")

    def external_binary(self, module: ir.Module, text: str, *, prefix: str, hints: Mapping[str, Any]) -> None:
        """Do the stage `TO_BINARY` with another LLVM (`FLYDSL_COMPILE_LLVM_DIR`).

        Args:
            module: as before that stage.
            text: its passes.
            prefix: where the LLVM is.
            hints: effective compile hints.

        Raises:
            NotImplementedError: the backend cannot.
        """
        raise NotImplementedError(
            f"compile backend {self.target.backend!r} has no last step by another LLVM; unset FLYDSL_COMPILE_LLVM_DIR"
        )

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
