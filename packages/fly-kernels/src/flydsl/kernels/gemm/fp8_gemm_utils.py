# SPDX-License-Identifier: Apache-2.0
"""What callers of the row-wise scaled fp8 GEMMs prepare."""

from __future__ import annotations

from typing import Any

from ..common.shuffle import shuffle_weight

__all__ = ["preshuffle_b"]


def preshuffle_b(B_T: Any) -> Any:
    """B_T (N, K) of one-byte elements in the order that `b_preshuffled=True` reads: `shuffle_weight`."""
    return shuffle_weight(B_T)
