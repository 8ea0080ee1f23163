# SPDX-License-Identifier: Apache-2.0
"""The portable versions, by shuffles and LDS. A file is imported when one of its names is first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from flydsl.utils.on_demand import on_demand

if TYPE_CHECKING:
    from .block_digits import BlockRadixRank, BlockRadixRankAlgorithm
    from .block_exchange import BlockExchange, BlockExchangeAlgorithm
    from .block_histogram import BlockHistogram, BlockHistogramAlgorithm
    from .block_io import BlockLoad, BlockLoadAlgorithm, BlockStore, BlockStoreAlgorithm
    from .block_merge import BlockMergeSort, BlockMergeSortAlgorithm
    from .block_neighbours import BlockAdjacentDifference, BlockDiscontinuity, BlockShuffle, BlockShuffleAlgorithm
    from .block_radix import BlockRadixSort, BlockRadixSortAlgorithm
    from .block_reduce import BlockReduce, BlockReduceAlgorithm
    from .block_runs import BlockRunLengthDecode, BlockRunLengthDecodeAlgorithm
    from .block_scan import BlockScan, BlockScanAlgorithm
    from .block_topk import BlockTopK, BlockTopKAlgorithm
    from .tiled_reduce import tiled_reduce, tiled_reduce_storage
    from .warp import (
        warp_broadcast,
        warp_exclusive_scan,
        warp_head_segmented_reduce,
        warp_inclusive_scan,
        warp_reduce,
        warp_reduce_batched,
        warp_reduce_batched_to_blocked,
        warp_reduce_batched_to_striped,
        warp_scan,
        warp_scan_with_aggregate,
        warp_tail_segmented_reduce,
    )
    from .warp_classes import WarpBitonicSort, WarpMergeSort, WarpReduce, WarpReduceBatched, WarpScan
    from .warp_io import (
        WarpExchange,
        WarpExchangeAlgorithm,
        WarpLoad,
        WarpLoadAlgorithm,
        WarpStore,
        WarpStoreAlgorithm,
    )
    from .warp_sort import warp_bitonic_sort, warp_merge_sort

__all__ = [
    "BlockAdjacentDifference",
    "BlockDiscontinuity",
    "BlockExchange",
    "BlockExchangeAlgorithm",
    "BlockHistogram",
    "BlockHistogramAlgorithm",
    "BlockLoad",
    "BlockLoadAlgorithm",
    "BlockMergeSort",
    "BlockMergeSortAlgorithm",
    "BlockRadixRank",
    "BlockRadixRankAlgorithm",
    "BlockRadixSort",
    "BlockRadixSortAlgorithm",
    "BlockReduce",
    "BlockReduceAlgorithm",
    "BlockRunLengthDecode",
    "BlockRunLengthDecodeAlgorithm",
    "BlockScan",
    "BlockScanAlgorithm",
    "BlockShuffle",
    "BlockShuffleAlgorithm",
    "BlockStore",
    "BlockStoreAlgorithm",
    "BlockTopK",
    "BlockTopKAlgorithm",
    "WarpBitonicSort",
    "WarpExchange",
    "WarpExchangeAlgorithm",
    "WarpLoad",
    "WarpLoadAlgorithm",
    "WarpMergeSort",
    "WarpReduce",
    "WarpReduceBatched",
    "WarpScan",
    "WarpStore",
    "WarpStoreAlgorithm",
    "tiled_reduce",
    "tiled_reduce_storage",
    "warp_bitonic_sort",
    "warp_broadcast",
    "warp_exclusive_scan",
    "warp_head_segmented_reduce",
    "warp_inclusive_scan",
    "warp_merge_sort",
    "warp_reduce",
    "warp_reduce_batched",
    "warp_reduce_batched_to_blocked",
    "warp_reduce_batched_to_striped",
    "warp_scan",
    "warp_scan_with_aggregate",
    "warp_tail_segmented_reduce",
]

_NAMES = {
    "block_digits": "BlockRadixRank BlockRadixRankAlgorithm",
    "block_exchange": "BlockExchange BlockExchangeAlgorithm",
    "block_histogram": "BlockHistogram BlockHistogramAlgorithm",
    "block_io": "BlockLoad BlockLoadAlgorithm BlockStore BlockStoreAlgorithm",
    "block_merge": "BlockMergeSort BlockMergeSortAlgorithm",
    "block_neighbours": "BlockAdjacentDifference BlockDiscontinuity BlockShuffle BlockShuffleAlgorithm",
    "block_radix": "BlockRadixSort BlockRadixSortAlgorithm",
    "block_reduce": "BlockReduce BlockReduceAlgorithm",
    "block_runs": "BlockRunLengthDecode BlockRunLengthDecodeAlgorithm",
    "block_scan": "BlockScan BlockScanAlgorithm",
    "block_topk": "BlockTopK BlockTopKAlgorithm",
    "tiled_reduce": "tiled_reduce tiled_reduce_storage",
    "warp": """
        warp_broadcast warp_exclusive_scan warp_head_segmented_reduce warp_inclusive_scan warp_reduce
        warp_reduce_batched warp_reduce_batched_to_blocked warp_reduce_batched_to_striped warp_scan
        warp_scan_with_aggregate warp_tail_segmented_reduce
    """,
    "warp_classes": "WarpBitonicSort WarpMergeSort WarpReduce WarpReduceBatched WarpScan",
    "warp_io": "WarpExchange WarpExchangeAlgorithm WarpLoad WarpLoadAlgorithm WarpStore WarpStoreAlgorithm",
    "warp_sort": "warp_bitonic_sort warp_merge_sort",
}
__getattr__ = on_demand(__name__, _NAMES, lambda file: importlib.import_module(f"{__package__}.{file}"))


def __dir__() -> list[str]:
    return [*__all__]
