# SPDX-License-Identifier: Apache-2.0
"""Flash attention, forward, on NVIDIA Hopper: O = softmax(Q K^T / sqrt(D) + mask) V.

(Dao, "FlashAttention-2", 2023; Shah and others, "FlashAttention-3", 2024.)

Shapes
    Q and O (B, Sq, H, D), K and V (B, Skv, Hkv, D), f16 or bf16; D 64, 128, 192 or 256, contiguous, the other modes of
    any strides that are multiples of 16 bytes. H is a multiple of Hkv: query head h reads head h Hkv // H. LSE is
    (B, H, Sq) f32.

Algorithm and data movement
    Persistent workgroups, one a multiprocessor, take blocks of query rows of one head in turn, 64 rows for each of
    their consuming warpgroups. One thread of a further warpgroup has the copy engine (TMA) bring Q once, and tiles of K
    and V into two rings of stages, ahead of the consumers from block to block too. A consumer computes S = Q K^T of a
    tile with both operands in shared memory, the weights in registers, where the accumulators of S are operand A of
    O += P V as they lie. Products are asynchronous: those of P V of one tile and of Q K^T of the next are issued
    together, and the softmax of the next runs while the former are still being added. Warpgroups take turns at issuing
    (named barriers), so that one computes weights while another's products keep the matrix unit busy.

    Tiles are visited from the last that the workgroup's rows see to the first, those with masked keys before the
    others. The order of blocks is that of `hopper_blocks`.

    Sequences of several lengths lie one behind the other (`varlen`). Tensor maps have three modes for their rows, which
    put the end of a sequence at the end of the tensor: the copy engine fills tiles with zeros from there on, and stores
    nothing.

Arithmetic
    Products in f32 of 16-bit operands, softmax in f32, one rounding of the weights to 16 bits and one of the output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import MULTIPROCESSORS
from ..common.black_box import black_box_in_loop
from ..common.dtypes import float_type
from ..common.language import flyc, fx
from .hopper_blocks import BlockOrder
from .hopper_config import REGISTERS, ROWS, HopperAttentionConfig, default_hopper_config
from .online_softmax import NO_KEY, mask, raised, weights_in_turn
from .variant import AttentionVariant

__all__ = ["compile_hopper_attention"]

WARPGROUP = 128
COLUMNS = 64  # of a row in shared memory: 128 bytes, the width of the swizzle
SWIZZLE = (3, 4, 3)
_FIRST_BARRIER = 2  # of the turns; named barrier 1 + i of a warpgroup's own lie behind them
_LN_2 = math.log(2.0)
# Of rows of a sequence among others: row r of a sequence of n rows from row f on has the coordinates
# (_FAR, f + n, _FAR - n + r), of which the last is outside of the tensor from r = n on. The strides of the three modes,
# 2^34 bytes less a row, a row and a row, add up to row f + r: _FAR times 2^34 is 0 in 64 bits.
_FAR = 1 << 30
_MOST = (1 << 31) - 1


def compile_hopper_attention(
    *,
    dtype: str,
    head_dim: int,
    causal: bool,
    heads_per_kv: int = 1,
    return_lse: bool = False,
    sm_scale: float | None = None,
    window: tuple[int, int] | None = None,
    varlen: bool = False,
    config: HopperAttentionConfig | None = None,
    multiprocessors: int = MULTIPROCESSORS,
) -> Callable[..., None]:
    """Build the launcher of a forward; the page's top says what it computes.

    Args:
        dtype: "f16" or "bf16".
        head_dim: D.
        causal: query i sees keys j <= i + Skv - Sq; otherwise all.
        heads_per_kv: H / Hkv.
        return_lse: whether LSE, the natural logarithm of each row's denominator with the scale folded in, is written.
        sm_scale: 1 / sqrt(D) by default.
        window: (left, right), not negative: query i, which stands at key d = i + Skv - Sq, sees keys d - left to
            d + right only; tiles of keys outside are not read. Not with `causal`, which is (any, 0).
        varlen: sequences of several lengths follow each other; what stands behind the end of one never counts.
        config: how the work is cut up; by default as for many rows, `default_hopper_config(head_dim, causal)`.
        multiprocessors: the workgroups of the grid, at most.

    Returns a `@flyc.jit` function `(Q, K, V, O, LSE, stream)`. With `varlen` it is `(Q, K, V, O, LSE, starts_q,
    starts_kv, longest_q, longest_kv, stream)` of Q and O (all query tokens, H, D) and K and V (all keys, Hkv, D); the
    int32 starts (B + 1) say where each sequence begins and the last one ends, and LSE is (B, H, longest_q), of which
    nothing is written behind the end of a sequence. A row that sees no key gets zeros, and -inf in LSE.

    Raises:
        ValueError: a limit is not kept, with the numbers, or another target than sm_90a.
        ImportError: there is no compiler.
    """
    arch = get_rocm_arch()
    if arch != "sm_90a":
        raise ValueError(f"this attention is for sm_90a, but kernels are compiled for {arch}")
    if dtype not in ("f16", "bf16"):
        raise ValueError(f"flash attention: dtype {dtype!r} is not supported; use one of f16, bf16")
    if isinstance(heads_per_kv, bool) or not isinstance(heads_per_kv, int) or heads_per_kv < 1:
        raise ValueError(f"flash attention: heads_per_kv is a positive int, got {heads_per_kv!r}")
    if sm_scale is not None and not (math.isfinite(sm_scale) and sm_scale > 0.0):
        raise ValueError(f"flash attention: sm_scale must be positive and finite, got {sm_scale!r}")
    left, right = AttentionVariant(window=window).bounds(causal)
    if causal and window is not None:
        raise ValueError("flash attention: give causal or a window, which is causal as (left, 0), not both")
    config = config or default_hopper_config(head_dim, causal)
    config.check(head_dim)
    element = float_type(dtype)
    consumers, kv_tile, stages = config.consumers, config.kv_tile, config.stages
    threads, block_m = WARPGROUP * (1 + consumers), ROWS * consumers
    order = BlockOrder(block_m, kv_tile, head_dim, heads_per_kv, left, right, varlen, multiprocessors)
    windowed, ends, to_left, to_right = order.windowed, order.ends, order.to_left, order.to_right
    parts = head_dim // COLUMNS
    apart = config.blocks(head_dim) > 1  # the output has a place of its own, else that of the queries
    ahead = max(config.blocks(head_dim) - 1, 1)  # blocks of queries that may be there
    producer_registers, consumer_registers = REGISTERS[consumers]
    scale = (head_dim**-0.5 if sm_scale is None else sm_scale) * math.log2(math.e)
    seen = "causal" if causal else "full" if window is None else f"window{left}_{right}"
    skips = not ends and head_dim != 192  # the mask of the first tile, where it hides nothing; these were slower by 1 %
    name = f"hopper_attention_{dtype}_d{head_dim}_{seen}"

    @flyc.kernel(name=name, known_block_size=(threads, 1, 1))
    def attention(
        map_q: fx.nvgpu.TensorMap,
        map_k: fx.nvgpu.TensorMap,
        map_v: fx.nvgpu.TensorMap,
        map_o: fx.nvgpu.TensorMap,
        LSE: fx.Tensor,
        starts: dict[str, fx.Tensor],
        sizes: dict[str, fx.Int32],
        divisors: dict[str, fx.Int64],
    ) -> None:
        swizzle = fx.static(fx.SwizzleType.get(*SWIZZLE))
        shared = fx.SharedAllocator(1024, static=False)

        def boxes_of(rows: int, count: int) -> Any:
            """Boxes in shared memory as the copy engine fills them: (1, rows, 1, 64, parts of D, count)."""
            room = shared.allocate(fx.Array[element, rows * head_dim * count], 1024).peek()
            layout = fx.make_layout(
                (1, rows, 1, COLUMNS, parts, count), (0, COLUMNS, 0, 1, rows * COLUMNS, rows * head_dim)
            )
            return fx.make_view(fx.apply_swizzle(room.ptr, swizzle), layout)

        def matrix(boxes: Any, rows: int, count: int, transposed: bool = False) -> Any:
            """The same as (rows, D, count), or (D, rows, count)."""
            along_d, along_rows = ((COLUMNS, parts), (1, rows * COLUMNS)), (rows, COLUMNS)
            modes = (along_d, along_rows) if transposed else (along_rows, along_d)
            shape, stride = zip(*modes, (count, rows * head_dim), strict=True)
            return fx.make_view(boxes.iter, fx.make_layout(shape, stride))

        queries = boxes_of(ROWS, consumers * ahead)
        outputs = boxes_of(ROWS, consumers) if apart else queries
        ring_k, ring_v = boxes_of(kv_tile, stages), boxes_of(kv_tile, stages)
        room = shared.allocate(fx.Array[fx.Int64, 4 * stages + 2 * ahead], 8).peek()
        transferred = kv_tile * head_dim * 2
        keys = fx.nvgpu.AsyncPipeline(room.ptr, stages, transferred, consumers)
        values = fx.nvgpu.AsyncPipeline(room.ptr + 2 * stages, stages, transferred, consumers)
        rows_in = fx.nvgpu.AsyncPipeline(room.ptr + 4 * stages, ahead, block_m * head_dim * 2, consumers)

        thread = fx.Int32(fx.thread_idx.x)
        warp = fx.nvgpu.warp_index()
        group = warp // 4
        if thread == 0:
            rows_in.init()
            keys.init()
            values.init()
        fx.barrier()

        def tile_of(batch: Any, rows: Any, count: int, tile: Any, head: Any, part: int) -> Any:
            """The coordinates of 64 columns of a tile of `count` rows of a sequence, as (1, rows, 1, 64).

            `rows` are the sequence's first row and how many it has.
            """
            origin: Any
            if fx.const_expr(varlen):
                first, length = rows
                origin = (part * COLUMNS, head, _FAR - length + tile * count, first + length, _FAR)
                along: Any = (fx.E(4), fx.E(2), fx.E(1), fx.E(0))
            else:
                origin = (part * COLUMNS, head, tile * count, batch)
                along = (fx.E(3), fx.E(2), fx.E(1), fx.E(0))
            return fx.make_view(origin, fx.make_layout((1, count, 1, COLUMNS), along))

        if group == 0:
            fx.nvgpu.set_registers(producer_registers, increase=False)
            if (warp == 0) & fx.nvgpu.elect_one():
                load_q, load_k, load_v = map_q.load_atom(), map_k.load_atom(), map_v.load_atom()

                def bring(load: Any, ring: Any, pipeline: Any, place: Any, at: tuple[Any, ...]) -> None:
                    atom = load.set_value("barrier", pipeline.acquire(place))
                    batch, head, tile, sequence = at
                    for part in fx.range_constexpr(parts):
                        source = tile_of(batch, sequence[2:], kv_tile, tile, head // heads_per_kv, part)
                        fx.copy(atom, source, ring[None, None, None, None, part, place.stage])

                place_q, place_k, place_v = rows_in.start(), keys.start(), values.start()
                for round_ in range(fx.Int32(0), sizes["rounds"], fx.Int32(1)):
                    there, (batch, head, block), sequence, (low, last), _ = order.work_of(
                        fx.Int32(round_), sizes, divisors, starts
                    )
                    if there:
                        bring(load_k, ring_k, keys, place_k, (batch, head, last, sequence))
                        place_k = place_k.next()
                        atom = load_q.set_value("barrier", rows_in.acquire(place_q))
                        for one in fx.range_constexpr(consumers):
                            to = place_q.stage * consumers + one
                            for part in fx.range_constexpr(parts):
                                source = tile_of(batch, sequence[:2], ROWS, block * consumers + one, head, part)
                                fx.copy(atom, source, queries[None, None, None, None, part, to])
                        place_q = place_q.next()
                        for turn in range(fx.Int32(1), last + 1 - low, fx.Int32(1)):
                            bring(load_k, ring_k, keys, place_k, (batch, head, last - turn, sequence))
                            bring(load_v, ring_v, values, place_v, (batch, head, last - turn + 1, sequence))
                            place_k, place_v = place_k.next(), place_v.next()
                        bring(load_v, ring_v, values, place_v, (batch, head, low, sequence))
                        place_v = place_v.next()
        else:
            fx.nvgpu.set_registers(consumer_registers, increase=True)
            mine = group - 1
            lane = thread % WARPGROUP
            qk = fx.make_tiled_mma(fx.nvgpu.WGMMA(kv_tile, element), (1, 1, 1)).get_slice(lane)
            pv_atom = fx.nvgpu.WGMMA(head_dim, element, registers_a=True, mn_major_b=True)
            pv = fx.make_tiled_mma(pv_atom, (1, 1, 1)).get_slice(lane)
            # Descriptors are the warpgroup's: its first thread stands for all.
            whole_qk, whole_pv = qk.tiled_mma.get_slice(0), pv.tiled_mma.get_slice(0)
            operand_q = whole_qk.partition_A(matrix(queries, ROWS, consumers * ahead))
            operand_k = whole_qk.partition_B(matrix(ring_k, kv_tile, stages))
            operand_v = whole_pv.partition_B(matrix(ring_v, kv_tile, stages, transposed=True))

            # Where the scores of a thread stand: (query row, key of the tile).
            places: Any = qk.partition_C(fx.make_view((0, 0), fx.make_identity_layout((ROWS, kv_tile))))
            offsets: Any = fx.make_view((0, 0), places.layout)
            key_blocks = kv_tile // 8
            columns = [[offsets[(v, 0, n), 0, 0].unpack()[1] for v in range(2)] for n in range(key_blocks)]
            first_column = places[(0, 0, 0), 0, 0].unpack()[1]
            rows_of_thread = [places[(0, r, 0), 0, 0].unpack()[0] for r in range(2)]

            def accumulators(columns: int, kind: Any) -> Any:
                layout = fx.make_layout(((2, 2, columns // 8), 1, 1), ((1, 2, 4), 0, 0))
                return fx.make_rmem_tensor(layout, kind)

            def row_of(fragment: Any, r: int) -> Any:
                """Its elements of one of the thread's two rows: (neighbours, blocks of 8 columns)."""
                return fragment[(None, r, None), 0, 0]

            output, packed = accumulators(head_dim, fx.Float32), accumulators(kv_tile, element)
            operand_p = pv.retile_A(packed, qk)
            reference, total = fx.make_rmem_tensor(2, fx.Float32), fx.make_rmem_tensor((2, 2), fx.Float32)
            pair_atom = fx.make_copy_atom(fx.UniversalCopy32b(), element)
            put = fx.make_tiled_copy_C(pair_atom, pv.tiled_mma)
            store_o = map_o.store_atom()

            def of_row(parts: Any) -> Any:
                """The sum of a row: of the parts that its 4 lanes have. All lanes of the warp come here together."""
                found = fx.Float32(parts[0]) + fx.Float32(parts[1])
                for step in fx.range_constexpr(2):
                    found = found + fx.gpu.shuffle_xor(found, 2 >> step)
                return found

            def begin_turn() -> None:
                if fx.const_expr(config.turns):
                    fx.nvgpu.named_barrier(mine + _FIRST_BARRIER, 2 * WARPGROUP)

            def end_turn() -> None:
                if fx.const_expr(config.turns):
                    following = (mine == consumers - 1).select(fx.Int32(0), mine + 1)
                    fx.nvgpu.named_arrive(following + _FIRST_BARRIER, 2 * WARPGROUP)

            def release(pipeline: Any, stage: Any) -> None:
                if lane == 0:
                    pipeline.release(stage)

            def multiply_keys(scores: Any, stage_q: Any, stage: Any) -> None:
                """S = Q K^T, a group of products."""
                fx.nvgpu.warpgroup_fence(scores)
                own = black_box_in_loop(stage_q * consumers + mine)
                for step in fx.range_constexpr(head_dim // 16):
                    fx.gemm(
                        qk.tiled_mma.set_value("accumulate", fx.Boolean(step > 0)),
                        scores,
                        operand_q[None, None, step, own],
                        operand_k[None, None, step, stage],
                        scores,
                    )
                fx.nvgpu.warpgroup_commit()

            def add_values(stage: Any) -> None:
                """O += P V, a group of products."""
                fx.nvgpu.warpgroup_fence(output)
                fx.nvgpu.warpgroup_fence(packed)
                for step in fx.range_constexpr(kv_tile // 16):
                    fx.gemm(
                        pv.tiled_mma,
                        output,
                        operand_p[None, None, step],
                        operand_v[None, None, step, stage],
                        output,
                    )
                fx.nvgpu.warpgroup_commit()

            def weigh(scores: Any, tile: Any, masked: bool, first_row: Any, lengths: Any, when: Any = None) -> Any:
                """Make weights of the scores; returns the factors of what came before."""
                factors = []

                def hide() -> None:
                    for r in fx.range_constexpr(2):
                        seq_len, seq_len_kv = lengths
                        end, stands = seq_len_kv, first_row + rows_of_thread[r] + (seq_len_kv - seq_len)
                        begin, before = None, tile * kv_tile + first_column
                        if fx.const_expr(ends):
                            end = fx.min(end, stands + (to_right + 1))
                        if fx.const_expr(windowed):
                            begin = stands - to_left - before
                        mask(row_of(scores, r), columns, begin, end - before)

                if fx.const_expr(masked):
                    if fx.const_expr(when is None):
                        hide()
                    else:
                        if when:
                            hide()
                highest = fx.coop.tiled_reduce(scores, fx.maxnumf, qk, 1)
                for r in fx.range_constexpr(2):
                    top, factor = raised(fx.Float32(reference[r]), fx.Float32(highest[2 * r] * scale), 0.0)
                    reference[r] = top
                    own, sums = row_of(scores, r), total[None, r]
                    powers, added = weights_in_turn(own.load().reshape(kv_tile // 4), scale, top)
                    own.store(powers)
                    sums.store(sums.load() * factor + added)
                    factors.append(factor)
                return factors

            def keep_wait_behind_weights(stage: Any) -> None:
                """Keep ptxas from waiting for products before the exponentials, which are to run meanwhile.

                What it leaves in order is a release, and this one, which needs all weights, never happens: no sum of
                weights is negative. With turns, where the other warpgroup multiplies meanwhile, it costs more.
                """
                sums = total.load().reshape(4)
                if (sums[0] + sums[1]) + (sums[2] + sums[3]) < 0.0:
                    keys.release(stage)

            def turn_of(stage_q: Any, place_k: Any, place_v: Any, tile: Any, masked: bool, of: tuple[Any, ...]) -> None:
                """The scores of one tile, while the weights of the tile before go into the output."""
                scores = accumulators(kv_tile, fx.Float32)
                keys.wait(place_k)
                begin_turn()
                multiply_keys(scores, stage_q, place_k.stage)
                values.wait(place_v)
                add_values(place_v.stage)
                end_turn()
                fx.nvgpu.warpgroup_wait(scores, 1)
                release(keys, place_k.stage)
                factors = weigh(scores, tile, masked, *of)
                if fx.const_expr(not config.turns):
                    keep_wait_behind_weights(place_k.stage)
                fx.nvgpu.warpgroup_wait(output, 0)
                release(values, place_v.stage)
                for r in fx.range_constexpr(2):
                    own = row_of(output, r)
                    own.store(own.load() * factors[r])
                packed.store(scores.load().to(element))

            if fx.const_expr(config.turns):  # noqa: SIM102 - one is known while tracing
                if mine == consumers - 1:  # the first turn is the first warpgroup's
                    fx.nvgpu.named_arrive(_FIRST_BARRIER, 2 * WARPGROUP)
            place_q, place_k, place_v = rows_in.start(), keys.start(), values.start()
            for round_ in range(fx.Int32(0), sizes["rounds"], fx.Int32(1)):
                there, (batch, head, block), sequence, (low, last), (plain, full) = order.work_of(
                    fx.Int32(round_), sizes, divisors, starts
                )
                if there:
                    first_row = (block * consumers + mine) * ROWS
                    of_block = first_row, (sequence[1], sequence[3])
                    output.fill(0.0)
                    reference.fill(NO_KEY)
                    total.fill(0.0)
                    keys.wait(place_k)
                    rows_in.wait(place_q)
                    stage_q = place_q.stage
                    place_q = place_q.next()
                    scores = accumulators(kv_tile, fx.Float32)
                    begin_turn()
                    multiply_keys(scores, stage_q, place_k.stage)
                    end_turn()
                    fx.nvgpu.warpgroup_wait(scores, 0)
                    release(keys, place_k.stage)
                    weigh(scores, last, True, *of_block, last >= plain if skips else None)
                    packed.store(scores.load().to(element))
                    place_k = place_k.next()
                    turns = last - low
                    some = fx.max(fx.min(last - plain, turns), fx.Int32(0))
                    clear = turns
                    if fx.const_expr(windowed):
                        clear = fx.max(fx.min(last - full, turns), some)
                    for turn in range(fx.Int32(0), some, fx.Int32(1)):
                        turn_of(stage_q, place_k, place_v, last - 1 - turn, True, of_block)
                        place_k, place_v = place_k.next(), place_v.next()
                    for turn in range(some, clear, fx.Int32(1)):
                        turn_of(stage_q, place_k, place_v, last - 1 - turn, False, of_block)
                        place_k, place_v = place_k.next(), place_v.next()
                    if fx.const_expr(windowed):
                        for turn in range(clear, turns, fx.Int32(1)):
                            turn_of(stage_q, place_k, place_v, last - 1 - turn, True, of_block)
                            place_k, place_v = place_k.next(), place_v.next()
                    if fx.const_expr(apart):
                        release(rows_in, stage_q)
                    values.wait(place_v)
                    add_values(place_v.stage)
                    fx.nvgpu.warpgroup_wait(output, 0)
                    release(values, place_v.stage)
                    place_v = place_v.next()

                    for r in fx.range_constexpr(2):
                        sums = of_row(total[None, r])
                        some_key = sums > 0.0
                        divisor = some_key.select(sums, fx.Float32(1.0))
                        own, row = row_of(output, r), first_row + rows_of_thread[r]
                        own.store(own.load() * fx.nvgpu.reciprocal_approx(divisor))
                        if fx.const_expr(return_lse):
                            denominator = (fx.nvgpu.log2_approx(divisor) + reference[r]) * _LN_2
                            denominator = some_key.select(denominator, fx.Float32(-math.inf))
                            if (first_column == 0) & (row < sequence[1]):
                                LSE[batch, head, row] = denominator

                    # The output before has been read out of shared memory, or the warpgroup's queries by its products.
                    if lane == 0:
                        fx.nvgpu.tma_wait(0, read=True)
                    fx.nvgpu.named_barrier(mine + _FIRST_BARRIER + consumers, WARPGROUP)
                    narrow = accumulators(head_dim, element)
                    narrow.store(output.load().to(element))
                    putting = put.get_slice(black_box_in_loop(lane))
                    rows_out = matrix(outputs, ROWS, consumers)[None, None, mine]
                    fx.copy(pair_atom, putting.retile(narrow), putting.partition_D(rows_out))
                    fx.nvgpu.fence_async_shared()
                    fx.nvgpu.named_barrier(mine + _FIRST_BARRIER + consumers, WARPGROUP)
                    if lane == 0:
                        for part in fx.range_constexpr(parts):
                            fx.copy(
                                store_o,
                                outputs[None, None, None, None, part, mine],
                                tile_of(batch, sequence[:2], ROWS, block * consumers + mine, head, part),
                            )
                        fx.nvgpu.tma_commit()
                        if fx.const_expr(not apart):
                            fx.nvgpu.tma_wait(0, read=True)
                            rows_in.release(stage_q)
            if lane == 0:
                fx.nvgpu.tma_wait(0)

    def launch(Q: Any, K: Any, V: Any, O: Any, LSE: Any, starts: Any, sizes: Any, stream: Any) -> None:  # noqa: E741
        batches, seq_len, seq_len_kv = sizes
        (heads, depth), (kv_heads, _) = Q.shape.unpack()[-2:], K.shape.unpack()[-2:]
        fx.host_assert(
            (fx.Int64(depth) == head_dim) & (fx.Int64(heads) == fx.Int64(kv_heads) * heads_per_kv),
            f"expected heads of {head_dim} elements and {heads_per_kv} of Q for one of K, got {{}}, {{}} and {{}}",
            fx.Int64(depth), fx.Int64(heads), fx.Int64(kv_heads),
        )  # fmt: skip

        def tensor_map(tensor: Any, rows: int, written: bool = False) -> Any:
            box: tuple[int, ...] = (1, rows, 1, COLUMNS)
            if varlen:
                _, many, columns = tensor.shape.unpack()
                row, of_head, _ = (fx.Int64(one) for one in tensor.stride.unpack())
                around = fx.Int64((1 << 34) * 8 // element.width) - row
                layout = fx.make_layout((_MOST, _MOST, _FAR, many, columns), (around, row, row, of_head, 1))
                tensor, box = fx.make_view(fx.get_iter(tensor), layout), (1, *box)
            return fx.nvgpu.make_tensor_map(tensor, box, SWIZZLE, written=written)

        map_q, map_o = tensor_map(Q, ROWS), tensor_map(O, ROWS, True)
        map_k, map_v = tensor_map(K, kv_tile), tensor_map(V, kv_tile)
        batches, seq_len, heads, seq_len_kv = (fx.Int32(one) for one in (batches, seq_len, heads, seq_len_kv))
        grid, sizes, divisors = order.plan(batches, heads, seq_len, seq_len_kv)
        attention(map_q, map_k, map_v, map_o, LSE, starts, sizes, divisors).launch(
            grid=(grid,), block=(threads,), stream=stream
        )

    if varlen:

        @flyc.jit
        def hopper_attention_varlen(
            Q: fx.Tensor,
            K: fx.Tensor,
            V: fx.Tensor,
            O: fx.Tensor,  # noqa: E741 - the public name
            LSE: fx.Tensor,
            starts_q: fx.Tensor,
            starts_kv: fx.Tensor,
            longest_q: fx.Int32,
            longest_kv: fx.Int32,
            stream: fx.Stream = fx.Stream(None),
        ) -> None:
            batches = fx.Int64(starts_q.shape.unpack()) - 1
            launch(Q, K, V, O, LSE, {"q": starts_q, "kv": starts_kv}, (batches, longest_q, longest_kv), stream)

        of_lengths: Callable[..., None] = hopper_attention_varlen
        return of_lengths

    @flyc.jit
    def hopper_attention(
        Q: fx.Tensor,
        K: fx.Tensor,
        V: fx.Tensor,
        O: fx.Tensor,  # noqa: E741 - the public name
        LSE: fx.Tensor,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        (batches, seq_len, _, _), (_, seq_len_kv, _, _) = Q.shape.unpack(), K.shape.unpack()
        launch(Q, K, V, O, LSE, {}, (batches, seq_len, seq_len_kv), stream)

    launcher: Callable[..., None] = hopper_attention
    return launcher
