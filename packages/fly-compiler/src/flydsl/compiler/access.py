# SPDX-License-Identifier: Apache-2.0
"""Which tensors a program only reads: they may be read-only arrays.

The traced module is followed from each parameter of the host function through launches and through the operations that
make views of it. Whatever is not known to read only, counts as writing.
"""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir

from .tracing import Compilation

__all__ = ["read_only_parameters"]

_READERS = frozenset({"fly.memref.load", "fly.memref.load_vec", "fly.ptr.load", "fly.print"})
# Operand that an operation writes to; it reads the others.
_WRITTEN_OPERAND = {
    "fly.memref.store": 1,
    "fly.memref.store_vec": 1,
    "fly.ptr.store": 1,
    "fly.copy": 2,
    "fly.copy_atom_call": 2,
    "fly.gemm": 1,
    "fly.mma_atom_call": 1,
}
_POINTERS = ("!fly.ptr", "!fly.memref")
_FACTS = tuple(
    f"!fly.{name}<" for name in ("int_tuple", "layout", "composed_layout", "tile", "coord_tensor", "swizzle")
)


def read_only_parameters(compilation: Compilation) -> list[bool]:
    """Return, for each parameter of the host function, whether nothing writes to the memory behind it.

    The module has to be as it was traced, before any pass.
    """
    kernels = {kernel.name: kernel.op for kernel in compilation.kernels}
    host = next(
        op
        for op in compilation.module.body.operations
        if op.operation.name == "func.func" and _symbol(op) == compilation.entry
    )
    return [not _is_written(value, kernels, set()) for value in host.regions[0].blocks[0].arguments]


def _symbol(op: Any) -> str:
    return str(ir.StringAttr(op.attributes["sym_name"]).value)


def _is_written(value: ir.Value, kernels: dict[str, ir.Operation], seen: set[tuple[str, int]]) -> bool:
    for use in value.uses:
        op, position = use.owner, use.operand_number
        name = op.operation.name
        if name == "gpu.launch_func":
            if _launch_writes(op, position, kernels, seen):
                return True
        elif name in _WRITTEN_OPERAND:
            if position == _WRITTEN_OPERAND[name]:
                return True
        elif name in _READERS:
            continue
        elif name.startswith(("fly.", "fly_rocdl.")) and len(op.operation.results):
            if any(_leads_to_write(result, kernels, seen) for result in op.operation.results):
                return True
        else:
            return True
    return False


def _leads_to_write(value: ir.Value, kernels: dict[str, ir.Operation], seen: set[tuple[str, int]]) -> bool:
    """Follow what an operation makes of a tensor: a view of it, or facts about it.

    A register fragment has memory of its own. Anything else, an address as a number or a buffer resource, may end up
    anywhere.
    """
    text = str(value.type)
    if text.startswith(_POINTERS):
        return ", register" not in text and _is_written(value, kernels, seen)
    return not text.startswith(_FACTS)


def _launch_writes(op: Any, position: int, kernels: dict[str, ir.Operation], seen: set[tuple[str, int]]) -> bool:
    """Follow an operand of a launch into the kernel; the kernel's operands come last."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    index = position - sum(segments[:11])
    if not 0 <= index < segments[11]:
        return False
    name = str(op.attributes["kernel"]).rpartition("@")[2]
    if (name, index) in seen:
        return False
    seen.add((name, index))
    return _is_written(kernels[name].regions[0].blocks[0].arguments[index], kernels, seen)
