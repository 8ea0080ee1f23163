# SPDX-License-Identifier: Apache-2.0
"""What gfx1250 has."""

from __future__ import annotations

from .mma_ops import WMMA, WMMAScale

__all__ = ["WMMA", "WMMAScale"]
