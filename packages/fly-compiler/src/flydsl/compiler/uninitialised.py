# SPDX-License-Identifier: Apache-2.0
"""Marks for register memory that is read before it is written, so that the emulator's init sanitizer can see it.

LLVM is free to take any register for such a value, or to drop all that depends on it; then a fragment that nobody
filled leaves no trace in the code object. Under FLYDSL_EMU_SANITIZE (init, or all) the values come from a source that
reads zero on hardware and that the emulator takes for "never written"; a report names the line that uses them.
"""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir

from .target import marks_uninitialised
from .walk import operations_in

__all__ = ["mark_uninitialised"]

# The id of a pixel shader's earlier wave: without meaning in compute, and so in nobody's code.
_SOURCE = "v_mov_b32 $0, src_pops_exiting_wave_id"
_WORD = 32


def mark_uninitialised(_compilation: Any, module: ir.Module) -> None:
    """Replace the initial values of register memory (`ub.poison` vectors), if the environment asks for it."""
    if not marks_uninitialised():
        return
    devices = [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]
    for op in [op for device in devices for op in operations_in(device) if op.name == "ub.poison"]:
        if isinstance(op.results[0].type, ir.VectorType):
            _mark(op)


def _mark(op: ir.Operation) -> None:
    kind = ir.VectorType(op.results[0].type)
    count, bits = kind.shape[0], _bits(kind.element_type)
    if len(kind.shape) != 1 or bits is None:
        return  # nothing that registers hold as it is
    words = -(-count * bits // _WORD)
    with ir.InsertionPoint(op), op.location:
        i32 = ir.IntegerType.get_signless(_WORD)
        text = {"asm_string": ir.StringAttr.get(_SOURCE), "constraints": ir.StringAttr.get("=v")}
        word = _build("llvm.inline_asm", [], i32, text)
        value = _build("vector.broadcast", [word], ir.VectorType.get([words], i32))
        whole = ir.VectorType.get([words * _WORD // bits], kind.element_type)
        value = _build("vector.bitcast", [value], whole) if whole != value.type else value
        if whole != kind:
            ends = {
                "offsets": _numbers(0),
                "sizes": _numbers(count),
                "strides": _numbers(1),
            }
            value = _build("vector.extract_strided_slice", [value], kind, ends)
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _bits(element: ir.Type) -> int | None:
    """The width of a type that words are made of without a rest; None for others (as index)."""
    width = getattr(element, "width", None)
    return width if width in (1, 2, 4, 8, 16, 32, 64) else None


def _numbers(value: int) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)])


def _build(name: str, operands: list[ir.Value], result: ir.Type, attributes: dict[str, Any] | None = None) -> ir.Value:
    return ir.Operation.create(name, results=[result], operands=operands, attributes=attributes or {}).results[0]
