# SPDX-License-Identifier: Apache-2.0
"""What CDNA 3 (gfx942) has."""

from __future__ import annotations

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
from .waits import s_waitcnt_of_cdna as s_waitcnt

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
