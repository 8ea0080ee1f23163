# SPDX-License-Identifier: Apache-2.0
"""Layouts and their algebra, in pure Python.

A layout ``shape:stride`` is a function from coordinates to indices. The names are the field's; functions whose names
are Python built-ins (`filter`, `slice`, `zip`) are here too, but a star import leaves them out.

Sub-packages, loaded on first use: `analysis` (coalescing, bank conflicts, injectivity, vector width, swizzle search),
`atoms` (tiled copies and MMAs, AMD's matrix instructions), `linear` (layouts as matrices over F2), `pictures`.
"""

# Without `from __future__ import annotations` here and in `above`: it is a module, a third of this package's import.
from . import above

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import analysis as analysis
    from . import atoms as atoms
    from . import linear as linear
    from . import pictures as pictures
    from .algebra.coalesce import coalesce, filter_zeros
    from .algebra.coalesce import filter as filter
    from .algebra.common import max_common_layout, max_common_vector, nullspace
    from .algebra.compact import (
        make_fragment_layout_like,
        make_identity_layout,
        make_layout,
        make_layout_like,
        make_ordered_layout,
        tile_to_shape,
    )
    from .algebra.complement import complement
    from .algebra.composition import composition
    from .algebra.divide import flat_divide, logical_divide, tiled_divide, zipped_divide
    from .algebra.inverse import inverse, left_inverse, right_inverse
    from .algebra.product import (
        blocked_product,
        flat_product,
        logical_product,
        raked_product,
        tiled_product,
        zipped_product,
    )
    from .algebra.recast import downcast, recast_layout, upcast
    from .algebra.reshape import flat_layout, sort_modes, unflatten_layout, with_shape
    from .algebra.sizes import coprofile, coshape, cosize, depth, rank, size
    from .basis import Basis, E
    from .composed import ComposedLayout, CoordTensor
    from .coordinates import crd2crd
    from .errors import LayoutError, LayoutTypeError, ParseError
    from .functions import (
        composed_get_inner,
        composed_get_offset,
        composed_get_outer,
        crd2idx,
        get_1d_coord,
        get_flat_coord,
        get_leaves,
        get_scalar,
        get_shape,
        get_stride,
        idx2crd,
        make_coord,
        make_int_tuple,
        make_shape,
        make_stride,
        make_view,
    )
    from .int_tuple import (
        compatible,
        congruent,
        elem_scale,
        flatten,
        has_none,
        inner_product,
        is_int_tuple,
        is_static,
        prefix_product,
        product,
        profile,
        suffix_product,
        transform_leaves,
        tuple_max,
        unflatten,
        weakly_congruent,
    )
    from .layout import Layout, LayoutLike, is_layout
    from .modes import append, dice, get, group, prepend, replace, select, slice_, slice_and_offset, take, zip_
    from .parsing import parse, parse_int_tuple, parse_tile
    from .printing import text_of, to_dialect
    from .swizzle import CoordSwizzle, Swizzle
    from .symbolic import SymInt, dyn, sym, sym_apply
    from .tile import Tile, make_tile
    from .tuple_arith import (
        ceil_div,
        colex_less,
        elem_less,
        equal,
        int_tuple_add,
        int_tuple_div,
        int_tuple_mod,
        int_tuple_mul,
        int_tuple_product,
        int_tuple_product_each,
        int_tuple_product_like,
        int_tuple_sub,
        lex_less,
        product_each,
        product_like,
        shape_div,
    )

    compose = composition
    block_product = blocked_product
    is_profile_congruent = congruent
    is_profile_weakly_congruent = weakly_congruent
    recast = recast_layout
    slice = slice_
    zip = zip_
    get_ = get

__version__ = "0.1.0"

# Where each public name lives. Modules are imported when one of their names is first used, which keeps the import of
# this package short; `tests/test_package.py` holds the table against the imports above.
_EXPORTS = {
    ".algebra.coalesce": "coalesce filter filter_zeros",
    ".algebra.common": "max_common_layout max_common_vector nullspace",
    ".algebra.compact": (
        "make_fragment_layout_like make_identity_layout make_layout make_layout_like make_ordered_layout tile_to_shape "
    ),
    ".algebra.complement": "complement",
    ".algebra.composition": "composition",
    ".algebra.divide": "flat_divide logical_divide tiled_divide zipped_divide",
    ".algebra.inverse": "inverse left_inverse right_inverse",
    ".algebra.product": "blocked_product flat_product logical_product raked_product tiled_product zipped_product",
    ".algebra.recast": "downcast recast_layout upcast",
    ".algebra.reshape": "flat_layout sort_modes unflatten_layout with_shape",
    ".algebra.sizes": "coprofile coshape cosize depth rank size",
    ".basis": "Basis E",
    ".composed": "ComposedLayout CoordTensor",
    ".coordinates": "crd2crd",
    ".errors": "LayoutError LayoutTypeError ParseError",
    ".functions": (
        "composed_get_inner composed_get_offset composed_get_outer crd2idx get_1d_coord get_flat_coord get_leaves "
        "get_scalar get_shape get_stride idx2crd make_coord make_int_tuple make_shape make_stride make_view "
    ),
    ".int_tuple": (
        "compatible congruent elem_scale flatten has_none inner_product is_int_tuple is_static prefix_product "
        "product profile suffix_product transform_leaves tuple_max unflatten weakly_congruent "
    ),
    ".layout": "Layout LayoutLike is_layout",
    ".modes": "append dice get group prepend replace select slice_ slice_and_offset take zip_",
    ".parsing": "parse parse_int_tuple parse_tile",
    ".printing": "text_of to_dialect",
    ".swizzle": "CoordSwizzle Swizzle",
    ".symbolic": "SymInt dyn sym sym_apply",
    ".tile": "Tile make_tile",
    ".tuple_arith": (
        "ceil_div colex_less elem_less equal int_tuple_add int_tuple_div int_tuple_mod int_tuple_mul "
        "int_tuple_product int_tuple_product_each int_tuple_product_like int_tuple_sub lex_less product_each "
        "product_like shape_div "
    ),
}

# Second names in use for the same functions.
_ALIASES = {
    "block_product": "blocked_product",
    "compose": "composition",
    "get_": "get",
    "is_profile_congruent": "congruent",
    "is_profile_weakly_congruent": "weakly_congruent",
    "recast": "recast_layout",
    "slice": "slice_",
    "zip": "zip_",
}

_SUBPACKAGES = ("analysis", "atoms", "linear", "pictures")

_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = [
    "Basis",
    "ComposedLayout",
    "CoordSwizzle",
    "CoordTensor",
    "E",
    "Layout",
    "LayoutError",
    "LayoutLike",
    "LayoutTypeError",
    "ParseError",
    "Swizzle",
    "SymInt",
    "Tile",
    "append",
    "block_product",
    "blocked_product",
    "ceil_div",
    "coalesce",
    "colex_less",
    "compatible",
    "complement",
    "compose",
    "composed_get_inner",
    "composed_get_offset",
    "composed_get_outer",
    "composition",
    "congruent",
    "coprofile",
    "coshape",
    "cosize",
    "crd2crd",
    "crd2idx",
    "depth",
    "dice",
    "downcast",
    "dyn",
    "elem_less",
    "elem_scale",
    "equal",
    "filter_zeros",
    "flat_divide",
    "flat_layout",
    "flat_product",
    "flatten",
    "get",
    "get_",
    "get_1d_coord",
    "get_flat_coord",
    "get_leaves",
    "get_scalar",
    "get_shape",
    "get_stride",
    "group",
    "has_none",
    "idx2crd",
    "inner_product",
    "int_tuple_add",
    "int_tuple_div",
    "int_tuple_mod",
    "int_tuple_mul",
    "int_tuple_product",
    "int_tuple_product_each",
    "int_tuple_product_like",
    "int_tuple_sub",
    "inverse",
    "is_int_tuple",
    "is_layout",
    "is_profile_congruent",
    "is_profile_weakly_congruent",
    "is_static",
    "left_inverse",
    "lex_less",
    "logical_divide",
    "logical_product",
    "make_coord",
    "make_fragment_layout_like",
    "make_identity_layout",
    "make_int_tuple",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "make_shape",
    "make_stride",
    "make_tile",
    "make_view",
    "max_common_layout",
    "max_common_vector",
    "nullspace",
    "parse",
    "parse_int_tuple",
    "parse_tile",
    "prefix_product",
    "prepend",
    "product",
    "product_each",
    "product_like",
    "profile",
    "raked_product",
    "rank",
    "recast",
    "recast_layout",
    "replace",
    "right_inverse",
    "select",
    "shape_div",
    "size",
    "slice_",
    "slice_and_offset",
    "sort_modes",
    "suffix_product",
    "sym",
    "sym_apply",
    "take",
    "text_of",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "to_dialect",
    "transform_leaves",
    "tuple_max",
    "unflatten",
    "unflatten_layout",
    "upcast",
    "weakly_congruent",
    "with_shape",
    "zip_",
    "zipped_divide",
    "zipped_product",
]


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    target = _ALIASES.get(name, name)
    if target in _HOME:
        value = getattr(import_module(_HOME[target], __name__), target)
    elif name in _SUBPACKAGES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


above.register(__getattr__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_ALIASES, *_SUBPACKAGES})
