# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA GPUs have that the portable names of `fx` do not say.

Everything here is refused, with the line, when the kernel is compiled for another target.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from flydsl.utils.on_demand import on_demand

if TYPE_CHECKING:
    from .async_copies import CpAsync, cp_async_commit, cp_async_wait
    from .caches import l2_policy, load_by_policy
    from .clusters import cluster_barrier, cluster_load, cluster_rank
    from .grids import griddepcontrol_launch_dependents, griddepcontrol_wait
    from .intrinsics import ballot, exp2_approx, log2_approx, pack_e4m3, reciprocal_approx, rsqrt_approx
    from .matrix import WGMMA, warpgroup_commit, warpgroup_fence, warpgroup_wait
    from .matrix_sync import LdMatrix, MmaSync, StMatrix
    from .mbarriers import Mbarriers, fence_mbarrier_init
    from .pipeline import AsyncPipeline, PipelineState
    from .tensor_maps import TensorMap, make_tensor_map, tma_commit, tma_wait
    from .warps import (
        elect_one,
        fence_async_shared,
        named_arrive,
        named_barrier,
        set_registers,
        warp_index,
    )

__all__ = [
    "WGMMA",
    "AsyncPipeline",
    "CpAsync",
    "LdMatrix",
    "Mbarriers",
    "MmaSync",
    "PipelineState",
    "StMatrix",
    "TensorMap",
    "ballot",
    "cluster_barrier",
    "cluster_load",
    "cluster_rank",
    "cp_async_commit",
    "cp_async_wait",
    "elect_one",
    "exp2_approx",
    "fence_async_shared",
    "fence_mbarrier_init",
    "griddepcontrol_launch_dependents",
    "griddepcontrol_wait",
    "l2_policy",
    "load_by_policy",
    "log2_approx",
    "make_tensor_map",
    "named_arrive",
    "named_barrier",
    "pack_e4m3",
    "reciprocal_approx",
    "rsqrt_approx",
    "set_registers",
    "tma_commit",
    "tma_wait",
    "warp_index",
    "warpgroup_commit",
    "warpgroup_fence",
    "warpgroup_wait",
]

# A file is imported when one of its names is first used.
_NAMES = {
    "async_copies": "CpAsync cp_async_commit cp_async_wait",
    "caches": "l2_policy load_by_policy",
    "clusters": "cluster_barrier cluster_load cluster_rank",
    "grids": "griddepcontrol_launch_dependents griddepcontrol_wait",
    "intrinsics": "ballot exp2_approx log2_approx pack_e4m3 reciprocal_approx rsqrt_approx",
    "matrix": "WGMMA warpgroup_commit warpgroup_fence warpgroup_wait",
    "matrix_sync": "LdMatrix MmaSync StMatrix",
    "mbarriers": "Mbarriers fence_mbarrier_init",
    "pipeline": "AsyncPipeline PipelineState",
    "tensor_maps": "TensorMap make_tensor_map tma_commit tma_wait",
    "warps": "elect_one fence_async_shared named_arrive named_barrier set_registers warp_index",
}
__getattr__ = on_demand(__name__, _NAMES, lambda file: importlib.import_module(f"{__package__}.{file}"))


def __dir__() -> list[str]:
    return [*__all__]
