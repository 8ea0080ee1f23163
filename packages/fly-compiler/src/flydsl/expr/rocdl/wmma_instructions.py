# SPDX-License-Identifier: Apache-2.0
"""Direct matrix instructions of gfx1250 with their modifiers as keywords.

Operands are raw vectors (or `fx.Vector`); format codes are 0 fp8 E4M3, 1 fp8 E5M2, 2 fp6 E2M3, 3 fp6 E3M2, 4 fp4 E2M1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace.build import attribute, build
from flydsl.trace.wrap import as_ir_value

from ..values.numeric.meta import NumericMeta
from .availability import check_instruction

if TYPE_CHECKING:
    from ..values.accepted import TypeLike, ValueLike

__all__ = ["wmma_f32_16x16x128_fp8_fp8", "wmma_scale_f32_16x16x128_f8f6f4", "wmma_scale_f32_32x16x128_f4"]


def _emit(name: str, result_type: Any, operands: tuple[Any, ...], modifiers: dict[str, int | bool]) -> ir.Value:
    operation = f"rocdl.{_OPS[name]}"
    check_instruction(operation, name)
    attributes = {}
    for key, value in modifiers.items():
        if isinstance(value, ir.Value):
            raise TypeError(f"{key} is part of the instruction: it takes a Python number")
        spelled = ("true" if value else "false") if isinstance(value, bool) else f"{int(value)} : i{_WIDTHS[key]}"
        attributes[key] = attribute(spelled)
    kind = result_type.ir_type if isinstance(result_type, NumericMeta) else result_type
    return build(operation, [as_ir_value(one) for one in operands], kind, attributes)


_OPS = {
    "wmma_f32_16x16x128_fp8_fp8": "wmma.f32.16x16x128.fp8_fp8",
    "wmma_scale_f32_16x16x128_f8f6f4": "wmma.scale.f32.16x16x128.f8f6f4",
    "wmma_scale_f32_32x16x128_f4": "wmma.scale.f32.32x16x128.f4",
}
_WIDTHS = dict.fromkeys(("fmtA", "fmtB", "scaleAType", "scaleBType", "fmtScaleA", "fmtScaleB"), 32) | {"modC": 16}


def wmma_f32_16x16x128_fp8_fp8(
    result_type: TypeLike,
    a: ValueLike,
    b: ValueLike,
    c: ValueLike,
    *,
    modC: int = 0,
    reuseA: bool = False,
    reuseB: bool = False,
) -> ir.Value:
    """Multiply 16x128 by 128x16 fp8 values and add to `c`; 1 for `modC` negates c, 2 takes its absolute value.

    Raises:
        ValueError: the target is not gfx1250.
    """
    modifiers = {"modC": modC, "reuseA": bool(reuseA), "reuseB": bool(reuseB)}
    return _emit("wmma_f32_16x16x128_fp8_fp8", result_type, (a, b, c), modifiers)


_SCALED = ("modC", "scaleAType", "fmtScaleA", "scaleBType", "fmtScaleB", "reuseA", "reuseB")


def _scaled(name: str, result_type: Any, operands: tuple[Any, ...], formats: dict[str, int], given: Any) -> ir.Value:
    unknown = sorted(set(given) - set(_SCALED))
    if unknown:
        raise TypeError(f"{name} has no modifier {', '.join(unknown)}; it has {', '.join(_SCALED)}")
    modifiers = {key: given.get(key, False if key.startswith("reuse") else 0) for key in _SCALED}
    return _emit(name, result_type, operands, {**formats, **modifiers})


def wmma_scale_f32_16x16x128_f8f6f4(
    result_type: TypeLike,
    a: ValueLike,
    b: ValueLike,
    c: ValueLike,
    scaleA: ValueLike,
    scaleB: ValueLike,
    *,
    fmtA: int = 4,
    fmtB: int = 4,
    **modifiers: Any,
) -> ir.Value:
    """Multiply block-scaled 16x128 by 128x16 values of the formats `fmtA` and `fmtB`, and add to `c`.

    Modifiers are `modC`, `scaleAType`, `fmtScaleA`, `scaleBType`, `fmtScaleB` (0 by default), `reuseA` and `reuseB`.

    Raises:
        ValueError: the target is not gfx1250.
        TypeError: an unknown modifier, or one that is not known while tracing.
    """
    formats = {"fmtA": fmtA, "fmtB": fmtB}
    return _scaled("wmma_scale_f32_16x16x128_f8f6f4", result_type, (a, b, c, scaleA, scaleB), formats, modifiers)


def wmma_scale_f32_32x16x128_f4(
    result_type: TypeLike,
    a: ValueLike,
    b: ValueLike,
    c: ValueLike,
    scaleA: ValueLike,
    scaleB: ValueLike,
    **modifiers: Any,
) -> ir.Value:
    """Multiply block-scaled 32x128 by 128x16 fp4 values, and add to `c`; modifiers as of the 16x16 form.

    Raises:
        ValueError: the target is not gfx1250.
        TypeError: an unknown modifier, or one that is not known while tracing.
    """
    return _scaled("wmma_scale_f32_32x16x128_f4", result_type, (a, b, c, scaleA, scaleB), {}, modifiers)
