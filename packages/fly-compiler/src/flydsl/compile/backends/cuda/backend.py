# SPDX-License-Identifier: Apache-2.0
"""The backend for NVIDIA devices: PTX, which the driver compiles when an artifact is loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from flydsl.trace.diagnostics import DSLCompileError

from ..base import BaseBackend, DeviceCode, DeviceTexts, GPUTarget
from ..dialect import DialectBackend

if TYPE_CHECKING:
    from flydsl._mlir import ir

__all__ = ["CudaBackend"]

CHIPS = ("sm_90a",)
"""What it compiles for: Hopper. The `a` stands for instructions that no later architecture has."""

STATIC_SHARED_BYTES = 48 << 10
"""Static shared memory of a kernel in PTX, at most."""


class CudaBackend(DialectBackend):
    """NVIDIA devices."""

    artifact_kind: ClassVar[str] = "ptx"
    device_api: ClassVar[str | None] = "cuda"
    dlpack_device: ClassVar[int | None] = 2  # kDLCUDA
    name: ClassVar[str] = "cuda"
    arch_prefix: ClassVar[str] = "sm_"
    target_attribute: ClassVar[str] = "nvvm.target"
    lacks: ClassVar[Mapping[str, str]] = {
        **BaseBackend.lacks,
        "unsafe_fp_math": "the hint unsafe_fp_math (fast_fp_math, and fastmath= of operations, it has)",
        "waves_per_eu": "the hint waves_per_eu",
    }

    @classmethod
    def supports_target(cls, target: GPUTarget) -> bool:
        """Tell whether this backend compiles for `target`."""
        return super().supports_target(target) and target.arch in CHIPS

    def device_code(self, lowered: ir.Module, *, hints: Mapping[str, Any]) -> list[DeviceCode]:
        """Return what a lowered program's PTX says of its kernels: static shared memory, and whether they wait by
        themselves for the launches before them. Registers are the driver's.

        Raises:
            DSLCompileError: a kernel has more static shared memory than PTX may, or waits too late.
        """
        from flydsl._mlir._mlir_libs import _fly_emit

        objects = _fly_emit.code_objects(lowered)
        assembled = any(one.data.startswith(_ELF) for one in objects)
        found = []
        for one in objects:
            if one.data.startswith(_ELF):
                continue  # of the PTX behind it
            for kernel in one.kernels:
                if kernel.lds_bytes > STATIC_SHARED_BYTES:
                    raise DSLCompileError(
                        f"kernel {kernel.name} has {kernel.lds_bytes} bytes of static shared memory, and PTX for "
                        f"{one.arch} may have {STATIC_SHARED_BYTES}; use dynamic shared memory (launch(smem=...)) for "
                        "the rest"
                    )
            data = one.data
            ptx = data.decode(errors="replace")
            facts = {kernel.name: _facts(kernel, ptx) for kernel in one.kernels}
            found.append(DeviceCode(one.arch, facts, ptx=b"" if assembled else data))
        return found

    def emit_texts(self, module: ir.Operation, *, hints: Mapping[str, Any], opt_level: int) -> DeviceTexts:
        """Return LLVM IR and PTX."""
        from flydsl._mlir._mlir_libs import _fly_emit

        ptx, llvm_ir = _fly_emit.emit_ptx(
            module, chip=self.target.arch, opt_level=opt_level, fast_math=bool(hints.get("fast_fp_math"))
        )
        return DeviceTexts(str(llvm_ir), str(ptx))


_ELF = b"\x7fELF"  # how machine code begins
_WAIT = "griddepcontrol.wait;"
# What may stand ahead of it: of accesses to memory, those to parameters.
_ACCESS = re.compile(
    r"^\s*(?:@!?%?\w+\s+)?(?:ld(?!\.param)|st|atom|red|cp|prefetch|wgmma|ldmatrix|stmatrix|multimem|call)\b",
    re.MULTILINE,
)
_LABEL = re.compile(r"^\s*([$\w]+):", re.MULTILINE)
# What goes elsewhere than to the next instruction, and the label that it goes to where it names one.
_BRANCH = re.compile(r"^\s*(?:@!?%?\w+\s+)?(?:bra(?:\.uni)?\s+([$\w]+)|brx|ret|exit|trap)\b", re.MULTILINE)


def _facts(kernel: Any, ptx: str) -> dict[str, Any]:
    """The entry of a kernel in the note.

    Raises:
        DSLCompileError: it waits for the launches before it, which it may run beside, behind an access or a branch
            past the wait.
    """
    facts: dict[str, Any] = {"lds_bytes": kernel.lds_bytes}
    if _WAIT not in ptx:
        return facts
    body = ptx[ptx.index(f".entry {kernel.name}(") :].partition("\n}")[0].partition("\n{")[2]
    before, wait, _ = body.partition(_WAIT)
    if not wait:
        return facts
    early = _ACCESS.search(before) or _branch_past(before)
    if early is not None:
        line = before[early.start() :].strip().partition("\n")[0]
        raise DSLCompileError(
            f"kernel {kernel.name} calls fx.nvgpu.griddepcontrol_wait() behind an access to memory or a branch "
            f"past it ('{line}'), but may run beside the launches before it until then; call it first"
        )
    return {**facts, "griddepcontrol_wait": True}


def _branch_past(text: str) -> re.Match[str] | None:
    """The first branch in the beginning of a kernel's PTX that goes elsewhere than to a label in it: without one, all
    threads come to its end."""
    labels = set(_LABEL.findall(text))
    return next((one for one in _BRANCH.finditer(text) if one[1] not in labels), None)
