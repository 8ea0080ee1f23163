# SPDX-License-Identifier: Apache-2.0
"""The portable versions, by shuffles and LDS."""

from .block import BlockReduce, BlockReduceAlgorithm, BlockScan, BlockScanAlgorithm
from .warp import (
    warp_broadcast,
    warp_exclusive_scan,
    warp_inclusive_scan,
    warp_reduce,
    warp_scan,
    warp_scan_with_aggregate,
)

__all__ = [
    "BlockReduce",
    "BlockReduceAlgorithm",
    "BlockScan",
    "BlockScanAlgorithm",
    "warp_broadcast",
    "warp_exclusive_scan",
    "warp_inclusive_scan",
    "warp_reduce",
    "warp_scan",
    "warp_scan_with_aggregate",
]
