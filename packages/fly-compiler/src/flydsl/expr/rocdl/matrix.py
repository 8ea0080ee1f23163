# SPDX-License-Identifier: Apache-2.0
"""Direct matrix instructions by name: `rocdl.mfma_f32_16x16x16f16(result_type, [a, b, c, …])` or `(a, b, c)`.

Separators in the names do not matter: `mfma_f32_16x16x16_f16` is `mfma_f32_16x16x16f16`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build
from flydsl.trace.wrap import as_ir_value

from ..values.numeric.base import Numeric
from ..values.numeric.types import Int32
from ..values.vector import Vector, _make
from .availability import check_instruction

__all__ = ["matrix_instruction"]

_PREFIXES = ("mfma_", "smfmac_")


def _normal(name: str) -> str:
    return name.replace("_", "").replace(".", "").removesuffix("builtin")


@lru_cache(maxsize=1)
def _operations() -> dict[str, str]:
    from flydsl._mlir.dialects import rocdl  # a big module; kernels in layouts never need it

    found = {}
    for name, item in vars(rocdl).items():
        operation = getattr(item, "OPERATION_NAME", None)
        if isinstance(operation, str) and name.startswith(_PREFIXES):
            found[_normal(name)] = operation
    return found


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
        check_instruction(operation)
        if len(args) == 2 and isinstance(args[1], (list, tuple)):
            result = args[0] if isinstance(args[0], ir.Type) else args[0].ir_type
            operands = list(args[1])
            if not operation.startswith("rocdl.mfma.scale"):
                operands += [cbsz, abid, blgp][len(operands) - 3 :] if 3 <= len(operands) < 6 else []
            return build(operation, [_operand(x) for x in operands], result)
        if len(args) > 3 and isinstance(args[0], ir.Type):  # operand by operand, flags perhaps too
            if len(args) > 4:
                return build(operation, [_operand(x) for x in args[1:]], args[0])
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
        found: ir.Value = as_ir_value(value)
        return found
    return value.ir_value() if isinstance(value, Numeric) else Int32(value).ir_value()
