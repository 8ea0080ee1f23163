# SPDX-License-Identifier: Apache-2.0
"""The enumerations of the language under a compatibility path; all are names of `flydsl.expr`."""

from .ops.atom_types import AtomicOp, CachePolicy, SyncScope
from .ops.memory import AtomicOrdering

__all__ = ["AtomicOp", "AtomicOrdering", "CachePolicy", "SyncScope"]
