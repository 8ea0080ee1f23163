# SPDX-License-Identifier: Apache-2.0
"""The expressions of the language: `import flydsl.expr as fx`.

Everything that a kernel author uses is a name of this module. `fx.rocdl`, `fx.coop` and `fx.random` are imported at
their first use; `fx.arith`, `fx.math`, `fx.gpu` and `fx.vector` are sub-modules.
"""

from __future__ import annotations

import importlib
from typing import Any

from . import (
    arith as arith,
)
from . import (
    gpu as gpu,
)
from . import (
    math as math,
)
from . import (
    vector as vector,
)
from ._protocol import (
    construct_from_ir_values as construct_from_ir_values,
)
from ._protocol import (
    extract_to_ir_values as extract_to_ir_values,
)
from .address_space import (
    AddressSpace as AddressSpace,
)
from .address_space import (
    is_generic_address_space as is_generic_address_space,
)
from .address_space import (
    is_target_address_space as is_target_address_space,
)
from .arith_value import (
    ArithValue as ArithValue,
)
from .atom import (
    CopyAtom as CopyAtom,
)
from .atom import (
    MmaAtom as MmaAtom,
)
from .atom import (
    atom_set_value as atom_set_value,
)
from .atom import (
    make_copy_atom as make_copy_atom,
)
from .atom import (
    make_mma_atom as make_mma_atom,
)
from .copy import *  # noqa: F403 - a documented aggregation
from .copy import __all__ as _copy
from .fastmath import (
    FastMathFlags as FastMathFlags,
)
from .fastmath import (
    fastmath as fastmath,
)
from .gpu import (
    barrier as barrier,
)
from .gpu import (
    block_dim as block_dim,
)
from .gpu import (
    block_idx as block_idx,
)
from .gpu import (
    grid_dim as grid_dim,
)
from .gpu import (
    known_block_size as known_block_size,
)
from .gpu import (
    lane_id as lane_id,
)
from .gpu import (
    num_warp_threads as num_warp_threads,
)
from .gpu import (
    thread_idx as thread_idx,
)
from .layout.algebra import *  # noqa: F403
from .layout.algebra import __all__ as _algebra
from .layout.construct import *  # noqa: F403
from .layout.construct import __all__ as _construct
from .layout.host import hosted
from .layout.objects import (
    Basis as Basis,
)
from .layout.objects import (
    ComposedLayout as ComposedLayout,
)
from .layout.objects import (
    CoordSwizzle as CoordSwizzle,
)
from .layout.objects import (
    E as E,
)
from .layout.objects import (
    IntTuple as IntTuple,
)
from .layout.objects import (
    Layout as Layout,
)
from .layout.objects import (
    Swizzle as Swizzle,
)
from .layout.objects import (
    Tile as Tile,
)
from .math import *  # noqa: F403
from .math import __all__ as _math
from .memory import *  # noqa: F403
from .memory import __all__ as _memory
from .mma import *  # noqa: F403
from .mma import __all__ as _mma
from .numeric import *  # noqa: F403
from .numeric import __all__ as _numeric
from .ops import *  # noqa: F403
from .ops import __all__ as _ops
from .pointer import *  # noqa: F403
from .pointer import __all__ as _pointer
from .printf import (
    printf as printf,
)
from .shared import (
    SharedAllocator as SharedAllocator,
)
from .storable import (
    Align as Align,
)
from .storable import (
    Array as Array,
)
from .storage import (
    Arena as Arena,
)
from .storage import (
    Storage as Storage,
)
from .struct import (
    Empty as Empty,
)
from .struct import (
    Struct as Struct,
)
from .struct import (
    Union as Union,
)
from .struct import (
    struct as struct,
)
from .struct import (
    union as union,
)
from .tensor import *  # noqa: F403
from .tensor import __all__ as _tensor
from .type_classes import *  # noqa: F403
from .type_classes import __all__ as _type_classes
from .typing import (
    Constexpr as Constexpr,
)
from .typing import (
    Stream as Stream,
)
from .typing import (
    T as T,
)
from .typing import (
    Type as Type,
)
from .vector import (
    ReductionOp as ReductionOp,
)
from .vector import (
    Vector as Vector,
)
from .vector import (
    VectorAlias as VectorAlias,
)
from .vector import (
    empty_like as empty_like,
)
from .vector import (
    full as full,
)
from .vector import (
    full_like as full_like,
)
from .vector import (
    ones_like as ones_like,
)
from .vector import (
    vec_broadcast as vec_broadcast,
)
from .vector import (
    vec_select as vec_select,
)
from .vector import (
    zeros_like as zeros_like,
)
from .wrap import (
    as_dsl_value as as_dsl_value,
)
from .wrap import (
    as_ir_value as as_ir_value,
)

_LAZY = ("rocdl", "coop", "random", "buffer_ops", "utils", "extern")
_ALIASES = {"tdm_ops": "rocdl.tdm_ops"}


def const_expr(value: Any) -> Any:
    """Return a value that is known while tracing; in a condition it keeps an `if` or `while` plain Python."""
    return value


def range_constexpr(*args: Any) -> range:
    """Return a Python `range`: a loop over it is unrolled while tracing."""
    return range(*(int(arg) for arg in args))


# fx.select is both a function of layouts (`select(x, indices)`) and of values (`select(cond, a, b)`).
from .select import select as select  # noqa: E402


def _vector_aliases() -> dict[str, Any]:
    counts = {
        (1, 2, 4, 8, 16): (
            "BFloat16 Float16 Int16 Uint16 Int8 Uint8 Float8E5M2 Float8E5M2FNUZ Float8E4M3FN Float8E4M3FNUZ "
            "Float8E4M3B11FNUZ Float8E4M3 Float8E8M0FNU"
        ),
        (1, 2, 4, 8): "Float32 Int32 Uint32",
        (1, 2, 4): "Float64 Int64 Uint64",
        (2, 4, 8, 16, 32): "Int4 Float4E2M1FN",
        (1,): "Int128 Uint128",
    }
    found = {}
    for lanes, names in counts.items():
        for name in names.split():
            for n in lanes:
                found[f"{name}x{n}"] = VectorAlias(globals()[name], n)
    return found


# Outside a trace the algebra works on ordinary values.
for _name in (*_algebra, *_construct):
    if _name not in ("as_int_tuple", "as_tile", "select"):
        globals()[_name] = hosted(globals()[_name])
select = hosted(select)

_aliases = _vector_aliases()
globals().update(_aliases)

__all__ = sorted(
    {
        *_copy, *_algebra, *_construct, *_math, *_memory, *_mma, *_numeric, *_ops, *_pointer, *_tensor, *_type_classes,
        *_aliases,
        "AddressSpace", "Align", "Arena", "ArithValue", "Array", "Basis", "ComposedLayout", "Constexpr", "CoordSwizzle",
        "CopyAtom", "E", "Empty", "FastMathFlags", "IntTuple", "Layout", "MmaAtom", "ReductionOp", "SharedAllocator",
        "Storage", "Stream", "Struct", "Swizzle", "T", "Tile", "Type", "Union", "Vector", "VectorAlias", "arith",
        "as_dsl_value", "as_ir_value", "atom_set_value", "barrier", "block_dim", "block_idx", "const_expr",
        "construct_from_ir_values", "empty_like", "extract_to_ir_values", "fastmath", "full", "full_like", "gpu",
        "grid_dim", "is_generic_address_space", "is_target_address_space", "known_block_size", "lane_id",
        "make_copy_atom", "make_mma_atom", "math", "num_warp_threads", "ones_like", "printf", "range_constexpr",
        "select", "struct", "thread_idx", "union", "vec_broadcast", "vec_select", "vector", "zeros_like",
    }
    - {"as_int_tuple", "as_tile", "typed", "CopyOp", "MmaOp"}
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ALIASES:
        return importlib.import_module(f"{__name__}.{_ALIASES[name]}")
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, *_LAZY, *_ALIASES]
