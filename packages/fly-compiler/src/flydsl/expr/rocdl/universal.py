# SPDX-License-Identifier: Apache-2.0
"""The target-neutral operations, under the name by which target code finds them."""

from ..ops import (
    UniversalAtomic,
    UniversalAtomicAdd,
    UniversalAtomicAnd,
    UniversalAtomicDec,
    UniversalAtomicInc,
    UniversalAtomicMax,
    UniversalAtomicMin,
    UniversalAtomicOr,
    UniversalCopy,
    UniversalCopy8b,
    UniversalCopy16b,
    UniversalCopy32b,
    UniversalCopy64b,
    UniversalCopy128b,
    UniversalFMA,
)

__all__ = [
    "UniversalAtomic",
    "UniversalAtomicAdd",
    "UniversalAtomicAnd",
    "UniversalAtomicDec",
    "UniversalAtomicInc",
    "UniversalAtomicMax",
    "UniversalAtomicMin",
    "UniversalAtomicOr",
    "UniversalCopy",
    "UniversalCopy8b",
    "UniversalCopy16b",
    "UniversalCopy32b",
    "UniversalCopy64b",
    "UniversalCopy128b",
    "UniversalFMA",
]
