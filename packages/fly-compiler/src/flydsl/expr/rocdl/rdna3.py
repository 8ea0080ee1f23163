# SPDX-License-Identifier: Apache-2.0
"""What RDNA 3 (gfx11) has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .mma_ops import WMMA
from .waits import emit_waitcnt

if TYPE_CHECKING:
    from ..values.accepted import StaticInt

__all__ = ["WMMA", "s_waitcnt"]


def s_waitcnt(
    bitfield: StaticInt | None = None,
    *,
    vmcnt: StaticInt | None = None,
    lgkmcnt: StaticInt | None = None,
    expcnt: StaticInt | None = None,
) -> None:
    """Wait for counters, in the encoding of this architecture; see `fx.rocdl.s_waitcnt`."""
    emit_waitcnt("rdna3", bitfield, vmcnt, lgkmcnt, expcnt)
