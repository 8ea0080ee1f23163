# SPDX-License-Identifier: Apache-2.0
"""What a host function cannot do, found in the traced program: only kernels reach device memory and threads."""

from __future__ import annotations

from flydsl._mlir import ir

from .diagnostics import Diagnostic, DSLCompileError, frames_of

__all__ = ["check_host"]

_MEMORY = (
    "a host function cannot read or write the elements of a tensor or pointer: they are in device memory. Do it in a "
    "@flyc.kernel that this function launches"
)
_THREADS = "this is of a thread or workgroup, and a host function is neither; use it in a @flyc.kernel"

_OF_MEMORY = (
    "fly.copy",
    "fly.copy_atom_call",
    "fly.gemm",
    "fly.memref.load",
    "fly.memref.load_vec",
    "fly.memref.store",
    "fly.memref.store_vec",
    "fly.mma_atom_call",
    "fly.ptr.load",
    "fly.ptr.store",
)
_OF_THREADS = (
    "gpu.barrier",
    "gpu.block_dim",
    "gpu.block_id",
    "gpu.grid_dim",
    "gpu.lane_id",
    "gpu.shuffle",
    "gpu.thread_id",
)
_REFUSED = {**dict.fromkeys(_OF_MEMORY, _MEMORY), **dict.fromkeys(_OF_THREADS, _THREADS)}


def check_host(function: ir.Operation) -> None:
    """See that a traced host function does only what a host can.

    Raises:
        DSLCompileError: it reads or writes device memory, or asks for a thread.
    """
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _REFUSED:
            found.append(op)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    if found:
        raise DSLCompileError(Diagnostic(_REFUSED[found[0].name], frames=frames_of(found[0].location)))
