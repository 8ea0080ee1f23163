# SPDX-License-Identifier: Apache-2.0
"""Flash attention, forward: O = softmax(Q K^T / sqrt(D) + mask) V without the matrix of scores in memory.

(Dao, "FlashAttention-2", 2023; Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.)

A workgroup has `FlashConfig.block_m` query rows of one head, a wave 32 (or 64) of them, and walks over the tiles of
keys and values that its rows see, usually from the last to the first (`tile_schedule`). For each tile a wave computes
S^T = K Q^T with Q^T in registers, the weights from S^T in registers (`online_softmax`), and O^T += V^T P^T with the
weights, packed to 16 bits, as they lie: the layout of a result is that of an operand (`matrix`), so neither scores nor
weights ever leave the registers. Keys and values reach LDS through registers, loaded one tile ahead (`kv_staging`); LDS
holds one tile, and two barriers a tile separate its readers from its writers.

Tiles with masked keys (the diagonal, the edges of a window, the end of the keys) come first, in a loop of their own
that masks and takes the maximum of each tile; a wave does not compute those that its rows do not see. The loop over all
other tiles has no masks, maxima or rescaling: when weights grow too large, the wave leaves it, renews the references
and comes back to the same tile, of which nothing has been added yet.

Arithmetic: products in f32 from 16-bit operands, softmax in f32, one rounding of the weights to 16 bits and one of the
output. Keys and values move from memory once per workgroup, queries and output once.

With `AttentionVariant.splits` several workgroups share the keys of the same rows and write what `split_combine_kernel`
puts together.
"""

from __future__ import annotations

import math
from typing import Any

from ..common.dtypes import float_type
from ..common.language import flyc, fx
from .config import FlashConfig, check_head_dim
from .forward_arguments import check_arguments
from .kv_staging import KeyStaging, ValueStaging
from .matrix import FRAGMENT, LANES, STEP, TILE, exp2, multiply, pack, truncation_gain
from .online_softmax import NO_KEY, RENEW_ABOVE, mask, renewed, weights
from .output_store import ELEMENTS as OUTPUT_ELEMENTS
from .output_store import OutputStore
from .score_terms import ScoreTerms
from .tile_schedule import TileSchedule
from .variant import PLAIN, AttentionVariant

_BYTES = 2  # of an element
_LN_2 = math.log(2.0)
_COPIES = 2  # of the body of the loop over tiles without masks


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
) -> Any:
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
    if dtype_str not in ("f16", "bf16"):
        raise ValueError(f"flash attention: dtype {dtype_str!r} is not supported; use one of f16, bf16")
    check_head_dim(head_dim)
    if num_heads < 1 or num_kv_heads < 1 or num_heads % num_kv_heads:
        raise ValueError(
            f"flash attention: num_heads must be a multiple of num_kv_heads, got {num_heads} and {num_kv_heads}"
        )
    if sm_scale is not None and not (math.isfinite(sm_scale) and sm_scale > 0.0):
        raise ValueError(f"flash attention: sm_scale must be positive and finite, got {sm_scale!r}")
    element = float_type(dtype_str)
    kv_tile, threads, waves = config.kv_tile, config.threads, config.waves
    blocks, rows_per_wave, block_m = config.query_blocks, config.rows_per_wave, config.block_m
    steps, key_blocks, head_blocks = head_dim // STEP, kv_tile // TILE, head_dim // TILE
    group = num_heads // num_kv_heads
    natural_scale = head_dim**-0.5 if sm_scale is None else sm_scale
    scale = natural_scale * math.log2(math.e)
    # `pack` loses 1 - 1/gain of a weight in the mean. With log2(gain) below a row's maximum, a weight of 1 stays exact.
    gain = truncation_gain(element)
    headroom = math.log2(gain)
    head_bytes = head_dim * _BYTES
    split = variant.splits > 1
    write_lse, output_type = return_lse or split, fx.Float32 if split else element
    output_bytes = output_type.width // 8
    q_bytes, kv_bytes, o_bytes = (
        heads * head_dim for heads in (num_heads * _BYTES, num_kv_heads * _BYTES, num_heads * output_bytes)
    )
    keys = KeyStaging(element, head_dim, kv_tile, threads)
    values = ValueStaging(element, head_dim, kv_tile, threads)
    lds_elements = max(keys.elements + values.elements, waves * OUTPUT_ELEMENTS)
    name = f"flash_attn_{dtype_str}_d{head_dim}_{'causal' if causal else 'full'}{variant}"

    def resource(tensor: Any, first: Any, rows: Any, row_bytes: Any) -> Any:
        """The buffer resource of `rows` rows from row `first` (i64) on."""
        base = fx.recast_iter(element, tensor.iter) + first * (fx.Int64(row_bytes) // _BYTES)
        return fx.rocdl.get_buffer_rsrc(fx.rocdl.make_buffer_ptr(base, fx.Int64(rows) * fx.Int64(row_bytes)))

    def scores_of(k_mine: Any, queries: Any, begin: Any) -> Any:
        """S^T of the tile: [query block][key block], 16 f32 a lane; `begin` gives what is added to Q K^T."""
        sums = [[begin(b, n) for n in range(key_blocks)] for b in range(blocks)]
        for step in fx.range_constexpr(steps):
            for n in fx.range_constexpr(key_blocks):
                a = (k_mine + (n * TILE * keys.pitch + step * STEP)).load(fx.Vector[element, FRAGMENT])
                for b in fx.range_constexpr(blocks):
                    sums[b][n] = multiply(a, queries[b][step], sums[b][n])
        return sums

    def add_weighted(output: Any, v_mine: Any, packed: Any) -> Any:
        """O^T + V^T P^T of the tile: [query block][block of 32 elements of the head]."""
        output = [list(one) for one in output]
        for step in fx.range_constexpr(kv_tile // STEP):
            part = list(range(step % 2 * FRAGMENT, step % 2 * FRAGMENT + FRAGMENT))
            operands = [packed[b][step // 2].shuffle(packed[b][step // 2], part) for b in range(blocks)]
            for m in fx.range_constexpr(head_blocks):
                a = (v_mine + (m * TILE * values.pitch + step * STEP)).load(fx.Vector[element, FRAGMENT])
                for b in fx.range_constexpr(blocks):
                    output[b][m] = multiply(a, operands[b], output[b][m])
        return output

    def one_of(tensor: Any, index: Any) -> Any:
        """An element that is the same for the whole wave, in scalar registers."""
        return fx.rocdl.readfirstlane(tensor[index])

    def sequence(starts: Any, batch: Any) -> tuple[Any, Any]:
        """First token and length of a sequence."""
        first = one_of(starts, batch)
        return first, one_of(starts, batch + 1) - first

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
        q_row, k_row, v_row, o_row = (
            [one * _BYTES for one in strides] if variant.strided else [q_bytes, kv_bytes, kv_bytes, o_bytes]
        )
        bias_pitch = seq_len_kv
        thread, head, batch = fx.thread_idx.x, fx.block_idx.y, fx.block_idx.z
        block, part, sequence_out = fx.block_idx.x, 0, batch
        if fx.const_expr(split):
            batch, part = batch // variant.splits, batch % variant.splits
        if fx.const_expr(causal):  # those with most keys first
            block = fx.grid_dim.x - 1 - block
        wave, lane = fx.rocdl.readfirstlane(thread // LANES), thread % LANES
        column, half = lane % TILE, lane // TILE
        row0 = block * block_m + wave * rows_per_wave

        lse_rows = seq_len  # of a head; of the longest sequence where they differ
        q_first, kv_first = fx.Int64(batch) * fx.Int64(seq_len), fx.Int64(batch) * fx.Int64(seq_len_kv)
        if fx.const_expr(variant.varlen):
            q_start, seq_len = sequence(given["cu_seqlens_q"], batch)
            kv_start, seq_len_kv = sequence(given["cu_seqlens_kv"], batch)
            q_first, kv_first = fx.Int64(q_start), fx.Int64(kv_start)
        o_first = fx.Int64(sequence_out) * fx.Int64(seq_len) if split else q_first
        q_all, o_all = resource(Q, q_first, seq_len, q_row), resource(Out, o_first, seq_len, o_row)
        k_all, v_all = resource(K, kv_first, seq_len_kv, k_row), resource(V, kv_first, seq_len_kv, v_row)
        lds = fx.SharedAllocator().allocate(fx.Array[element, lds_elements]).ptr
        v_lds = lds + keys.elements
        keys.prepare(thread, k_row, lds)
        values.prepare(thread, v_row, v_lds)
        k_mine = lds + (column * keys.pitch + half * FRAGMENT)
        v_mine = v_lds + (column * values.pitch + half * FRAGMENT)

        block_rows, wave_rows = (block * block_m, block_m), (row0, rows_per_wave)
        schedule = TileSchedule(variant, causal, kv_tile, block_rows, wave_rows, seq_len, seq_len_kv, part)
        shift = seq_len_kv - seq_len  # query row r stands at key r + shift

        kv_head = head // group * head_bytes

        def place(turn: Any, row_bytes: Any) -> Any:
            """Where a turn's tile begins, in bytes; after turn 0 there is none: past the end, where loads give zero."""
            begin = schedule.tile(turn) * (kv_tile * row_bytes) + kv_head
            return fx.rocdl.readfirstlane((turn >= 0).select(begin, seq_len_kv * row_bytes))

        bias, slope = None, None
        if fx.const_expr(variant.bias):
            bias_first = q_first if variant.varlen else fx.Int64(0)
            bias = resource(given["bias"], bias_first, seq_len, bias_pitch * _BYTES)
        if fx.const_expr(variant.alibi):
            slope = one_of(given["alibi_slopes"], batch * num_heads + head if variant.slopes_per_batch else head)
        terms = ScoreTerms(
            variant,
            element,
            1.0 / natural_scale,
            bias=bias,
            pitch=bias_pitch,
            slope=slope,
            shift=shift,
            rows=[row0 + b * TILE + column for b in range(blocks)],
            half=half,
            kv_tile=kv_tile,
        )

        queries = []
        for b in fx.range_constexpr(blocks):
            at = (row0 + b * TILE + column) * q_row + head * head_bytes + half * (FRAGMENT * _BYTES)
            kind = fx.Vector.make_type(4, fx.Int32)
            queries.append(
                [
                    fx.Vector(fx.rocdl.raw_ptr_buffer_load(kind, q_all, at + step * (STEP * _BYTES))).bitcast(element)
                    for step in range(steps)
                ]
            )
        output = [[fx.full(16, 0.0, fx.Float32) for _ in range(head_blocks)] for _ in range(blocks)]
        reference = [fx.Float32(NO_KEY) for _ in range(blocks)]
        total = [fx.full(2, 0.0, fx.Float32) for _ in range(blocks)]
        taken, skipped = fx.Int32(0), fx.Int32(0)  # renewals of the references, and tiles without one

        turn = schedule.count - 1
        keys.store(keys.load(k_all, place(turn, k_row)))
        values.store(values.load(v_all, place(turn, v_row)))
        next_k, next_v = keys.load(k_all, place(turn - 1, k_row)), values.load(v_all, place(turn - 1, v_row))
        fx.barrier()

        while (turn >= 0) & (turn >= schedule.plain):
            packed = [[fx.full(16, 0.0, element) for _ in range(key_blocks)] for _ in range(blocks)]
            if schedule.seen(turn):
                taken = taken + 1
                scores = scores_of(k_mine, queries, terms.of(schedule.tile(turn)))
                for b in fx.range_constexpr(blocks):
                    begin, end = schedule.visible(turn, row0 + b * TILE + column)
                    begin = None if begin is None else begin - half * 4
                    visible = mask(scores[b], begin, end - half * 4)
                    reference[b], factor = renewed(reference[b], visible, scale, headroom)
                    powers, added = weights(visible, scale, reference[b])
                    total[b] = total[b] * factor + added
                    output[b] = [one * factor for one in output[b]]
                    packed[b] = [pack(one, element) for one in powers]
            fx.barrier()
            keys.store(next_k)
            next_k = keys.load(k_all, place(turn - 2, k_row))
            if schedule.seen(turn):
                output = add_weighted(output, v_mine, packed)
            fx.barrier()
            values.store(next_v)
            next_v = values.load(v_all, place(turn - 2, v_row))
            turn = turn - 1

        first = turn
        while turn >= 0:
            above = fx.Boolean(False)
            while (turn >= 0) & ~above:
                for copy in fx.range_constexpr(_COPIES):
                    # A wave that repeats a turn does so where it was, so that all waves meet at the same barriers.
                    due = (first - turn) % _COPIES == copy
                    if fx.const_expr(copy > 0):
                        due = due & (turn >= 0)
                    if due:
                        scores = scores_of(k_mine, queries, terms.of(schedule.tile(turn)))
                        powers, added, over = [], [], fx.Boolean(False)
                        for b in fx.range_constexpr(blocks):
                            one, sums = weights(scores[b], scale, reference[b])
                            powers.append(one)
                            added.append(sums)
                            over = over | (sums[0] + sums[1] > RENEW_ABOVE)
                        above = fx.Int64(fx.rocdl.ballot(fx.Int64.ir_type, over)) != 0
                        if ~above:
                            packed = [[pack(one, element) for one in powers[b]] for b in range(blocks)]
                            fx.barrier()
                            keys.store(next_k)
                            next_k = keys.load(k_all, place(turn - 2, k_row))
                            total = [total[b] + added[b] for b in range(blocks)]
                            output = add_weighted(output, v_mine, packed)
                            fx.barrier()
                            values.store(next_v)
                            next_v = values.load(v_all, place(turn - 2, v_row))
                            turn = turn - 1
                            skipped = skipped + 1
            if above:
                taken, skipped = taken + 1, skipped - 1
                scores = scores_of(k_mine, queries, terms.of(schedule.tile(turn)))
                for b in fx.range_constexpr(blocks):
                    reference[b], factor = renewed(reference[b], scores[b], scale, headroom)
                    total[b] = total[b] * factor
                    output[b] = [one * factor for one in output[b]]

        fx.barrier()  # the keys and values in LDS are not needed any more
        store = OutputStore(lds + wave * OUTPUT_ELEMENTS, lane, o_all, o_row)
        for b in fx.range_constexpr(blocks):
            sums = total[b][0] + total[b][1]
            sums = sums + fx.gpu.shuffle_xor(sums, TILE, LANES)
            log2_sum = reference[b] + fx.log2(sums)
            if fx.const_expr(variant.sink and not split):
                sink = one_of(given["sink"], head) * math.log2(math.e)
                sums = sums + exp2(fx.full(1, sink - reference[b], fx.Float32))[0]
                log2_sum = log2_of_sum(log2_sum, sink)
            inverse = (sums > 0.0).select(gain / sums, fx.Float32(0.0))
            for m in fx.range_constexpr(head_blocks):
                at = (head * head_dim + m * TILE) * output_bytes
                store.store((output[b][m] * inverse).to(output_type), row0 + b * TILE, at)
            if fx.const_expr(write_lse):
                row = row0 + b * TILE + column
                lines = (fx.Int64(sequence_out) * num_heads + fx.Int64(head)) * fx.Int64(lse_rows)
                lse = fx.recast_iter(fx.Float32, LSE.iter) + lines
                if (half == 0) & (row < fx.min(seq_len, lse_rows)):
                    (lse + row).store(log2_sum if split else log2_sum * _LN_2)
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
        check_arguments(
            variant, element, main, given, (num_heads, num_kv_heads, head_dim), strides, batch, seq_len, seq_len_kv
        )
        flash_attn_kernel(Q, K, V, O, LSE, given, strides, seq_len, seq_len_kv).launch(
            grid=((seq_len + (block_m - 1)) // block_m, num_heads, batch * variant.splits),
            block=(threads,),
            stream=stream,
        )

    flash_attn.compile_hints["waves_per_eu"] = config.waves_per_eu
    return flash_attn


def log2_of_sum(a: Any, b: Any) -> Any:
    """log2(2^a + 2^b), also where both are -inf."""
    high, low = fx.maxnumf(a, b), fx.minnumf(a, b)
    return high + fx.log2(1.0 + exp2(fx.full(1, fx.maxnumf(low - high, -256.0), fx.Float32))[0])


def build_dense(
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    dtype_str: str,
    causal: bool,
    return_lse: bool,
    sm_scale: float | None,
    config: FlashConfig,
) -> Any:
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
