# SPDX-License-Identifier: Apache-2.0
"""Instructions between lanes, conversions and other single instructions.

Functions with a `res` argument take the result's MLIR type or numeric class and return a raw SSA value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace import context as _trace
from flydsl.trace.build import bool_attribute, build, i64_array, int_attribute, struct_type, vector_type
from flydsl.trace.wrap import as_ir_value

from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import BFloat16, Float32, Int32, Int64
from ..values.vector import _make
from .availability import check_instruction, is_available
from .intrinsic import call_intrinsic

if TYPE_CHECKING:
    from ..values.accepted import IntLike, ScalarLike, TypeLike, ValueLike

__all__ = [
    "ballot",
    "broadcast_rows",
    "cvt_off_f32_i4",
    "cvt_pk_bf16_f32",
    "cvt_pk_f32_fp8",
    "cvt_pk_fp8_f32",
    "cvt_scalef32_pk_bf16_fp4",
    "cvt_scalef32_pk_f32_fp4",
    "cvt_scalef32_pk_fp4_f32",
    "ds_bpermute",
    "perm_b32",
    "rcp",
    "readfirstlane",
    "readlane",
    "wave_id",
]

_ROW = 16  # lanes


def _type(res: Any) -> ir.Type:
    return res.ir_type if isinstance(res, NumericMeta) else res


def _i32(value: Any) -> ir.Value:
    return as_numeric(value).to(Int32).ir_value()


def readfirstlane(res: TypeLike | ValueLike, x: ValueLike | None = None) -> Numeric:
    """Return the value of the first active lane, in a scalar register: `(res, x)`; with one argument, typed like it."""
    if x is None:
        operand = as_numeric(res)
        return wrap(operand.dtype, build("rocdl.readfirstlane", (operand.ir_value(),), operand.dtype.ir_type))
    return build("rocdl.readfirstlane", (as_ir_value(x),), _type(res))


def readlane(res: TypeLike, x: ValueLike, lane: IntLike) -> ir.Value:
    """Return the value of a lane, in a scalar register."""
    return build("rocdl.readlane", (as_ir_value(x), _i32(lane)), _type(res))


def ballot(res: TypeLike, pred: ScalarLike) -> ir.Value:
    """Return the mask of the lanes whose predicate is true: i32 on wave32, i64 on wave64.

    Raises:
        ValueError: `res` is not as wide as the wave.
    """
    kind = _type(res)
    width = _trace.target().warp_size
    if kind != (Int32 if width == 32 else Int64).ir_type:
        raise ValueError(f"ballot on {_trace.target().name} (wave{width}) gives i{width}, not {kind}")
    return build("rocdl.ballot", (as_numeric(pred).__dsl_bool__().ir_value(),), kind)


def ds_bpermute(res: TypeLike, index: IntLike, src: ValueLike) -> ir.Value:
    """Return `src` of the lane `index / 4`."""
    return build("rocdl.ds_bpermute", (_i32(index), as_ir_value(src)), _type(res))


def broadcast_rows(value: ScalarLike) -> list[Numeric]:
    """Return, for each row of 16 lanes of the wave, what its lanes hold, in all rows: lane l has that of lane l mod 16.

    The value has 32 bits. Rows are exchanged among registers where the target can (gfx950), else read by `ds_bpermute`.

    Raises:
        TypeError: a value of another width.
    """
    operand, target = as_numeric(value), _trace.target()
    if operand.dtype.width != 32:
        raise TypeError(f"broadcast_rows takes a value of 32 bits, not {operand.dtype.__name__}")
    word = operand if operand.dtype is Int32 else operand.bitcast(Int32)
    if is_available("rocdl.permlane32.swap"):
        halves = _swapped("permlane32.swap", word)
        found = [row for half in halves for row in _swapped("permlane16.swap", half)]
    else:
        from ..ops.gpu import lane_id

        lane = lane_id() % _ROW
        places = [(lane + first) * 4 for first in range(0, target.warp_size, _ROW)]
        found = [wrap(Int32, ds_bpermute(Int32, place, word)) for place in places]
    return [one if operand.dtype is Int32 else one.bitcast(operand.dtype) for one in found]


def _swapped(what: str, word: Numeric) -> list[Numeric]:
    """Two copies of a word, of which one gave the other its odd rows (or upper half) and took the even (the lower)."""
    flags = {"fi": bool_attribute(False), "boundControl": bool_attribute(False)}
    operand = word.ir_value()
    pair = build(f"rocdl.{what}", (operand, operand), struct_type(Int32.ir_type, Int32.ir_type), flags)
    return [
        wrap(Int32, build("llvm.extractvalue", (pair,), Int32.ir_type, {"position": i64_array([place])}))
        for place in range(2)
    ]


def wave_id() -> Any:
    """Return the number of the wave in its workgroup, `Int32`; the same in all its lanes."""
    from ..ops.gpu import block_dim, thread_idx

    x, y, z = thread_idx
    linear = x + (y + z * block_dim.y) * block_dim.x
    return readfirstlane(linear >> (_trace.target().warp_size.bit_length() - 1))


def rcp(res: TypeLike, x: ValueLike) -> ir.Value:
    """Return the approximate reciprocal."""
    return build("rocdl.rcp", (as_ir_value(x),), _type(res))


def perm_b32(hi: IntLike, lo: IntLike, sel: IntLike) -> Numeric:
    """Return four bytes picked from the eight of `hi` and `lo` by the selector, `Int32`."""
    return wrap(Int32, call_intrinsic("llvm.amdgcn.perm", (_i32(hi), _i32(lo), _i32(sel)), Int32.ir_type))


def cvt_pk_fp8_f32(res: TypeLike, a: ValueLike, b: ValueLike, old: IntLike, word_sel: bool) -> ir.Value:
    """Convert two f32 to fp8, into the half `word_sel` of `old`."""
    operands = (as_ir_value(a), as_ir_value(b), _i32(old))
    return build("rocdl.cvt.pk.fp8.f32", operands, _type(res), {"wordSel": _flag(word_sel)})


def cvt_pk_f32_fp8(res: TypeLike, src: ValueLike, word_sel: bool) -> ir.Value:
    """Convert the two fp8 in the half `word_sel` of `src` to f32."""
    return build("rocdl.cvt.pk.f32.fp8", (_i32(src),), _type(res), {"wordSel": _flag(word_sel)})


def _flag(value: Any) -> ir.Attribute:
    if isinstance(value, ir.Value):
        raise TypeError("word_sel is part of the instruction: it takes a Python bool")
    return bool_attribute(bool(value))


def cvt_pk_bf16_f32(a: ValueLike, b: ValueLike) -> Numeric:
    """Convert two f32 to bf16, rounding to nearest even: `Int32` with `a` in the low half and `b` in the high one."""
    x, y = (as_numeric(v).to(Float32).ir_value() for v in (a, b))
    pair = build("vector.from_elements", (x, y), vector_type(2, Float32.ir_type))
    return _make(build("arith.truncf", (pair,), vector_type(2, BFloat16.ir_type)), (2,), BFloat16).bitcast(Int32)[0]


def _selector(value: Any, what: str) -> ir.Attribute:
    if isinstance(value, (bool, ir.Value)) or not isinstance(value, int) or not 0 <= value <= 3:
        raise TypeError(f"{what} is part of the instruction: it takes a Python int from 0 to 3, got {value!r}")
    return int_attribute(value, 32)


def _from_fp4(kind: str, res: Any, src: Any, scale: Any, src_sel_index: Any) -> ir.Value:
    check_instruction(f"rocdl.cvt.scalef32.pk.{kind}.fp4", f"cvt_scalef32_pk_{kind}_fp4")
    operands = (_i32(src), as_numeric(scale).to(Float32).ir_value())
    index = {"srcSelIndex": _selector(src_sel_index, "src_sel_index")}
    return build(f"rocdl.cvt.scalef32.pk.{kind}.fp4", operands, _type(res), index)


def cvt_scalef32_pk_f32_fp4(res: TypeLike, src: ValueLike, scale: ScalarLike, src_sel_index: int) -> ir.Value:
    """Convert the two fp4 in byte `src_sel_index` of `src` to f32, times `scale` (gfx950)."""
    return _from_fp4("f32", res, src, scale, src_sel_index)


def cvt_scalef32_pk_bf16_fp4(res: TypeLike, src: ValueLike, scale: ScalarLike, src_sel_index: int) -> ir.Value:
    """Convert the two fp4 in byte `src_sel_index` of `src` to bf16, times `scale` (gfx950)."""
    return _from_fp4("bf16", res, src, scale, src_sel_index)


def cvt_scalef32_pk_fp4_f32(
    res: TypeLike, old: IntLike, a: ValueLike, b: ValueLike, scale: ScalarLike, dst_sel_index: int
) -> ir.Value:
    """Convert two f32, divided by `scale`, to fp4 in byte `dst_sel_index` of `old` (gfx950)."""
    check_instruction("rocdl.cvt.scalef32.pk.fp4.f32", "cvt_scalef32_pk_fp4_f32")
    floats = [as_numeric(one).to(Float32).ir_value() for one in (a, b, scale)]
    index = {"dstSelIndex": _selector(dst_sel_index, "dst_sel_index")}
    return build("rocdl.cvt.scalef32.pk.fp4.f32", (_i32(old), *floats), _type(res), index)


def cvt_off_f32_i4(x: ValueLike, byte_sel: int | None = None) -> Numeric:
    """Convert a 4-bit integer (in byte `byte_sel`) to f32 by the offset table of the hardware, `Float32`."""
    operand = as_numeric(x).to(Int32)
    if byte_sel:
        operand = operand.shrui(8 * byte_sel)
    return wrap(Float32, call_intrinsic("llvm.amdgcn.cvt.off.f32.i4", (operand.ir_value(),), Float32.ir_type))
