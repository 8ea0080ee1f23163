# SPDX-License-Identifier: Apache-2.0
"""What programs print and assert, without a vendor runtime.

Every `gpu.printf` of the device module becomes a record in a buffer of the runtime's (its format is in `messages.h` of
fly-runtime); the texts go into the artifact's note. The buffer is found through a global of the code object, so that
neither the kernel's nor the launcher's signature knows of it.
"""

from __future__ import annotations

import linecache
import re

from flydsl._mlir import ir
from flydsl.expr.printf import ASSERTION

from .diagnostics import frames_of
from .host_messages import lower_host_messages
from .message import SHORTEST, WIDTHS, Message, llvm_op, store_record
from .walk import operations_in

__all__ = ["lower_messages"]

# Words are reserved by one atomic addition; what does not fit is counted. Without a buffer nothing is written.
_SUPPORT = """
gpu.module @support {
  llvm.mlir.global external @__flydsl_print(0 : i64) {addr_space = 1 : i32, alignment = 8 : i64} : i64
  llvm.func internal @__flydsl_reserve(%words: i64) -> !llvm.ptr<1> attributes {passthrough = ["noinline"]} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr<1>
    %global = llvm.mlir.addressof @__flydsl_print : !llvm.ptr<1>
    %address = llvm.load %global : !llvm.ptr<1> -> i64
    %off = llvm.icmp "eq" %address, %zero : i64
    llvm.cond_br %off, ^none, ^ask
  ^ask:
    %head = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    %start = llvm.atomicrmw add %head, %words syncscope("agent") monotonic : !llvm.ptr<1>, i64
    %end = llvm.add %start, %words : i64
    %at_capacity = llvm.getelementptr %head[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %capacity = llvm.load %at_capacity : !llvm.ptr<1> -> i64
    %fits = llvm.icmp "ule" %end, %capacity : i64
    llvm.cond_br %fits, ^some, ^full
  ^some:
    %records = llvm.getelementptr %head[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %record = llvm.getelementptr %records[%start] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.return %record : !llvm.ptr<1>
  ^full:
    %at_dropped = llvm.getelementptr %head[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %before = llvm.atomicrmw add %at_dropped, %one syncscope("agent") monotonic : !llvm.ptr<1>, i64
    llvm.br ^none
  ^none:
    llvm.return %null : !llvm.ptr<1>
  }
}
"""
_RESERVE = "__flydsl_reserve"
# What layout lowering gives a float; two digits would hide most of them.
_FLOAT = re.compile(r"%(%|\.2f)")


def _shortest(conversion: re.Match[str]) -> str:
    return "%%" if conversion[1] == "%" else SHORTEST


def lower_messages(module: ir.Module) -> list[Message]:
    """Replace every `gpu.printf` of the device modules, and every `vector.print` of the host functions.

    The module is as after `convert-fly-to-rocdl`: functions are `gpu.func`s of values that LLVM has types for.

    Returns:
        The messages by number.
    """
    messages: list[Message] = []
    for device in list(module.body.operations):
        if device.operation.name != "gpu.module":
            lower_host_messages(device.operation, messages)
            continue
        prints: list[ir.Operation] = []
        _collect(device.operation, prints)
        if not prints:
            continue
        body = device.regions[0].blocks[0]
        support = ir.Module.parse(_SUPPORT, module.context)  # owns the operations until they are moved
        for op in list(support.body.operations[0].regions[0].blocks[0].operations):
            op.operation.move_before(body.operations[0].operation)
        for op in prints:
            _lower(op, messages)
    return messages


def _collect(op: ir.Operation, found: list[ir.Operation]) -> None:
    found += [one for one in operations_in(op) if one.name == "gpu.printf"]


def _lower(op: ir.Operation, messages: list[Message]) -> None:
    """Write the record of one message in its place."""
    failed = ASSERTION in op.attributes
    text = _FLOAT.sub(_shortest, str(ir.StringAttr(op.attributes["format"]).value))
    values = list(op.operands)
    with op.location, ir.InsertionPoint(op):
        if failed:
            text, values = _assertion(text, values)
        types = tuple(str(value.type) for value in values)
        messages.append(Message("assert" if failed else "print", text, types, _where(op) if failed else ""))
        words = 1 + sum(WIDTHS[one] for one in types)
        i32, i64, i1 = (ir.IntegerType.get_signless(bits) for bits in (32, 64, 1))
        pointer = ir.Type.parse("!llvm.ptr<1>")
        size = llvm_op("llvm.mlir.constant", [], [i64], value=ir.IntegerAttr.get(i64, words))
        record = llvm_op(
            "llvm.call",
            [size],
            [pointer],
            callee=ir.FlatSymbolRefAttr.get(_RESERVE),
            op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 0]),
        )
        null = llvm_op("llvm.mlir.zero", [], [pointer])
        there = llvm_op("llvm.icmp", [record, null], [i1], predicate=ir.IntegerAttr.get(i64, 1))  # ne
        branch = ir.Operation.create("scf.if", operands=[there], regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            number = llvm_op("llvm.mlir.constant", [], [i32], value=ir.IntegerAttr.get(i32, len(messages)))
            store_record(record, [number, *values])
            ir.Operation.create("scf.yield")
        if failed:
            # The wave ends: what it would do next relies on what is not true.
            ir.Operation.create(
                "llvm.call_intrinsic",
                attributes={
                    "intrin": ir.StringAttr.get("llvm.amdgcn.endpgm"),
                    "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
                    "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0]),
                },
            )
    op.erase()


def _assertion(text: str, values: list[ir.Value]) -> tuple[str, list[ir.Value]]:
    """Add to the text of an assertion which thread it failed in."""
    i32 = ir.IntegerType.get_signless(32)
    places = []
    for name in ("gpu.block_id", "gpu.thread_id"):
        for axis in "xyz":
            attribute = ir.Attribute.parse(f"#gpu<dim {axis}>")
            index = llvm_op(name, [], [ir.IndexType.get()], dimension=attribute)
            places.append(llvm_op("arith.index_cast", [index], [i32]))
    text = text.removesuffix("\n")
    head = "device assertion failed" + (f": {text}" if text else "")
    return f"{head}\n  block (%d, %d, %d), thread (%d, %d, %d)", [*values, *places]


def _where(op: ir.Operation) -> str:
    """Return file, line and source line of an assertion."""
    frames = frames_of(op.location)
    if not frames:
        return "unknown place"
    frame = frames[0]
    source = linecache.getline(frame.filename, frame.line).strip()
    return f'File "{frame.filename}", line {frame.line}' + (f"\n    {source}\n" if source else "")
