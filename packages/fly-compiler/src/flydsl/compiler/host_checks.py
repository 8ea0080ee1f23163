# SPDX-License-Identifier: Apache-2.0
"""What a host function cannot do, found in the traced program: only kernels reach device memory and threads."""

from __future__ import annotations

from flydsl._mlir import ir

from .diagnostics import Diagnostic, DSLCompileError, frames_of
from .walk import operations_in

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
    for op in operations_in(function):
        if op.name in _REFUSED:
            raise DSLCompileError(Diagnostic(_REFUSED[op.name], frames=frames_of(op.location)))
