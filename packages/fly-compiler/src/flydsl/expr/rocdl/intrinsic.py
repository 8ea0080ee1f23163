# SPDX-License-Identifier: Apache-2.0
"""Calls of LLVM's `llvm.amdgcn.*` intrinsics that MLIR's ROCDL dialect has no op for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build_op

from .availability import check_instruction

__all__ = ["call_intrinsic"]


def call_intrinsic(name: str, operands: Sequence[Any], result: ir.Type | None) -> Any:
    """Call the intrinsic `name` on raw SSA values and return the raw result (`None` without one).

    Raises:
        ValueError: the target is known to lack its instruction.
    """
    check_instruction(name)
    attributes = {
        "intrin": ir.StringAttr.get(name),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
    }
    op = build_op("llvm.call_intrinsic", list(operands), () if result is None else (result,), attributes)
    return None if result is None else op.results[0]
