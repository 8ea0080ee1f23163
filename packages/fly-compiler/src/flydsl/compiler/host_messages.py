# SPDX-License-Identifier: Apache-2.0
"""What host functions print and assert: calls of the runtime's `flydsl_print` with a record of values on the stack.

Layout lowering makes a sequence of `vector.print` of each message, up to the end of its line; such a sequence is one
call here. The text is in the artifact's note. For a failed assertion the call returns a status, at which the host
function ends.
"""

from __future__ import annotations

from flydsl._mlir import ir
from flydsl.expr.printf import ASSERTION

from .message import SHORTEST, WIDTHS, Message, llvm_op, store_record
from .walk import operations_in

__all__ = ["lower_host_messages"]

_PRINT = "flydsl_print"
_ARTIFACT = "flydsl_artifact"
_CONVERSIONS = {"i32": "%d", "i64": "%ld", "f32": SHORTEST, "f64": SHORTEST}


def lower_host_messages(function: ir.Operation, messages: list[Message]) -> None:
    """Replace every `vector.print` of a host function, and add its messages to those of the program."""
    blocks: list[ir.Block] = []
    for op in operations_in(function):
        if op.name == "vector.print" and op.block not in blocks:
            blocks.append(op.block)
    if not blocks:
        return
    _declare(function)
    entry = function.regions[0].blocks[0]
    for block in blocks:
        line: list[ir.Operation] = []
        for op in [one.operation for one in block.operations]:
            if op.name != "vector.print":
                continue
            line.append(op)
            if _ends_line(op):
                _lower(line, entry, messages)
                line = []
        if line:
            _lower(line, entry, messages)


def _ends_line(op: ir.Operation) -> bool:
    return "stringLiteral" not in op.attributes and "newline" in str(op.attributes["punctuation"])


def _declare(function: ir.Operation) -> None:
    """Declare what is called; the emission of the artifact defines the table."""
    body = ir.InsertionPoint(function)
    if any(_PRINT in str(op.attributes["sym_name"]) for op in _symbols(function)):
        return
    pointer, i32 = ir.Type.parse("!llvm.ptr"), ir.IntegerType.get_signless(32)
    text = f"!llvm.func<i32 ({pointer}, {i32}, {pointer})>"
    with ir.Location.unknown(), body:
        ir.Operation.create(
            "llvm.func",
            regions=1,
            attributes={
                "sym_name": ir.StringAttr.get(_PRINT),
                "function_type": ir.TypeAttr.get(ir.Type.parse(text)),
                "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
                "CConv": ir.Attribute.parse("#llvm.cconv<ccc>"),
            },
        )
        ir.Operation.create(
            "llvm.mlir.global",
            regions=1,
            attributes={
                "sym_name": ir.StringAttr.get(_ARTIFACT),
                "global_type": ir.TypeAttr.get(ir.Type.parse("!llvm.struct<()>")),
                "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
                "addr_space": ir.IntegerAttr.get(i32, 0),
            },
        )


def _symbols(function: ir.Operation) -> list[ir.Operation]:
    return [op.operation for op in function.block.operations if "sym_name" in op.operation.attributes]


def _lower(line: list[ir.Operation], entry: ir.Block, messages: list[Message]) -> None:
    """Make one call of the sequence of prints that is one message."""
    text, values = "", []
    for op in line:
        if "stringLiteral" in op.attributes:
            text += str(ir.StringAttr(op.attributes["stringLiteral"]).value).replace("%", "%%")
        elif len(op.operands):
            values.append(op.operands[0])
            text += _CONVERSIONS[str(op.operands[0].type)]
        text += "\n" if _ends_line(op) else ""
    types = tuple(str(value.type) for value in values)
    failed = ASSERTION in line[0].attributes
    messages.append(Message("host_assert", text.removesuffix("\n"), types) if failed else Message("host", text, types))
    i32, pointer = ir.IntegerType.get_signless(32), ir.Type.parse("!llvm.ptr")
    location = line[0].location
    with location:
        words = sum(WIDTHS[one] for one in types)
        with ir.InsertionPoint.at_block_begin(entry):  # a print in a loop must not grow the stack
            size = _constant(i32, max(1, words))
            record = llvm_op("llvm.alloca", [size], [pointer], elem_type=ir.TypeAttr.get(i32))
        with ir.InsertionPoint(line[-1]):
            store_record(record, values)
            table = llvm_op("llvm.mlir.addressof", [], [pointer], global_name=ir.FlatSymbolRefAttr.get(_ARTIFACT))
            number = _constant(i32, len(messages))
            llvm_op(
                "llvm.call",
                [table, number, record],
                [i32],
                callee=ir.FlatSymbolRefAttr.get(_PRINT),
                op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
                operandSegmentSizes=ir.DenseI32ArrayAttr.get([3, 0]),
            )
    for op in line:
        op.erase()


def _constant(kind: ir.Type, value: int) -> ir.Value:
    return llvm_op("llvm.mlir.constant", [], [kind], value=ir.IntegerAttr.get(kind, value))
