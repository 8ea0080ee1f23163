# SPDX-License-Identifier: Apache-2.0
"""Programmatic dependent launch: a kernel that begins while the launches before it end (PTX ISA, `griddepcontrol`)."""

from __future__ import annotations

from flydsl._mlir import ir
from flydsl.trace import context as _trace
from flydsl.trace.build import build_op

from .target import require_hopper

__all__ = ["griddepcontrol_launch_dependents", "griddepcontrol_wait"]


def griddepcontrol_wait() -> None:
    """Wait until the launches before this one, in its stream, are over and what they wrote is visible.

    A kernel that calls it is launched so that it may begin while they end, which saves a part of a microsecond; without
    it the GPU waits by itself. It stands ahead of all accesses to memory, writes too, but for barriers that are made
    (`Mbarriers.init`), and where all threads come: else the kernel is refused when its PTX is there.

    Raises:
        RuntimeError: outside of a kernel.
        ValueError: another target than sm_90a.
    """
    _assembly("griddepcontrol_wait", "griddepcontrol.wait;")


def griddepcontrol_launch_dependents() -> None:
    """Let the next launch in this one's stream begin, if it waits by itself (`griddepcontrol_wait`).

    It begins once all workgroups of this one have come here or ended, and takes what room there is beside them.

    Raises:
        RuntimeError: outside of a kernel.
        ValueError: another target than sm_90a.
    """
    _assembly("griddepcontrol_launch_dependents", "griddepcontrol.launch_dependents;")


def _assembly(what: str, text: str) -> None:
    """Assembly that no access to memory crosses; LLVM moves accesses across its intrinsics for these."""
    _trace.kernel(f"fx.nvgpu.{what}")
    require_hopper(what)
    attributes = {
        "asm_string": ir.StringAttr.get(text),
        "constraints": ir.StringAttr.get("~{memory}"),
        "has_side_effects": ir.UnitAttr.get(),
    }
    build_op("llvm.inline_asm", [], [], attributes)
