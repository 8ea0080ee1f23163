# SPDX-License-Identifier: Apache-2.0
"""Reductions over the threads of a workgroup, through LDS. Using one storage twice needs a barrier in between."""

from __future__ import annotations

import enum
from typing import Any

from ..ops.gpu import barrier, shuffle_idx
from ..ops.memory import atomic_add
from ..values.numeric.base import as_numeric, select
from ..values.vector import ReductionOp
from .operator import combiner, identity_of
from .specialise import Collective, items_of, when
from .warp import warp_inclusive_scan, warp_reduce

__all__ = ["BlockReduce", "BlockReduceAlgorithm"]


class BlockReduceAlgorithm(enum.Enum):
    """How a block reduces."""

    RAKING = "raking"
    WARP_REDUCTIONS = "warp_reductions"
    RAKING_COMMUTATIVE_ONLY = "raking_commutative_only"
    WARP_REDUCTIONS_NONDETERMINISTIC = "warp_reductions_nondeterministic"


_Kind = BlockReduceAlgorithm


class BlockReduce(Collective):
    """`BlockReduce[dtype, block_size, algorithm](value, op, storage=...)`: the combination, in every thread.

    `value` is a scalar, or a `Vector` of this thread's values. With `valid_items=n` only the first n threads take part;
    a callable `op` then needs `identity=`. The threads pass a barrier. By WARP_REDUCTIONS_NONDETERMINISTIC the waves
    add up in any order, by atomics, which is for sums of numbers that atomics can add.
    """

    algorithms = BlockReduceAlgorithm
    algorithm = BlockReduceAlgorithm.WARP_REDUCTIONS

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots: one per thread for raking, else one per wave."""
        return cls.block_threads if cls.algorithm.name.startswith("RAKING") else cls.num_warps

    @classmethod
    def _call(cls, value: Any, op: Any, *, storage: Any, valid_items: Any = None, identity: Any = None) -> Any:
        combine, slots, thread = combiner(op), cls.slots(storage), cls.thread()
        lanes = items_of(value, cls.dtype)
        result = lanes[0]
        for lane in lanes[1:]:
            result = combine(result, lane)
        if valid_items is not None:
            neutral = identity_of(op, cls.dtype) if identity is None else as_numeric(identity).to(cls.dtype)
            result = select(thread < valid_items, result, neutral)
        if cls.algorithm is _Kind.WARP_REDUCTIONS:
            return cls._by_waves(result, op, slots, thread)
        if cls.algorithm is _Kind.WARP_REDUCTIONS_NONDETERMINISTIC:
            return cls._by_atomics(result, op, slots, thread)
        return cls._rake(result, op, slots, thread)

    @classmethod
    def _by_waves(cls, value: Any, op: Any, slots: Any, thread: Any) -> Any:
        value = warp_reduce(value, op, width=cls.warp_threads)
        if cls.num_warps == 1:
            return value
        with when((thread & (cls.warp_threads - 1)) == 0):
            slots[thread // cls.warp_threads] = value
        barrier()
        combine, result = combiner(op), slots[0]
        for warp in range(1, cls.num_warps):
            result = combine(result, slots[warp])
        return result

    @classmethod
    def _by_atomics(cls, value: Any, op: Any, slots: Any, thread: Any) -> Any:
        if (callable(op) and not isinstance(op, ReductionOp)) or ReductionOp.of(op) is not ReductionOp.ADD:
            raise NotImplementedError(f"{cls.__name__} adds; reduce by WARP_REDUCTIONS for other operators")
        value = warp_reduce(value, op, width=cls.warp_threads)
        with when(thread == 0):
            slots[0] = cls.dtype(0)
        barrier()
        with when((thread & (cls.warp_threads - 1)) == 0):
            atomic_add(slots.ptr, value)
        barrier()
        return slots[0]

    @classmethod
    def _rake(cls, value: Any, op: Any, slots: Any, thread: Any) -> Any:
        """Every thread writes; each lane rakes a run of them, in order, and the lanes reduce."""
        combine = combiner(op)
        slots[thread] = value
        barrier()
        lane = thread & (cls.warp_threads - 1)
        run = cls.block_threads // cls.warp_threads
        result = slots[lane * run]
        for i in range(1, run):
            result = combine(result, slots[lane * run + i])
        if cls.algorithm is _Kind.RAKING_COMMUTATIVE_ONLY:
            return warp_reduce(result, op, width=cls.warp_threads)
        ordered = warp_inclusive_scan(result, op, width=cls.warp_threads)
        return shuffle_idx(ordered, cls.warp_threads - 1, cls.warp_threads)
