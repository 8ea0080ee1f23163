# SPDX-License-Identifier: Apache-2.0
"""One text that a program prints or asserts, as the artifact's note has it, and the record of its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flydsl._mlir import ir

__all__ = ["SHORTEST", "WIDTHS", "Message", "llvm_op", "store_record"]

SHORTEST = "%g"
"""The conversion of a float: without flags, the runtime prints the shortest text that gives the same float again."""

WIDTHS = {"i32": 1, "f32": 1, "i64": 2, "f64": 2}
"""Words of 32 bits that a value of each type takes in a record."""


@dataclass(frozen=True)
class Message:
    """One `printf` (`print` in a kernel, `host` in a host function) or assertion (`assert`, `host_assert`)."""

    kind: str
    format: str
    types: tuple[str, ...]
    where: str = ""

    def entry(self) -> dict[str, Any]:
        """Return the note's entry."""
        found: dict[str, Any] = {"kind": self.kind, "format": self.format, "types": list(self.types)}
        return {**found, "where": self.where} if self.where else found


def llvm_op(name: str, operands: list[ir.Value], results: list[ir.Type], **attributes: ir.Attribute) -> ir.Value:
    """Create an operation of one result at the insertion point."""
    return ir.Operation.create(name, operands=operands, results=results, attributes=attributes).results[0]


def store_record(record: ir.Value, values: list[ir.Value]) -> None:
    """Store values one behind the other to the address `record`."""
    i8, i64 = (ir.IntegerType.get_signless(bits) for bits in (8, 64))
    access = {"alignment": ir.IntegerAttr.get(i64, 4), "ordering": ir.IntegerAttr.get(i64, 0)}
    word = 0
    for value in values:
        offset = ir.DenseI32ArrayAttr.get([4 * word])
        place = llvm_op(
            "llvm.getelementptr", [record], [record.type], rawConstantIndices=offset, elem_type=ir.TypeAttr.get(i8)
        )
        ir.Operation.create("llvm.store", operands=[value, place], attributes=access)
        word += WIDTHS[str(value.type)]
