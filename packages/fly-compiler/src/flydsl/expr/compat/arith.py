# SPDX-License-Identifier: Apache-2.0
"""Names of `flydsl.expr.utils.arith`: constants and conversions on raw SSA values, and questions about MLIR types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace.fastmath import FastMathFlags, ambient

from ..ops import arith as _arith
from ..values import numeric as _numeric
from ..values.arith_value import element_class
from ..values.numeric.cast import cast_value, like
from ..values.numeric.meta import NumericMeta, class_of_ir_type

if TYPE_CHECKING:
    from ..values.accepted import ScalarLike, TypeLike, ValueLike

__all__ = [
    "arith_const",
    "current_fastmath",
    "element_type",
    "fp_to_fp",
    "fp_to_int",
    "int_to_fp",
    "int_to_int",
    "is_float_type",
    "is_integer_like_type",
    "is_narrow_float_type",
    "recast_type",
    "resolve_fastmath",
]


def _class(kind: Any) -> NumericMeta:
    return kind if isinstance(kind, NumericMeta) else class_of_ir_type(element_type(kind))


def _signed(cls: NumericMeta, signed: bool) -> NumericMeta:
    """Return the signed or unsigned integer class of the same MLIR type."""
    if cls.width == 1 or cls is _numeric.Index or bool(cls.signed) is signed:
        return cls
    found: NumericMeta = getattr(_numeric, f"{'Int' if signed else 'Uint'}{cls.width}")
    return found


def arith_const(value: ScalarLike, ty: TypeLike | None = None) -> ir.Value:
    """Return a number as an SSA constant of an MLIR type; without one i32, i64, f32 or i1."""
    return _arith.constant(value, ty)


def current_fastmath() -> FastMathFlags | None:
    """Return the fast-math flags in effect here, of `fx.fastmath(...)` or of the compile hints; `None` without."""
    return ambient()


def resolve_fastmath(explicit: Any) -> Any:
    """Return `explicit` unless it is `None`, else the fast-math flags in effect here."""
    return ambient() if explicit is None else explicit


def element_type(ty: ir.Type) -> ir.Type:
    """Return the element type of a vector type, and any other type as it is."""
    return ty.element_type if isinstance(ty, ir.VectorType) else ty


def recast_type(src_type: ir.Type, res_elem_type: TypeLike) -> ir.Type:
    """Return `src_type` with other elements: a vector type of the same shape, or the scalar type itself."""
    element = res_elem_type.ir_type if isinstance(res_elem_type, NumericMeta) else res_elem_type
    return like(src_type, element)


def is_float_type(ty: TypeLike) -> bool:
    """Tell whether the (element) type is a float."""
    return bool(_class(ty).is_float)


def is_integer_like_type(ty: TypeLike) -> bool:
    """Tell whether the (element) type is an integer or index."""
    return not _class(ty).is_float


def is_narrow_float_type(ty: TypeLike) -> bool:
    """Tell whether the (element) type is a float of 8 bits or less."""
    cls = _class(ty)
    return bool(cls.is_float) and cls.width <= 8


def fp_to_fp(src: ValueLike, res_elem_type: TypeLike, *, rounding_mode: Any = None) -> ir.Value:
    """Convert a float, or every lane, to another float type."""
    raw = _arith.unwrap(src)
    return cast_value(raw, element_class(raw), _class(res_elem_type), rounding_mode)


def fp_to_int(src: ValueLike, signed: bool, res_elem_type: TypeLike) -> ir.Value:
    """Convert a float, or every lane, to an integer type, toward zero."""
    raw = _arith.unwrap(src)
    return cast_value(raw, element_class(raw), _signed(_class(res_elem_type), signed))


def int_to_fp(src: ValueLike, signed: bool, res_elem_type: TypeLike) -> ir.Value:
    """Convert an integer, or every lane, to a float type."""
    raw = _arith.unwrap(src)
    return cast_value(raw, _signed(element_class(raw), signed), _class(res_elem_type))


def int_to_int(src: ValueLike, dst_type: TypeLike, *, signed: bool | None = None) -> ir.Value:
    """Convert an integer, or every lane, to another integer type; by default as signed as it is."""
    raw = _arith.unwrap(src)
    source = element_class(raw)
    return cast_value(raw, source if signed is None else _signed(source, signed), _class(dst_type))
