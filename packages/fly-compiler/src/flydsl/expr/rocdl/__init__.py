# SPDX-License-Identifier: Apache-2.0
"""What only AMD GPUs have: `fx.rocdl`.

Names that are not here are those of MLIR's `rocdl` dialect; matrix instructions are found whatever their separators.
Sub-modules `cdna3`, `cdna4`, `cdna5`, `rdna3`, `rdna4` name what one architecture has.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..ops.dialect_proxy import proxy
from .buffer import (
    get_buffer_rsrc as get_buffer_rsrc,
)
from .buffer import (
    make_buffer_ptr as make_buffer_ptr,
)
from .buffer import (
    make_buffer_tensor as make_buffer_tensor,
)
from .buffer import (
    s_buffer_load as s_buffer_load,
)
from .copy_ops import *  # noqa: F403 - a documented aggregation
from .copy_ops import __all__ as _copy_ops
from .enum import (
    CacheModifier as CacheModifier,
)
from .enum import (
    SyncScope as SyncScope,
)
from .enum import (
    TargetAddressSpace as TargetAddressSpace,
)
from .intrinsic import (
    call_intrinsic as call_intrinsic,
)
from .lanes import *  # noqa: F403
from .lanes import __all__ as _lanes
from .matrix import matrix_instruction
from .memory import *  # noqa: F403
from .memory import __all__ as _memory
from .mma_ops import *  # noqa: F403
from .mma_ops import __all__ as _mma_ops
from .newer_ops import (
    disable_xdl_arb_stall as disable_xdl_arb_stall,
)
from .newer_ops import (
    newer_op,
)
from .newer_ops import (
    wave_barrier as wave_barrier,
)
from .schedule import Schedule as Schedule
from .schedule import interleave as interleave
from .sparse_mma import SMFMAC as SMFMAC
from .waits import *  # noqa: F403
from .waits import __all__ as _waits
from .wmma_instructions import *  # noqa: F403
from .wmma_instructions import __all__ as _wmma_instructions

__all__ = sorted(
    {
        *_copy_ops, *_lanes, *_memory, *_mma_ops, *_waits, *_wmma_instructions, "CacheModifier",
        "Schedule", "SyncScope", "TargetAddressSpace", "call_intrinsic", "disable_xdl_arb_stall", "get_buffer_rsrc",
        "interleave", "make_buffer_ptr", "make_buffer_tensor", "s_buffer_load", "wave_barrier",
    }
)  # fmt: skip

_SUBMODULES = (
    "cdna3", "cdna4", "cdna5", "rdna3", "rdna4", "cluster", "tdm_ops", "enum", "universal", "inline_asm",
    "experimental",
)  # fmt: skip
_OF_CDNA5 = ("TDM", "TensorLoad", "TensorStore", "make_tdm_atom", "make_tiled_tdm_atom", "tdm_partition")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _OF_CDNA5:
        from . import cdna5

        return getattr(cdna5, name)
    if name.startswith("cluster_workgroup_id_"):
        from . import cluster

        return getattr(cluster, name)
    if name.startswith(("CopyOp", "MmaOp")) and name.endswith("Type"):
        from flydsl._mlir.dialects import fly_rocdl

        return getattr(fly_rocdl, name)
    if name.startswith("swmmac_"):
        from .swmmac import sparse_matrix_instruction  # its names are found by a pattern, which takes long to compile

        sparse = sparse_matrix_instruction(name)
        if sparse is not None:
            return sparse
    found = matrix_instruction(name) or newer_op(name)
    if found is not None:
        return found
    from flydsl._mlir.dialects import rocdl  # a big module; kernels in layouts never need it

    return proxy(rocdl, name, __name__)
