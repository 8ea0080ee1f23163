# SPDX-License-Identifier: Apache-2.0
"""What only AMD GPUs have: `fx.rocdl`.

A file is imported when one of its names is first used: to import all of them takes as long as to trace a small kernel.

Names that are not here are those of MLIR's `rocdl` dialect; matrix instructions are found whatever their separators.
Sub-modules `cdna3`, `cdna4`, `cdna5`, `rdna3`, `rdna4` name what one architecture has.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flydsl.utils.on_demand import on_demand

from .enum import CacheModifier as CacheModifier
from .enum import SyncScope as SyncScope
from .enum import TargetAddressSpace as TargetAddressSpace

if TYPE_CHECKING:
    from .barriers import lds_barrier as lds_barrier
    from .buffer import get_buffer_rsrc as get_buffer_rsrc
    from .buffer import make_buffer_ptr as make_buffer_ptr
    from .buffer import make_buffer_tensor as make_buffer_tensor
    from .buffer import s_buffer_load as s_buffer_load
    from .copy_ops import *  # noqa: F403
    from .copy_waits import barrier_after_copies as barrier_after_copies
    from .copy_waits import wait_for_copies as wait_for_copies
    from .intrinsic import call_intrinsic as call_intrinsic
    from .lanes import *  # noqa: F403
    from .memory import *  # noqa: F403
    from .mma_ops import *  # noqa: F403
    from .newer_ops import disable_xdl_arb_stall as disable_xdl_arb_stall
    from .newer_ops import wave_barrier as wave_barrier
    from .schedule import Schedule as Schedule
    from .schedule import interleave as interleave
    from .sparse_mma import SMFMAC as SMFMAC
    from .waits import *  # noqa: F403
    from .wmma_instructions import *  # noqa: F403

_NAMES: dict[str, str] = {
    "barriers": """
        lds_barrier
    """,
    "buffer": """
        get_buffer_rsrc make_buffer_ptr make_buffer_tensor s_buffer_load
    """,
    "copy_ops": """
        BufferAtomic BufferAtomicAdd BufferAtomicMax BufferAtomicMin BufferAtomicPkAdd BufferCopy BufferCopy8b
        BufferCopy16b BufferCopy32b BufferCopy64b BufferCopy128b BufferCopyLDS BufferCopyLDS32b BufferCopyLDS64b
        BufferCopyLDS128b BufferLoadAsyncLDS BufferLoadAsyncLDS32b BufferLoadAsyncLDS96b BufferLoadAsyncLDS128b
        GlobalLoadAsyncLDS GlobalLoadAsyncLDS32b GlobalLoadAsyncLDS96b GlobalLoadAsyncLDS128b LDSReadTrans
        LDSReadTrans4_64b LDSReadTrans6_96b LDSReadTrans8_64b LDSReadTrans16_64b
    """,
    "copy_waits": """
        barrier_after_copies wait_for_copies
    """,
    "intrinsic": """
        call_intrinsic
    """,
    "lanes": """
        ballot broadcast_rows cvt_off_f32_i4 cvt_pk_bf16_f32 cvt_pk_f32_fp8 cvt_pk_fp8_f32 cvt_scalef32_pk_bf16_fp4
        cvt_scalef32_pk_f32_fp4 cvt_scalef32_pk_fp4_f32 ds_bpermute perm_b32 rcp readfirstlane readlane wave_id
    """,
    "memory": """
        asyncmark buffer_load_to_lds cluster_load_async_to_lds lds_transpose_load raw_ptr_buffer_atomic_fadd
        raw_ptr_buffer_atomic_fmax raw_ptr_buffer_load raw_ptr_buffer_load_lds raw_ptr_buffer_store wait_asyncmark
    """,
    "mma_ops": """
        MFMA WMMA MFMAScale MFMA_Scale WMMAScale
    """,
    "newer_ops": """
        disable_xdl_arb_stall wave_barrier
    """,
    "schedule": """
        Schedule interleave
    """,
    "sparse_mma": """
        SMFMAC
    """,
    "waits": """
        encode_waitcnt mask_dsrd mask_dswr mask_mfma mask_vmem_rd s_wait_asynccnt s_waitcnt sched_barrier sched_dsrd
        sched_dswr sched_group_barrier sched_mfma sched_vmem
    """,
    "wmma_instructions": """
        wmma_f32_16x16x128_fp8_fp8 wmma_scale_f32_16x16x128_f8f6f4 wmma_scale_f32_32x16x128_f4
    """,
}
"""The public names of the files that are imported at the first use of one."""

_ON_DEMAND = {name for names in _NAMES.values() for name in names.split()}
_find = on_demand(__name__, _NAMES, lambda file: importlib.import_module(f"{__name__}.{file}"))

__all__ = sorted([*_ON_DEMAND, "CacheModifier", "SyncScope", "TargetAddressSpace"])

_SUBMODULES = (
    *_NAMES, "cdna3", "cdna4", "cdna5", "rdna3", "rdna4", "cluster", "tdm_ops", "universal", "inline_asm",
    "experimental",
)  # fmt: skip
_OF_CDNA5 = ("TDM", "TensorLoad", "TensorStore", "make_tdm_atom", "make_tiled_tdm_atom", "tdm_partition")


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return _find(name)
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
    from .matrix import matrix_instruction
    from .newer_ops import newer_op

    found = matrix_instruction(name) or newer_op(name)
    if found is not None:
        return found
    from flydsl._mlir.dialects import rocdl  # a big module; kernels in layouts never need it

    from ..ops.dialect_proxy import proxy
    from .availability import check_instruction

    return proxy(rocdl, name, __name__, check_instruction)


def __dir__() -> list[str]:
    return [*__all__, *_SUBMODULES]
