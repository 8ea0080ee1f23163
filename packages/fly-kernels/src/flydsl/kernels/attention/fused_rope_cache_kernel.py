# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding of queries and keys, with keys and values written to a paged cache in the same launch.

For a head x of D elements at position p, with the halves x1, x2 (NeoX):

    out1 = x1 · cos[p] - x2 · sin[p],   out2 = x2 · cos[p] + x1 · sin[p]      in f32, rounded once

(with `round_each_operation`, after each operation).

A thread holds 16 bytes of each half of a head, so the rotation needs nothing from other lanes. A workgroup has all
heads of a token, or of several: the queries, then the keys, each together with the value of the same head
(`rope_config`). The row of cosines and the row of sines of a token's position, and its slot, are read once, by the
first threads, and reach the others through LDS; the loads of the heads are in flight meanwhile. Every element of Q, K
and V is read once, in 16-byte accesses; each output is written once.

Limits: heads of a multiple of 16 elements up to 4096, up to 65,536 heads and places of a cache block, caches of
any size; positions and slots are not checked. gfx942 and gfx950.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..common.arch import architecture
from ..common.checks import positive_integer
from ..common.contiguous import expect_contiguous
from ..common.convert import reciprocal, round_to, to_fp8
from ..common.dtypes import float_type
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_extents
from ..common.views import MOST, load_arguments, load_number, predicate, start_of, vector_of
from .rope_config import RopeConfig, plan_rope, rope_config

_MOST_LANES = 256  # of a head
_MOST_HEADS = 1 << 16  # and places of a block of the cache
VECTOR = 8  # elements of each half of a head that a thread has
PACK = 2 * VECTOR  # of a thread; and elements of the innermost dimension of the packed key cache


def _check(
    head_dim: int,
    rotary_dim: int,
    num_q_heads: int,
    num_kv_heads: int,
    block_size: int,
    is_neox: bool,
    dtype_str: str,
    pos_dtype: str,
) -> None:
    if dtype_str not in ("bf16", "f16"):
        raise ValueError(f"dtype_str {dtype_str!r} is not supported; use 'bf16' or 'f16'")
    if pos_dtype not in ("i32", "i64"):
        raise ValueError(f"pos_dtype {pos_dtype!r} is not supported; use 'i32' or 'i64'")
    for name, value in (("num_q_heads", num_q_heads), ("num_kv_heads", num_kv_heads), ("block_size", block_size)):
        positive_integer(name, value, _MOST_HEADS)
    positive_integer("head_dim", head_dim)
    lanes = head_dim // PACK
    if head_dim % PACK or lanes < 1 or lanes > _MOST_LANES:
        raise ValueError(f"head_dim must be a multiple of {PACK} up to {PACK * _MOST_LANES}, got {head_dim}")
    if not is_neox:
        raise ValueError("is_neox=False (interleaved pairs) is not supported; permute the heads' elements to halves")
    if rotary_dim not in (-1, head_dim):
        raise ValueError(f"rotary_dim {rotary_dim} is not supported; it has to be head_dim ({head_dim}) or -1")


def build_fused_rope_cache_module(
    head_dim: int = 64,
    rotary_dim: int = -1,
    num_q_heads: int = 8,
    num_kv_heads: int = 1,
    block_size: int = 16,
    is_neox: bool = True,
    flash_layout: bool = True,
    dtype_str: str = "bf16",
    apply_scale: bool = False,
    reuse_freqs_front_part: bool = True,
    pos_dtype: str = "i32",
    config: RopeConfig | None = None,
    round_each_operation: bool = False,
) -> Callable[..., Any]:
    """Build the launcher of the rotation and the cache write.

    Returns a `@flyc.jit` function `(Q, K, V, Positions, CosCache, SinCache, SlotMapping, KeyCache, ValueCache, Q_out,
    K_out, num_tokens, KScale, VScale, stream)`; T is num_tokens, D head_dim:

        Q, Q_out            (T, num_q_heads, D)     `dtype_str`: "bf16" or "f16"
        K, V, K_out         (T, num_kv_heads, D)    the same
        Positions           (T,)                    int32 or int64 (`pos_dtype`)
        CosCache, SinCache  (positions, D / 2), or (positions, D) with `reuse_freqs_front_part=False`; of `dtype_str`
                            or f32
        SlotMapping         (T,)                    int32 or int64: block · block_size + place; negative: no write
        KeyCache            (blocks, block_size, num_kv_heads, D), or (blocks, num_kv_heads, D / 16, block_size, 16)
        ValueCache          (blocks, block_size, num_kv_heads, D), or (blocks, num_kv_heads, D, block_size); the second
                            variants with `flash_layout=False`
        KScale, VScale      (1,) f32

    Tensors have these shapes with any strides but a last one of 1, so parts of a fused projection are fine; what has
    another rank (flattened), or is a pointer, is contiguous.

    With `apply_scale` the caches hold fp8 (E4M3: FNUZ on gfx942, OCP on gfx950; also as int8 or uint8 tensors): the
    rounded value divided by the scale, saturated. Without it they hold `dtype_str` and the scales are not read.

    `config` is a division of tokens among workgroups other than the default. `round_each_operation` rounds products and
    sums to `dtype_str` one by one, as kernels do that compute in it: the same bits as theirs, and less exact.

    Raises ValueError for what is not supported: another dtype, interleaved pairs, a rotary_dim below head_dim, a
    head_dim that is no multiple of 16 up to 4096. ImportError without the compiler.
    """
    _check(head_dim, rotary_dim, num_q_heads, num_kv_heads, block_size, is_neox, dtype_str, pos_dtype)
    element = float_type(dtype_str)
    half = head_dim // 2
    lanes = head_dim // PACK  # threads of a head
    frequencies = half if reuse_freqs_front_part else head_dim
    key_block: tuple[int, ...] = (block_size, num_kv_heads, head_dim)  # what a block of a cache holds
    value_block = key_block
    if not flash_layout:
        key_block = (num_kv_heads, head_dim // PACK, block_size, PACK)
        value_block = (num_kv_heads, head_dim, block_size)
    target = architecture()
    plan = plan_rope(num_q_heads + num_kv_heads, lanes, rope_config(config))

    def strides(argument: Any, inner: tuple[int, ...]) -> list[Any]:
        """Of an argument whose extents but the first are `inner`; what has another rank is contiguous."""
        if isinstance(argument, fx.Tensor) and fx.rank(argument) == 1 + len(inner):
            return [argument.stride[mode].unpack() for mode in range(len(inner))] + [1]
        return [math.prod(inner[mode:]) for mode in range(len(inner) + 1)]

    def heads_of(argument: Any, heads: int, tokens: Any) -> fx.Tensor:
        """(T, heads, D) as the tensor (D, heads, T)."""
        token, head, _ = strides(argument, (heads, head_dim))
        return fx.make_view(start_of(argument), fx.make_layout((head_dim, heads, tokens), (1, head, token)))

    def key_slots(cache: Any) -> fx.Tensor:
        """The key cache as the tensor (D, heads, slots)."""
        apart = strides(cache, key_block)
        if flash_layout:
            block, place, head, _ = apart
            return slots_of(cache, head_dim, 1, head, place, block)
        block, head, pack, place, _ = apart
        return slots_of(cache, (PACK, head_dim // PACK), (1, pack), head, place, block)

    def value_slots(cache: Any) -> fx.Tensor:
        """The value cache as the tensor (D, heads, slots)."""
        apart = strides(cache, value_block)
        block, place, head, step = apart if flash_layout else (apart[0], apart[3], apart[1], apart[2])
        return slots_of(cache, head_dim, step, head, place, block)

    def slots_of(cache: Any, elements: Any, step: Any, head: Any, place: Any, block: Any) -> fx.Tensor:
        shape = (elements, num_kv_heads, (block_size, MOST))
        return fx.make_view(start_of(cache), fx.make_layout(shape, (step, head, (place, block))))

    def of_head(lane: Any, kind: Any, together: int) -> fx.ThrCopy:
        """This thread's slice of the copy of a head: `together` elements at a time, 8 of each half."""
        atom = fx.make_copy_atom(fx.UniversalCopy(together * kind.width), kind)
        layout = fx.make_layout(((lanes,), (VECTOR, 2)), ((VECTOR,), (1, half)))
        return fx.make_tiled_copy(atom, layout, (head_dim,)).get_slice(lane)

    def store(lane: Any, values: Any, target: Any, *at: Any, condition: Any = None, together: int = VECTOR) -> None:
        """A thread's part of the head number `at` of `target`, (D,) or (D, heads, …)."""
        kind = target.element_type
        mine, here = of_head(lane, kind, together), (None, None, *at)
        to = mine.partition_D(target)[here]
        fragment = fx.make_rmem_tensor(to.shape, kind)
        fragment.store(values if values.dtype is kind else values.bitcast(kind))
        fx.copy(mine.tiled_copy, fragment, to, pred=predicate(condition))  # a head

    def narrowed(values: Any) -> Any:
        return round_to(values, element).to(fx.Float32)

    def rotated(values: Any, tables: Any, lane: Any, row: Any, active: Any) -> Any:
        """This thread's part of both halves, rounded at the end, or after each operation."""
        values = values.to(fx.Float32)
        first, second = values.shuffle(values, range(VECTOR)), values.shuffle(values, range(VECTOR, PACK))
        cos, sin = (table.read(row, lane, active) for table in tables)
        other = (cos, sin)
        if not reuse_freqs_front_part:
            other = tuple(table.read(row, lane + lanes, active) for table in tables)
        if round_each_operation:
            first_cos, second_sin = (narrowed(one) for one in (first * narrowed(cos), second * narrowed(sin)))
            second_cos, first_sin = (narrowed(a * narrowed(b)) for a, b in zip((second, first), other, strict=True))
            low, high = round_to(first_cos - second_sin, element), round_to(second_cos + first_sin, element)
        else:
            low = fx.fma(first, cos, second * -sin)  # there is a packed multiply-add of two f32, and no subtraction
            low, high = round_to(low, element), round_to(fx.fma(second, other[0], first * other[1]), element)
        return low.shuffle(high, range(PACK))

    def encoded(values: Any, scale: Any) -> Any:
        """What the cache holds: the values, or their fp8 bits."""
        if not apply_scale:
            return values
        limit = target.fp8.largest
        scaled = values.to(fx.Float32) * reciprocal(vector_of(scale)[0])
        return to_fp8(fx.max(fx.min(scaled, limit), -limit))

    class Table:
        """The rows of cosines, or of sines, of this workgroup's tokens, in LDS.

        A part of 8 elements is `chunks` times 16 bytes. The first 16 bytes of all parts lie side by side, then the
        second ones: no bank conflicts when neighbouring lanes take neighbouring parts.
        """

        def __init__(self, argument: Any, allocator: Any) -> None:
            start = start_of(argument)
            self.element = start.element_type
            self.parts = frequencies // VECTOR
            (apart, _), chunk = strides(argument, (frequencies,)), 128 // self.element.width
            self.chunks = chunk, VECTOR // chunk
            self.rows = fx.make_view(start, fx.make_layout((frequencies, MOST), (1, apart)))
            memory = allocator.allocate(fx.Array[self.element, plan.tokens * frequencies, 16]).ptr
            span = self.parts * chunk  # the first 16 bytes of a token's parts
            kept = ((*self.chunks, self.parts), plan.tokens), ((1, span * plan.tokens, chunk), span)
            self.kept = fx.make_view(memory, fx.make_layout(*kept))

        def slice(self, part: Any) -> fx.ThrCopy:
            atom = fx.make_copy_atom(fx.UniversalCopy(128), self.element)
            layout = fx.make_layout(((self.parts,), self.chunks), ((VECTOR,), (1, self.chunks[0])))
            return fx.make_tiled_copy(atom, layout, (frequencies,)).get_slice(part)

        def fetch(self, position: Any, part: Any, condition: Any) -> Any:
            mine = self.slice(part)
            source = mine.partition_S(self.rows)[None, None, position]
            fragment = fx.make_fragment_like(source)
            fx.copy(mine.tiled_copy, source, fragment, pred=predicate(condition))
            return fragment

        def keep(self, row: Any, part: Any, fragment: Any, condition: Any) -> None:
            mine = self.slice(part)
            to = mine.partition_D(self.kept)[None, None, row]
            fx.copy(mine.tiled_copy, fragment, to, pred=predicate(condition))

        def read(self, row: Any, part: Any, condition: Any) -> Any:
            """8 of a token, as Float32."""
            mine = self.slice(part)
            source = mine.partition_S(self.kept)[None, None, row]
            fragment = fx.make_fragment_like(source)
            fragment.fill(0)
            fx.copy(mine.tiled_copy, source, fragment, pred=predicate(condition))
            return fragment.load().reshape(VECTOR).to(fx.Float32)

    @flyc.kernel(
        name=f"rope_cache_{dtype_str}_d{head_dim}_q{num_q_heads}_kv{num_kv_heads}"
        + ("_rounded" if round_each_operation else ""),
        known_block_size=(plan.block, 1, 1),
    )
    def rope_cache_kernel(
        Q: Any,
        K: Any,
        V: Any,
        Positions: Any,
        CosCache: Any,
        SinCache: Any,
        SlotMapping: Any,
        KeyCache: Any,
        ValueCache: Any,
        Q_out: Any,
        K_out: Any,
        num_tokens: fx.Int32,
        KScale: Any,
        VScale: Any,
    ) -> None:
        load_arguments(
            Q, K, V, Positions, CosCache, SinCache, SlotMapping, KeyCache, ValueCache, Q_out, K_out, num_tokens
        )
        thread, group = fx.thread_idx.x, fx.block_idx.x // plan.parts
        first_token = group * plan.tokens
        allocator = fx.SharedAllocator()
        tables = [Table(one, allocator) for one in (CosCache, SinCache)]
        slots = allocator.allocate(fx.Array[fx.Int64, plan.tokens, 16]).peek()

        lane, mine = thread % lanes, thread // plan.span
        head = thread % plan.span // lanes + fx.block_idx.x % plan.parts * plan.heads_each
        kv_head = head - num_q_heads
        active = (mine < plan.tokens) & (first_token + mine < num_tokens)
        is_query = active & (head < num_q_heads)
        is_key = active & (kv_head >= 0) & (kv_head < num_kv_heads)

        def head_of(argument: Any, heads: int, number: Any) -> fx.Tensor:
            """This thread's head, (D,): of the tokens of the workgroup, and of all heads of these."""
            tokens = fx.flat_divide(heads_of(argument, heads, num_tokens), (head_dim, heads, plan.tokens))
            part: fx.Tensor = tokens[None, number, mine, 0, 0, fx.Int64(group)]
            return part

        # First of all everything that depends on nothing is asked for: the positions and slots, then the heads.
        parts = tables[0].parts
        fetches = []
        for first in fx.range_constexpr(0, plan.tokens * parts, plan.block):
            part = thread + first
            row, part = part // parts, part % parts
            here = (row < plan.tokens) & (first_token + row < num_tokens)
            position = load_number(Positions, first_token + row, here)
            slot = load_number(SlotMapping, first_token + row, here & (part == 0))
            fetches.append((row, part, here, position.to(fx.Int64), slot.to(fx.Int64)))
        copy = of_head(lane, element, VECTOR)
        sources = [head_of(Q, num_q_heads, head), *(head_of(one, num_kv_heads, kv_head) for one in (K, V))]
        values, new_values = (fx.make_fragment_like(copy.partition_S(one)) for one in sources[1:])
        values.fill(0)
        new_values.fill(0)
        for source, fragment, condition in zip(
            sources, (values, values, new_values), (is_query, is_key, is_key), strict=True
        ):
            fx.copy(copy.tiled_copy, copy.partition_S(source), fragment, pred=predicate(condition))

        for row, part, here, position, slot in fetches:
            rows = [table.fetch(position, part, here) for table in tables]
            for table, one in zip(tables, rows, strict=True):
                table.keep(row, part, one, here)
            if here & (part == 0):
                slots[row] = slot
        fx.barrier()

        result = rotated(values.load().reshape(PACK), tables, lane, mine, active)
        store(lane, result, head_of(Q_out, num_q_heads, head), condition=is_query)
        store(lane, result, head_of(K_out, num_kv_heads, kv_head), condition=is_key)
        if is_key:
            slot = slots[mine]
            if slot >= 0:
                keys, taken = encoded(result, KScale), encoded(new_values.load().reshape(PACK), VScale)
                store(lane, keys, key_slots(KeyCache), kv_head, slot)
                together = VECTOR if flash_layout else 1
                store(lane, taken, value_slots(ValueCache), kv_head, slot, together=together)

    def check(name: str, argument: Any, inner: tuple[int, ...], count: Any, *kinds: Any) -> None:
        """Refuse an argument of another type, or of less than `count` times the extents `inner`; None: of any number.

        One of another rank than those is contiguous, one of this rank has neighbours along its last dimension.
        """
        if not isinstance(argument, (fx.Tensor, fx.Pointer)):
            raise TypeError(f"argument {name!r}: expected a tensor or a pointer, got {type(argument).__name__}")
        if argument.element_type not in kinds:
            names = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"argument {name!r}: expected {names}, got {argument.element_type.__name__}")
        if isinstance(argument, fx.Pointer):
            return
        rank = fx.rank(argument)
        if rank != 1 + len(inner):
            least = None if count is None else fx.Int64(count) * math.prod(inner)
            expect_contiguous(name, argument, argument.element_type, least)
            return
        alone = name == "ValueCache" and not flash_layout and block_size == 1  # nothing has a neighbour there
        if not alone and argument.stride[rank - 1].unpack() != 1:
            raise ValueError(f"argument {name!r}: the elements of the last dimension must be neighbours (stride 1)")
        expect_extents(name, argument, inner, 0 if count is None else count)

    @flyc.jit
    def rope_cache(
        Q: Any,
        K: Any,
        V: Any,
        Positions: Any,
        CosCache: Any,
        SinCache: Any,
        SlotMapping: Any,
        KeyCache: Any,
        ValueCache: Any,
        Q_out: Any,
        K_out: Any,
        num_tokens: fx.Int32,
        KScale: Any,
        VScale: Any,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        expect_count("num_tokens", num_tokens)
        queries, keys = (num_q_heads, head_dim), (num_kv_heads, head_dim)
        of_queries, of_keys = (("Q", Q), ("Q_out", Q_out)), (("K", K), ("V", V), ("K_out", K_out))
        for name, one in of_queries:
            check(name, one, queries, num_tokens, element)
        for name, one in of_keys:
            check(name, one, keys, num_tokens, element)
        for name, one in (("CosCache", CosCache), ("SinCache", SinCache)):
            check(name, one, (frequencies,), None, element, fx.Float32)
        check("Positions", Positions, (), num_tokens, *((fx.Int64,) if pos_dtype == "i64" else (fx.Int32,)))
        check("SlotMapping", SlotMapping, (), num_tokens, fx.Int32, fx.Int64)
        stored = (getattr(fx, target.fp8.name), fx.Int8, fx.Uint8) if apply_scale else (element,)
        check("KeyCache", KeyCache, key_block, None, *stored)
        check("ValueCache", ValueCache, value_block, None, *stored)
        for name, one in (("KScale", KScale), ("VScale", VScale)):
            check(name, one, (), 1, fx.Float32)
        grid = (num_tokens + plan.tokens - 1) // plan.tokens * plan.parts
        rope_cache_kernel(
            Q,
            K,
            V,
            Positions,
            CosCache,
            SinCache,
            SlotMapping,
            KeyCache,
            ValueCache,
            Q_out,
            K_out,
            num_tokens,
            KScale,
            VScale,
        ).launch(grid=(grid,), block=(plan.block,), stream=stream)

    return rope_cache
