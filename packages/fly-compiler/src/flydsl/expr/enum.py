# SPDX-License-Identifier: Apache-2.0
"""The enumerations of the language under an established module path; all are names of `flydsl.expr`."""

from .memory import AtomicOrdering
from .ops import AtomicOp, CachePolicy, SyncScope

__all__ = ["AtomicOp", "AtomicOrdering", "CachePolicy", "SyncScope"]
