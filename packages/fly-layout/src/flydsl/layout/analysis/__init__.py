# SPDX-License-Identifier: Apache-2.0
"""What a layout costs on a machine: transactions, bank conflicts, overlap, vector width, and swizzles that help.

All of it is computed from the layout; nothing is measured. Where the grouping of lanes on a machine is not published,
results carry ``assumed = True``.
"""

from __future__ import annotations

from .access import Access
from .banks import BankConflicts, bank_conflicts
from .coalescing import Coalescing, coalescing
from .injectivity import Overlap, find_overlap, is_bijective, is_injective
from .lds import LdsPhases, lds_phases
from .swizzles import SwizzleProposal, propose_swizzle
from .vectors import Vectorization, vectorization

__all__ = [
    "Access",
    "BankConflicts",
    "Coalescing",
    "LdsPhases",
    "Overlap",
    "SwizzleProposal",
    "Vectorization",
    "bank_conflicts",
    "coalescing",
    "find_overlap",
    "is_bijective",
    "is_injective",
    "lds_phases",
    "propose_swizzle",
    "vectorization",
]
