# SPDX-License-Identifier: Apache-2.0
"""Barriers of the workgroup for a part of memory."""

from __future__ import annotations

from flydsl.trace import context as _trace
from flydsl.trace.build import attribute, build_op, int_attribute

from ..ops.memory import AtomicOrdering

__all__ = ["lds_barrier"]

_OF_LDS = '#llvm.mmra_tag<"amdgpu-synchronize-as":"local">'


def lds_barrier() -> None:
    """Wait until all threads of the workgroup are here; what they wrote to LDS before is visible after.

    Accesses of global memory stay on their way, for which `fx.barrier()` waits on gfx11 and later: loads to registers
    for a later step, and stores, which other threads need not see behind it. Copies from memory straight to LDS are
    such accesses, too; `barrier_after_copies` waits for them.

    Raises:
        ValueError: the target is no AMD GPU.
    """
    target = _trace.target()
    if target.nvidia:
        raise ValueError(f"lds_barrier is for AMD GPUs, but the kernel is compiled for {target.name}: use fx.barrier()")
    _fence(AtomicOrdering.Release)
    build_op("rocdl.s.barrier", ())
    _fence(AtomicOrdering.Acquire)


def _fence(ordering: AtomicOrdering) -> None:
    scope = {"syncscope": attribute('"workgroup"'), "llvm.mmra": attribute(_OF_LDS)}
    build_op("llvm.fence", (), (), {"ordering": int_attribute(int(ordering), 64), **scope})
