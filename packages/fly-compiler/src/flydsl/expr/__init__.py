# SPDX-License-Identifier: Apache-2.0
"""The expressions of the language: `import flydsl.expr as fx`.

Everything that a kernel author uses is a name of this module. `fx.rocdl`, `fx.coop` and `fx.random` are imported at
their first use; `fx.arith`, `fx.math`, `fx.gpu` and `fx.vector` are sub-modules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import arith as arith
from . import gpu as gpu
from . import math as math
from . import vector as vector
from ._protocol import *  # noqa: F403 - a documented aggregation
from ._protocol import __all__ as _protocol
from .address_space import *  # noqa: F403
from .address_space import __all__ as _address_space
from .arith import cmpf as cmpf
from .arith import cmpi as cmpi
from .arith import constant_vector as constant_vector
from .arith import index_cast as index_cast
from .arith_value import *  # noqa: F403
from .arith_value import __all__ as _arith_value
from .atom import *  # noqa: F403
from .atom import __all__ as _atom
from .copy import *  # noqa: F403
from .copy import __all__ as _copy
from .fastmath import *  # noqa: F403
from .fastmath import __all__ as _fastmath
from .gpu import *  # noqa: F403
from .gpu import __all__ as _gpu
from .layout.algebra import *  # noqa: F403
from .layout.algebra import __all__ as _algebra
from .layout.construct import *  # noqa: F403
from .layout.construct import __all__ as _construct
from .layout.coordinates import *  # noqa: F403
from .layout.coordinates import __all__ as _coordinates
from .layout.host import hosted
from .layout.int_tuples import *  # noqa: F403
from .layout.int_tuples import __all__ as _int_tuples
from .layout.modes import *  # noqa: F403
from .layout.modes import __all__ as _modes
from .layout.objects import *  # noqa: F403
from .layout.objects import __all__ as _objects
from .layout.sizes import *  # noqa: F403
from .layout.sizes import __all__ as _sizes
from .math import *  # noqa: F403
from .math import __all__ as _math
from .memory import *  # noqa: F403
from .memory import __all__ as _memory
from .mma import *  # noqa: F403
from .mma import __all__ as _mma
from .numeric import *  # noqa: F403
from .numeric import __all__ as _numeric
from .numeric.types import *  # noqa: F403 - spelled out for type checkers, which do not follow a computed __all__
from .ops import *  # noqa: F403
from .ops import __all__ as _ops
from .pointer import *  # noqa: F403
from .pointer import __all__ as _pointer
from .printf import *  # noqa: F403
from .printf import __all__ as _printf
from .shared import *  # noqa: F403
from .shared import __all__ as _shared
from .storable import *  # noqa: F403
from .storable import __all__ as _storable
from .storage import *  # noqa: F403
from .storage import __all__ as _storage
from .struct import *  # noqa: F403
from .struct import __all__ as _struct
from .tensor import *  # noqa: F403
from .tensor import __all__ as _tensor
from .type_classes import *  # noqa: F403
from .type_classes import __all__ as _type_classes
from .typing import *  # noqa: F403
from .typing import __all__ as _typing
from .vector import *  # noqa: F403
from .vector import __all__ as _vector
from .vector_types import *  # noqa: F403
from .vector_types import __all__ as _vector_types
from .wrap import *  # noqa: F403
from .wrap import __all__ as _wrap

_LAZY = (
    "rocdl", "coop", "random", "ktrace", "buffer_ops", "utils", "extern", "primitive", "derived", "enum", "llvm",
    "meta",
)  # fmt: skip
_ALIASES = {"tdm_ops": "rocdl.tdm_ops"}


def const_expr(value: Any) -> Any:
    """Return a value that is known while tracing; in a condition it keeps an `if` or `while` plain Python."""
    return value


def range_constexpr(*args: Any) -> range:
    """Return a Python `range`: a loop over it is unrolled while tracing."""
    return range(*(int(arg) for arg in args))


# fx.select is both a function of layouts (`select(x, indices)`) and of values (`select(cond, a, b)`).
from .select import select as select  # noqa: E402

# Outside a trace the algebra works on ordinary values.
_ALGEBRA = (*_algebra, *_construct, *_coordinates, *_int_tuples, *_modes, *_sizes)
for _name in _ALGEBRA:
    if _name not in ("as_int_tuple", "as_tile", "select"):
        globals()[_name] = hosted(globals()[_name])
select = hosted(select)

_INTERNAL = {"as_int_tuple", "as_tile", "typed", "CopyOp", "MmaOp"}
_OWN = (
    "arith", "cmpf", "cmpi", "const_expr", "constant_vector", "gpu", "index_cast", "math", "range_constexpr", "select",
    "vector",
)  # fmt: skip

_PARTS = (
    _protocol, _address_space, _arith_value, _atom, _copy, _fastmath, _gpu, _ALGEBRA, _objects, _math,
    _memory, _mma, _numeric, _ops, _pointer, _printf, _shared, _storable, _storage, _struct, _tensor, _type_classes,
    _typing, _vector, _vector_types, _wrap,
)  # fmt: skip

__all__ = sorted({name for part in (*_PARTS, _OWN) for name in part} - _INTERNAL)


if TYPE_CHECKING:  # as `__getattr__` gives them; it is hidden, so that a misspelt name is found
    from . import buffer_ops as buffer_ops
    from . import coop as coop
    from . import extern as extern
    from . import ktrace as ktrace
    from . import random as random
    from . import rocdl as rocdl
    from . import utils as utils
    from .rocdl import tdm_ops as tdm_ops
else:

    def __getattr__(name: str) -> Any:
        if name in _ALIASES:
            return importlib.import_module(f"{__name__}.{_ALIASES[name]}")
        if name in _LAZY:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, *_LAZY, *_ALIASES]
