# SPDX-License-Identifier: Apache-2.0
"""What RDNA 3 (gfx11) has."""

from __future__ import annotations

from .mma_ops import WMMA
from .waits import s_waitcnt_of_rdna3 as s_waitcnt

__all__ = ["WMMA", "s_waitcnt"]
