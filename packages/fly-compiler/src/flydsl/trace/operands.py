# SPDX-License-Identifier: Apache-2.0
"""What the operands of inferred `fly` operations may be.

Result types are inferred before operands are verified, so a wrong operand has to be refused here, by name, instead of
there, by an assertion. The table is that of the dialect's operand constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl._mlir._mlir_libs import _flyDialect as fly

__all__ = ["check_operands"]

_TUPLE = (fly.IntTupleType,)
_LAYOUT = (fly.LayoutType,)
_NARROW = (fly.LayoutType, fly.ComposedLayoutType)
_TENSOR = (fly.MemRefType, fly.CoordTensorType)
_LIKE = (*_NARROW, *_TENSOR)
_TUPLE_LIKE = (*_TUPLE, *_LIKE)
_DIVISOR = (fly.LayoutType, fly.TileType)
_INNER = (*_NARROW, fly.SwizzleType, fly.CoordSwizzleType)
_ITERATOR = (fly.IntTupleType, fly.PointerType)
_POINTER = (fly.PointerType,)
_MEMREF = (fly.MemRefType,)
_ATOMS = (fly.CopyAtomType, fly.MmaAtomType, fly.TiledCopyType, fly.TiledMmaType)
_ANY = (object,)

_TABLE: dict[str, tuple[tuple[Any, ...], ...]] = {
    "make_layout": (_TUPLE, _TUPLE),
    "make_layout_like": (_LAYOUT,),
    "make_ordered_layout": (_TUPLE, _TUPLE),
    "make_composed_layout": (_INNER, _TUPLE, _NARROW),
    "make_identity_layout": (_TUPLE,),
    "make_view": (_ITERATOR, _NARROW),
    "make_fragment_like": ((*_LAYOUT, *_TENSOR),),
    "make_fragment_layout_like": ((*_LAYOUT, *_MEMREF),),
    "get_scalar": (_TUPLE,),
    "get_shape": (_LIKE,),
    "get_stride": (_LIKE,),
    "get_layout": (_TENSOR,),
    "get_iter": (_TENSOR,),
    "composed_get_inner": ((fly.ComposedLayoutType,),),
    "composed_get_offset": ((fly.ComposedLayoutType,),),
    "composed_get_outer": ((fly.ComposedLayoutType,),),
    "int_tuple_product": (_TUPLE,),
    "int_tuple_product_each": (_TUPLE,),
    "get": (_TUPLE_LIKE,),
    "take": (_TUPLE_LIKE,),
    "select": (_TUPLE_LIKE,),
    "group": (_TUPLE_LIKE,),
    "append": ((*_TUPLE, *_NARROW), (*_TUPLE, *_LAYOUT)),
    "prepend": ((*_TUPLE, *_NARROW), (*_TUPLE, *_LAYOUT)),
    "slice": (_TUPLE_LIKE, _TUPLE),
    "dice": ((*_TUPLE, *_LAYOUT), _TUPLE),
    "size": (_TUPLE_LIKE,),
    "coprofile": (_LIKE,),
    "coshape": (_LIKE,),
    "cosize": (_LIKE,),
    "crd2idx": (_TUPLE, _INNER),
    "idx2crd": (_TUPLE, _LAYOUT),
    "get_flat_coord": (_TUPLE, _LAYOUT),
    "get_1d_coord": (_TUPLE, _LAYOUT),
    "coalesce": (_LIKE, _TUPLE),
    "composition": (_LIKE, _DIVISOR),
    "complement": (_NARROW, _TUPLE),
    "right_inverse": (_NARROW,),
    "left_inverse": (_NARROW,),
    "recast_layout": (_NARROW,),
    "tile_to_shape": (_NARROW, _TUPLE, _TUPLE),
    "ptrtoint": (_POINTER,),
    "to_llvm_ptr": (_POINTER,),
    "add_offset": (_ITERATOR, _TUPLE),
    "apply_swizzle": (_POINTER, (fly.SwizzleType,)),
    "decomposition": (_TENSOR,),
    "memref.load_vec": (_TENSOR,),
    "memref.load": (_TENSOR, _TUPLE),
    "atom.set_value": (_ATOMS, _ANY),
    "get_copy_atom": ((fly.TiledCopyType,),),
    "get_mma_atom": ((fly.TiledMmaType,),),
    "make_tiled_copy": ((fly.CopyAtomType,), _LAYOUT, (fly.TileType,)),
    "make_tiled_mma": ((fly.MmaAtomType,), _LAYOUT, (fly.TileType,)),
    "tiled_copy.partition_src": ((fly.TiledCopyType,), _TENSOR, _TUPLE),
    "tiled_copy.partition_dst": ((fly.TiledCopyType,), _TENSOR, _TUPLE),
    "tiled_copy.retile": ((fly.TiledCopyType,), _MEMREF),
    "tiled_mma.partition": ((fly.TiledMmaType,), _TENSOR, _TUPLE),
    "tiled_mma.partition_shape": ((fly.TiledMmaType,), _TUPLE),
    "mma.make_fragment": ((fly.TiledMmaType,), _MEMREF),
}
for _name in ("add", "sub", "mul", "div", "mod", "product_like"):
    _TABLE[f"int_tuple_{_name}"] = (_TUPLE, _TUPLE)
for _name in ("shape_div", "ceil_div"):
    _TABLE[_name] = (_TUPLE, _TUPLE)
for _name in ("logical", "zipped", "tiled", "flat"):
    _TABLE[f"{_name}_divide"] = (_LIKE, _DIVISOR)
for _name in ("logical", "zipped", "tiled", "flat", "blocked", "raked"):
    _TABLE[f"{_name}_product"] = (_NARROW, _LAYOUT)
_BY_OPERATION = {f"fly.{name}": kinds for name, kinds in _TABLE.items()}


def check_operands(operation: str, operands: Sequence[Any]) -> None:
    """Refuse operands of a kind that the operation does not take.

    Raises:
        TypeError: names the operation, what it takes and what it got.
    """
    kinds = _BY_OPERATION.get(operation)
    if kinds is None:
        return
    for kind, operand in zip(kinds, operands, strict=False):
        if not isinstance(operand.type, kind):
            name = operation.removeprefix("fly.")
            wanted = " or ".join(_spoken(one) for one in kind)
            raise TypeError(f"{name} takes {wanted} here, not a value of type {operand.type}")


def _spoken(kind: Any) -> str:
    return {
        fly.IntTupleType: "an int-tuple",
        fly.LayoutType: "a layout",
        fly.ComposedLayoutType: "a composed layout",
        fly.MemRefType: "a tensor",
        fly.CoordTensorType: "a coordinate tensor",
        fly.TileType: "a tile",
        fly.SwizzleType: "a swizzle",
        fly.CoordSwizzleType: "a coordinate swizzle",
        fly.PointerType: "a pointer",
        fly.CopyAtomType: "a copy atom",
        fly.MmaAtomType: "an MMA atom",
        fly.TiledCopyType: "a tiled copy",
        fly.TiledMmaType: "a tiled MMA",
    }[kind]
