# SPDX-License-Identifier: Apache-2.0
"""The main loop of a preshuffled GEMM: sums of one tile over all of K.

A goes from memory through registers (or directly, on gfx950) into LDS and from there to all waves; B goes from memory
into the registers of the wave that owns the columns. `tile_plan` says who does what, `schedule` in which order; here
the steps become instructions. One run-time loop runs over rounds of stages, one per LDS buffer, so that every address
in LDS is a register that never changes plus a constant; the last few stages, which load less, follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..black_box import black_box, black_box_resource
from ..language import fx
from .instructions import PACK_BYTES, MatrixProduct, unpack_int4
from .mfma_preshuffle_pipeline import swizzle_chunk
from .schedule import Step, VmemOrder, loads_of, stage_steps
from .tile_plan import WAVE, TilePlan

__all__ = ["LoopState", "TileLoop", "looped_bytes", "make_tile_loop", "sum_over_k"]

_IMMEDIATE = 4096  # bytes that the offset in a buffer instruction reaches
_MOST_OUTSTANDING = 63  # that s_waitcnt can say


@dataclass(frozen=True)
class TileLoop:
    """What does not change during the loop.

    Attributes:
        plan: the geometry.
        a: for each pass (each row block where A is private), a buffer resource that begins at the tile's first row of A
            or so many rows later, and the index in `a_offsets` of what to add.
        b: the same for each column block.
        lds: pointers to 16-byte chunks, one per LDS buffer.
        a_offsets: byte offsets in `a` that this thread loads from, in stage 0; where A is private of its first pack.
        a_chunks: for each pass, the chunk of an LDS buffer that this thread writes.
        b_offsets: byte offsets in `b` of this lane's first pack.
        read_chunks: for each pack, the chunk of an LDS buffer with this lane's part of row block 0.
        wave_chunk: the chunk of a buffer that the first lane of this wave writes in pass 0, uniform (with `direct`).
        fenced: the order of steps is kept, and waits are given; else the compiler's scheduler does both.
        preload: see `stage_steps`.
    """

    plan: TilePlan
    a: tuple[tuple[Any, int], ...]
    b: tuple[tuple[Any, int], ...]
    lds: tuple[Any, ...]
    a_offsets: tuple[Any, ...]
    a_chunks: tuple[Any, ...]
    b_offsets: tuple[Any, ...]
    read_chunks: tuple[Any, ...]
    wave_chunk: Any
    fenced: bool
    preload: tuple[int, int]

    @property
    def ahead(self) -> int:
        """How many stages ahead A is loaded."""
        return _ahead(self.plan)

    @property
    def direct(self) -> bool:
        """A goes to LDS without registers."""
        return self.plan.direct


def _product(plan: TilePlan) -> MatrixProduct:
    if not isinstance(plan.product, MatrixProduct):
        raise TypeError(f"this loop is written for products of packs, not for {plan.product}")
    return plan.product


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
    a: Callable[[int], Any],
    b: Callable[[int], Any],
    lds: tuple[Any, ...],
    thread: Any,
    *,
    a_row_bytes: Any,
    b_row_bytes: Any,
    fenced: bool,
    preload: tuple[int, int],
) -> TileLoop:
    """Work out the addresses of a thread.

    See `TileLoop` for the arguments; `a` and `b` give the resource that begins so many rows after the tile's first,
    `a_row_bytes` and `b_row_bytes` are from one row to the next, for shuffled B the 16th part of what a block of 16
    rows takes.
    """
    lane, wave = thread % WAVE, thread // WAVE
    part, across = wave % plan.k_waves, wave // plan.k_waves
    wave_row, wave_column = across // plan.waves[1], across % plan.waves[1]
    in_block, in_row = lane % 16, lane // 16
    first_pack = part * plan.packs
    block_bytes = 16 * b_row_bytes
    first = lane * plan.b_bytes if plan.shuffled else in_block * b_row_bytes + in_row * PACK_BYTES
    first = first + wave_column * (block_bytes * plan.column_blocks) + first_pack * plan.b_pack_stride
    b_at, b_offsets = _spaced(plan, b, first, b_row_bytes, 16, plan.column_blocks)
    if plan.private:
        own = in_block * a_row_bytes + (first_pack * 4 + in_row) * PACK_BYTES
        a_at, a_offsets = _spaced(plan, a, own, a_row_bytes, 16, plan.row_blocks)
        return TileLoop(plan, a_at, b_at, lds, a_offsets, (), b_offsets, (), None, fenced, preload)
    a_at, a_offsets, a_chunks = _passes(plan, a, thread, a_row_bytes)
    shift, mask = plan.swizzle
    first_chunk = (wave_row * (16 * plan.row_blocks) + in_block) * plan.chunks
    read_chunks = [
        first_chunk + swizzle_chunk(in_block, (first_pack + pack) * 4 + in_row, shift, mask)
        for pack in fx.range_constexpr(plan.packs)
    ]
    wave_chunk = (
        fx.Int32(fx.rocdl.readfirstlane(fx.Int32.ir_type, wave * (WAVE * plan.passes))) if plan.direct else None
    )
    return TileLoop(
        plan, a_at, b_at, lds, a_offsets, a_chunks, b_offsets, tuple(read_chunks), wave_chunk, fenced, preload
    )


Places = tuple[tuple[Any, int], ...]


def _spaced(
    plan: TilePlan, resource: Callable[[int], Any], first: Any, row_bytes: Any, rows: int, count: int
) -> tuple[Places, tuple[Any, ...]]:
    """(resource, offset index) of `count` places `rows` rows apart, and the offsets.

    Each has an offset of its own, or where vector registers are short a resource of its own in scalar registers.
    """
    if plan.many_sums:
        return tuple([(black_box_resource(resource(rows * one)), 0) for one in range(count)]), (first,)
    whole = resource(0)
    return tuple([(whole, one) for one in range(count)]), tuple(
        [first + row_bytes * (rows * one) for one in range(count)]
    )


def _passes(
    plan: TilePlan, a: Callable[[int], Any], thread: Any, a_row_bytes: Any
) -> tuple[Places, tuple[Any, ...], tuple[Any, ...]]:
    """`a`, `a_offsets` and `a_chunks` of A that goes to LDS.

    Without registers a wave fills LDS in the order of its lanes, one pass after the other, so it is the load that is
    swizzled. Its offset is less by what the instruction adds, which is no more than the offset of the row.
    """
    shift, mask = plan.swizzle
    chunks, passes = plan.chunks, range(plan.passes)
    if not plan.direct:
        row, chunk = thread // chunks, thread % chunks
        first = row * a_row_bytes + chunk * PACK_BYTES
        rows = [row + one * plan.rows_per_pass for one in passes]
        places = [row * chunks + swizzle_chunk(row, chunk, shift, mask) for row in rows]
        return *_spaced(plan, a, first, a_row_bytes, plan.rows_per_pass, plan.passes), tuple(places)
    whole, offsets = a(0), []
    for one in passes:
        at = (thread // WAVE * plan.passes + one) * WAVE + thread % WAVE
        row, chunk = at // chunks, swizzle_chunk(at // chunks, at % chunks, shift, mask)
        offsets.append(row * a_row_bytes + chunk * PACK_BYTES - _reached(one))
    return tuple([(whole, one) for one in passes]), tuple(offsets), ()


def looped_bytes(plan: TilePlan) -> int:
    """Bytes of K that are gone through in the steady state: all stages but the last few, in rounds."""
    return max(0, plan.stages - _ahead(plan)) // _round(plan) * _round(plan) * plan.stage_bytes


def _ahead(plan: TilePlan) -> int:
    """How many stages ahead A is loaded: one where it is private, else through registers two, else all LDS buffers."""
    return 1 if plan.private else plan.buffers if plan.direct else 2


def _round(plan: TilePlan) -> int:
    """Stages of one iteration of the loop: a stage of each LDS buffer, and not fewer than two."""
    return max(2, plan.buffers if plan.direct else 2)


def sum_over_k(loop: TileLoop, looped: Any) -> dict[tuple[int, int], Any]:
    """The sums of a wave: 4 of a lane for each (row block, column block). Waves along K have still to be summed.

    `looped` is `looped_bytes(plan)` as a run-time value: a loop whose length the compiler knows it may well unroll, and
    then the code is as long as K.

    Value i is row (lane mod 16) of the row block, column 4 (lane // 16) + i of the column block: the instruction gets
    B as its rows, so that a lane holds neighbouring columns.
    """
    plan = loop.plan
    order = VmemOrder(max(1, loop.ahead - 1) if loop.direct else 1)
    steps = stage_steps(plan, loop.preload, loop.direct)
    state = _start(loop, steps, order)
    in_loop = looped_bytes(plan) // plan.stage_bytes
    if in_loop:
        order.replay(steps)
        values = state.pack()
        bases = [*loop.a_offsets, *loop.b_offsets]
        next_b = fx.Int32(plan.b_stage_stride)
        first = loop.ahead * plan.stage_bytes
        for next_a in range(first, looped + first, _round(plan) * plan.stage_bytes):
            inner = state.unpacked(values)
            # Constants stay in the instructions instead of in registers of their own.
            bases = [black_box(one) for one in bases]
            split = len(loop.a_offsets)
            here = replace(loop, a_offsets=tuple(bases[:split]), b_offsets=tuple(bases[split:]))
            # Where the reach of an instruction's own offset allows, all stages use one register.
            near = _round(plan) * plan.b_stage_stride <= _IMMEDIATE
            for one in fx.range_constexpr(_round(plan)):
                at = (one * plan.stage_bytes, one * plan.b_stage_stride if near else 0)
                beyond = next_b if near or one == 0 else next_b + one * plan.b_stage_stride
                emit_stage(here, steps, inner, one, (next_a, beyond), at, order)
            next_b = next_b + _round(plan) * plan.b_stage_stride
            values = inner.pack()
        state = state.unpacked(values)
    for stage in fx.range_constexpr(in_loop, plan.stages):
        kept = [step for step in steps if _belongs(step, plan.stages - 1 - stage, loop.ahead)]
        offsets = fx.Int32((stage + loop.ahead) * plan.stage_bytes), fx.Int32((stage + 1) * plan.b_stage_stride)
        order.stages = min(order.stages, max(1, plan.stages - 1 - stage))
        emit_stage(loop, kept, state, stage, offsets, (0, 0), order)
    return state.sums


def _belongs(step: Step, left: int, ahead: int) -> bool:
    """Whether a step of the steady state is of use when `left` stages follow."""
    if step.kind == "load_a":
        return left >= ahead
    if step.kind in ("load_b", "own_a", "write_a"):
        return left >= 1
    if step.kind == "read_a":
        return left >= 1 or not step.key[2]
    return step.kind != "barrier" or left >= 1


def _start(loop: TileLoop, steps: Sequence[Step], order: VmemOrder) -> LoopState:
    """Load stage 0 and begin stage 1, as the steady state leaves it.

    Also in its order: what the compiler knows of loads that are outstanding when the loop begins is what holds for both
    ways into it, and other orders cost waits in every iteration.
    """
    plan = loop.plan
    state = LoopState({}, {}, {}, {})
    zero, last = fx.Int32(0), loop.ahead - 1
    for m in fx.range_constexpr(plan.row_blocks):
        for n in fx.range_constexpr(plan.column_blocks):
            state.sums[m, n] = _product(plan).zero()
    for stage in fx.range_constexpr(min(max(1, last), plan.stages)):
        for one in fx.range_constexpr(plan.passes):
            _load_a(loop, state, one, fx.Int32(stage * plan.stage_bytes), 0, stage, order)
    arrived = dict(state.arriving)
    for step in loads_of(steps):
        if loop.fenced:
            fx.rocdl.sched_barrier(0)
        if step.kind == "load_b":
            _load_b(loop, state, step.key, zero, 0, order)
        elif step.kind == "own_a":
            _load_own_a(loop, state, step.key, zero, 0, order)
        elif 0 < last < plan.stages:
            _load_a(loop, state, step.key, fx.Int32(last * plan.stage_bytes), 0, last, order)
    if plan.private:
        return state
    if loop.direct:
        fx.rocdl.s_waitcnt(vmcnt=0)
    else:
        for one in fx.range_constexpr(plan.passes):
            loop.lds[0][loop.a_chunks[one]] = arrived[one]
    fx.barrier()
    phase = plan.phases[0]
    for pack in phase.packs:
        for m in phase.blocks:
            state.a[m, pack] = _read_a(loop, 0, m, pack)
    return state


def emit_stage(
    loop: TileLoop,
    steps: Sequence[Step],
    state: LoopState,
    stage: int,
    offsets: tuple[Any, Any],
    constants: tuple[int, int],
    order: VmemOrder,
) -> None:
    """Turn the steps of one stage into instructions and update `state`.

    Args:
        loop: the tile.
        steps: of this stage.
        state: on entry of the stage; becomes that of the next.
        stage: its number, or one that stands for the same LDS buffers.
        offsets: in the resources of A and B, of what "load_a" and "load_b" load; bytes, uniform.
        constants: to add to `offsets`.
        order: of loads, for the waits.
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
            rows, columns = [_operand_b(plan, state.b[n, one]) for one in packs], [current[m, one] for one in packs]
            state.sums[m, n] = _product(plan).issue(rows, columns, half, state.sums[m, n])
        elif kind == "read_a":
            m, pack, of_next = key
            buffer = (stage + of_next) % plan.buffers
            state.a[m, pack] = _read_a(loop, buffer, m, pack)
        elif kind == "load_b":
            _load_b(loop, state, key, offsets[1], constants[1], order)
        elif kind == "own_a":
            _load_own_a(loop, state, key, offsets[0], constants[0], order)
        elif kind == "load_a":
            _load_a(loop, state, key, offsets[0], constants[0], stage + loop.ahead, order)
        elif kind == "write_a":
            loop.lds[(stage + 1) % plan.buffers][loop.a_chunks[key]] = state.arriving[key]
        elif kind == "barrier":
            fx.barrier()
        else:
            _wait(loop, key, order)
            current = dict(state.a)
    if plan.private:
        return
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


def _load_b(loop: TileLoop, state: LoopState, key: Any, k_offset: Any, constant: int, order: VmemOrder) -> None:
    n, pack = key
    resource, base = loop.b[n]
    offset = loop.b_offsets[base] + (pack * loop.plan.b_pack_stride + constant)
    kind = fx.VectorAlias(fx.Int32, loop.plan.b_bytes // 4)
    state.b[n, pack] = fx.Vector(fx.rocdl.raw_ptr_buffer_load(kind, resource, offset, k_offset))
    order.issue(("load_b", key))


def _operand_b(plan: TilePlan, pack: Any) -> Any:
    return pack if plan.b_bytes == PACK_BYTES else unpack_int4(pack)


def _load_own_a(loop: TileLoop, state: LoopState, key: Any, k_offset: Any, constant: int, order: VmemOrder) -> None:
    m, pack = key
    resource, base = loop.a[m]
    offset = loop.a_offsets[base] + (pack * 4 * PACK_BYTES + constant)
    state.a[m, pack] = fx.Vector(fx.rocdl.raw_ptr_buffer_load(fx.Int32x4, resource, offset, k_offset))
    order.issue(("own_a", key))


def _load_a(
    loop: TileLoop, state: LoopState, key: int, k_offset: Any, constant: int, stage: int, order: VmemOrder
) -> None:
    resource, base = loop.a[key]
    offset = loop.a_offsets[base]
    order.issue(("load_a", key))
    if not loop.direct:
        state.arriving[key] = fx.Vector(fx.rocdl.raw_ptr_buffer_load(fx.Int32x4, resource, offset + constant, k_offset))
        return
    reached = _reached(key)
    target = loop.lds[stage % loop.plan.buffers] + (loop.wave_chunk + (key * WAVE - reached // PACK_BYTES))
    fx.rocdl.buffer_load_to_lds(resource, target, offset, PACK_BYTES, k_offset + constant, reached)


def _reached(key: int) -> int:
    """How far the instruction's own offset goes in pass `key` of loads that go directly to LDS, in bytes.

    It moves both ends, and the end in LDS is else in M0, which then has to be written for every fourth load only.
    """
    return key % (_IMMEDIATE // (WAVE * PACK_BYTES)) * WAVE * PACK_BYTES
