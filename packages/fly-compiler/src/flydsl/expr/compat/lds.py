# SPDX-License-Identifier: Apache-2.0
"""Names of `flydsl.utils.smem_allocator` beside its classes: sizes of MLIR types, and raw values of ops."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir

from ..values.numeric.base import as_numeric
from ..values.numeric.meta import class_of_ir_type
from ..values.numeric.types import Index
from .builders import opened

__all__ = ["get_index_value", "get_mlir_type_align", "get_mlir_type_size", "get_op_result_or_value"]


def get_op_result_or_value(op_or_val: Any) -> Any:
    """Return the result of an op that has one, and the SSA value of a value of the language."""
    if isinstance(op_or_val, (ir.OpView, ir.Operation)):
        return op_or_val.operation.result
    return opened(op_or_val)


def get_index_value(op_or_val: Any) -> ir.Value:
    """Return an integer, a number or what has one as its result, as a value of type index."""
    return as_numeric(get_op_result_or_value(op_or_val)).to(Index).ir_value()


def get_mlir_type_size(mlir_type: ir.Type) -> int:
    """Return the bytes of a scalar or vector type."""
    lanes = 1
    if isinstance(mlir_type, ir.VectorType):
        for extent in mlir_type.shape:
            lanes *= extent
        mlir_type = mlir_type.element_type
    return -(-lanes * class_of_ir_type(mlir_type).width // 8)


def get_mlir_type_align(mlir_type: ir.Type) -> int:
    """Return the alignment of a scalar or vector type in bytes: its size, at most 16."""
    return max(1, min(get_mlir_type_size(mlir_type), 16))
