# SPDX-License-Identifier: Apache-2.0
"""The tensor data mover of gfx1250: two-dimensional descriptors, loads and stores of whole tiles.

Tuples are (outer, inner). A descriptor is two groups of 32-bit words: the first has the LDS and global addresses, the
second data size, padding, extents of tensor and tile, and the row stride.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _mlirDialectsLLVM as llvm
from flydsl.trace.build import build, build_op, i64_array, int_attribute, vector_type
from flydsl.trace.wrap import as_ir_value

from ..values.numeric.base import as_numeric
from ..values.numeric.types import Index, Int32, Int64
from ..values.pointer import Pointer, to_llvm_ptr
from ..values.tensor import Tensor
from .availability import check_instruction

if TYPE_CHECKING:
    from ..values.accepted import IntLike

__all__ = [
    "TDMDescriptor2D",
    "add_addr_with_carry",
    "compute_padding_encoding",
    "compute_warp_distribution",
    "make_tensor_descriptor_2d",
    "tensor_load_2d",
    "tensor_store_2d",
    "tensor_wait",
    "update_tensor_descriptor_2d_addr64",
    "update_tensor_descriptor_2d_addr_lo",
    "update_tensor_descriptor_2d_addr_lo_hi",
    "update_tensor_descriptor_2d_lds_addr",
]

_TYPE_FIELD = -(1 << 31)  # type 2 in the two highest bits of the second address word


@dataclass(frozen=True)
class TDMDescriptor2D:
    """A descriptor: `dgroup0` is a vector of 4, `dgroup1` one of 8 32-bit integers (raw SSA values)."""

    dgroup0: ir.Value
    dgroup1: ir.Value

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [self.dgroup0, self.dgroup1]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> TDMDescriptor2D:
        return cls(values[0], values[1])


def _needs_tdm(what: str) -> None:
    check_instruction("rocdl.tensor.load.to.lds", what)


def compute_padding_encoding(interval: int, amount: int, elem_bits: int = 16) -> tuple[int, int]:
    """Return the codes of LDS padding: `amount` elements after every `interval` elements.

    The codes are log2(interval in dwords) - 1 and amount in dwords - 1.

    Raises:
        ValueError: not whole dwords, an interval that is no power of two, or out of the range of the codes.
    """
    dwords, pad = interval * elem_bits // 32, amount * elem_bits // 32
    whole = interval * elem_bits % 32 == 0 and amount * elem_bits % 32 == 0
    if not whole or dwords < 2 or dwords & (dwords - 1) or not 1 <= pad <= 128 or dwords > 256:
        raise ValueError(
            f"padding of {amount} elements every {interval} ({elem_bits} bits each) cannot be encoded: the interval "
            "is a power of two of 2 to 256 dwords, the amount 1 to 128 dwords"
        )
    return dwords.bit_length() - 2, pad - 1


def compute_warp_distribution(block_shape: Sequence[int], num_warps: int) -> tuple[list[int], list[int]]:
    """Return the waves along each dimension and the block of one wave.

    Waves are doubled along the outer dimensions first, while they fit; what is left goes to the innermost.

    Raises:
        ValueError: the number of waves is no power of two.
    """
    if num_warps < 1 or num_warps & (num_warps - 1):
        raise ValueError(f"the number of waves is a power of two, got {num_warps}")
    warps, left = [1] * len(block_shape), num_warps
    for i, extent in enumerate(block_shape):
        while left > 1 and warps[i] * 2 <= extent:
            warps[i] *= 2
            left //= 2
    warps[-1] *= left
    return warps, [-(-extent // count) for extent, count in zip(block_shape, warps, strict=True)]


def _address(pointer: Any) -> Any:
    """Return a global address as `Int64`, or an LDS address as `Int32`."""
    if isinstance(pointer, Tensor):
        pointer = pointer.iter
    value = to_llvm_ptr(pointer) if isinstance(pointer, Pointer) else as_ir_value(pointer)
    kind = value.type
    if isinstance(kind, llvm.PointerType):
        shared = kind.address_space == 3
        return as_numeric(build("llvm.ptrtoint", (value,), (Int32 if shared else Int64).ir_type))
    if isinstance(kind, ir.MemRefType):
        index = build("memref.extract_aligned_pointer_as_index", (value,), Index.ir_type)
        return as_numeric(index).to(Int32)
    return as_numeric(value)


def _words(values: Sequence[Any]) -> ir.Value:
    lanes = [as_numeric(value).to(Int32).ir_value() for value in values]
    return build("vector.from_elements", lanes, vector_type(len(lanes), Int32.ir_type))


def padding_word(interval: int, amount: int, elem_bytes: int) -> int:
    """Return the bits of a descriptor that ask for LDS padding, in elements; none when one of both is zero."""
    if interval <= 0 or amount <= 0:
        return 0
    interval_code, amount_code = compute_padding_encoding(interval, amount, 8 * elem_bytes)
    return 1 << 20 | interval_code << 22 | amount_code << 25


def _u32(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _high_word(address: Any) -> Any:
    high = (address >> Int64(32)).to(Int32)
    return (high & Int32(0x01FFFFFF)) | Int32(_TYPE_FIELD)


def make_tensor_descriptor_2d(
    global_ptr: Any,
    lds_memref: Any,
    global_offset: tuple[Any, Any],
    tensor_shape: tuple[Any, Any],
    strides: tuple[Any, Any],
    tile_shape: tuple[int, int],
    elem_bytes: int = 2,
    pad_interval: int = 0,
    pad_amount: int = 0,
    num_warps: int = 1,
    cache_policy: int = 0,
    pred: IntLike = 1,
    workgroup_mask: IntLike = 0,
    lds_byte_offset: IntLike | None = None,
    for_store: bool = False,
    atomic_barrier_enable: bool = False,
    early_timeout: bool = False,
    oob_outer_bound: IntLike | None = None,
    oob_inner_bound: IntLike | None = None,
    wave: IntLike | None = None,
) -> TDMDescriptor2D:
    """Return the descriptor of one two-dimensional tile.

    Args:
        global_ptr: the tensor's first element.
        lds_memref: where the tile lies in LDS (pointer, tensor or builtin memref).
        global_offset: coordinates of the tile in elements.
        tensor_shape: extents of the tensor; what lies beyond reads zero and is not written.
        strides: strides in elements; the inner one is 1.
        tile_shape: extents of the tile, static.
        elem_bytes: 1, 2, 4 or 8.
        pad_interval: elements between paddings in LDS; 0 for none.
        pad_amount: elements of a padding.
        num_warps: waves among which the tile is split.
        cache_policy: accepted for symmetry with the load; the descriptor does not hold it.
        pred: whether the transfer takes place.
        workgroup_mask: the workgroups of the cluster that receive the tile.
        lds_byte_offset: added to the LDS address.
        for_store: padding does not apply to stores.
        atomic_barrier_enable: signal the LDS barrier when done.
        early_timeout: give the group up early.
        oob_outer_bound: bound of the outer coordinate, instead of the tensor's extent.
        oob_inner_bound: bound of the inner coordinate, instead of the tensor's extent.
        wave: this wave's number among `num_warps`, by default `wave_id()`. Given from before a loop, what depends on it
            is not computed in each turn.

    Raises:
        ValueError: an element size, padding or number of waves that cannot be encoded, or another target.
    """
    del cache_policy
    _needs_tdm("make_tensor_descriptor_2d")
    if elem_bytes not in (1, 2, 4, 8):
        raise ValueError(f"elements of the tensor data mover have 1, 2, 4 or 8 bytes, not {elem_bytes!r}")
    warps, block = compute_warp_distribution(tile_shape, num_warps)
    warp_outer, warp_inner = _warp_coordinates(warps, wave)
    outer = as_numeric(global_offset[0]) + warp_outer * block[0]
    inner = as_numeric(global_offset[1]) + warp_inner * block[1]
    row = as_numeric(strides[0])
    element = outer.to(Int64) * row.to(Int64) + inner.to(Int64) * as_numeric(strides[1]).to(Int64)
    address = _address(global_ptr).to(Int64) + element * Int64(elem_bytes)

    padded = pad_interval > 0 and pad_amount > 0 and not for_store
    row_elements = tile_shape[1] + (tile_shape[1] // pad_interval * pad_amount if padded else 0)
    lds = _address(lds_memref).to(Int32)
    if lds_byte_offset is not None:
        lds = lds + lds_byte_offset
    lds = lds + (warp_outer * (block[0] * row_elements) + warp_inner * block[1]) * elem_bytes

    config = (elem_bytes.bit_length() - 1) << 16 | int(atomic_barrier_enable) << 18 | int(early_timeout) << 21
    if padded:
        config |= padding_word(pad_interval, pad_amount, elem_bytes)
    word0 = Int32(_u32(config)) | (as_numeric(workgroup_mask).to(Int32) & 0xFFFF)
    zero = Int32(0)
    bound_outer = as_numeric(tensor_shape[0] if oob_outer_bound is None else oob_outer_bound).to(Int32)
    bound_inner = as_numeric(tensor_shape[1] if oob_inner_bound is None else oob_inner_bound).to(Int32)
    from ..ops.math import max

    rows, columns = max(bound_outer - outer.to(Int32), zero), max(bound_inner - inner.to(Int32), zero)
    stride = row.to(Int64)
    group1 = [
        word0,
        columns << 16,
        columns.shrui(16) | (rows << 16),
        rows.shrui(16) | Int32(block[1] << 16),
        Int32(block[0]),
        stride.to(Int32),
        (stride >> Int64(32)).to(Int32) & 0xFFFF,
        zero,
    ]
    enabled = as_numeric(pred).to(Int32)
    group0 = [enabled, lds, address.to(Int32), _high_word(address)]
    return TDMDescriptor2D(_words(group0), _words(group1))


def _warp_coordinates(warps: Sequence[int], wave: Any = None) -> tuple[Any, Any]:
    """Return this wave's coordinates; the outer one varies fastest."""
    if tuple(warps) == (1, 1):
        return Int32(0), Int32(0)
    from .lanes import wave_id

    wave = wave_id() if wave is None else as_numeric(wave).to(Int32)
    return wave % warps[0], wave // warps[0]


def _issue(op: str, descriptor: TDMDescriptor2D, cache_policy: int) -> None:
    _needs_tdm(op)
    attributes = {"cachePolicy": int_attribute(int(cache_policy), 32)}
    build_op(op, (descriptor.dgroup0, descriptor.dgroup1), (), attributes)


def tensor_load_2d(desc: TDMDescriptor2D, cache_policy: int = 0) -> None:
    """Start the load of a tile from global memory to LDS."""
    _issue("rocdl.tensor.load.to.lds.d2", desc, cache_policy)


def tensor_store_2d(desc: TDMDescriptor2D, cache_policy: int = 0) -> None:
    """Start the store of a tile from LDS to global memory."""
    _issue("rocdl.tensor.store.from.lds.d2", desc, cache_policy)


def tensor_wait(count: int = 0) -> None:
    """Wait until at most `count` transfers of this wave are outstanding."""
    _needs_tdm("tensor_wait")
    build_op("rocdl.s.wait.tensorcnt", (), (), {"count": int_attribute(int(count), 16)})


def _replaced(group: ir.Value, words: dict[int, Any]) -> ir.Value:
    """Return a group of a descriptor with some words replaced."""
    for position, word in words.items():
        operands = (as_numeric(word).to(Int32).ir_value(), group)
        place = {"static_position": i64_array([position])}
        group = build("vector.insert", operands, group.type, place)
    return group


def update_tensor_descriptor_2d_lds_addr(desc: TDMDescriptor2D, lds_addr: IntLike) -> TDMDescriptor2D:
    """Return the descriptor with another LDS address."""
    return replace(desc, dgroup0=_replaced(desc.dgroup0, {1: lds_addr}))


def update_tensor_descriptor_2d_addr_lo(desc: TDMDescriptor2D, addr_lo: IntLike) -> TDMDescriptor2D:
    """Return the descriptor with another low word of the global address."""
    return replace(desc, dgroup0=_replaced(desc.dgroup0, {2: addr_lo}))


def update_tensor_descriptor_2d_addr_lo_hi(
    desc: TDMDescriptor2D, addr_lo: IntLike, addr_hi: IntLike
) -> TDMDescriptor2D:
    """Return the descriptor with another global address, as low and (already typed) high word."""
    return replace(desc, dgroup0=_replaced(desc.dgroup0, {2: addr_lo, 3: addr_hi}))


def update_tensor_descriptor_2d_addr64(desc: TDMDescriptor2D, *address: Any) -> TDMDescriptor2D:
    """Return the descriptor with another 64-bit global address.

    `update_tensor_descriptor_2d_addr64(desc, address)`, or `(desc, base_lo, base_hi, delta)`: the base in two (already
    typed) words, moved by `delta` bytes.
    """
    if len(address) == 3:
        return update_tensor_descriptor_2d_addr_lo_hi(desc, *add_addr_with_carry(*address))
    if len(address) != 1:
        raise TypeError("update_tensor_descriptor_2d_addr64 takes (desc, address) or (desc, base_lo, base_hi, delta)")
    wide = as_numeric(address[0]).to(Int64)
    return update_tensor_descriptor_2d_addr_lo_hi(desc, wide.to(Int32), _high_word(wide))


def add_addr_with_carry(addr_lo: IntLike, addr_hi: IntLike, offset: IntLike) -> tuple[Any, Any]:
    """Return a 64-bit address in two words, moved by a 32-bit offset."""
    from ..values.numeric.types import Uint32

    low = as_numeric(addr_lo).to(Uint32)
    moved = low + as_numeric(offset).to(Uint32)
    carry = (moved < low).select(Int32(1), Int32(0))
    return moved.to(Int32), as_numeric(addr_hi).to(Int32) + carry
