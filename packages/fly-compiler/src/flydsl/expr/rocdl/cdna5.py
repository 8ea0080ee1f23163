# SPDX-License-Identifier: Apache-2.0
"""What gfx1250 has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl._mlir._mlir_libs import _flyROCDLDialect as fly_rocdl

from ..ops.atom import CopyAtom, make_copy_atom
from ..ops.atom_types import CopyOp
from ..values.layout import trees
from ..values.numeric.base import as_numeric
from ..values.numeric.types import Int32, Int64
from ..values.tensor import Tensor
from .mma_ops import WMMA, WMMAScale
from .tiled_tdm import TensorLoad, TensorStore, make_tiled_tdm_atom, tdm_partition

__all__ = [
    "TDM",
    "WMMA",
    "TensorLoad",
    "TensorStore",
    "WMMAScale",
    "make_tdm_atom",
    "make_tiled_tdm_atom",
    "tdm_partition",
]


class TDM(CopyOp):
    """Move a whole tile between global memory and LDS by the tensor data mover.

    State: `workgroup_mask`, `extent_0` … `extent_4` (0 is the outermost; 0x7FFFFFFF does not clamp), `stride_0` …
    `stride_3` (elements), `imm_offset` (bytes).

    Args:
        rank: 1 to 5.
        num_warps: a power of two: the waves that share the tile.
        pad_interval: elements between paddings in LDS, a power of two; 0 for none.
        pad_amount: elements of a padding.
        cache_modifier: cache policy of the accesses.
        atomic_barrier: signal the LDS barrier when done.
        early_timeout: give the group up early.

    Raises:
        ValueError: an argument out of range.
    """

    __slots__ = ()

    def __init__(
        self,
        rank: int,
        num_warps: int,
        pad_interval: int = 0,
        pad_amount: int = 0,
        cache_modifier: int = 0,
        atomic_barrier: bool = False,
        early_timeout: bool = False,
    ) -> None:
        if not 1 <= rank <= 5:
            raise ValueError(f"TDM has rank 1 to 5, got {rank}")
        if num_warps < 1 or num_warps & (num_warps - 1):
            raise ValueError(f"num_warps is a power of two, got {num_warps}")
        if min(pad_interval, pad_amount) < 0 or bool(pad_interval) is not bool(pad_amount):
            raise ValueError("pad_interval and pad_amount are both zero or both positive")
        if pad_interval & (pad_interval - 1):
            raise ValueError(f"pad_interval is a power of two, got {pad_interval}")
        flags = bool(atomic_barrier), bool(early_timeout)
        super().__init__(
            fly_rocdl.GFX1250TDMType, rank, num_warps, pad_interval, pad_amount, int(cache_modifier), *flags
        )


def make_tdm_atom(
    tensor: Any,
    extents: Sequence[Any],
    strides: Sequence[Any] | None = None,
    *,
    num_warps: int,
    pad_interval: int = 0,
    pad_amount: int = 0,
    cache_modifier: int = 0,
    atomic_barrier: bool = False,
    early_timeout: bool = False,
    workgroup_mask: Any = None,
) -> CopyAtom:
    """Return the atom that moves tiles of a tensor in global memory by the tensor data mover.

    Args:
        tensor: the tensor; its element type is that of the atom.
        extents: of the tensor from the tile's first element on, outermost first; `None` does not clamp.
        strides: in elements, of all modes but the innermost; by default the tensor's own.
        num_warps: waves that share the tile.
        pad_interval: elements between paddings in LDS.
        pad_amount: elements of a padding.
        cache_modifier: cache policy.
        atomic_barrier: signal the LDS barrier when done.
        early_timeout: give the group up early.
        workgroup_mask: the workgroups of the cluster that receive the tile.

    Raises:
        ValueError: a rank outside 1 to 5, or extents and strides that do not fit it.
        TypeError: `tensor` is no tensor in memory.
    """
    if not isinstance(tensor, Tensor) or tensor.is_coordinate:
        raise TypeError("make_tdm_atom takes a tensor in global memory")
    rank = len(extents)
    operation = TDM(rank, num_warps, pad_interval, pad_amount, cache_modifier, atomic_barrier, early_timeout)
    atom = make_copy_atom(operation, tensor.dtype)
    state: dict[str, Any] = {
        f"extent_{i}": as_numeric(extent).to(Int32) for i, extent in enumerate(extents) if extent is not None
    }
    if strides is None and not trees.is_static(tensor.layout_facts.stride):
        strides = [tensor.stride[i] for i in range(rank - 1)]
    if strides is not None:
        if len(strides) not in (rank, rank - 1):
            raise ValueError(
                f"make_tdm_atom: {len(strides)} strides for rank {rank}; give those of all but the last mode"
            )
        state.update({f"stride_{i}": as_numeric(stride).to(Int64) for i, stride in enumerate(strides[: rank - 1])})
    if workgroup_mask is not None:
        state["workgroup_mask"] = as_numeric(workgroup_mask).to(Int32)
    result: CopyAtom = atom.set_value(state)
    return result
