# SPDX-License-Identifier: Apache-2.0
"""Direct matrix instructions by name: `rocdl.mfma_f32_16x16x16f16(result_type, [a, b, c, …])` or `(a, b, c)`.

Separators in the names do not matter: `mfma_f32_16x16x16_f16` is `mfma_f32_16x16x16f16`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir.dialects import rocdl as _dialect

from .. import _trace
from .._build import build
from ..numeric.base import Numeric
from ..numeric.types import Int32
from ..vector import Vector, _make
from ..wrap import as_ir_value

__all__ = ["matrix_instruction"]

_PREFIXES = ("mfma_", "smfmac_")


def _normal(name: str) -> str:
    return name.replace("_", "").replace(".", "").removesuffix("builtin")


@lru_cache(maxsize=1)
def _operations() -> dict[str, str]:
    found = {}
    for name, item in vars(_dialect).items():
        operation = getattr(item, "OPERATION_NAME", None)
        if isinstance(operation, str) and name.startswith(_PREFIXES):
            found[_normal(name)] = operation
    return found


# What gfx950 added to gfx942, by the shape in the name.
_GFX950 = ("mfma.f32.16x16x32.f16", "mfma.f32.16x16x32.bf16", "mfma.f32.32x32x16.f16", "mfma.f32.32x32x16.bf16",
           "mfma.i32.16x16x64.i8", "mfma.i32.32x32x32.i8", "mfma.scale.", "smfmac.f32.16x16x64.f16",
           "smfmac.f32.16x16x64.bf16", "smfmac.f32.32x32x32.f16", "smfmac.f32.32x32x32.bf16", "smfmac.f32.16x16x128",
           "smfmac.f32.32x32x64", "smfmac.i32.16x16x128", "smfmac.i32.32x32x64")  # fmt: skip
_GFX942_ONLY = ("xf32",)


def _check(operation: str) -> None:
    arch = _trace.target()
    short = operation.removeprefix("rocdl.")
    if arch.family != "cdna":
        raise ValueError(f"{short} needs a CDNA GPU, but the kernel is compiled for {arch.name}; it has fx.rocdl.WMMA")
    if short.startswith(_GFX950) and arch.chip != "gfx950":
        smaller = "scales applied by hand" if "scale" in short else "the instruction of half the K"
        raise ValueError(f"{short} needs gfx950, but the kernel is compiled for {arch.name}; use {smaller}")
    if any(part in short for part in _GFX942_ONLY) and arch.chip == "gfx950":
        raise ValueError(f"{short} needs gfx942; gfx950 has no xf32 instructions")


def matrix_instruction(name: str) -> Callable[..., Any] | None:
    """Return the builder of an MFMA by name, or `None` when ROCDL has no such op.

    The builder takes `(result_type, [a, b, c, cbsz, abid, blgp])` and returns the raw value, or `(a, b, c)` with
    optional `cbsz=`, `abid=`, `blgp=`, and returns what `c` is.
    """
    if not name.startswith(_PREFIXES):
        return None
    operation = _operations().get(_normal(name))
    if operation is None and name.endswith(("_fp8", "_bf8")):  # both operands of one format
        operation = _operations().get(_normal(name + name[-3:]))
    if operation is None:
        return None

    def call(*args: Any, cbsz: int = 0, abid: int = 0, blgp: int = 0) -> Any:
        _check(operation)
        if len(args) == 2 and isinstance(args[1], (list, tuple)):
            result = args[0] if isinstance(args[0], ir.Type) else args[0].ir_type
            operands = list(args[1])
            if not operation.startswith("rocdl.mfma.scale"):
                operands += [cbsz, abid, blgp][len(operands) - 3 :] if 3 <= len(operands) < 6 else []
            return build(operation, [_operand(x) for x in operands], result)
        if len(args) == 4 and isinstance(args[0], ir.Type):
            args = args[1:]
        if len(args) != 3:
            raise TypeError(f"{name} takes (result_type, [a, b, c, ...]) or (a, b, c), got {len(args)} arguments")
        acc = as_ir_value(args[2])
        value = build(operation, [_operand(x) for x in (*args, cbsz, abid, blgp)], acc.type)
        return _make(value, args[2].shape, args[2].dtype) if isinstance(args[2], Vector) else value

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Build `{operation}`."
    return call


def _operand(value: Any) -> ir.Value:
    if isinstance(value, bool) or not isinstance(value, (int, Numeric)):
        return as_ir_value(value)
    return value.ir_value() if isinstance(value, Numeric) else Int32(value).ir_value()
