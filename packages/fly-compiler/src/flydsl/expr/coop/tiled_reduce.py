# SPDX-License-Identifier: Apache-2.0
"""Reductions of what a tiled copy or tiled MMA has in registers, along one mode of its tile.

Nobody says which lanes and waves exchange what: the (thread, value) layout does. Values of a thread that differ in
the mode only are combined in its registers; threads that do, bit by bit of their index, by DPP or shuffles within a
wave and through LDS between waves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl.trace import context as _trace

from ..ops.copy import ThrCopy
from ..ops.gpu import barrier, shuffle_xor
from ..ops.mma import ThrMma
from ..values.layout import trees
from ..values.numeric.base import Numeric, as_numeric
from ..values.numeric.meta import NumericMeta
from ..values.storable import Array
from ..values.struct import Empty
from ..values.tensor import Tensor
from ..values.vector import ReductionOp, Vector
from .lanes import reduce_lanes
from .operator import combiner
from .specialise import when

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage, Combine

__all__ = ["tiled_reduce", "tiled_reduce_storage"]


@dataclass(frozen=True)
class _Pattern:
    """Who holds what along the reduced mode.

    Attributes:
        values: for each value of a thread the number of its result: equal ones differ in the mode only.
        reduced, kept: the bits of the thread's index that move along the mode, and those that move elsewhere.
        threads: of the tiling.
    """

    values: tuple[int, ...]
    reduced: tuple[int, ...]
    kept: tuple[int, ...]
    threads: int

    @property
    def results(self) -> int:
        """Results of a thread."""
        return max(self.values) + 1


def _tiling(part: Any) -> tuple[Any, tuple[int, ...]]:
    """The (thread, value) layout of a slice's tiling, and the extents of its tile."""
    from flydsl.layout.atoms.tiled_copy import tile_extents

    if isinstance(part, ThrCopy):
        described = part.tiled_copy.described
        return described.layout_dst_tv_tiled, tile_extents(described.tile_mn)
    if isinstance(part, ThrMma):
        from ..ops.host_atoms import mma_tv_layout

        mma = part.tiled_mma
        return mma_tv_layout(mma._facts, "C"), tuple(mma.described.tile_size_mnk[:2])
    raise TypeError(
        f"tiled_reduce takes this thread's slice of a tiled copy or tiled MMA (get_slice), not {type(part).__name__}"
    )


def _coordinate(index: int, extents: Sequence[int]) -> tuple[int, ...]:
    """The coordinate of a column-major index."""
    found = []
    for extent in extents:
        found.append(index % extent)
        index //= extent
    return tuple(found)


def _bits(modes: Any) -> Iterator[int]:
    """What each bit of the thread's index adds to the index in the tile, lowest first."""
    from flydsl.layout.int_tuple import flatten

    for extent, stride in zip(flatten((modes.shape,)), flatten((modes.stride,)), strict=True):
        if extent & (extent - 1):
            raise ValueError(f"tiled_reduce: the threads {modes} of the tiling are no powers of two")
        yield from (stride << bit for bit in range(extent.bit_length() - 1))


@lru_cache(maxsize=256)
def _pattern(layout: Any, extents: tuple[int, ...], mode: int) -> _Pattern:
    """Read the pattern from a (thread, value) layout over a tile."""
    threads, per_thread = layout[0], layout[1]
    if not 0 <= mode < len(extents):
        raise ValueError(f"tiled_reduce: the tile has modes 0 to {len(extents) - 1}, not {mode!r}")
    others = [one for one in range(len(extents)) if one != mode]
    reach = [1] * len(extents)
    reduced: list[int] = []
    kept: list[int] = []
    for bit, step in enumerate(_bits(threads)):
        moved = _coordinate(step, extents)
        elsewhere = any(moved[one] for one in others)
        if moved[mode] and elsewhere:
            raise ValueError(f"tiled_reduce: threads of {layout} step along mode {mode} and another mode at once")
        (reduced if moved[mode] else kept).append(bit)  # threads that hold the same elements each get the result
        reach = [have + step for have, step in zip(reach, moved, strict=True)]
    numbers: dict[tuple[int, ...], int] = {}
    values, largest = [], [0] * len(extents)
    for value in range(per_thread.size()):
        at = _coordinate(per_thread(value), extents)
        largest = [max(pair) for pair in zip(largest, at, strict=True)]
        values.append(numbers.setdefault(tuple(at[one] for one in others), len(numbers)))
    if any(have + most > extent for have, most, extent in zip(reach, largest, extents, strict=True)):
        raise ValueError(f"tiled_reduce: the steps of {layout} carry from one mode of the tile {extents} into another")
    return _Pattern(tuple(values), tuple(reduced), tuple(kept), threads.size())


def _of_fragment(pattern: _Pattern, shape: Any, mode: int) -> list[int]:
    """The number of the result of each element of a fragment, in column-major order.

    Behind the values of a tile a fragment has a mode for each mode of the tile: how often it was repeated.
    """
    rest = [_product(one) for one in shape[1:]]
    found: list[int] = []
    count = _product(rest)
    numbers: dict[tuple[int, ...], int] = {}
    for repetition in range(count):
        at = _coordinate(repetition, rest)
        other = tuple(one for index, one in enumerate(at) if index != mode)
        found += [numbers.setdefault((value, *other), len(numbers)) for value in pattern.values]
    return found


def _product(tree: Any) -> int:
    if isinstance(tree, int):
        return tree
    result = 1
    for one in tree:
        result *= _product(one)
    return result


def tiled_reduce(values: Any, op: Combine, part: Any, mode: int, *, storage: CollectiveStorage | None = None) -> Any:
    """Combine the elements of a fragment that differ in one mode of the tile only, over all threads of a tiling.

    Args:
        values: a register tensor as `fx.make_fragment_like` of a partition makes it, `((values), Rest…)`, or the
            `Vector` of its elements, in their order. A scalar is what this thread has combined of its elements already,
            where they all have one result.
        op: an `fx.ReductionOp`, its name, or a commutative and associative callable of two scalars.
        part: this thread's slice of the tiled copy that the fragment belongs to, or of the tiled MMA whose accumulator
            it is. The bits of the index that it was sliced with are those of the lane, then of the wave.
        mode: the mode of the tile.
        storage: what an allocator gave for `tiled_reduce_storage(part, mode, dtype)`; needed where waves exchange. The
            threads then pass a barrier, and may use the storage again after the next one.

    Returns:
        For each element the combination of all that differ from it in the mode only, in every thread that holds one of
        them: a `Vector` like that of the fragment's elements, or one scalar where that is the same for all of them.

    Raises:
        TypeError: `part` is no slice, or `values` neither fragment, vector nor scalar.
        ValueError: the layout does not place threads by the bits of their index; storage is missing; or a scalar for
            elements of several results.
    """
    pattern = _pattern(*_tiling(part), mode)
    wave = _trace.target().warp_size
    if any(1 << bit >= wave for bit in pattern.reduced):
        _check_workgroup(pattern)
    if isinstance(values, Numeric):
        if pattern.results > 1:
            raise ValueError(
                f"tiled_reduce: a thread's elements have {pattern.results} results along mode {mode}, not one; give "
                "the fragment or the vector of its elements"
            )
        numbers, combined = [0], [values]
    else:
        elements, shape = _elements(values, pattern)
        numbers = _of_fragment(pattern, shape, mode)
        combined = []
        for number in range(max(numbers) + 1):
            mine = [index for index, one in enumerate(numbers) if one == number]
            combined.append(folded(elements if len(mine) == elements.numel else elements.shuffle(elements, mine), op))
    results, whole = [], pattern.threads % wave == 0
    for value in combined:
        results.append(_over_lanes(value, op, [bit for bit in pattern.reduced if 1 << bit < wave], wave, whole))
    if any(1 << bit >= wave for bit in pattern.reduced):
        if storage is None:
            raise ValueError(
                "tiled_reduce: waves exchange their results, so it needs storage=allocator.allocate("
                "fx.coop.tiled_reduce_storage(part, mode, dtype))"
            )
        results = _over_waves(results, op, pattern, part.thr_idx, storage, wave)
    return results[0] if len(results) == 1 else Vector.from_elements([results[number] for number in numbers])


def tiled_reduce_storage(part: Any, mode: int, dtype: NumericMeta, *, repetitions: int = 1) -> Any:
    """Return the type of the LDS that a `tiled_reduce` of elements of `dtype` takes; `fx.Empty` where it takes none.

    Args:
        part: as of `tiled_reduce`.
        mode: as of `tiled_reduce`.
        dtype: of the elements.
        repetitions: how often the fragment repeats the tile along its other modes.
    """
    pattern = _pattern(*_tiling(part), mode)
    wave = _trace.target().warp_size
    if all(1 << bit < wave for bit in pattern.reduced):
        return Empty
    waves = pattern.threads // wave
    lanes = 1 << sum(1 << bit < wave for bit in pattern.kept)
    return Array[dtype, waves * lanes * pattern.results * repetitions, 16]


def _elements(values: Any, pattern: _Pattern) -> tuple[Any, tuple[Any, ...]]:
    """The elements as a vector, and the shape that they have as a fragment."""
    count = len(pattern.values)
    if isinstance(values, Tensor):
        shape = values.shape_tree
        if not trees.is_static(shape) or type(shape) is not tuple or _product(shape[0]) != count:
            raise ValueError(
                f"tiled_reduce: a thread of the tiling has {count} values, which is not mode 0 of a fragment of shape "
                f"{trees.spelled(shape)}"
            )
        return values.load(), shape
    if not isinstance(values, Vector):
        raise TypeError(
            f"tiled_reduce takes a fragment, the vector of its elements or a scalar, not {type(values).__name__}"
        )
    if values.numel != count:
        raise ValueError(
            f"tiled_reduce: a thread of the tiling has {count} values, the vector has {values.numel}; give the "
            "fragment where the tile is repeated"
        )
    return values, (count,)


def _check_workgroup(pattern: _Pattern) -> None:
    block = _trace.kernel("fx.coop.tiled_reduce").block_size
    if block is not None and _product(tuple(block)) != pattern.threads:
        raise ValueError(
            f"tiled_reduce: the tiling has {pattern.threads} threads, more than a wave, and the workgroup "
            f"{_product(tuple(block))}: all of them pass the barrier, so they have to be as many"
        )


def folded(values: Any, op: Combine) -> Any:
    """The combination of all elements of a `Vector`.

    Sums and products are of whole halves, for which gfx9 has instructions on two f32; maxima and minima go one by one,
    of which it takes three at a time. NVIDIA's GPUs have neither: halves always, which wait for each other least.
    """
    combine = combiner(op)
    halves = not (callable(op) and not isinstance(op, ReductionOp)) and ReductionOp.of(op) in (
        ReductionOp.ADD,
        ReductionOp.MUL,
    )
    if halves or _trace.target().nvidia:
        while values.numel > 1:
            count = values.numel
            half = 1 << ((count - 1).bit_length() - 1)  # the largest power of two below the count
            low = values.shuffle(values, range(count - half))
            high = values.shuffle(values, range(half, count))
            both = combine(low, high)
            values = both if count == 2 * half else _joined(both, values, count - half, half)
        return values[0]
    result = values[0]
    for index in range(1, values.numel):
        result = combine(result, values[index])
    return result


def _joined(both: Any, values: Any, first: int, last: int) -> Any:
    """`both`, followed by the elements first to last - 1 of `values`."""
    return Vector.from_elements([*both, *(values[index] for index in range(first, last))])


def _over_lanes(value: Any, op: Any, bits: Sequence[int], wave: int, whole: bool) -> Any:
    """Combine the lanes whose numbers differ in these bits; `whole`: all lanes of a wave take part."""
    combine, low = combiner(op), 0
    while low < len(bits) and bits[low] == low:
        low += 1
    if low:
        value = reduce_lanes(value, combine, 1 << low, together=whole)
    for bit in bits[low:]:
        value = combine(value, shuffle_xor(value, 1 << bit, wave))
    return value


def _compressed(thread: Any, bits: Sequence[int]) -> Any:
    """The number that these bits of the thread's index make, lowest first."""
    found: Any = 0
    at = 0
    while at < len(bits):
        run = 1
        while at + run < len(bits) and bits[at + run] == bits[at] + run:
            run += 1
        found = found + (((thread >> bits[at]) & ((1 << run) - 1)) << at)
        at += run
    return found


def _over_waves(results: list[Any], op: Any, pattern: _Pattern, thread: Any, storage: Any, wave: int) -> list[Any]:
    """Combine results of waves: each is written by one lane, and read by all threads that have a share of it."""
    combine, thread = combiner(op), as_numeric(thread)
    slots = storage.peek() if hasattr(storage, "peek") else storage
    waves = [bit for bit in pattern.reduced if 1 << bit >= wave]
    lanes = sum(1 << bit for bit in pattern.reduced if 1 << bit < wave)
    each, groups = 1 << len(waves), 1 << len(pattern.kept)
    # A result's parts lie side by side, so that they are read at once.
    mine = _compressed(thread, pattern.kept) * each
    writes = (thread & lanes) == 0 if lanes else None
    part = mine + _compressed(thread, waves)
    if writes is None:
        _write(slots, part, results, each * groups)
    else:
        with when(writes):
            _write(slots, part, results, each * groups)
    barrier()
    found = []
    for number in range(len(results)):
        first = mine + number * (each * groups)
        value = slots[first]
        for other in range(1, each):
            value = combine(value, slots[first + other])
        found.append(value)
    return found


def _write(slots: Any, at: Any, results: list[Any], apart: int) -> None:
    for number, value in enumerate(results):
        slots[at + number * apart] = value
