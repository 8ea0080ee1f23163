# SPDX-License-Identifier: Apache-2.0
"""Inline assembly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build_op, i64_array, struct_type
from flydsl.trace.wrap import as_ir_value, wrap_any

from ..ops.llvm_pointer import is_llvm_pointer
from ..values.numeric.meta import NumericMeta

# Conversions that used to be inline assembly are found here too.
from .lanes import cvt_off_f32_i4 as cvt_off_f32_i4
from .lanes import cvt_pk_bf16_f32 as cvt_pk_bf16_f32

__all__ = ["cvt_off_f32_i4", "cvt_pk_bf16_f32", "inline_asm"]


def inline_asm(
    text: str,
    constraints: str,
    operands: Sequence[Any] = (),
    result: Any = None,
    *,
    side_effects: bool = True,
) -> Any:
    """Build an inline assembly statement.

    Args:
        text: the instructions, with `$0`, `$1` … for results and operands in order.
        constraints: LLVM constraints, results first: `"=v,v,s"`.
        operands: the values.
        result: a numeric class, vector alias or MLIR type; a tuple of them for several; `None` for none.
        side_effects: whether it may not be removed or moved.

    Returns:
        Nothing, a value, or a tuple of values; an LLVM pointer (a buffer resource) is a raw one.
    """
    kinds = list(result) if isinstance(result, (tuple, list)) else ([] if result is None else [result])
    types = [kind if isinstance(kind, ir.Type) else kind.ir_type for kind in kinds]
    results = [struct_type(*types)] if len(types) > 1 else types
    attributes: dict[str, ir.Attribute] = {
        "asm_string": ir.StringAttr.get(text),
        "constraints": ir.StringAttr.get(constraints),
    }
    if side_effects:
        attributes["has_side_effects"] = ir.UnitAttr.get()
    op = build_op("llvm.inline_asm", [as_ir_value(x) for x in operands], results, attributes)
    if not types:
        return None
    if len(types) == 1:
        return _typed(kinds[0], op.results[0])
    values = []
    for i, kind in enumerate(types):
        part = build_op("llvm.extractvalue", (op.results[0],), (kind,), {"position": i64_array([i])})
        values.append(_typed(kinds[i], part.results[0]))
    return tuple(values)


def _typed(kind: Any, value: ir.Value) -> Any:
    if isinstance(kind, NumericMeta):
        from ..values.numeric.base import wrap

        return wrap(kind, value)
    return value if is_llvm_pointer(value) else wrap_any(value)
