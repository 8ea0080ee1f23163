# SPDX-License-Identifier: Apache-2.0
"""Raw buffer accesses of vectors of bytes, which LLVM has no instruction for: they travel as words of the same bits."""

from __future__ import annotations

from collections.abc import Sequence

from flydsl._mlir import ir
from flydsl.trace.build import build, build_op, vector_type

from ..values.numeric.meta import class_of_ir_type

__all__ = ["load", "store"]


def _carrier(kind: ir.Type) -> ir.Type:
    """Return the type that carries a value of `kind`: words for a vector of bytes, else `kind` itself."""
    if not isinstance(kind, ir.VectorType) or class_of_ir_type(kind.element_type).width != 8:
        return kind
    bits = 8
    for extent in kind.shape:
        bits *= extent
    width = 32 if bits % 32 == 0 else 16 if bits % 16 == 0 else 8
    word = ir.IntegerType.get_signless(width)
    return word if bits == width else vector_type(bits // width, word)


def _reinterpreted(value: ir.Value, kind: ir.Type) -> ir.Value:
    """Return the bits of a scalar or vector as `kind`."""
    if not isinstance(value.type, ir.VectorType):
        value = build("vector.broadcast", (value,), vector_type(1, value.type))
    if isinstance(kind, ir.VectorType):
        return build("vector.bitcast", (value,), kind)
    one = build("vector.bitcast", (value,), vector_type(1, kind))
    return build("vector.extract", (one,), kind, {"static_position": ir.DenseI64ArrayAttr.get([0])})


def load(kind: ir.Type, operands: Sequence[ir.Value]) -> ir.Value:
    """Build `rocdl.raw.ptr.buffer.load` of a value of `kind`."""
    carrier = _carrier(kind)
    value = build("rocdl.raw.ptr.buffer.load", operands, carrier)
    return value if carrier == kind else _reinterpreted(value, kind)


def store(value: ir.Value, operands: Sequence[ir.Value]) -> None:
    """Build `rocdl.raw.ptr.buffer.store` of a value; `operands` are those behind it."""
    carrier = _carrier(value.type)
    if carrier != value.type:
        value = _reinterpreted(value, carrier)
    build_op("rocdl.raw.ptr.buffer.store", (value, *operands))
