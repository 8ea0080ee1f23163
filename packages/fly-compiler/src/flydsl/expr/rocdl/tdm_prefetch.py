# SPDX-License-Identifier: Apache-2.0
"""Prefetches of tiles into L2 on gfx1250, one cache line per thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl._mlir._mlir_libs._mlirDialectsLLVM import PointerType
from flydsl.trace import context as _trace
from flydsl.trace.build import build, type_of

from ..ops.gpu import thread_idx
from ..values.numeric.base import as_numeric
from ..values.numeric.types import Int32, Int64
from .availability import check_instruction
from .intrinsic import call_intrinsic
from .tdm_descriptors import _address

if TYPE_CHECKING:
    from ..values.accepted import IntLike

__all__ = ["PREFETCH_SCOPE_DEVICE", "PREFETCH_SCOPE_SE", "l2_prefetch_tile"]

# The scope bits of a cache policy on gfx12: 0x8 is the shader engine, 0x10 the device.
PREFETCH_SCOPE_SE = 0x8
PREFETCH_SCOPE_DEVICE = 0x10

_GLOBAL = 1  # the address space, as LLVM counts
_LINE_BYTES = 128


def l2_prefetch_tile(
    global_ptr: Any,
    global_offset: tuple[Any, Any],
    tile_shape: tuple[int, int],
    strides: tuple[Any, Any],
    elem_bytes: int = 2,
    num_warps: int = 1,
    wave_id: IntLike | None = None,
    thread_id: IntLike | None = None,
    block_threads: int = 256,
    scope: int = PREFETCH_SCOPE_SE,
) -> None:
    """Ask for the cache lines of a two-dimensional tile; each thread asks for its share of them.

    Args:
        global_ptr: the tensor's first element.
        global_offset: coordinates of the tile, (outer, inner), in elements.
        tile_shape: its extents, static.
        strides: strides of the tensor in elements; the inner one is 1.
        elem_bytes: bytes of an element.
        num_warps: waves that take part, where `thread_id` is that of a lane in its wave and `wave_id` is given.
        wave_id: the wave's number in the workgroup, for that form.
        thread_id: the thread's number; by default its x index in the workgroup.
        block_threads: threads that take part.
        scope: which caches: `PREFETCH_SCOPE_SE` or `PREFETCH_SCOPE_DEVICE`.

    Raises:
        ValueError: another target.
    """
    check_instruction("rocdl.global.prefetch", "l2_prefetch_tile")
    thread = as_numeric(thread_idx.x if thread_id is None else thread_id).to(Int32)
    if wave_id is not None:
        lanes = _trace.target().warp_size
        thread, block_threads = as_numeric(wave_id).to(Int32) * lanes + thread, num_warps * lanes
    per_row = -(-tile_shape[1] * elem_bytes // _LINE_BYTES)
    lines = per_row * tile_shape[0]
    base = _address(global_ptr).to(Int64)
    outer_stride, inner_stride = (as_numeric(one).to(Int64) for one in strides)
    for first in range(0, lines, block_threads):
        line = (thread + first) % lines  # threads beyond the last line ask for one again, which costs nothing
        row = as_numeric(global_offset[0]).to(Int32) + line // per_row
        column = as_numeric(global_offset[1]).to(Int32) + line % per_row * (_LINE_BYTES // elem_bytes)
        element = row.to(Int64) * outer_stride + column.to(Int64) * inner_stride
        address = (base + element * elem_bytes).ir_value()
        pointer = build("llvm.inttoptr", (address,), type_of(PointerType, _GLOBAL))
        # The op of ROCDL says that it does nothing, and goes when its block is simplified.
        call_intrinsic("llvm.amdgcn.global.prefetch", (pointer, Int32(int(scope)).ir_value()), None)
