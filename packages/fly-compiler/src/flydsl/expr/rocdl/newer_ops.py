# SPDX-License-Identifier: Apache-2.0
"""Instructions that the ROCDL dialect of LLVM 22 has no op for, under the names that later dialects give them.

They are calls of the intrinsics, with the operand order of the ops: `(result_type, *operands)`, raw SSA values back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.wrap import as_ir_value

from ..values.numeric.base import as_numeric
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Boolean, Int32
from .availability import check_instruction
from .intrinsic import call_intrinsic

__all__ = ["disable_xdl_arb_stall", "newer_op", "wave_barrier"]

# Name, intrinsic, the operands: `v` a value, `c` a clamp flag (keyword `clamp`), `s` a sign flag (by keyword).
_DOTS = {
    **{f"{s}dot{n}": (f"llvm.amdgcn.{s}dot{n}", "vvvc") for s in "su" for n in (2, 4, 8)},
    **{f"sudot{n}": (f"llvm.amdgcn.sudot{n}", "svsvvc") for n in (4, 8)},
    "fdot2": ("llvm.amdgcn.fdot2", "vvvc"),
    "fdot2_f32_bf16": ("llvm.amdgcn.fdot2.f32.bf16", "vvvc"),
    "fdot2_f16_f16": ("llvm.amdgcn.fdot2.f16.f16", "vvv"),
    "fdot2_bf16_bf16": ("llvm.amdgcn.fdot2.bf16.bf16", "vvv"),
    **{
        f"dot4_f32_{a}_{b}": (f"llvm.amdgcn.dot4.f32.{a}.{b}", "vvv")
        for a in ("fp8", "bf8")
        for b in ("fp8", "bf8")
    },
}  # fmt: skip
_OTHERS = {
    "rsq": ("llvm.amdgcn.rsq", "v"),
    "permlane16_var": ("llvm.amdgcn.permlane16.var", "vvv"),
    "permlanex16_var": ("llvm.amdgcn.permlanex16.var", "vvv"),
}
_PERMUTES = ("permlane16_var", "permlanex16_var")


def newer_op(name: str) -> Callable[..., Any] | None:
    """Return the builder of one of these instructions, or `None`."""
    found = _DOTS.get(name) or _OTHERS.get(name)
    if found is None:
        return None
    intrinsic, operand_kinds = found

    def call(
        res: Any,
        *operands: Any,
        clamp: bool = False,
        sign_a: bool = False,
        sign_b: bool = False,
        fi: bool = False,
        bound_control: bool = False,
    ) -> Any:
        check_instruction(intrinsic, name)
        values = [as_ir_value(one) for one in operands]
        if len(values) != operand_kinds.count("v"):
            raise TypeError(f"{name} takes a result type and {operand_kinds.count('v')} operands, got {len(values)}")
        signs = [sign_a, sign_b]
        for at, kind in enumerate(operand_kinds):
            if kind == "s":
                values.insert(at, _flag(signs.pop(0)))
            elif kind == "c":
                values.append(_flag(clamp))
        if name in _PERMUTES:
            values += [_flag(fi), _flag(bound_control)]
        return call_intrinsic(intrinsic, values, _type(res))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Call `{intrinsic}`."
    return call


def _flag(value: Any) -> ir.Value:
    if isinstance(value, ir.Value):
        raise TypeError("a modifier is part of the instruction: it takes a Python bool")
    result: ir.Value = Boolean(bool(value)).ir_value()
    return result


def _type(res: Any) -> ir.Type:
    return res.ir_type if isinstance(res, NumericMeta) else res


def wave_barrier() -> None:
    """Keep the instructions of a wave on their side of this point; no instruction is emitted."""
    call_intrinsic("llvm.amdgcn.wave.barrier", (), None)


# hwreg(HW_REG_WAVE_SCHED_MODE, 2, 1): register 26, bit 2, one bit.
_SCHED_MODE_XDL_STALL = 26 | (2 << 6)


def disable_xdl_arb_stall() -> None:
    """Let matrix instructions of several waves overlap without the arbiter's stall (gfx1250).

    Raises:
        ValueError: another target.
    """
    check_instruction("llvm.amdgcn.s.setreg.wave.sched.mode", "disable_xdl_arb_stall")
    operands = [as_numeric(one).to(Int32).ir_value() for one in (_SCHED_MODE_XDL_STALL, 1)]
    call_intrinsic("llvm.amdgcn.s.setreg", operands, None)
