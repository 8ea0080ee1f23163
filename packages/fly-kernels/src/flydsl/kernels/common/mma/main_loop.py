# SPDX-License-Identifier: Apache-2.0
"""The main loop of a preshuffled GEMM: sums of one tile over all of K.

A goes from memory through registers (or directly, on gfx950) into LDS and from there to all waves; B goes from memory
into the registers of the wave that owns the columns. `tile_plan` says who does what, `schedule` in which order; here
the steps become instructions. One run-time loop runs over pairs of stages, one per LDS buffer, so that every address in
LDS is a register that never changes plus a constant; the last two or three stages, which load less, follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..language import fx
from .instructions import PACK_BYTES
from .schedule import Step, VmemOrder, stage_steps
from .tile_plan import WAVE, TilePlan

__all__ = ["LoopState", "TileLoop", "loop_pairs", "make_tile_loop", "sum_over_k"]

_WORDS = PACK_BYTES // 4
_MOST_OUTSTANDING = 63  # that s_waitcnt can say


@dataclass(frozen=True)
class TileLoop:
    """What does not change during the loop.

    Attributes:
        plan: the geometry.
        a, b: buffer resources that begin at the tile's first row of A, and of B, and end with its last.
        lds: pointers to 16-byte chunks, one per LDS buffer.
        a_offsets: for each pass, the byte offset in `a` that this thread loads from, in stage 0.
        a_chunks: for each pass, the chunk of an LDS buffer that this thread writes.
        b_offsets: for each column block, the byte offset in `b` of this lane's first pack.
        read_chunks: for each pack, the chunk of an LDS buffer with this lane's part of row block 0.
        wave_chunk: the chunk of a buffer that the first lane of this wave writes in pass 0, uniform (with `direct`).
        direct: A goes to LDS without registers.
        fenced: the order of steps is kept, and waits are given; else the compiler's scheduler does both.
        preload: see `stage_steps`.
    """

    plan: TilePlan
    a: Any
    b: Any
    lds: tuple[Any, ...]
    a_offsets: tuple[Any, ...]
    a_chunks: tuple[Any, ...]
    b_offsets: tuple[Any, ...]
    read_chunks: tuple[Any, ...]
    wave_chunk: Any
    direct: bool
    fenced: bool
    preload: tuple[int, int]


@dataclass
class LoopState:
    """What the loop carries, by key of the steps: sums, packs of A and B in registers, parts of A on their way."""

    sums: dict[Any, Any]
    a: dict[Any, Any]
    b: dict[Any, Any]
    arriving: dict[Any, Any]

    def pack(self) -> list[Any]:
        """The values in a list."""
        return [one for part in (self.sums, self.a, self.b, self.arriving) for one in part.values()]

    def unpacked(self, values: Sequence[Any]) -> LoopState:
        """The same keys with other values."""
        rest = iter(values)
        return LoopState(*({key: next(rest) for key in part} for part in (self.sums, self.a, self.b, self.arriving)))


def make_tile_loop(
    plan: TilePlan,
    a: Any,
    b: Any,
    lds: tuple[Any, ...],
    thread: Any,
    *,
    a_row_bytes: Any,
    b_row_bytes: Any,
    direct: bool,
    fenced: bool,
    preload: tuple[int, int],
) -> TileLoop:
    """Work out the addresses of a thread.

    See `TileLoop` for the arguments; `a_row_bytes` and `b_row_bytes` are from one row to the next, for shuffled B the
    16th part of what a block of 16 rows takes.
    """
    lane, wave = thread % WAVE, thread // WAVE
    wave_row, wave_column = wave // plan.waves[1], wave % plan.waves[1]
    shift, mask = plan.swizzle
    row, chunk = thread // plan.chunks, thread % plan.chunks
    a_offsets, a_chunks = [], []
    for one in fx.range_constexpr(plan.passes):
        at = row + one * plan.rows_per_pass
        swizzled = chunk ^ ((at >> shift) & mask)
        # Without registers a wave fills LDS in the order of its lanes, so it is the load that is swizzled.
        a_offsets.append(at * a_row_bytes + (swizzled if direct else chunk) * PACK_BYTES)
        a_chunks.append(at * plan.chunks + (chunk if direct else swizzled))
    in_block, in_row = lane % 16, lane // 16
    block_bytes = 16 * b_row_bytes
    first = lane * PACK_BYTES if plan.shuffled else in_block * b_row_bytes + in_row * PACK_BYTES
    first = first + wave_column * (block_bytes * plan.column_blocks)
    b_offsets = [first + block_bytes * n for n in fx.range_constexpr(plan.column_blocks)]
    turn = (in_block >> shift) & mask
    first_chunk = (wave_row * (16 * plan.row_blocks) + in_block) * plan.chunks
    read_chunks = [first_chunk + ((pack * 4 + in_row) ^ turn) for pack in fx.range_constexpr(plan.packs)]
    wave_chunk = fx.Int32(fx.rocdl.readfirstlane(fx.Int32.ir_type, wave * WAVE)) if direct else None
    return TileLoop(
        plan, a, b, lds, tuple(a_offsets), tuple(a_chunks), tuple(b_offsets), tuple(read_chunks), wave_chunk,
        direct, fenced, preload,
    )  # fmt: skip


def loop_pairs(plan: TilePlan) -> int:
    """How many pairs of stages are in the steady state: all but the last two or three."""
    return max(0, plan.stages - 2) // 2


def sum_over_k(loop: TileLoop, pairs: Any) -> dict[tuple[int, int], Any]:
    """The sums of the tile: 4 of a lane for each (row block, column block).

    `pairs` is `loop_pairs(plan)` as a run-time value: a loop whose length the compiler knows it may well unroll, and
    then the code is as long as K.

    Value i is row (lane mod 16) of the row block, column 4 (lane // 16) + i of the column block: the instruction gets
    B as its rows, so that a lane holds neighbouring columns.
    """
    plan = loop.plan
    order = VmemOrder()
    state = _start(loop, order)
    steps = stage_steps(plan, loop.preload, loop.direct)
    ahead = 1 if loop.direct and plan.buffers == 1 else 2  # of "load_a"
    looped = 2 * loop_pairs(plan)
    if looped:
        order.replay(steps)
        values = state.pack()
        next_a, next_b = fx.Int32(ahead * plan.stage_bytes), fx.Int32(plan.b_stage_stride)
        for _ in range(pairs):
            inner = state.unpacked(values)
            for half in fx.range_constexpr(2):
                emit_stage(loop, steps, inner, half, next_a, next_b, order, half * plan.stage_bytes)
                next_b = next_b + plan.b_stage_stride
            next_a = next_a + 2 * plan.stage_bytes
            values = inner.pack()
        state = state.unpacked(values)
    for stage in fx.range_constexpr(looped, plan.stages):
        kept = [step for step in steps if _belongs(step, plan.stages - 1 - stage, ahead)]
        next_a, next_b = fx.Int32((stage + ahead) * plan.stage_bytes), fx.Int32((stage + 1) * plan.b_stage_stride)
        emit_stage(loop, kept, state, stage % 2, next_a, next_b, order, 0)
    return state.sums


def _belongs(step: Step, left: int, ahead: int) -> bool:
    """Whether a step of the steady state is of use when `left` stages follow."""
    if step.kind == "load_a":
        return left >= ahead
    if step.kind in ("load_b", "write_a"):
        return left >= 1
    if step.kind == "read_a":
        return left >= 1 or not step.key[2]
    return step.kind != "barrier" or left >= 1


def _start(loop: TileLoop, order: VmemOrder) -> LoopState:
    """Load stage 0 and begin stage 1, as the steady state leaves it."""
    plan = loop.plan
    state = LoopState({}, {}, {}, {})
    zero = fx.Int32(0)
    for one in fx.range_constexpr(plan.passes):
        _load_a(loop, state, one, zero, 0, 0, order)
    for pack in fx.range_constexpr(plan.packs):
        for n in fx.range_constexpr(plan.column_blocks):
            _load_b(loop, state, (n, pack), zero, order)
    if not loop.direct:
        for one in fx.range_constexpr(plan.passes):
            loop.lds[0][loop.a_chunks[one]] = state.arriving[one]
    two_ahead = not loop.direct or plan.buffers == 2
    if plan.stages > 1 and two_ahead:
        for one in fx.range_constexpr(plan.passes):
            _load_a(loop, state, one, fx.Int32(plan.stage_bytes), 0, 1, order)
    if loop.direct:
        fx.rocdl.s_waitcnt(vmcnt=0)
    fx.barrier()
    phase = plan.phases[0]
    for pack in phase.packs:
        for m in phase.blocks:
            state.a[m, pack] = _read_a(loop, 0, m, pack)
    for m in fx.range_constexpr(plan.row_blocks):
        for n in fx.range_constexpr(plan.column_blocks):
            state.sums[m, n] = plan.product.zero()
    return state


def emit_stage(
    loop: TileLoop,
    steps: Sequence[Step],
    state: LoopState,
    stage: int,
    next_a: Any,
    next_b: Any,
    order: VmemOrder,
    a_constant: int,
) -> None:
    """Turn the steps of one stage into instructions and update `state`.

    Args:
        loop: the tile.
        steps: of this stage.
        state: on entry of the stage; becomes that of the next.
        stage: its number, or what has the same parity.
        next_a, next_b: uniform byte offsets in the resources of what "load_a" and "load_b" load.
        order: of loads, for the waits.
        a_constant: to add to `next_a`.
    """
    plan = loop.plan
    # What a phase multiplies is fixed when it begins: its own reads are for the next one.
    current = dict(state.a)
    memory = False
    for step in steps:
        kind, key = step.kind, step.key
        if loop.fenced and (kind != "mfma" or memory):
            fx.rocdl.sched_barrier(0)
        memory = kind != "mfma"
        if kind == "mfma":
            m, n, packs, half = key
            rows, columns = [state.b[n, one] for one in packs], [current[m, one] for one in packs]
            state.sums[m, n] = plan.product.issue(rows, columns, half, state.sums[m, n])
        elif kind == "read_a":
            m, pack, of_next = key
            buffer = (stage + of_next) % plan.buffers
            state.a[m, pack] = _read_a(loop, buffer, m, pack)
        elif kind == "load_b":
            _load_b(loop, state, key, next_b, order)
        elif kind == "load_a":
            ahead = 1 if loop.direct and plan.buffers == 1 else 2
            _load_a(loop, state, key, next_a, a_constant, stage + ahead, order)
        elif kind == "write_a":
            loop.lds[(stage + 1) % plan.buffers][loop.a_chunks[key]] = state.arriving[key]
        elif kind == "barrier":
            fx.barrier()
        else:
            _wait(loop, key, order)
            current = dict(state.a)
    first = plan.phases[0]
    state.a = {(m, pack): state.a[m, pack] for pack in first.packs for m in first.blocks}


def _wait(loop: TileLoop, loads: Sequence[Any], order: VmemOrder) -> None:
    outstanding = order.outstanding(loads)
    if loop.direct and any(kind == "load_a" for kind, _ in loads):
        fx.rocdl.s_waitcnt(vmcnt=min(outstanding or 0, _MOST_OUTSTANDING), lgkmcnt=0)
    elif loop.fenced:
        vmcnt = None if outstanding is None else min(outstanding, _MOST_OUTSTANDING)
        fx.rocdl.s_waitcnt(vmcnt=vmcnt, lgkmcnt=0)


def _read_a(loop: TileLoop, buffer: int, m: int, pack: int) -> Any:
    at = loop.lds[buffer] + loop.read_chunks[pack]
    return (at + m * 16 * loop.plan.chunks).load(fx.Int32x4)


def _load_b(loop: TileLoop, state: LoopState, key: Any, k_offset: Any, order: VmemOrder) -> None:
    n, pack = key
    offset = loop.b_offsets[n] + pack * loop.plan.b_pack_stride
    state.b[n, pack] = fx.Vector(fx.rocdl.raw_ptr_buffer_load(fx.Int32x4, loop.b, offset, k_offset))
    order.issue(("load_b", key))


def _load_a(
    loop: TileLoop, state: LoopState, key: int, k_offset: Any, constant: int, stage: int, order: VmemOrder
) -> None:
    offset = loop.a_offsets[key] + constant
    order.issue(("load_a", key))
    if not loop.direct:
        state.arriving[key] = fx.Vector(fx.rocdl.raw_ptr_buffer_load(fx.Int32x4, loop.a, offset, k_offset))
        return
    target = loop.lds[stage % loop.plan.buffers] + (loop.wave_chunk + key * loop.plan.threads)
    fx.rocdl.buffer_load_to_lds(loop.a, target, offset, PACK_BYTES, k_offset)
