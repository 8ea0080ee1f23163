# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans over the threads of a workgroup, through LDS.

`BlockReduce[dtype, block_size, algorithm]` and `BlockScan[...]` are specialised classes; `.SharedStorage` is the struct
to allocate with `fx.SharedAllocator`. Using one storage twice needs a barrier in between.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flydsl._mlir import ir

from .. import _trace
from .._build import build_op
from ..gpu import barrier, shuffle_idx, shuffle_up, thread_idx
from ..numeric.base import _class_of, as_numeric, select
from ..numeric.meta import NumericMeta
from ..storable import Array
from ..struct import Struct
from ..vector import Vector
from .operator import combiner, identity_of
from .warp import warp_inclusive_scan, warp_reduce

__all__ = ["BlockReduce", "BlockReduceAlgorithm", "BlockScan", "BlockScanAlgorithm"]


class BlockReduceAlgorithm(enum.Enum):
    """How a block reduces."""

    RAKING = "raking"
    WARP_REDUCTIONS = "warp_reductions"
    RAKING_COMMUTATIVE_ONLY = "raking_commutative_only"
    WARP_REDUCTIONS_NONDETERMINISTIC = "warp_reductions_nondeterministic"


class BlockScanAlgorithm(enum.Enum):
    """How a block scans."""

    WARP_SCANS = "warp_scans"
    RAKING = "raking"
    RAKING_MEMOIZE = "raking_memoize"


@contextmanager
def _when(condition: Any) -> Iterator[None]:
    """Build what follows for the threads where `condition` is true."""
    op = build_op("scf.if", (condition.ir_value(),), regions=2)
    with ir.InsertionPoint(op.regions[0].blocks.append()):
        yield
        build_op("scf.yield", ())


def _block_size(size: Any) -> tuple[int, int, int]:
    extents = size if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(extents) <= 3 or any(isinstance(e, bool) or not isinstance(e, int) or e < 1 for e in extents):
        raise ValueError(f"block_size is a positive int or up to three of them, got {size!r}")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


class _Collective:
    """What the block-wide classes have in common; made by subscripting, never instantiated."""

    dtype: NumericMeta
    block_size: tuple[int, int, int]
    block_threads: int
    warp_threads: int
    num_warps: int
    algorithm: Any
    SharedStorage: Any

    @classmethod
    def _thread(cls) -> Any:
        x, y, _ = cls.block_size
        index = thread_idx.x
        if cls.block_size[1] > 1:
            index = index + thread_idx.y * x
        if cls.block_size[2] > 1:
            index = index + thread_idx.z * (x * y)
        return index

    @classmethod
    def _slots(cls, storage: Any) -> Any:
        expected = cls.SharedStorage
        target = getattr(type(storage), "target", None)
        if target is not expected:
            raise TypeError(f"storage is what an allocator gave for {cls.__name__}.SharedStorage")
        return storage.slots.peek()


def _specialise(base: Any, key: Any, algorithms: type[enum.Enum], default: Any, supported: tuple[Any, ...]) -> Any:
    items = key if isinstance(key, tuple) and not isinstance(key[0], int) else (key,)
    if not 2 <= len(items) <= 3:
        raise TypeError(f"write {base.__name__}[dtype, block_size] or {base.__name__}[dtype, block_size, algorithm]")
    dtype, size = _class_of(items[0]), _block_size(items[1])
    algorithm = items[2] if len(items) == 3 else default
    if not isinstance(algorithm, algorithms):
        raise TypeError(f"the algorithm is a {algorithms.__name__}, not {algorithm!r}")
    if algorithm not in supported:
        raise NotImplementedError(
            f"{base.__name__} by {algorithm.name}; there are {', '.join(a.name for a in supported)}"
        )
    lanes = _trace.target().warp_size
    threads = size[0] * size[1] * size[2]
    if threads % lanes and (threads > lanes or threads & (threads - 1)):
        raise ValueError(
            f"{base.__name__} takes a block of a multiple of {lanes} threads, or a power of two below; got {threads}"
        )
    lanes = threads if threads < lanes else lanes
    known = _made.get((base, dtype, size, algorithm, lanes))
    if known is None:
        slots = threads if algorithm.name.startswith("RAKING") else threads // lanes
        namespace = {
            "dtype": dtype,
            "block_size": size,
            "block_threads": threads,
            "warp_threads": lanes,
            "num_warps": threads // lanes,
            "algorithm": algorithm,
            "SharedStorage": Struct.__class_getitem__(slice("slots", Array[dtype, slots])),
        }
        name = f"{base.__name__}[{dtype.__name__}, {threads}, {algorithm.name}]"
        known = _made[base, dtype, size, algorithm, lanes] = type(base)(name, (base,), namespace)
    return known


_made: dict[Any, Any] = {}


class _BlockReduceMeta(type):
    def __getitem__(cls, key: Any) -> Any:
        kinds = BlockReduceAlgorithm
        supported = (kinds.WARP_REDUCTIONS, kinds.RAKING, kinds.RAKING_COMMUTATIVE_ONLY)
        return _specialise(cls, key, kinds, kinds.WARP_REDUCTIONS, supported)

    def __call__(cls, value: Any, op: Any, *, storage: Any) -> Any:
        return cls._reduce(value, op, storage)  # type: ignore[attr-defined]


class BlockReduce(_Collective, metaclass=_BlockReduceMeta):
    """`BlockReduce[dtype, block_size, algorithm](value, op, storage=...)`: the combination, in every thread.

    `value` is a scalar, or a `Vector` of this thread's values. The threads pass one barrier.
    """

    @classmethod
    def _reduce(cls, value: Any, op: Any, storage: Any) -> Any:
        combine, slots = combiner(op), cls._slots(storage)
        if isinstance(value, Vector):
            lanes = [lane.to(cls.dtype) for lane in value]
            value = lanes[0]
            for lane in lanes[1:]:
                value = combine(value, lane)
        value = as_numeric(value).to(cls.dtype)
        thread = cls._thread()
        if cls.algorithm is BlockReduceAlgorithm.WARP_REDUCTIONS:
            value = warp_reduce(value, op, width=cls.warp_threads)
            if cls.num_warps == 1:
                return value
            with _when((thread & (cls.warp_threads - 1)) == 0):
                slots[thread // cls.warp_threads] = value
            barrier()
            result = slots[0]
            for warp in range(1, cls.num_warps):
                result = combine(result, slots[warp])
            return result
        return cls._rake(value, op, slots, thread)

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
        if cls.algorithm is BlockReduceAlgorithm.RAKING_COMMUTATIVE_ONLY:
            return warp_reduce(result, op, width=cls.warp_threads)
        ordered = warp_inclusive_scan(result, op, width=cls.warp_threads)
        return shuffle_idx(ordered, cls.warp_threads - 1, cls.warp_threads)


class _BlockScanMeta(type):
    def __getitem__(cls, key: Any) -> Any:
        kinds = BlockScanAlgorithm
        return _specialise(cls, key, kinds, kinds.WARP_SCANS, (kinds.WARP_SCANS,))

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{cls.__name__} has the functions inclusive, exclusive and those with an aggregate")


class BlockScan(_Collective, metaclass=_BlockScanMeta):
    """`BlockScan[dtype, block_size, algorithm]`: prefix combinations over the threads of a block."""

    @classmethod
    def _across(cls, plain: Any, combine: Any, storage: Any, start: Any) -> tuple[Any, Any, Any]:
        """Return the number of this wave, what comes before it, and the combination of all threads.

        Before the first wave comes `start`; without one, a value that means nothing.
        """
        slots, thread = cls._slots(storage), cls._thread()
        warp = thread // cls.warp_threads
        if cls.num_warps == 1:
            return warp, start, shuffle_idx(plain, cls.warp_threads - 1, cls.warp_threads)
        with _when((thread & (cls.warp_threads - 1)) == cls.warp_threads - 1):
            slots[warp] = plain
        barrier()
        total = slots[0]
        before = total if start is None else start
        for i in range(1, cls.num_warps):
            prefix = total if start is None else combine(start, total)
            before = select(warp >= i, prefix, before)
            total = combine(total, slots[i])
        return warp, before, total

    @classmethod
    def inclusive(cls, value: Any, op: Any, *, storage: Any, init: Any = None) -> Any:
        """Return the combination of the values of this thread and those before it."""
        return cls.inclusive_with_aggregate(value, op, storage=storage, init=init)[0]

    @classmethod
    def exclusive(cls, value: Any, op: Any, *, storage: Any, init: Any = None) -> Any:
        """Return the combination of the values before this thread's; the first gets `init` or the identity."""
        return cls.exclusive_with_aggregate(value, op, storage=storage, init=init)[0]

    @classmethod
    def inclusive_with_aggregate(cls, value: Any, op: Any, *, storage: Any, init: Any = None) -> tuple[Any, Any]:
        """Return the inclusive scan and the combination of all threads, which `init` is not part of."""
        combine = combiner(op)
        plain = warp_inclusive_scan(as_numeric(value).to(cls.dtype), op, width=cls.warp_threads)
        start = None if init is None else as_numeric(init).to(cls.dtype)
        warp, before, total = cls._across(plain, combine, storage, start)
        if start is not None:
            return combine(before, plain), total
        return (plain if before is None else select(warp == 0, plain, combine(before, plain))), total

    @classmethod
    def exclusive_with_aggregate(cls, value: Any, op: Any, *, storage: Any, init: Any = None) -> tuple[Any, Any]:
        """Return the exclusive scan and the combination of all threads, which `init` is not part of."""
        combine = combiner(op)
        plain = warp_inclusive_scan(as_numeric(value).to(cls.dtype), op, width=cls.warp_threads)
        start = identity_of(op, cls.dtype) if init is None else as_numeric(init).to(cls.dtype)
        _, before, total = cls._across(plain, combine, storage, start)
        previous = shuffle_up(plain, 1, cls.warp_threads)
        first = (cls._thread() & (cls.warp_threads - 1)) == 0
        return select(first, before, combine(before, previous)), total
