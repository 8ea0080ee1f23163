# SPDX-License-Identifier: Apache-2.0
"""What gfx1250 has."""

from __future__ import annotations

from ..ops import CopyOp, Needs
from .mma_ops import WMMA, WMMAScale

__all__ = ["TDM", "WMMA", "WMMAScale"]


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
        flags = ", ".join(
            f"{name} = {'true' if flag else 'false'}"
            for name, flag in (("barrier", atomic_barrier), ("timeout", early_timeout))
        )
        text = (
            f"!fly_rocdl.gfx1250.tdm<rank = {rank}, warps = {num_warps}, pad = {pad_interval}, {pad_amount}, "
            f"cache = {int(cache_modifier)}, {flags}>"
        )
        super().__init__(text, Needs(families=("gfx1250",)))
