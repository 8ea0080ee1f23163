# SPDX-License-Identifier: Apache-2.0
"""The algebra of layouts, with CuTe's meaning; each function builds one op of the `fly` dialect.

Functions of layouts also take tensors, and act on their layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace.build import infer, int_attribute
from flydsl.trace.wrap import wrap_any

from ..numeric.meta import NumericMeta, class_of_ir_type
from . import trees
from .construct import as_int_tuple, as_tile
from .host import from_host
from .objects import ComposedLayout, Layout
from .operands import again, layout_operand
from .overhang import overhang
from .sizes import tree_of

if TYPE_CHECKING:
    from ..accepted import IntTupleLike, LayoutLike, TilerLike

__all__ = [
    "block_product",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "flat_divide",
    "flat_product",
    "is_profile_congruent",
    "is_profile_weakly_congruent",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "raked_product",
    "recast_layout",
    "right_inverse",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "zipped_divide",
    "zipped_product",
]


def coalesce(layout: LayoutLike, pattern: IntTupleLike = None) -> Any:
    """Return the simplest layout of the same function; `pattern` keeps the modes that it names apart."""
    operands = [layout_operand(layout, "coalesce")]
    if pattern is not None:
        operands.append(as_int_tuple(pattern).value)
    return again(layout, infer("fly.coalesce", operands))


def composition(a: TilerLike, b: TilerLike) -> Any:
    """Return `a` after `b`; a tile (or tuple) as `b` works mode by mode.

    Raises:
        TypeError: `b` is no layout, tile or tuple.
        ValueError: the divisibility that composition needs does not hold.
    """
    return again(a, infer("fly.composition", (layout_operand(a, "composition"), _divisor(b))))


def _divisor(x: Any) -> ir.Value:
    x = from_host(x)
    return x.value if isinstance(x, ComposedLayout) else as_tile(x).value


def complement(layout: LayoutLike, codomain_size: IntTupleLike = None) -> Layout:
    """Return the layout of what `layout` leaves out of `codomain_size` (by default its cosize)."""
    operands = [layout_operand(layout, "complement")]
    if codomain_size is not None:
        operands.append(as_int_tuple(codomain_size).value)
    return Layout(infer("fly.complement", operands))


def right_inverse(layout: LayoutLike) -> Layout:
    """Return the layout R with layout(R(i)) == i on the largest contiguous range."""
    return Layout(infer("fly.right_inverse", (layout_operand(layout, "right_inverse"),)))


def left_inverse(layout: LayoutLike) -> Layout:
    """Return the layout L with L(layout(i)) == i."""
    return Layout(infer("fly.left_inverse", (layout_operand(layout, "left_inverse"),)))


def _divide(op: str, x: Any, divisor: Any) -> Any:
    result = again(x, infer(op, (layout_operand(x, op.removeprefix("fly.")), _divisor(divisor))))
    if hasattr(result, "beyond") and result.beyond is None:
        result.beyond = overhang(x, divisor)
    return result


def logical_divide(x: LayoutLike, divisor: TilerLike) -> Any:
    """Split each mode in (tile, rest). `divisor`: layout, tile, or tuple of extents."""
    return _divide("fly.logical_divide", x, divisor)


def zipped_divide(x: LayoutLike, divisor: TilerLike) -> Any:
    """Divide, and gather to ((tile…), (rest…))."""
    return _divide("fly.zipped_divide", x, divisor)


def tiled_divide(x: LayoutLike, divisor: TilerLike) -> Any:
    """Divide, and gather to ((tile…), rest…)."""
    return _divide("fly.tiled_divide", x, divisor)


def flat_divide(x: LayoutLike, divisor: TilerLike) -> Any:
    """Divide, and gather to (tile…, rest…)."""
    return _divide("fly.flat_divide", x, divisor)


def _product(op: str, layout: Any, tiler: Any) -> Any:
    name = op.removeprefix("fly.")
    return wrap_any(infer(op, (layout_operand(layout, name), layout_operand(tiler, name))))


def logical_product(layout: LayoutLike, tiler: LayoutLike) -> Any:
    """Repeat `layout` over the layout `tiler`."""
    return _product("fly.logical_product", layout, tiler)


def zipped_product(layout: LayoutLike, tiler: LayoutLike) -> Any:
    """Repeat, and gather to ((block…), (rest…))."""
    return _product("fly.zipped_product", layout, tiler)


def tiled_product(layout: LayoutLike, tiler: LayoutLike) -> Any:
    """Repeat, and gather to ((block…), rest…)."""
    return _product("fly.tiled_product", layout, tiler)


def flat_product(layout: LayoutLike, tiler: LayoutLike) -> Any:
    """Repeat, and gather to (block…, rest…)."""
    return _product("fly.flat_product", layout, tiler)


def blocked_product(layout: LayoutLike, tiler: LayoutLike) -> Any:
    """Repeat as blocks: mode by mode (block, tiler)."""
    return _product("fly.blocked_product", layout, tiler)


block_product = blocked_product


def raked_product(layout: LayoutLike, tiler: LayoutLike) -> Any:
    """Repeat interleaved: mode by mode (tiler, block)."""
    return _product("fly.raked_product", layout, tiler)


def recast_layout(layout: LayoutLike, old_bits: int | ir.Type, new_bits: int | ir.Type) -> Any:
    """Return the layout for elements of `new_bits` where it was for elements of `old_bits` (ints or MLIR types)."""
    old, new = _bits(old_bits), _bits(new_bits)
    attributes = {"old_type_bits": int_attribute(old), "new_type_bits": int_attribute(new)}
    return wrap_any(infer("fly.recast_layout", (layout_operand(layout, "recast_layout"),), attributes))


def _bits(bits: Any) -> int:
    if type(bits) is int:
        return bits
    if isinstance(bits, ir.Type):
        return class_of_ir_type(bits).width
    hint = f"; write fx.{bits.__name__}.width" if isinstance(bits, NumericMeta) else ""
    raise TypeError(f"recast_layout takes bits as an int or an MLIR type, got {bits!r}{hint}")


def tile_to_shape(block: LayoutLike, target_shape: IntTupleLike, order: IntTupleLike) -> Any:
    """Repeat `block` until it covers `target_shape`, in the order given: ((block_i, rep_i), …)."""
    operands = (layout_operand(block, "tile_to_shape"), as_int_tuple(target_shape).value, as_int_tuple(order).value)
    return wrap_any(infer("fly.tile_to_shape", operands))


def is_profile_congruent(a: TilerLike, b: TilerLike) -> bool:
    """Tell whether two values have the same nesting."""
    return trees.congruent(tree_of(a), tree_of(b))


def is_profile_weakly_congruent(a: TilerLike, b: TilerLike) -> bool:
    """Tell whether the nesting of `a` is a prefix of that of `b`."""
    return trees.weakly_congruent(tree_of(a), tree_of(b))
