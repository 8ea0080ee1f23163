# SPDX-License-Identifier: Apache-2.0
"""How attention for NVIDIA Hopper (`hopper_attention`) is cut up: what fits shared memory, and the defaults."""

from __future__ import annotations

from dataclasses import dataclass

from flydsl.runtime.chips import CHIPS

__all__ = ["HEAD_DIMS", "REGISTERS", "ROWS", "HopperAttentionConfig", "default_hopper_config"]

ROWS = 64  # of a warpgroup
HEAD_DIMS = (64, 128, 192, 256)
SHARED_BYTES = CHIPS["sm_90a"].lds_bytes
# By consumers: registers of a thread of the producer, and of a consumer.
REGISTERS = {2: (24, 240), 3: (32, 160)}
_BARRIER_BYTES = 1024  # the barriers, and the alignment of what lies behind them
_FEW_ROWS = 1024  # up to which blocks of causal heads of 64 are smaller


@dataclass(frozen=True)
class HopperAttentionConfig:
    """How the work is cut up.

    Attributes:
        consumers: warpgroups that multiply, 2 or 3, of 64 query rows each.
        kv_tile: keys of a tile, a multiple of 16 up to 256.
        stages: tiles of keys, and of values, in shared memory.
        turns: whether warpgroups issue their products in turn.
    """

    consumers: int = 2
    kv_tile: int = 128
    stages: int = 2
    turns: bool = True

    def shared_bytes(self, head_dim: int, blocks: int = 1) -> int:
        """Shared memory of a workgroup with room for so many blocks of query rows, or of the output."""
        rows = blocks * self.consumers * ROWS + 2 * self.stages * self.kv_tile
        return rows * head_dim * 2 + _BARRIER_BYTES

    def blocks(self, head_dim: int) -> int:
        """How many blocks of rows there is room for, up to 3: of queries, of the output and of the next queries."""
        return next((count for count in (3, 2) if self.shared_bytes(head_dim, count) <= SHARED_BYTES), 1)

    def check(self, head_dim: int) -> None:
        """Raise ValueError for what cannot be built, with the numbers."""
        if head_dim not in HEAD_DIMS:
            raise ValueError(f"head_dim is one of {', '.join(map(str, HEAD_DIMS))} on sm_90a, got {head_dim}")
        if self.consumers not in REGISTERS:
            raise ValueError(f"consumers is 2 or 3, got {self.consumers}")
        if self.kv_tile % 16 or not 16 <= self.kv_tile <= 256:
            raise ValueError(f"kv_tile is a multiple of 16 up to 256, got {self.kv_tile}")
        if self.stages < 1:
            raise ValueError(f"stages is at least 1, got {self.stages}")
        if self.shared_bytes(head_dim) > SHARED_BYTES:
            raise ValueError(
                f"{self.consumers * ROWS} query rows and {self.stages} tiles of {self.kv_tile} keys and values of "
                f"{head_dim} elements take {self.shared_bytes(head_dim)} bytes of shared memory; there are "
                f"{SHARED_BYTES}"
            )


def default_hopper_config(head_dim: int, causal: bool = False, seq_len: int | None = None) -> HopperAttentionConfig:
    """The configuration for a head size, as measured on an H100 and an H200.

    Args:
        head_dim: D.
        causal: whether queries see no keys behind their own.
        seq_len: query rows of the longest sequence, where they are known: few causal rows of heads of 64 are worked on
            in blocks of 128, which have fewer masked keys than those of 192, and few of heads of 192 have tiles of 80
            keys and not of 112: up to 1,024, and twice as many of them where they are causal.
    """
    if head_dim == 64 and causal and seq_len is not None and seq_len <= _FEW_ROWS:
        return HopperAttentionConfig()
    if head_dim == 64:
        return HopperAttentionConfig(consumers=3)
    few = seq_len is not None and seq_len <= _FEW_ROWS * (1 + causal)
    kv_tile = {128: 128, 192: 80 if few else 112}.get(head_dim, 80)
    return HopperAttentionConfig(kv_tile=kv_tile, turns=causal or head_dim != 128)
