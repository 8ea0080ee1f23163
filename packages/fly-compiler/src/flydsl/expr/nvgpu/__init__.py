# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA GPUs have that the portable names of `fx` do not say.

Everything here is refused, with the line, when the kernel is compiled for another target.
"""

from .caches import l2_policy, load_by_policy
from .clusters import cluster_barrier, cluster_load, cluster_rank
from .grids import griddepcontrol_launch_dependents, griddepcontrol_wait
from .intrinsics import ballot, exp2_approx, log2_approx, pack_e4m3, reciprocal_approx, rsqrt_approx
from .matrix import WGMMA, warpgroup_commit, warpgroup_fence, warpgroup_wait
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
    "Mbarriers",
    "PipelineState",
    "TensorMap",
    "ballot",
    "cluster_barrier",
    "cluster_load",
    "cluster_rank",
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
