# SPDX-License-Identifier: Apache-2.0
"""Reductions across the lanes of a wave and the waves of a workgroup."""

from __future__ import annotations

from typing import Any

from .language import fx

_COMBINE = {"add": lambda a, b: a + b, "max": lambda a, b: fx.max(a, b)}


def wave_reduce(value: Any, op: str) -> Any:
    """Reduce one 32-bit scalar per lane over the wave; every lane gets the result.

    `op` is "add" or "max". log2(wave size) butterfly steps: lane i exchanges with lane i xor 2^k.
    """
    combine = _COMBINE[op]
    wave_size = fx.num_warp_threads()
    offset = wave_size // 2
    while offset:
        value = combine(value, fx.gpu.shuffle_xor(value, offset, wave_size))
        offset //= 2
    return value


def block_reduce(value: Any, op: str, slots: Any, thread: Any, threads: int) -> Any:
    """Reduce one 32-bit scalar per thread over the workgroup; every thread gets the result.

    `slots` is an LDS array of threads / wave size elements that nothing else uses between the barrier in here and the
    next barrier of the caller: give each reduction of a kernel slots of its own, and no barrier is needed between them.
    """
    combine = _COMBINE[op]
    wave_size = fx.num_warp_threads()
    value = wave_reduce(value, op)
    waves = threads // wave_size
    if waves == 1:
        return value
    _store_first_lane(value, slots, thread // wave_size, thread % wave_size)
    fx.barrier()
    result = slots[0]
    for wave in range(1, waves):
        result = combine(result, slots[wave])
    return result


def _store_first_lane(value: Any, slots: Any, wave: Any, lane: Any) -> None:
    if lane == 0:
        slots[wave] = value


def wave_reduce_add(value: Any) -> Any:
    """Sum of one 32-bit scalar per lane, in every lane."""
    return wave_reduce(value, "add")


def block_reduce_add(value: Any, slots: Any, thread: Any, threads: int) -> Any:
    """Sum of one 32-bit scalar per thread, in every thread; see `block_reduce` for the slots."""
    return block_reduce(value, "add", slots, thread, threads)
