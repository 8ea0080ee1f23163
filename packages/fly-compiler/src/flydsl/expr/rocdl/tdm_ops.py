# SPDX-License-Identifier: Apache-2.0
"""The tensor data mover of gfx1250: two-dimensional descriptors, loads and stores of whole tiles.

Tuples are (outer, inner). A descriptor is two groups of 32-bit words: the first has the LDS and global addresses, the
second data size, padding, extents of tensor and tile, and the row stride.
"""

from .tdm_descriptors import (
    TDMDescriptor2D,
    add_addr_with_carry,
    compute_padding_encoding,
    compute_warp_distribution,
    make_tensor_descriptor_2d,
    tensor_load_2d,
    tensor_store_2d,
    tensor_wait,
    update_tensor_descriptor_2d_addr64,
    update_tensor_descriptor_2d_addr_lo,
    update_tensor_descriptor_2d_addr_lo_hi,
    update_tensor_descriptor_2d_lds_addr,
)
from .tdm_gather import (
    TDMGatherDescriptor,
    make_tensor_gather_descriptor,
    make_tensor_gather_dgroup0,
    tensor_load_gather,
    tensor_store_gather,
    update_tensor_gather_descriptor_addr64,
    update_tensor_gather_descriptor_addr_lo,
    update_tensor_gather_descriptor_addr_lo_hi,
)
from .tdm_prefetch import PREFETCH_SCOPE_DEVICE, PREFETCH_SCOPE_SE, l2_prefetch_tile

__all__ = [
    "PREFETCH_SCOPE_DEVICE",
    "PREFETCH_SCOPE_SE",
    "TDMDescriptor2D",
    "TDMGatherDescriptor",
    "add_addr_with_carry",
    "compute_padding_encoding",
    "compute_warp_distribution",
    "l2_prefetch_tile",
    "make_tensor_descriptor_2d",
    "make_tensor_gather_descriptor",
    "make_tensor_gather_dgroup0",
    "tensor_load_2d",
    "tensor_load_gather",
    "tensor_store_2d",
    "tensor_store_gather",
    "tensor_wait",
    "update_tensor_descriptor_2d_addr64",
    "update_tensor_descriptor_2d_addr_lo",
    "update_tensor_descriptor_2d_addr_lo_hi",
    "update_tensor_descriptor_2d_lds_addr",
    "update_tensor_gather_descriptor_addr64",
    "update_tensor_gather_descriptor_addr_lo",
    "update_tensor_gather_descriptor_addr_lo_hi",
]
