# SPDX-License-Identifier: Apache-2.0
"""The backend for AMD devices."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..base import DeviceTexts
from ..dialect import DialectBackend

if TYPE_CHECKING:
    from flydsl._mlir import ir

__all__ = ["RocmBackend"]


class RocmBackend(DialectBackend):
    """AMD devices, hardware or emulated."""

    artifact_kind: ClassVar[str] = "hsaco"
    device_api: ClassVar[str | None] = "rocm"
    dlpack_device: ClassVar[int | None] = 10  # kDLROCM
    name: ClassVar[str] = "rocm"
    arch_prefix: ClassVar[str] = "gfx"
    target_attribute: ClassVar[str] = "rocdl.target"
    lacks: ClassVar[Mapping[str, str]] = {}

    def emit_texts(self, module: ir.Operation, *, hints: Mapping[str, Any], opt_level: int) -> DeviceTexts:
        """Return LLVM IR and assembly."""
        from flydsl._mlir._mlir_libs import _fly_emit

        found = _fly_emit.emit_code_object(
            module,
            chip=self.target.arch,
            opt_level=opt_level,
            fast_math=bool(hints.get("fast_fp_math")),
            unsafe_math=bool(hints.get("unsafe_fp_math")),
            isa=True,
            llvm_ir=True,
        )
        return DeviceTexts(str(found.llvm_ir), str(found.isa))

    def external_binary(self, module: ir.Module, text: str, *, prefix: str, hints: Mapping[str, Any]) -> None:
        """Do the stage `TO_BINARY` with another LLVM (`FLYDSL_COMPILE_LLVM_DIR`)."""
        from ...external_llvm import run_external_binary

        run_external_binary(
            module, text, prefix=prefix, options=hints.get("llvm_options"), environment=_with_linker(prefix)
        )


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
