# SPDX-License-Identifier: Apache-2.0
"""Sparse matrix instructions: D = A * B + C with A packed 2:4, and an index of which two of four there are.

They have the form of the ops of later dialects, `swmmac_<acc>_16x16x<k>_<types>(result_type, a, b, c, index, *, ...)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.wrap import as_ir_value

from ..values.numeric.types import Boolean
from .availability import check_instruction
from .intrinsic import call_intrinsic
from .lanes import _type

__all__ = ["sparse_matrix_instruction"]

_NAME = re.compile(r"swmmac_(f32|f16|bf16|bf16f32|i32)_16x16x(32|64|128)_(f16|bf16|iu4|iu8|(?:fp8|bf8)_(?:fp8|bf8))_?")

# Accumulators, k, and the modifiers before a and b, and after the index.
_Variant = tuple[tuple[str, ...], tuple[int, ...], bool, tuple[str, ...]]
_VARIANTS: dict[str, tuple[_Variant, ...]] = {
    "f16": (
        (("f32", "f16"), (32,), False, ()),
        (("f32", "f16"), (64,), True, ("reuseA", "reuseB")),
    ),
    "bf16": (
        (("f32", "bf16"), (32,), False, ()),
        (("f32", "bf16", "bf16f32"), (64,), True, ("reuseA", "reuseB")),
    ),
    "iu4": ((("i32",), (32, 64), True, ("clamp",)),),
    "iu8": (
        (("i32",), (32,), True, ("clamp",)),
        (("i32",), (128,), True, ("reuseA", "reuseB", "clamp")),
    ),
    "fp8": (
        (("f32",), (32,), False, ()),
        (("f32", "f16"), (128,), False, ("reuseA", "reuseB")),
    ),
}


def sparse_matrix_instruction(name: str) -> Callable[..., Any] | None:
    """Return the builder of a `swmmac_…` instruction, or `None`."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    acc, k, types = match[1], int(match[2]), match[3]
    variants = _VARIANTS["fp8" if "8_" in types else types]
    variant = next((one for one in variants if acc in one[0] and k in one[1]), None)
    if variant is None:
        return None
    _, _, signs, after = variant
    intrinsic = f"llvm.amdgcn.swmmac.{acc}.16x16x{k}.{types.replace('_', '.')}"
    known = (*(("signA", "signB") if signs else ()), *after)

    def call(res: Any, a: Any, b: Any, c: Any, index: Any, **modifiers: Any) -> Any:
        unknown = set(modifiers) - set(known)
        if unknown:
            raise TypeError(f"{name} has the modifiers {', '.join(known) or 'none'}, not {', '.join(sorted(unknown))}")
        check_instruction(intrinsic, name)
        left, right, sums, which = (as_ir_value(one) for one in (a, b, c, index))
        if signs:
            operands = [_flag(modifiers, "signA"), left, _flag(modifiers, "signB"), right, sums, which]
        else:
            operands = [left, right, sums, which]
        operands += [_flag(modifiers, one) for one in after]
        return call_intrinsic(intrinsic, operands, _type(res))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Call `{intrinsic}`; modifiers are Python bools: {', '.join(known) or 'none'}."
    return call


def _flag(modifiers: dict[str, Any], name: str) -> ir.Value:
    value = modifiers.get(name)
    if isinstance(value, ir.Value):
        raise TypeError(f"{name} is part of the instruction: it takes a Python bool")
    result: ir.Value = Boolean(bool(value)).ir_value()
    return result
