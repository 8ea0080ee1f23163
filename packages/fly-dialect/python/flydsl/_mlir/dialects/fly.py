# SPDX-License-Identifier: Apache-2.0
"""The `fly` dialect: op classes, enumerations and types, which also have the names that kernels in use give them."""

from .._aliases import aliases
from .._mlir_libs import _flyDialect as _types
from .._mlir_libs._flyDialect import *  # noqa: F403 (a documented aggregation)
from ._fly_enum_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_ops_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_ops_gen import _Dialect as _Dialect

_ALIASES = {
    "CopyOpUniversalAtomicType": (
        "UniversalAtomicType",
        {"atomic_op": "op", "val_type": "value_type", "syncscope": "sync_scope"},
    ),
    "CopyOpUniversalCopyType": ("UniversalCopyType", {"bitSize": "bits"}),
    "MmaOpUniversalFMAType": ("UniversalFMAType", {"elem_ty": "element_type"}),
}
globals().update(aliases(_types, _ALIASES))
