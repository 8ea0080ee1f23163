# SPDX-License-Identifier: Apache-2.0
"""Makers of `!fly` types: `fx.LayoutType.get(...)` and relatives return MLIR types of the current context."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import parse_type, type_of

from ..values.address_space import space_argument
from ..values.layout import trees
from ..values.layout.construct import tiler_of
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


def _static_tree(value: Any) -> Any:
    """Return the tree of a static tuple-like value, or of a type of one."""
    if isinstance(value, (tuple, list)):
        if not value:
            raise ValueError("an int-tuple has at least one leaf; () is none")
        return tuple([_static_tree(item) for item in value])
    if value is None:
        return None
    if isinstance(value, IntTuple):
        return value.tree
    if isinstance(value, Basis):
        return trees.BasisLeaf(_static_tree(value.value), list(value.modes))
    if isinstance(value, (fly.IntTupleType, fly.BasisType)):
        facts: Any = fly.facts_of(value)
        return facts.tree
    if isinstance(value, (fly.Dynamic, fly.Basis)):
        return value
    if isinstance(value, Numeric):
        value = int(value)
    if type(value) is not int:
        raise TypeError(f"a type is made of static integers, got {value!r}")
    if value.bit_length() > 31:
        raise ir.MLIRError(f"{value} does not fit int32, which a static leaf is", [])
    return value


def _type(value: Any) -> Any:
    """Return the type of a traced object; a type as it is."""
    return value.type if isinstance(value, FlyValue) else value


class IntTupleType(metaclass=TypeMaker):
    """`!fly.int_tuple<...>`."""

    bound = fly.IntTupleType

    @staticmethod
    def get(value: Any) -> ir.Type:
        """Return the type of a static int-tuple."""
        return type_of(fly.IntTupleType, _static_tree(value))


class BasisType(metaclass=TypeMaker):
    """`!fly.basis<...>`."""

    bound = fly.BasisType

    @staticmethod
    def get(value: Any, modes: Any = ()) -> ir.Type:
        """Return the type of `value` times the unit vector of the mode path."""
        path = modes if isinstance(modes, (list, tuple)) else (modes,)
        return type_of(fly.BasisType, _static_tree(value), tuple(path))


class LayoutType(metaclass=TypeMaker):
    """`!fly.layout<...>`."""

    bound = fly.LayoutType

    @staticmethod
    def get(shape: Any, stride: Any) -> ir.Type:
        """Return the type of a static layout."""
        return type_of(fly.LayoutType, _static_tree(shape), _static_tree(stride))


class ComposedLayoutType(metaclass=TypeMaker):
    """`!fly.composed_layout<...>`."""

    bound = fly.ComposedLayoutType

    @staticmethod
    def get(inner: Any, offset: Any, outer: Any) -> ir.Type:
        """Return the type of `inner` after (`offset` + `outer`); inner and outer are types."""
        return type_of(fly.ComposedLayoutType, _type(inner), _static_tree(offset), _type(outer))


class SwizzleType(metaclass=TypeMaker):
    """`!fly.swizzle<...>`."""

    bound = fly.SwizzleType

    @staticmethod
    def get(mask: int, base: int, shift: int) -> ir.Type:
        """Return the type of S<mask, base, shift>; `ValueError` for negative numbers."""
        if min(int(mask), int(base), int(shift)) < 0:
            raise ValueError(f"the numbers of a swizzle are not negative, got S<{mask},{base},{shift}>")
        return type_of(fly.SwizzleType, int(mask), int(base), int(shift))


class CoordSwizzleType(metaclass=TypeMaker):
    """`!fly.coord_swizzle<...>`."""

    bound = fly.CoordSwizzleType

    @staticmethod
    def get(mask: int, base_row: int, mode_row: Any, base_col: int, mode_col: Any) -> ir.Type:
        """Return the type of a coordinate swizzle; modes are paths."""
        row, col = (tuple(m) if isinstance(m, (list, tuple)) else (m,) for m in (mode_row, mode_col))
        return type_of(fly.CoordSwizzleType, int(mask), int(base_row), row, int(base_col), col)


class TileType(metaclass=TypeMaker):
    """`!fly.tile<...>`."""

    bound = fly.TileType

    @staticmethod
    def get(*modes: Any) -> ir.Type:
        """Return the type of a tile of these modes."""
        if len(modes) == 1 and isinstance(modes[0], (list, tuple)):
            modes = tuple(modes[0])
        return type_of(fly.TileType, tiler_of(modes))


def _element(elem_ty: Any) -> ir.Type:
    if isinstance(elem_ty, NumericMeta):
        return elem_ty.ir_type
    return elem_ty if isinstance(elem_ty, ir.Type) else parse_type(str(elem_ty))


class PointerType(metaclass=TypeMaker):
    """`!fly.ptr<...>`."""

    bound = fly.PointerType

    @staticmethod
    def get(elem_ty: Any, address_space: Any, alignment: int | None = None, swizzle: Any = None) -> ir.Type:
        """Return the type of a pointer; `alignment` in bytes, by default that of the element."""
        space = space_argument(address_space)
        return type_of(fly.PointerType, _element(elem_ty), space, alignment, _type(swizzle))


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
        space = space_argument(address_space)
        return type_of(fly.MemRefType, _element(elem_ty), _type(layout), space, alignment, _type(swizzle))


class CoordTensorType(metaclass=TypeMaker):
    """`!fly.coord_tensor<...>`."""

    bound = fly.CoordTensorType

    @staticmethod
    def get(base: Any, layout: Any) -> ir.Type:
        """Return the type of a coordinate tensor: the coordinate of its first element, and a layout type."""
        return type_of(fly.CoordTensorType, _static_tree(base), _type(layout))


def _operation(op: Any) -> ir.Type:
    """Return the type of an operation of an atom: of a host object such as `fx.UniversalCopy(32)`, or itself."""
    return op if isinstance(op, ir.Type) else op.ir_type


class CopyAtomType(metaclass=TypeMaker):
    """`!fly.copy_atom<...>`."""

    bound = fly.CopyAtomType

    @staticmethod
    def get(copy_op: Any, val_bits: int) -> ir.Type:
        """Return the type of the atom of a copy operation for values of `val_bits` bits."""
        return type_of(fly.CopyAtomType, _operation(copy_op), int(val_bits))


class MmaAtomType(metaclass=TypeMaker):
    """`!fly.mma_atom<...>`."""

    bound = fly.MmaAtomType

    @staticmethod
    def get(mma_op: Any) -> ir.Type:
        """Return the type of the atom of an MMA operation."""
        return type_of(fly.MmaAtomType, _operation(mma_op))


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
        return _operation(ops.UniversalCopy(bits))


class CopyOpUniversalAtomicType(metaclass=TypeMaker):
    """`!fly.universal_atomic<...>`."""

    bound = fly.UniversalAtomicType

    @staticmethod
    def get(op: Any, dtype: Any, syncscope: str = "") -> ir.Type:
        """Return the type of `fx.UniversalAtomic(op, dtype, syncscope)`."""
        return _operation(ops.UniversalAtomic(op, dtype, syncscope))


class MmaOpUniversalFMAType(metaclass=TypeMaker):
    """`!fly.universal_fma<...>`."""

    bound = fly.UniversalFMAType

    @staticmethod
    def get(dtype: Any) -> ir.Type:
        """Return the type of `fx.UniversalFMA(dtype)`."""
        return _operation(ops.UniversalFMA(dtype))
