# SPDX-License-Identifier: Apache-2.0
"""Math operations in device code, without a vendor's library.

MLIR's conversion of GPU code to ROCDL turns most of the `math` dialect into calls of a bitcode library that comes with
ROCm. Here the operations that AMD's code generator has instructions for become calls of LLVM's intrinsics before that;
`math-expand-ops` has replaced those that can be written in terms of others. What is left has no implementation, and is
refused at its line.
"""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir

from .diagnostics import Diagnostic, DSLCompileError, frames_of

__all__ = ["EXPANDED", "use_intrinsics"]

EXPANDED = "acosh,asinh,atanh,cosh,fpowi,powf,rsqrt,sinh,tan,tanh"
"""What `math-expand-ops` writes in terms of other operations."""

# Operations of all float widths, and those for which double precision has no instruction.
_EVERY_WIDTH = {"math.ceil": "ceil", "math.floor": "floor"}
_UP_TO_SINGLE = {
    "math.cos": "cos",
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.log": "log",
    "math.log10": "log10",
    "math.log2": "log2",
    "math.sin": "sin",
}
# The library has these; nothing here does yet.
_MISSING = frozenset(
    f"math.{name}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "erf", "erfc")
)


def use_intrinsics(gpu_module: ir.Operation) -> None:
    """Replace math operations inside the device module by LLVM intrinsics, in place.

    Raises:
        DSLCompileError: an operation that has no implementation for its type, with the user's line.
    """
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("math."):
            found.append(op)
        return ir.WalkResult.ADVANCE

    gpu_module.walk(visit)
    for op in found:
        operand = op.operands[0].type
        element = operand.element_type if isinstance(operand, ir.VectorType) else operand
        double = str(element) == "f64"
        name = _EVERY_WIDTH.get(op.name) or (None if double else _UP_TO_SINGLE.get(op.name))
        if name is not None:
            _replace(op, f"llvm.{name}.{_suffix(operand, element)}")
        elif op.name in _MISSING or (double and op.name in _UP_TO_SINGLE):
            raise DSLCompileError(
                Diagnostic(
                    f"{op.name.removeprefix('math.')} of {operand} has no implementation for AMD GPUs yet",
                    ("compute it in f32, or write it in terms of exp, log, sqrt and polynomials",),
                    frames_of(op.location),
                )
            )


def _suffix(operand: Any, element: Any) -> str:
    """Return the part of an intrinsic's name that says its type: `f32`, `v4f16`."""
    if not isinstance(operand, ir.VectorType):
        return str(element)
    count = 1
    for extent in operand.shape:
        count *= extent
    return f"v{count}{element}"


def _replace(op: ir.Operation, intrinsic: str) -> None:
    attributes = {
        "intrin": ir.StringAttr.get(intrinsic, op.context),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([], op.context),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(op.operands), 0], op.context),
    }
    flags = op.attributes["fastmath"] if "fastmath" in op.attributes else None  # noqa: SIM401 - no dict, has no get
    if flags is not None:
        attributes["fastmathFlags"] = ir.Attribute.parse(
            str(flags).replace("#arith.fastmath", "#llvm.fastmath"), op.context
        )
    with ir.InsertionPoint(op), op.location:
        call = ir.Operation.create(
            "llvm.call_intrinsic",
            results=[op.results[0].type],
            operands=list(op.operands),
            attributes=attributes,
        )
    op.results[0].replace_all_uses_with(call.results[0])
    op.erase()
