# SPDX-License-Identifier: Apache-2.0
"""What CDNA 3 (gfx942) has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .copy_ops import (
    BufferAtomic,
    BufferAtomicAdd,
    BufferAtomicMax,
    BufferAtomicMin,
    BufferAtomicPkAdd,
    BufferCopy,
    BufferCopyLDS,
)
from .mma_ops import MFMA
from .sparse_mma import SMFMAC
from .waits import emit_waitcnt

if TYPE_CHECKING:
    from ..values.accepted import StaticInt

__all__ = [
    "MFMA",
    "SMFMAC",
    "BufferAtomic",
    "BufferAtomicAdd",
    "BufferAtomicMax",
    "BufferAtomicMin",
    "BufferAtomicPkAdd",
    "BufferCopy",
    "BufferCopyLDS",
    "s_waitcnt",
]


def s_waitcnt(
    bitfield: StaticInt | None = None,
    *,
    vmcnt: StaticInt | None = None,
    lgkmcnt: StaticInt | None = None,
    expcnt: StaticInt | None = None,
) -> None:
    """Wait for counters, in the encoding of this architecture; see `fx.rocdl.s_waitcnt`."""
    emit_waitcnt("cdna", bitfield, vmcnt, lgkmcnt, expcnt)
