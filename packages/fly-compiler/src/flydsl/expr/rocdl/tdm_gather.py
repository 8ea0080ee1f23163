# SPDX-License-Identifier: Apache-2.0
"""Gathers and scatters of whole rows by the tensor data mover of gfx1250.

A descriptor has four groups of 32-bit words: addresses and mode; data size, padding, extents of the tensor, width of a
row and number of rows; and two groups of row numbers, of 32 bits (up to 8) or in pairs of 16 bits (up to 16).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl.trace.build import build_op, int_attribute

from ..values.numeric.base import as_numeric
from ..values.numeric.types import Int32, Int64
from .tdm_descriptors import (
    _address,
    _high_word,
    _needs_tdm,
    _replaced,
    _u32,
    _words,
    add_addr_with_carry,
    padding_word,
)

if TYPE_CHECKING:
    from ..values.accepted import IntLike

__all__ = [
    "TDMGatherDescriptor",
    "make_tensor_gather_descriptor",
    "make_tensor_gather_dgroup0",
    "tensor_load_gather",
    "tensor_store_gather",
    "update_tensor_gather_descriptor_addr64",
    "update_tensor_gather_descriptor_addr_lo",
    "update_tensor_gather_descriptor_addr_lo_hi",
]

_GATHER = 1 << 31
_WIDE_INDEX = 1 << 30
_VALID = 1


@dataclass(frozen=True)
class TDMGatherDescriptor:
    """A descriptor: vectors of 4, 8, 4 and 4 32-bit integers (raw SSA values)."""

    dgroup0: ir.Value
    dgroup1: ir.Value
    dgroup2: ir.Value
    dgroup3: ir.Value

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [self.dgroup0, self.dgroup1, self.dgroup2, self.dgroup3]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> TDMGatherDescriptor:
        return cls(*values)


def make_tensor_gather_dgroup0(
    global_ptr: Any,
    lds_memref: Any,
    *,
    index_size: int = 32,
    lds_byte_offset: IntLike | None = None,
    global_byte_offset: IntLike | None = None,
) -> ir.Value:
    """Return the first group: the mode and both addresses; arguments as of `make_tensor_gather_descriptor`."""
    _needs_tdm("make_tensor_gather_dgroup0")
    if index_size not in (16, 32):
        raise ValueError(f"the row numbers of a gather have 16 or 32 bits, not {index_size!r}")
    address = _address(global_ptr).to(Int64)
    if global_byte_offset is not None:
        address = address + as_numeric(global_byte_offset).to(Int64)
    lds = _address(lds_memref).to(Int32)
    if lds_byte_offset is not None:
        lds = lds + as_numeric(lds_byte_offset).to(Int32)
    mode = _GATHER | _VALID | (_WIDE_INDEX if index_size == 32 else 0)
    return _words([Int32(_u32(mode)), lds, address.to(Int32), _high_word(address)])


def make_tensor_gather_descriptor(
    global_ptr: Any,
    lds_memref: Any,
    row_indices: Sequence[Any],
    row_width: int,
    tensor_dim0: int,
    tensor_dim1: Any,
    stride: IntLike,
    elem_bytes: int = 1,
    pad_interval: int = 0,
    pad_amount: int = 0,
    index_size: int = 32,
    gather_tile_dim1: Any = None,
    lds_byte_offset: IntLike | None = None,
    global_byte_offset: IntLike | None = None,
    workgroup_mask: IntLike = 0,
) -> TDMGatherDescriptor:
    """Return the descriptor of a gather of rows.

    Args:
        global_ptr: the tensor's first element.
        lds_memref: where the rows go in LDS, one after the other (pointer, tensor or builtin memref).
        row_indices: the numbers of the rows: up to 8 of 32 bits, or 16 of 16 bits.
        row_width: elements of a row that are moved.
        tensor_dim0: elements of a row of the tensor; what lies beyond reads zero.
        tensor_dim1: rows of the tensor.
        stride: elements between rows.
        elem_bytes: 1, 2, 4 or 8.
        pad_interval: elements between paddings in LDS; 0 for none.
        pad_amount: elements of a padding.
        index_size: bits of a row number, 16 or 32.
        gather_tile_dim1: how many of the rows are moved; by default all.
        lds_byte_offset: added to the LDS address.
        global_byte_offset: added to the global address.
        workgroup_mask: the workgroups of the cluster that receive the rows.

    Raises:
        ValueError: too many rows or none, an element size, padding or index size that cannot be encoded, or another
            target.
    """
    group0 = make_tensor_gather_dgroup0(
        global_ptr,
        lds_memref,
        index_size=index_size,
        lds_byte_offset=lds_byte_offset,
        global_byte_offset=global_byte_offset,
    )
    most = 8 if index_size == 32 else 16
    if not 1 <= len(row_indices) <= most:
        raise ValueError(f"a gather has 1 to {most} rows of {index_size}-bit numbers, got {len(row_indices)}")
    if elem_bytes not in (1, 2, 4, 8):
        raise ValueError(f"elements of the tensor data mover have 1, 2, 4 or 8 bytes, not {elem_bytes!r}")
    config = (elem_bytes.bit_length() - 1) << 16 | padding_word(pad_interval, pad_amount, elem_bytes)
    columns, rows = as_numeric(tensor_dim0).to(Int32), as_numeric(tensor_dim1).to(Int32)
    step = as_numeric(stride).to(Int64)
    moved = len(row_indices) if gather_tile_dim1 is None else gather_tile_dim1
    group1 = [
        Int32(_u32(config)) | (as_numeric(workgroup_mask).to(Int32) & 0xFFFF),
        columns << 16,
        columns.shrui(16) | (rows << 16),
        rows.shrui(16) | Int32(_u32(row_width << 16)),
        as_numeric(moved).to(Int32) & 0xFFFF,
        step.to(Int32),
        (step >> Int64(32)).to(Int32) & 0xFFFF,
        Int32(0),
    ]
    numbers = [as_numeric(index).to(Int32) for index in row_indices]
    numbers += [Int32(0)] * (most - len(numbers))
    if index_size == 16:
        numbers = [(low & 0xFFFF) | (high << 16) for low, high in zip(numbers[::2], numbers[1::2], strict=True)]
    return TDMGatherDescriptor(group0, _words(group1), _words(numbers[:4]), _words(numbers[4:]))


def _issue(op: str, descriptor: TDMGatherDescriptor, cache_policy: int) -> None:
    _needs_tdm(op)
    groups = (descriptor.dgroup0, descriptor.dgroup1, descriptor.dgroup2, descriptor.dgroup3)
    build_op(op, groups, (), {"cachePolicy": int_attribute(int(cache_policy), 32)})


def tensor_load_gather(desc: TDMGatherDescriptor, cache_policy: int = 0) -> None:
    """Start the load of the rows from global memory to LDS."""
    _issue("rocdl.tensor.load.to.lds", desc, cache_policy)


def tensor_store_gather(desc: TDMGatherDescriptor, cache_policy: int = 0) -> None:
    """Start the store of the rows from LDS to global memory."""
    _issue("rocdl.tensor.store.from.lds", desc, cache_policy)


def update_tensor_gather_descriptor_addr_lo(desc: TDMGatherDescriptor, addr_lo: IntLike) -> TDMGatherDescriptor:
    """Return the descriptor with another low word of the global address."""
    return replace(desc, dgroup0=_replaced(desc.dgroup0, {2: addr_lo}))


def update_tensor_gather_descriptor_addr_lo_hi(
    desc: TDMGatherDescriptor, addr_lo: IntLike, addr_hi: IntLike
) -> TDMGatherDescriptor:
    """Return the descriptor with another global address, as low and (already typed) high word."""
    return replace(desc, dgroup0=_replaced(desc.dgroup0, {2: addr_lo, 3: addr_hi}))


def update_tensor_gather_descriptor_addr64(
    desc: TDMGatherDescriptor, base_addr_lo: IntLike, base_addr_hi: IntLike, delta: IntLike
) -> TDMGatherDescriptor:
    """Return the descriptor with the global address base + `delta` bytes; base in two (already typed) words."""
    return update_tensor_gather_descriptor_addr_lo_hi(desc, *add_addr_with_carry(base_addr_lo, base_addr_hi, delta))
