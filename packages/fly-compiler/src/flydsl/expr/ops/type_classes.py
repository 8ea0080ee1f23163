# SPDX-License-Identifier: Apache-2.0
"""Makers of `!fly` types: `fx.LayoutType.get(...)` and relatives return MLIR types of the current context."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import parse_type

from ..values.address_space import space_text
from ..values.layout import typetext as tt
from ..values.layout.objects import Basis, FlyValue, IntTuple
from ..values.numeric.base import Numeric
from ..values.numeric.meta import NumericMeta
from . import atom_types as ops

__all__ = [
    "BasisType",
    "ComposedLayoutType",
    "CoordSwizzleType",
    "CoordTensorType",
    "CopyAtomType",
    "CopyOpUniversalAtomicType",
    "CopyOpUniversalCopyType",
    "IntTupleType",
    "LayoutType",
    "MemRefType",
    "MmaAtomType",
    "MmaOpUniversalFMAType",
    "PointerType",
    "SwizzleType",
    "TileType",
    "TiledCopyType",
    "TiledMmaType",
]


class TypeMaker(type):
    """Metaclass of the makers: an MLIR type of that kind counts as an instance, and calling one with a type gives it.

    What the makers do not define themselves (`parse`, `get_static_typeid`, properties) is that of MLIR's class.
    """

    bound: type

    def __call__(cls, kind: Any) -> Any:
        """Return an MLIR type as one of this kind; `ValueError` when it is of another."""
        return cls.bound(kind)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.bound, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.bound)


def _static_text(value: Any) -> str:
    """Return the text of a static tuple-like value."""
    if isinstance(value, (tuple, list)):
        if not value:
            raise ValueError("an int-tuple has at least one leaf; () is none")
        return "(" + ",".join(_static_text(item) for item in value) + ")"
    if value is None:
        return "*"
    if isinstance(value, IntTuple):
        return tt.arguments(value.type_text)
    if isinstance(value, Basis):
        return _static_text(value.value) + "".join(f"E{mode}" for mode in value.modes)
    if isinstance(value, ir.Type):
        return tt.arguments(str(value))
    if isinstance(value, Numeric):
        value = int(value)
    if type(value) is not int:
        raise TypeError(f"a type is made of static integers, got {value!r}")
    return str(value)


def _text(value: Any) -> str:
    """Return the text between the brackets of a type, or of the type of a traced object."""
    return tt.arguments(value.type_text if isinstance(value, FlyValue) else str(value))


class IntTupleType(metaclass=TypeMaker):
    """`!fly.int_tuple<...>`."""

    bound = fly.IntTupleType

    @staticmethod
    def get(value: Any) -> ir.Type:
        """Return the type of a static int-tuple."""
        return parse_type(f"!fly.int_tuple<{_static_text(value)}>")


class BasisType(metaclass=TypeMaker):
    """`!fly.basis<...>`."""

    bound = fly.BasisType

    @staticmethod
    def get(value: Any, modes: Any = ()) -> ir.Type:
        """Return the type of `value` times the unit vector of the mode path."""
        path = modes if isinstance(modes, (list, tuple)) else (modes,)
        return parse_type(f"!fly.basis<{_static_text(value)}{''.join(f'E{mode}' for mode in path)}>")


class LayoutType(metaclass=TypeMaker):
    """`!fly.layout<...>`."""

    bound = fly.LayoutType

    @staticmethod
    def get(shape: Any, stride: Any) -> ir.Type:
        """Return the type of a static layout."""
        return parse_type(f"!fly.layout<{_static_text(shape)}:{_static_text(stride)}>")


class ComposedLayoutType(metaclass=TypeMaker):
    """`!fly.composed_layout<...>`."""

    bound = fly.ComposedLayoutType

    @staticmethod
    def get(inner: Any, offset: Any, outer: Any) -> ir.Type:
        """Return the type of `inner` after (`offset` + `outer`); inner and outer are types."""
        outer_text = _text(outer)
        if " o " in outer_text:
            outer_text = f"[{outer_text}]"
        return parse_type(f"!fly.composed_layout<{_text(inner)} o {_static_text(offset)} o {outer_text}>")


class SwizzleType(metaclass=TypeMaker):
    """`!fly.swizzle<...>`."""

    bound = fly.SwizzleType

    @staticmethod
    def get(mask: int, base: int, shift: int) -> ir.Type:
        """Return the type of S<mask, base, shift>; `ValueError` for negative numbers."""
        if min(int(mask), int(base), int(shift)) < 0:
            raise ValueError(f"the numbers of a swizzle are not negative, got S<{mask},{base},{shift}>")
        return parse_type(f"!fly.swizzle<S<{int(mask)},{int(base)},{int(shift)}>>")


class CoordSwizzleType(metaclass=TypeMaker):
    """`!fly.coord_swizzle<...>`."""

    bound = fly.CoordSwizzleType

    @staticmethod
    def get(mask: int, base_row: int, mode_row: Any, base_col: int, mode_col: Any) -> ir.Type:
        """Return the type of a coordinate swizzle; modes are paths."""
        row, col = (", ".join(map(str, m if isinstance(m, (list, tuple)) else (m,))) for m in (mode_row, mode_col))
        return parse_type(f"!fly.coord_swizzle<CS<{int(mask)},{int(base_row)},[{row}],{int(base_col)},[{col}]>>")


class TileType(metaclass=TypeMaker):
    """`!fly.tile<...>`."""

    bound = fly.TileType

    @staticmethod
    def get(*modes: Any) -> ir.Type:
        """Return the type of a tile of these modes."""
        from ..values.layout.construct import _spell_tile

        if len(modes) == 1 and isinstance(modes[0], (list, tuple)):
            modes = tuple(modes[0])
        parts = [_text(mode) if isinstance(mode, ir.Type) else _spell_tile(mode) for mode in modes]
        return parse_type("!fly.tile<[" + "|".join(parts) + "]>")


def _element(elem_ty: Any) -> str:
    return elem_ty.mnemonic if isinstance(elem_ty, NumericMeta) else str(elem_ty)


def _extras(alignment: int | None, swizzle: Any) -> str:
    text = "" if alignment is None else f", align<{int(alignment)}>"
    return text if swizzle is None else f"{text}, {_text(swizzle)}"


class PointerType(metaclass=TypeMaker):
    """`!fly.ptr<...>`."""

    bound = fly.PointerType

    @staticmethod
    def get(elem_ty: Any, address_space: Any, alignment: int | None = None, swizzle: Any = None) -> ir.Type:
        """Return the type of a pointer; `alignment` in bytes, by default that of the element."""
        return parse_type(f"!fly.ptr<{_element(elem_ty)}, {space_text(address_space)}{_extras(alignment, swizzle)}>")


class MemRefType(metaclass=TypeMaker):
    """`!fly.memref<...>`."""

    bound = fly.MemRefType

    @staticmethod
    def get(
        elem_ty: Any, layout: Any, address_space: Any, alignment: int | None = None, swizzle: Any = None
    ) -> ir.Type:
        """Return the type of a tensor in memory; `layout` is a layout type. Layout and space may be exchanged."""
        if not isinstance(layout, ir.Type) and not isinstance(layout, FlyValue):
            layout, address_space = address_space, layout
        space = space_text(address_space)
        return parse_type(f"!fly.memref<{_element(elem_ty)}, {space}, {_text(layout)}{_extras(alignment, swizzle)}>")


class CoordTensorType(metaclass=TypeMaker):
    """`!fly.coord_tensor<...>`."""

    bound = fly.CoordTensorType

    @staticmethod
    def get(base: Any, layout: Any) -> ir.Type:
        """Return the type of a coordinate tensor: the coordinate of its first element, and a layout type."""
        start = _text(base) if isinstance(base, (ir.Type, FlyValue)) else _static_text(base)
        return parse_type(f"!fly.coord_tensor<{start}, {_text(layout)}>")


def _operation(op: Any) -> str:
    """Return the text of an operation of an atom: a host object such as `fx.UniversalCopy(32)`, or its type."""
    return str(op) if isinstance(op, ir.Type) else str(op.text)


class CopyAtomType(metaclass=TypeMaker):
    """`!fly.copy_atom<...>`."""

    bound = fly.CopyAtomType

    @staticmethod
    def get(copy_op: Any, val_bits: int) -> ir.Type:
        """Return the type of the atom of a copy operation for values of `val_bits` bits."""
        return parse_type(f"!fly.copy_atom<{_operation(copy_op)}, {int(val_bits)}>")


class MmaAtomType(metaclass=TypeMaker):
    """`!fly.mma_atom<...>`."""

    bound = fly.MmaAtomType

    @staticmethod
    def get(mma_op: Any) -> ir.Type:
        """Return the type of the atom of an MMA operation."""
        return parse_type(f"!fly.mma_atom<{_operation(mma_op)}>")


class TiledCopyType(metaclass=TypeMaker):
    """`!fly.tiled_copy<...>`; `fx.make_tiled_copy` makes values of it."""

    bound = fly.TiledCopyType


class TiledMmaType(metaclass=TypeMaker):
    """`!fly.tiled_mma<...>`; `fx.make_tiled_mma` makes values of it."""

    bound = fly.TiledMmaType


class CopyOpUniversalCopyType(metaclass=TypeMaker):
    """`!fly.universal_copy<...>`."""

    bound = fly.UniversalCopyType

    @staticmethod
    def get(bits: int) -> ir.Type:
        """Return the type of `fx.UniversalCopy(bits)`."""
        return parse_type(ops.UniversalCopy(bits).text)


class CopyOpUniversalAtomicType(metaclass=TypeMaker):
    """`!fly.universal_atomic<...>`."""

    bound = fly.UniversalAtomicType

    @staticmethod
    def get(op: Any, dtype: Any, syncscope: str = "") -> ir.Type:
        """Return the type of `fx.UniversalAtomic(op, dtype, syncscope)`."""
        return parse_type(ops.UniversalAtomic(op, dtype, syncscope).text)


class MmaOpUniversalFMAType(metaclass=TypeMaker):
    """`!fly.universal_fma<...>`."""

    bound = fly.UniversalFMAType

    @staticmethod
    def get(dtype: Any) -> ir.Type:
        """Return the type of `fx.UniversalFMA(dtype)`."""
        return parse_type(ops.UniversalFMA(dtype).text)
