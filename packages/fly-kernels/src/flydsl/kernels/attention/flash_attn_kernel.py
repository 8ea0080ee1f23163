# SPDX-License-Identifier: Apache-2.0
"""Flash attention, forward: O = softmax(Q K^T / sqrt(D) + mask) V without the matrix of scores in memory.

(Dao, "FlashAttention-2", 2023; Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.)

A workgroup has `FlashConfig.block_m` query rows of one head, a wave one or two blocks of them, and walks over the tiles
of keys and values that its rows see, usually from the last to the first (`tile_schedule`). For each tile a wave has
S^T = K Q^T with Q^T in registers, the weights from S^T in registers (`online_softmax`), and O^T += V^T P^T with the
weights, packed to 16 bits, as they lie: the layout of a result is that of an operand (`matrix`), so neither scores nor
weights ever leave the registers. Keys and values reach LDS through registers, loaded one tile ahead (`kv_staging`); LDS
holds one tile, and two barriers a tile separate its readers from its writers.

Tiles with masked keys (the diagonal, the edges of a window, the end of the keys) come first, in a loop of their own
that masks and takes the maximum of each tile; a wave does not compute those that its rows do not see. The loop over all
other tiles has no masks, maxima or rescaling: when weights grow too large, the wave leaves it, renews the references
and comes back to the same tile, of which nothing has been added yet. With `FlashConfig.pipelined` that loop is the one
of `pipelined_loop`.

Arithmetic: products in f32 from 16-bit operands, softmax in f32, one rounding of the weights to 16 bits and one of the
output. Keys and values move from memory once per workgroup, queries and output once.

With `AttentionVariant.splits` several workgroups share the keys of the same rows and write what `split_combine_kernel`
puts together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..common.arch import NUM_XCDS
from ..common.black_box import black_box_vector
from ..common.dtypes import float_type
from ..common.language import flyc, fx
from ..common.views import MOST, start_of
from .config import FlashConfig
from .forward_arguments import check_arguments, check_problem
from .kv_staging import StagedTurns, staging_of
from .matrix import (
    STEP,
    adds_pairs,
    by_mode,
    exp2,
    geometry,
    in_steps,
    score_product,
    truncation_gain,
    value_product,
    weights_as_operand,
)
from .online_softmax import NO_KEY, keep, log2_of_sum, mask, of_block, renewed, rescale, too_large, weights
from .output_store import OutputStore, output_elements
from .pipelined_loop import PipelinedLoop
from .score_terms import ScoreTerms, bias_of_rows
from .sequences import bounds_of, key_tiles, one_of, tokens_of
from .tile_schedule import TileSchedule
from .variant import PLAIN, AttentionVariant

_LN_2 = math.log(2.0)
# What is read before its product on waves of 32 lanes: steps of queries that are read again, steps of keys, blocks of
# values. The second for large heads of gfx1100, where the output leaves little room for operands, which are doubled.
_AHEAD = {False: (2, 1, 3), True: (1, 1, 1)}


def build_forward(
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    dtype_str: str,
    causal: bool,
    return_lse: bool,
    sm_scale: float | None,
    config: FlashConfig,
    variant: AttentionVariant = PLAIN,
) -> flyc.JitFunction[..., Any]:
    """Build the launcher of the kernel for a problem's sizes.

    It is a `@flyc.jit` function `(Q, K, V, O, LSE, CuSeqQ, CuSeqKv, Bias, AlibiSlopes, Sink, DebugCounts, batch,
    seq_len, seq_len_kv, stream, q_stride=0, k_stride=0, v_stride=0, o_stride=0)`; strides are for `variant.strided`.

    Q and O are (batch, seq_len, num_heads, head_dim), K and V (batch, seq_len_kv, num_kv_heads, head_dim), contiguous,
    of any rank; LSE is (batch, num_heads, seq_len) f32 and only touched with `return_lse`. A row that sees no key gets
    zeros, and -inf in LSE.

    `variant` says which of the six tensors behind LSE are used; any tensor will do for the others. With `varlen`
    the first two modes of Q, O, K and V are one, and rows of LSE past the end of a sequence are not written. With
    `splits` O and LSE are parts of the result (`AttentionVariant`).

    Limits: the bytes of one batch of each of them are below 2^31; at most 65,535 heads, and batches times splits.

    Raises ValueError for a dtype, a number of heads, a head size or a scale that is not supported, ImportError without
    the compiler.
    """
    check_problem(dtype_str, head_dim, num_heads, num_kv_heads, sm_scale)
    element, matrix = float_type(dtype_str), geometry()
    lanes, tile, results = matrix.lanes, matrix.tile, matrix.results
    of_lane = (matrix.neighbours, results // matrix.neighbours)  # rows of an accumulator
    kv_tile, threads, waves, stages = config.kv_tile, config.threads, config.waves, config.stages
    blocks, rows_per_wave, block_m = config.query_blocks, config.rows_per_wave, config.block_m
    key_blocks, head_blocks = kv_tile // tile, head_dim // tile
    ahead = _AHEAD[matrix.doubled and config.reload_queries]
    group = num_heads // num_kv_heads
    natural_scale = head_dim**-0.5 if sm_scale is None else sm_scale
    scale = natural_scale * math.log2(math.e)
    # The sum of the weights as they are multiplied is the better denominator, but an LSE is of those in f32.
    rounded = adds_pairs(element) and not (return_lse or variant.splits > 1)
    # `pack` loses 1 - 1/gain of a weight in the mean. With log2(gain) below a row's maximum, a weight of 1 stays exact.
    gain = truncation_gain(element)
    headroom = math.log2(gain)
    split = variant.splits > 1
    write_lse, output_type = return_lse or split, fx.Float32 if split else element
    keys, values = staging_of(element, head_dim, kv_tile, threads, stages)
    lds_elements = max(keys.elements + values.elements, waves * output_elements(output_type))
    name = f"flash_attn_{dtype_str}_d{head_dim}_{'causal' if causal else 'full'}{variant}"

    @flyc.kernel(name=name, known_block_size=(threads, 1, 1))
    def flash_attn_kernel(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        Out: fx.Tensor,
        LSE: fx.Tensor,
        given: dict[str, fx.Tensor],
        strides: tuple[fx.Int32, ...],
        seq_len: fx.Int32,
        seq_len_kv: fx.Int32,
    ) -> None:
        q_elements, kv_elements = num_heads * head_dim, num_kv_heads * head_dim
        dense = (q_elements, kv_elements, kv_elements, q_elements)
        q_row, k_row, v_row, o_row = strides if variant.strided else dense
        bias_pitch = seq_len_kv
        thread, block, head, batch = fx.thread_idx.x, fx.block_idx.x, fx.block_idx.y, fx.block_idx.z
        if fx.const_expr(config.xcd_swizzle):
            pairs = num_heads * fx.grid_dim.z  # of a head and a sequence
            walk = fx.TileWalk((fx.grid_dim.x, pairs), xcds=NUM_XCDS)
            block, pair = walk(block + fx.grid_dim.x * (head + num_heads * batch))
            head, batch = pair % num_heads, pair // num_heads
        part, sequence_out = 0, batch
        if fx.const_expr(split):
            batch, part = batch // variant.splits, batch % variant.splits
        if fx.const_expr(causal):  # those with most keys first
            block = fx.grid_dim.x - 1 - block
        wave, lane = fx.rocdl.readfirstlane(thread // lanes), thread % lanes
        wave_tile = block * waves + wave  # of queries
        row0 = wave_tile * rows_per_wave

        lse_rows = seq_len  # of a head; of the longest sequence where they differ
        q_first, kv_first = fx.Int64(batch) * fx.Int64(seq_len), fx.Int64(batch) * fx.Int64(seq_len_kv)
        if fx.const_expr(variant.varlen):
            q_start, seq_len = bounds_of(given["cu_seqlens_q"], batch)
            kv_start, seq_len_kv = bounds_of(given["cu_seqlens_kv"], batch)
            q_first, kv_first = fx.Int64(q_start), fx.Int64(kv_start)
        o_first = fx.Int64(sequence_out) * fx.Int64(seq_len) if split else q_first
        block_rows, wave_rows = (block * block_m, block_m), (row0, rows_per_wave)
        schedule = TileSchedule(variant, causal, kv_tile, block_rows, wave_rows, seq_len, seq_len_kv, part)

        # This wave's tile of queries and of the output, this head's tiles of keys and values.
        queries = tokens_of(Q, q_row, (seq_len, head_dim, num_heads), q_first)[None, None, head]
        q_tile = fx.flat_divide(queries, (rows_per_wave, head_dim))[None, None, wave_tile, 0]
        outputs = tokens_of(Out, o_row, (seq_len, head_dim, num_heads), o_first)[None, None, head]
        o_tile = fx.flat_divide(fx.select(outputs, [1, 0]), (tile, tile))
        of_keys, kv_head = (seq_len_kv, head_dim, num_kv_heads), head // group
        k_tiles = key_tiles(tokens_of(K, k_row, of_keys, kv_first)[None, None, kv_head], kv_tile)
        v_tiles = key_tiles(tokens_of(V, v_row, of_keys, kv_first)[None, None, kv_head], kv_tile)

        # Tiles of both in LDS, filled by all threads and read by each wave as operands of its products.
        lds = fx.SharedAllocator().allocate(fx.Array[element, lds_elements, 1024]).ptr
        k_staged, v_staged = keys.tiles(lds), values.tiles(lds + keys.elements)
        keys.prepare(thread, k_tiles, k_staged)
        values.prepare(thread, v_tiles, v_staged)
        qk, pv = score_product(element).get_slice(lane), value_product(element).get_slice(lane)
        from_lds = fx.make_copy_atom(fx.UniversalCopy128b(), element)
        read_k, read_v = (fx.make_tiled_copy_A(from_lds, one.tiled_mma).get_slice(lane) for one in (qk, pv))
        vt_staged = fx.select(v_staged, [1, 0, 2])  # V^T
        k_mine, v_mine = by_mode(read_k.partition_S(k_staged)), by_mode(read_v.partition_S(vt_staged))
        turns_k, turns_v = (
            StagedTurns(staging, schedule, stages, late)
            for staging, late in ((keys, False), (values, config.reload_queries))
        )

        load_q = fx.make_tiled_copy_B(fx.make_copy_atom(fx.rocdl.BufferCopy128b(), element), qk.tiled_mma)
        q_mine, q_fragment = load_q.get_slice(lane), qk.make_fragment_B(q_tile)
        q_source, q_target = q_mine.partition_S(q_tile), q_mine.retile(q_fragment)
        if fx.const_expr(not config.reload_queries):
            fx.copy(load_q, q_source, q_target)
        q_steps = in_steps(q_fragment)

        # Where the scores of a lane stand: (key of the tile, query row).
        score_tile = fx.make_identity_layout((kv_tile, rows_per_wave))
        places: Any = qk.partition_C(fx.make_view((0, row0), score_tile))
        offsets: Any = fx.make_view((0, 0), places.layout)
        lane_keys = [[offsets[v, n, 0].unpack()[0] for v in range(results)] for n in range(key_blocks)]
        first_of_lane = places[0, 0, 0].unpack()[0]
        rows = [places[0, 0, b].unpack()[1] for b in range(blocks)]

        bias, slope = None, None
        if fx.const_expr(variant.bias):
            first_row = q_first if variant.varlen else fx.Int64(0)
            extents = (seq_len, bias_pitch), (kv_tile, rows_per_wave)
            bias = bias_of_rows(given["bias"], first_row, *extents, wave_tile)
        if fx.const_expr(variant.alibi):
            slope = one_of(given["alibi_slopes"], batch * num_heads + head if variant.slopes_per_batch else head)
        positions = [row + (seq_len_kv - seq_len) - first_of_lane for row in rows]
        terms = ScoreTerms(
            variant, 1.0 / natural_scale, product=qk, bias=bias, slope=slope, positions=positions, keys=lane_keys
        )

        def exchange(tiles: StagedTurns, turn: Any) -> None:
            """Wait for all waves; bring the tile of the turn that follows to LDS, and load the next one.

            A second tile of LDS is written ahead of the barrier: nobody reads it any more.
            """
            if fx.const_expr(stages == 1):
                fx.barrier()
            tiles.follow(turn)
            if fx.const_expr(config.reload_queries and tiles is turns_k):
                turns_v.load(turn - 1)
            if fx.const_expr(stages > 1):
                fx.barrier()

        def wait_if(condition: Any) -> None:
            """A barrier for some of the waves, which are then one behind, or even again."""
            if condition:
                fx.barrier()

        def scores_of(turn: Any) -> Any:
            """S^T of a turn's tile, the accumulators (V, key block, query block)."""
            scores = fx.make_rmem_tensor((of_lane, key_blocks, blocks), fx.Float32)
            k_fragment = qk.make_fragment_A(k_staged[None, None, 0])
            terms.begin(scores, schedule.tile(turn) * kv_tile)
            if fx.const_expr(config.setprio):
                fx.rocdl.s_setprio(1)
            k_steps, k_target = in_steps(k_fragment), by_mode(read_k.retile(k_fragment))
            last = head_dim // STEP

            def read_keys(step: int) -> None:
                fx.copy(from_lds, k_mine[None, None, step, turns_k.stage_of(turn)], k_target[None, None, step])

            def multiply_keys(step: int) -> None:
                one = (None, None, (None, step))
                fx.gemm(qk.tiled_mma, scores, k_steps[one], q_steps[one], scores)

            def read_queries(step: int) -> None:
                of_step = (None, None, step)
                fx.copy(load_q, q_source[of_step], q_target[of_step])

            reads = [(read_queries, ahead[0])] if config.reload_queries else []
            in_turns(last, [*reads, (read_keys, ahead[1])], multiply_keys)
            if fx.const_expr(config.setprio):
                fx.rocdl.s_setprio(0)
            return scores

        def add_weighted(output: Any, packed: Any, turn: Any) -> None:
            """O^T += V^T P^T of a turn's tile: the weights are an operand as they lie."""
            v_fragment = pv.make_fragment_A(vt_staged[None, None, 0])
            v_steps, v_target = in_steps(v_fragment), by_mode(read_v.retile(v_fragment))
            p_steps = in_steps(weights_as_operand(packed, (key_blocks, blocks), pv, qk))
            steps = kv_tile // STEP
            if fx.const_expr(lanes == 64):
                for step in fx.range_constexpr(steps):
                    fx.copy(from_lds, v_mine[None, None, step, turns_v.stage_of(turn)], v_target[None, None, step])
                    one = (None, None, (None, step))
                    fx.gemm(pv.tiled_mma, output, v_steps[one], p_steps[one], output)
                return

            def read_values(number: int) -> None:
                step, m = divmod(number, head_blocks)
                fx.copy(from_lds, v_mine[None, m, step, turns_v.stage_of(turn)], v_target[None, m, step])

            def multiply_values(number: int) -> None:
                step, m = divmod(number, head_blocks)
                v_one = fx.coalesce(v_steps[None, m, (None, step)])
                for b in fx.range_constexpr(blocks):
                    one = fx.coalesce(output[None, m, b])
                    fx.gemm(pv.tiled_mma, one, v_one, fx.coalesce(p_steps[None, b, (None, step)]), one)
                    if fx.const_expr(step + 1 == steps):  # before the barrier, where its operands are still there
                        one.store(black_box_vector(one.load()))

            in_turns(steps * head_blocks, [(read_values, ahead[2])], multiply_values)

        output = fx.make_rmem_tensor((of_lane, head_blocks, blocks), fx.Float32)
        output.fill(0.0)
        reference = [fx.Float32(NO_KEY) for _ in range(blocks)]
        total = [fx.full(2, 0.0, fx.Float32) for _ in range(blocks)]
        taken, skipped = fx.Int32(0), fx.Int32(0)  # renewals of the references, and tiles without one

        turn = schedule.count - 1
        for tiles in (turns_k, turns_v):
            tiles.load(turn)
        for tiles in (turns_k, turns_v):
            tiles.store(turn)
        for tiles in (turns_k,) if config.reload_queries else (turns_k, turns_v):
            tiles.load(turn - 1)
        fx.barrier()
        if fx.const_expr(config.stagger):
            wait_if(wave >= waves // 2)

        plain = schedule.plain if config.lazy_rescale else fx.Int32(0)
        while (turn >= 0) & (turn >= plain):
            packed = fx.make_rmem_tensor((of_lane, key_blocks, blocks), element)
            if schedule.seen(turn):
                taken = taken + 1
                scores = scores_of(turn)
                for b in fx.range_constexpr(blocks):
                    begin, end = schedule.visible(turn, rows[b])
                    begin = None if begin is None else begin - first_of_lane
                    mask(scores[None, None, b], lane_keys, begin, end - first_of_lane)
                    reference[b], factor = renewed(reference[b], scores[None, None, b], qk, scale, headroom)
                    powers, added = weights(of_block(scores, b), scale, reference[b])
                    total[b] = total[b] * factor + added
                    rescale(output, b, factor)
                    keep(packed, b, powers)
            exchange(turns_k, turn)
            if schedule.seen(turn):
                add_weighted(output, packed, turn)
            exchange(turns_v, turn)
            turn = turn - 1

        if fx.const_expr(config.pipelined):
            tensors, turns = (q_fragment, keys.blocks(lds), vt_staged), (turns_k, turns_v)
            loop = PipelinedLoop(element, scale, headroom, rounded, *tensors, (qk, pv), terms, turns)
            reference, total, more, without = loop.run(turn, output, reference, total)
            taken, skipped = taken + more, skipped + without
        else:
            first = turn
            while turn >= 0:
                above = fx.Boolean(False)
                while (turn >= 0) & ~above:
                    for copy in fx.range_constexpr(config.copies):
                        # A wave that repeats a turn does so where it was, so that all waves meet at the same barriers.
                        due = (first - turn) % config.copies == copy
                        if fx.const_expr(copy > 0):
                            due = due & (turn >= 0)
                        if due:
                            scores = scores_of(turn)
                            powers, added = [], []
                            for b in fx.range_constexpr(blocks):
                                one, sums = weights(of_block(scores, b), scale, reference[b])
                                powers.append(one)
                                added.append(sums)
                            above = too_large(added)
                            if ~above:
                                packed = fx.make_fragment_like(scores, element)
                                for b in fx.range_constexpr(blocks):
                                    keep(packed, b, powers[b])
                                exchange(turns_k, turn)
                                total = [total[b] + added[b] for b in range(blocks)]
                                add_weighted(output, packed, turn)
                                exchange(turns_v, turn)
                                turn = turn - 1
                                skipped = skipped + 1
                if above:
                    taken, skipped = taken + 1, skipped - 1
                    scores = scores_of(turn)
                    for b in fx.range_constexpr(blocks):
                        reference[b], factor = renewed(reference[b], scores[None, None, b], qk, scale, headroom)
                        total[b] = total[b] * factor
                        rescale(output, b, factor)

        if fx.const_expr(config.stagger):
            wait_if(wave < waves // 2)
        fx.barrier()  # the keys and values in LDS are not needed any more
        mine = fx.recast_iter(output_type, lds) + wave * (tile * tile)
        store = OutputStore(mine, lane, pv.tiled_mma, output_type)
        for b in fx.range_constexpr(blocks):
            sums = fx.coop.tiled_reduce(total[b][0] + total[b][1], "add", qk, 0)
            log2_sum = reference[b] + fx.log2(sums)
            if fx.const_expr(variant.sink and not split):
                sink = one_of(given["sink"], head) * math.log2(math.e)
                sums = sums + exp2(fx.full(1, sink - reference[b], fx.Float32))[0]
                log2_sum = log2_of_sum(log2_sum, sink)
            inverse = (sums > 0.0).select(gain / sums, fx.Float32(0.0))
            for m in fx.range_constexpr(head_blocks):
                values_of_rows = (output[None, m, b].load() * inverse).to(output_type)
                store.store(values_of_rows, o_tile[None, None, m, wave_tile * blocks + b])
            if fx.const_expr(write_lse):
                layout = fx.make_layout((MOST, num_heads, MOST), (1, lse_rows, fx.Int64(lse_rows) * num_heads))
                lse = fx.make_view(start_of(LSE), layout)[None, fx.Int64(head), fx.Int64(sequence_out)]
                if (first_of_lane == 0) & (rows[b] < fx.min(seq_len, lse_rows)):
                    lse[rows[b]] = log2_sum if split else log2_sum * _LN_2
        if fx.const_expr(variant.counts):
            counters = fx.recast_iter(fx.Float32, given["debug_counts"].iter)
            if lane == 0:
                for index, count in enumerate((taken, skipped)):
                    fx.atomic_add(counters + index, count.to(fx.Float32), syncscope=fx.rocdl.SyncScope.Agent)

    @flyc.jit
    def flash_attn(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        LSE: fx.Tensor,
        CuSeqQ: fx.Tensor,
        CuSeqKv: fx.Tensor,
        Bias: fx.Tensor,
        AlibiSlopes: fx.Tensor,
        Sink: fx.Tensor,
        DebugCounts: fx.Tensor,
        batch: fx.Int32,
        seq_len: fx.Int32,
        seq_len_kv: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
        q_stride: fx.Int32 = 0,  # type: ignore[assignment]
        k_stride: fx.Int32 = 0,  # type: ignore[assignment]
        v_stride: fx.Int32 = 0,  # type: ignore[assignment]
        o_stride: fx.Int32 = 0,  # type: ignore[assignment]
    ) -> None:
        strides = (q_stride, k_stride, v_stride, o_stride) if variant.strided else ()
        given = variant.chosen(CuSeqQ, CuSeqKv, Bias, AlibiSlopes, Sink, DebugCounts)
        main = {"Q": Q, "K": K, "V": V, "O": O, **({"LSE": LSE} if write_lse else {})}
        sizes = (num_heads, num_kv_heads, head_dim)
        check_arguments(variant, element, main, given, sizes, strides, batch, seq_len, seq_len_kv)
        if fx.const_expr(variant.whole_tiles):
            rest = seq_len_kv % kv_tile
            fx.host_assert(rest == 0, f"argument 'seq_len_kv': expected a multiple of {kv_tile}, {{}} are left", rest)
        row_blocks = (seq_len + (block_m - 1)) // block_m
        if fx.const_expr(config.xcd_swizzle):  # which counts them in 32 bits
            groups = fx.Int64(row_blocks) * fx.Int64(batch) * (num_heads * variant.splits)
            fx.host_assert(groups < 2**31, "flash attention: {} workgroups are too many for xcd_swizzle", groups)
        flash_attn_kernel(Q, K, V, O, LSE, given, strides, seq_len, seq_len_kv).launch(
            grid=(row_blocks, num_heads, batch * variant.splits),
            block=(threads,),
            stream=stream,
        )

    flash_attn.compile_hints["waves_per_eu"] = config.waves_per_eu
    return flash_attn


def in_turns(count: int, reads: list[tuple[Callable[[int], None], int]], multiply: Callable[[int], None]) -> None:
    """Trace so many products, each behind what it reads: on waves of 32 lanes in just this order.

    `reads`: what reads for a product, and how many products before it. Left alone, the compiler has all reads of a tile
    begin before its first product, and there are registers for a part of them only.
    """
    ordered = geometry().lanes == 32
    for number in range(-max(ahead for _, ahead in reads), count):
        for read, before in reads:
            early = before if ordered else 0
            if 0 <= number + early < count:
                read(number + early)
        if number >= 0:
            multiply(number)
        if ordered:
            fx.rocdl.sched_barrier(0)


def build_dense(
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    dtype_str: str,
    causal: bool,
    return_lse: bool,
    sm_scale: float | None,
    config: FlashConfig,
) -> flyc.JitFunction[..., Any]:
    """`build_forward` in the plain variant; the launcher is `(Q, K, V, O, LSE, batch, seq_len, seq_len_kv, stream)`."""
    forward = build_forward(num_heads, num_kv_heads, head_dim, dtype_str, causal, return_lse, sm_scale, config)

    @flyc.jit
    def flash_attn_dense(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        LSE: fx.Tensor,
        batch: fx.Int32,
        seq_len: fx.Int32,
        seq_len_kv: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        forward(Q, K, V, O, LSE, O, O, O, O, O, O, batch, seq_len, seq_len_kv, stream)

    flash_attn_dense.compile_hints.update(forward.compile_hints)
    return flash_attn_dense
