# SPDX-License-Identifier: Apache-2.0
"""Reductions across the lanes of a wave and the waves of a workgroup.

Within a wave of gfx9 a reduction is a chain of vector instructions that read their operand from another lane (DPP), so
it needs neither LDS nor its latency; elsewhere it is a butterfly of shuffles.
"""

from __future__ import annotations

from typing import Any

from .dpp_utils import from_lane
from .language import fx

# `nnan` keeps v_max from being preceded by an instruction that quiets its operands: 2 instructions a step become 1. A
# NaN is then lost or passed on; the kernels that use it carry NaN by the values themselves, not by the maximum.
_COMBINE = {
    "add": lambda a, b: a + b,
    "max": lambda a, b: fx.maxnumf(a, b, fastmath="nnan"),
    "min": lambda a, b: fx.min(a, b),
}

# The control field of a DPP operand. After a step the lanes of a pair, quad, half row, row hold the same value, so
# mirroring a half row or a row is as good as exchanging with lane xor 4 or xor 8.
_WITHIN_ROW = (0xB1, 0x4E, 0x141, 0x140)  # quad_perm [1,0,3,2], quad_perm [2,3,0,1], row_half_mirror, row_mirror
_ACROSS_ROWS = (0x142, 0x143)  # row_bcast:15, row_bcast:31: the row before, the half before; lane 63 has seen all
_SWIZZLE_XOR_16 = 0x401F  # ds_swizzle's bit mode: lane xor 16


def _has_dpp() -> bool:
    return fx.num_warp_threads() == 64


def wave_reduce(value: fx.Numeric, op: str, width: int | None = None) -> Any:
    """Reduce one Float32 or Int32 per lane over groups of `width` lanes; every lane of a group gets its result.

    `op` is "add", "max" (of Float32; NaN is ignored) or "min" (of Int32); `width` is a power of two up to the wave
    size, which is the default. All lanes of a group are active. Over a whole wave of 64 the result is in a scalar
    register.

    Raises ValueError for another width.
    """
    combine = _COMBINE[op]
    wave_size = fx.num_warp_threads()
    width = width or wave_size
    if width < 1 or width > wave_size or width & (width - 1):
        raise ValueError(f"a reduction is over a power of two of lanes up to {wave_size}, not {width}")
    if not _has_dpp():
        offset = width // 2
        while offset:
            value = combine(value, fx.gpu.shuffle_xor(value, offset, wave_size))
            offset //= 2
        return value
    for control in _WITHIN_ROW[: min(width, 16).bit_length() - 1]:
        value = combine(value, from_lane(value, control))
    if width <= 16:
        return value
    if width == 32:
        raw = value.bitcast(fx.Int32).ir_value()
        other = fx.Int32(fx.rocdl.ds_swizzle(raw.type, raw, fx.Int32(_SWIZZLE_XOR_16).ir_value()))
        return combine(value, other.bitcast(type(value)))
    for control in _ACROSS_ROWS:
        value = combine(value, from_lane(value, control))
    raw = value.ir_value()
    return type(value)(fx.rocdl.readlane(raw.type, raw, fx.Int32(wave_size - 1).ir_value()))


def block_reduce(value: fx.Numeric, op: str, slots: Any, thread: fx.Numeric | int, threads: int) -> Any:
    """Reduce one Float32 per thread over the workgroup; every thread gets the result.

    `slots` is an LDS array of threads / wave size elements that nothing else uses between the barrier in here and the
    next barrier of the caller: give each reduction of a kernel slots of its own, and no barrier is needed between them.
    """
    return _block_reduce((value,), (op,), (slots,), thread, threads)[0]


def _block_reduce(values: Any, ops: Any, slots: Any, thread: Any, threads: int) -> Any:
    wave_size = fx.num_warp_threads()
    values = [wave_reduce(value, op) for value, op in zip(values, ops, strict=True)]
    waves = threads // wave_size
    if waves == 1:
        return values
    _store_first_lane(values, slots, thread // wave_size, thread % wave_size)
    fx.barrier()
    results = []
    for op, slot in zip(ops, slots, strict=True):
        result = slot[0]
        for wave in fx.range_constexpr(1, waves):
            result = _COMBINE[op](result, slot[wave])
        results.append(result)
    return results


def _store_first_lane(values: Any, slots: Any, wave: Any, lane: Any) -> None:
    if lane == 0:
        for value, slot in zip(values, slots, strict=True):
            slot[wave] = value


def wave_reduce_add(value: fx.Numeric) -> Any:
    """Sum of one Float32 per lane, in every lane."""
    return wave_reduce(value, "add")


def wave_reduce_max(value: fx.Numeric) -> Any:
    """Maximum of one Float32 per lane, in every lane; NaN is ignored."""
    return wave_reduce(value, "max")


def block_reduce_add(value: fx.Numeric, slots: Any, thread: fx.Numeric | int, threads: int) -> Any:
    """Sum of one Float32 per thread, in every thread; see `block_reduce` for the slots."""
    return block_reduce(value, "add", slots, thread, threads)


def block_reduce_add2(
    first: fx.Numeric, second: fx.Numeric, slots: Any, more_slots: Any, thread: fx.Numeric | int, threads: int
) -> Any:
    """Two sums with one barrier: (sum of `first`, sum of `second`); see `block_reduce` for the slots."""
    return tuple(_block_reduce((first, second), ("add", "add"), (slots, more_slots), thread, threads))
