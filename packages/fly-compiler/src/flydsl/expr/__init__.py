# SPDX-License-Identifier: Apache-2.0
"""The expressions of the language: `import flydsl.expr as fx`.

Everything that a kernel author uses is a name of this module. `fx.rocdl`, `fx.coop` and `fx.random` are imported at
their first use; `fx.arith`, `fx.math`, `fx.gpu` and `fx.vector` are sub-modules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flydsl.trace.fastmath import *  # noqa: F403
from flydsl.trace.fastmath import __all__ as _fastmath
from flydsl.trace.protocol import *  # noqa: F403 - a documented aggregation
from flydsl.trace.protocol import __all__ as _protocol
from flydsl.trace.wrap import *  # noqa: F403
from flydsl.trace.wrap import __all__ as _wrap

from . import arith as arith
from . import gpu as gpu
from . import math as math
from . import numeric as numeric
from . import typing as typing
from . import vector as vector
from .compat import builders as _builders
from .compat.arith_value import ArithValue as ArithValue
from .ops.arith import cmpf as cmpf
from .ops.arith import cmpi as cmpi
from .ops.arith import constant_vector as constant_vector
from .ops.arith import index_cast as index_cast
from .ops.atom import *  # noqa: F403
from .ops.atom import __all__ as _atom
from .ops.atom_types import *  # noqa: F403
from .ops.atom_types import __all__ as _ops
from .ops.copy import *  # noqa: F403
from .ops.copy import __all__ as _copy
from .ops.gpu import *  # noqa: F403
from .ops.gpu import __all__ as _gpu
from .ops.llvm_pointer import *  # noqa: F403
from .ops.llvm_pointer import __all__ as _llvm_pointer
from .ops.math import *  # noqa: F403
from .ops.math import __all__ as _math
from .ops.memory import *  # noqa: F403
from .ops.memory import __all__ as _memory
from .ops.mma import *  # noqa: F403
from .ops.mma import __all__ as _mma
from .ops.printf import *  # noqa: F403
from .ops.printf import __all__ as _printf
from .ops.shared import *  # noqa: F403
from .ops.shared import __all__ as _shared
from .struct import *  # noqa: F403
from .struct import __all__ as _struct
from .values import pointer_type as _pointer_type  # noqa: F401 - attaches what fx.Pointer[...] calls
from .values.address_space import *  # noqa: F403
from .values.address_space import __all__ as _address_space
from .values.layout.algebra import *  # noqa: F403
from .values.layout.algebra import __all__ as _algebra
from .values.layout.construct import *  # noqa: F403
from .values.layout.construct import __all__ as _construct
from .values.layout.coordinates import *  # noqa: F403
from .values.layout.coordinates import __all__ as _coordinates
from .values.layout.host import hosted
from .values.layout.int_tuples import *  # noqa: F403
from .values.layout.int_tuples import __all__ as _int_tuples
from .values.layout.modes import *  # noqa: F403
from .values.layout.modes import __all__ as _modes
from .values.layout.objects import *  # noqa: F403
from .values.layout.objects import __all__ as _objects
from .values.layout.sizes import *  # noqa: F403
from .values.layout.sizes import __all__ as _sizes
from .values.numeric import *  # noqa: F403
from .values.numeric import __all__ as _numeric
from .values.numeric.types import *  # noqa: F403 - spelled out for type checkers, which do not follow a computed __all__
from .values.pointer import *  # noqa: F403
from .values.pointer import __all__ as _pointer
from .values.storable import *  # noqa: F403
from .values.storable import __all__ as _storable
from .values.storage import *  # noqa: F403
from .values.storage import __all__ as _storage
from .values.tensor import *  # noqa: F403
from .values.tensor import __all__ as _tensor
from .values.typing import __all__ as _typing
from .values.vector import *  # noqa: F403
from .values.vector import __all__ as _vector
from .values.vector_alias import *  # noqa: F403
from .values.vector_alias import __all__ as _vector_alias
from .values.vector_factory import *  # noqa: F403
from .values.vector_factory import __all__ as _vector_factory
from .values.vector_types import *  # noqa: F403
from .values.vector_types import __all__ as _vector_types

if TYPE_CHECKING:
    # A module that there is not: what is passed as a stream is one of torch, a handle or None as often as a Stream, by
    # name too, and only an unknown type takes all these and can be called.
    from ._unknown_to_checkers import Stream as Stream  # type: ignore[import-not-found]
    from .values.typing import Constexpr as Constexpr
    from .values.typing import T as T
    from .values.typing import Type as Type
    from .values.typing import Types as Types
else:
    from .values.typing import *  # noqa: F403

_LAZY = (
    "rocdl", "nvgpu", "coop", "random", "ktrace", "buffer_ops", "utils", "extern", "primitive", "derived", "enum",
    "llvm", "meta",
)  # fmt: skip
_ALIASES = {"tdm_ops": "rocdl.tdm_ops"}


_LATER = {
    "Epilogue": "epilogue",
    "Pipeline": "pipeline",
    "PipelineStep": "pipeline",
    "TileWalk": "tile_walk",
    **dict.fromkeys(
        (
            "BasisType", "ComposedLayoutType", "CoordSwizzleType", "CoordTensorType", "CopyAtomType",
            "CopyOpUniversalAtomicType", "CopyOpUniversalCopyType", "IntTupleType", "LayoutType", "MemRefType",
            "MmaAtomType", "MmaOpUniversalFMAType", "PointerType", "SwizzleType", "TileType", "TiledCopyType",
            "TiledMmaType",
        ),
        "type_classes",
    ),
}  # fmt: skip
"""Names whose file in `ops` is imported when one of them is first used: most kernels go without."""


def const_expr(value: Any) -> Any:
    """Return a value that is known while tracing; in a condition it keeps an `if` or `while` plain Python."""
    return value


def range_constexpr(*args: Any) -> range:
    """Return a Python `range`: a loop over it is unrolled while tracing."""
    return range(*(int(arg) for arg in args))


# fx.select is both a function of layouts (`select(x, indices)`) and of values (`select(cond, a, b)`).
from .ops.select import select as select  # noqa: E402

# Outside a trace the algebra works on ordinary values.
_ALGEBRA = (*_algebra, *_construct, *_coordinates, *_int_tuples, *_modes, *_sizes)
for _name in _ALGEBRA:
    if _name not in ("as_int_tuple", "as_tile", "select"):
        globals()[_name] = hosted(globals()[_name])
select = hosted(select)
_QUESTIONS = ("depth", "has_none", "is_profile_congruent", "is_profile_weakly_congruent", "rank")
_builders.install({name: globals()[name] for name in _QUESTIONS})

_INTERNAL = {"as_int_tuple", "as_tile", "typed", "CopyOp", "MmaOp"}
_OWN = (
    "ArithValue", "arith", "cmpf", "cmpi", "const_expr", "constant_vector", "gpu", "index_cast", "math",
    "range_constexpr", "select", "vector",
)  # fmt: skip

_PARTS = (
    _protocol, _address_space, _atom, _copy, _fastmath, _gpu, _ALGEBRA, _objects, _llvm_pointer, _math,
    _memory, _mma, _numeric, _ops, _pointer, _printf, _shared, _storable, _storage, _struct, _tensor,
    _LATER, _typing, _vector, _vector_alias, _vector_factory, _vector_types, _wrap,
)  # fmt: skip

__all__ = sorted({name for part in (*_PARTS, _OWN) for name in part} - _INTERNAL)


if TYPE_CHECKING:  # as `__getattr__` gives them; it is hidden, so that a misspelt name is found
    from . import buffer_ops as buffer_ops
    from . import coop as coop
    from . import extern as extern
    from . import ktrace as ktrace
    from . import nvgpu as nvgpu
    from . import random as random
    from . import rocdl as rocdl
    from . import utils as utils
    from .ops.epilogue import *  # noqa: F403
    from .ops.pipeline import *  # noqa: F403
    from .ops.tile_walk import *  # noqa: F403
    from .ops.type_classes import *  # noqa: F403
    from .rocdl import tdm_ops as tdm_ops
else:

    def __getattr__(name: str) -> Any:
        if name in _ALIASES:
            return importlib.import_module(f"{__name__}.{_ALIASES[name]}")
        if name in _LAZY:
            return importlib.import_module(f"{__name__}.{name}")
        if name in _LATER:
            found = globals()[name] = getattr(importlib.import_module(f"{__name__}.ops.{_LATER[name]}"), name)
            return found
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, *_LAZY, *_ALIASES]
