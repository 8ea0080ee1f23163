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

Limits: heads of 16 times a power of two elements up to 4096, up to 65,536 heads and places of a cache block, caches of
any size; positions and slots are not checked. gfx942 and gfx950.
"""

from __future__ import annotations

import math
from typing import Any

from ..common.arch import architecture
from ..common.checks import positive_integer
from ..common.contiguous import expect_contiguous
from ..common.convert import reciprocal, round_to, to_fp8
from ..common.dtypes import float_type
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_extents
from ..common.rows import pointer
from .rope_config import RopeConfig, plan_rope, rope_config

_MOST_LANES = 256  # of a head
_MOST_HEADS = 1 << 16  # and places of a block of the cache
PACK = 16  # elements of the innermost dimension of the packed key cache


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
    if head_dim % PACK or lanes < 1 or _MOST_LANES % lanes:
        raise ValueError(f"head_dim must be 16 times a power of two up to 4096, got {head_dim}")
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
) -> Any:
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
    head_dim that is not 16 times a power of two. ImportError without the compiler.
    """
    _check(head_dim, rotary_dim, num_q_heads, num_kv_heads, block_size, is_neox, dtype_str, pos_dtype)
    element = float_type(dtype_str)
    half, vector = head_dim // 2, 8
    lanes = head_dim // PACK  # threads of a head
    frequencies = half if reuse_freqs_front_part else head_dim
    key_block: tuple[int, ...] = (block_size, num_kv_heads, head_dim)  # what a block of a cache holds
    value_block = key_block
    if not flash_layout:
        key_block = (num_kv_heads, head_dim // PACK, block_size, PACK)
        value_block = (num_kv_heads, head_dim, block_size)
    target = architecture()
    plan = plan_rope(num_q_heads + num_kv_heads, lanes, rope_config(config))

    def offset(argument: Any, index: tuple[Any, ...], inner: tuple[int, ...]) -> Any:
        """Of the element at `index`, in an argument whose extents but the first are `inner`."""
        if isinstance(argument, fx.Tensor) and fx.rank(argument) == len(index):
            strides = [argument.stride[mode].unpack() for mode in range(len(index) - 1)] + [1]
        else:
            strides = [math.prod(inner[mode:]) for mode in range(len(index))]
        at = fx.Int64(0)
        for one, stride in zip(index, strides, strict=True):
            at = at + fx.Int64(one) * stride
        return at

    def load(start: Any, count: int) -> Any:
        return fx.make_view(start, fx.make_layout(count, 1)).load()

    def store(start: Any, values: Any) -> None:
        fx.make_view(start, fx.make_layout(values.numel, 1)).store(values)

    def narrowed(values: Any) -> Any:
        return round_to(values, element).to(fx.Float32)

    def rotated(first: Any, second: Any, tables: Any, lane: Any) -> tuple[Any, Any]:
        """This thread's part of both halves, rounded at the end, or after each operation."""
        first, second = first.to(fx.Float32), second.to(fx.Float32)
        cos, sin = (table.read(lane) for table in tables)
        if round_each_operation:
            other = (cos, sin) if reuse_freqs_front_part else [table.read(lane + lanes) for table in tables]
            first_cos, second_sin = (narrowed(one) for one in (first * narrowed(cos), second * narrowed(sin)))
            second_cos, first_sin = (narrowed(a * narrowed(b)) for a, b in zip((second, first), other, strict=True))
            return round_to(first_cos - second_sin, element), round_to(second_cos + first_sin, element)
        low = fx.fma(first, cos, second * -sin)  # there is a packed multiply-add of two f32, and no subtraction
        if not reuse_freqs_front_part:
            cos, sin = (table.read(lane + lanes) for table in tables)
        high = fx.fma(second, cos, first * sin)
        return round_to(low, element), round_to(high, element)

    def encoded(values: Any, scale: Any) -> Any:
        """What the cache holds: the values, or their fp8 bits."""
        if not apply_scale:
            return values
        limit = target.fp8_max
        scaled = values.to(fx.Float32) * reciprocal(pointer(scale).load())
        return to_fp8(fx.max(fx.min(scaled, limit), -limit))

    def cache_start(cache: Any) -> Any:
        return fx.recast_iter(fx.Int8, pointer(cache)) if apply_scale else pointer(cache)

    def write_cache(KeyCache: Any, ValueCache: Any, slot: Any, head: Any, lane: Any, keys: Any, values: Any) -> None:
        """keys, values: the pairs (part of the first half, part of the second)."""
        block, place = slot // block_size, slot % block_size
        key_start, value_start = cache_start(KeyCache), cache_start(ValueCache)
        for which in fx.range_constexpr(2):
            first = lane * vector + which * half
            if flash_layout:
                index = (block, place, head, first)
                key_at = offset(KeyCache, index, key_block)
                at = offset(ValueCache, index, value_block)
                store(value_start + at, values[which])
            else:
                packed = (block, head, first // PACK, place, first % PACK)
                key_at = offset(KeyCache, packed, key_block)
                for number in fx.range_constexpr(vector):
                    index = (block, head, first + number, place)
                    at = offset(ValueCache, index, value_block)
                    (value_start + at).store(values[which][number])
            store(key_start + key_at, keys[which])

    class Table:
        """The rows of cosines, or of sines, of this workgroup's tokens, in LDS.

        A part of 8 elements is `chunks` times 16 bytes. The first 16 bytes of all parts lie side by side, then the
        second ones: no bank conflicts when neighbouring lanes take neighbouring parts.
        """

        def __init__(self, argument: Any, allocator: Any, token: Any) -> None:
            self.argument = argument
            self.element = pointer(argument).element_type
            self.chunk = 128 // self.element.width
            self.chunks = range(vector // self.chunk)
            self.parts = frequencies // vector
            elements = plan.tokens * frequencies
            self.memory = allocator.allocate(fx.Array[self.element, elements, 16]).ptr
            self.row = token * self.parts

        def place(self, part: Any, chunk: int) -> Any:
            return self.memory + (part + chunk * (plan.tokens * self.parts)) * self.chunk

        def fetch(self, position: Any, part: Any) -> Any:
            at = offset(self.argument, (position, part * vector), (frequencies,))
            return load(pointer(self.argument) + at, vector)

        def keep(self, part: Any, values: Any) -> None:
            for chunk in self.chunks:
                wanted = list(range(chunk * self.chunk, (chunk + 1) * self.chunk))
                self.place(part, chunk).store(values.shuffle(values, wanted))

        def read(self, part: Any) -> Any:
            """8 of this thread's token, as Float32."""
            kind: Any = fx.VectorAlias(self.element, self.chunk)
            chunks = [self.place(self.row + part, chunk).load(kind) for chunk in self.chunks]
            return fx.Vector.from_elements([one[i] for one in chunks for i in range(self.chunk)]).to(fx.Float32)

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
        thread, first_token = fx.thread_idx.x, fx.block_idx.x // plan.parts * plan.tokens
        allocator = fx.SharedAllocator()
        mine = thread // plan.span
        tables = [Table(one, allocator, mine) for one in (CosCache, SinCache)]
        slots = allocator.allocate(fx.Array[fx.Int64, plan.tokens, 16]).peek()

        lane = thread % lanes
        head = thread % plan.span // lanes + fx.block_idx.x % plan.parts * plan.heads_each
        token = first_token + mine
        active = (mine < plan.tokens) & (token < num_tokens)
        queries, keys = (num_q_heads, head_dim), (num_kv_heads, head_dim)
        kv_head = head - num_q_heads
        is_query = active & (head < num_q_heads)
        is_key = active & (kv_head >= 0) & (kv_head < num_kv_heads)

        # The first threads fetch the tables' rows; the heads are loaded while these are on their way.
        parts = tables[0].parts
        for first in fx.range_constexpr(0, plan.tokens * parts, plan.block):
            part = thread + first
            whose = first_token + part // parts
            if (part < plan.tokens * parts) & (whose < num_tokens):
                position = (pointer(Positions) + whose).load().to(fx.Int64)
                rows = [table.fetch(position, part % parts) for table in tables]
                for table, row in zip(tables, rows, strict=True):
                    table.keep(part, row)
                if part % parts == 0:
                    slots[part // parts] = (pointer(SlotMapping) + whose).load().to(fx.Int64)
        low, high = fx.full(vector, 0, element), fx.full(vector, 0, element)
        if is_query:
            source = pointer(Q) + offset(Q, (token, head, lane * vector), queries)
            low, high = load(source, vector), load(source + half, vector)
        if is_key:
            source = pointer(K) + offset(K, (token, kv_head, lane * vector), keys)
            low, high = load(source, vector), load(source + half, vector)
        fx.barrier()

        if active:
            low, high = rotated(low, high, tables, lane)
        if is_query:
            target = pointer(Q_out) + offset(Q_out, (token, head, lane * vector), queries)
            store(target, low)
            store(target + half, high)
        if is_key:
            place = (token, kv_head, lane * vector)
            target = pointer(K_out) + offset(K_out, place, keys)
            store(target, low)
            store(target + half, high)
            slot = slots[mine]
            if slot >= 0:
                source = pointer(V) + offset(V, place, keys)
                pair = (load(source, vector), load(source + half, vector))
                new_keys = (encoded(low, KScale), encoded(high, KScale))
                new_values = (encoded(pair[0], VScale), encoded(pair[1], VScale))
                write_cache(KeyCache, ValueCache, slot, kv_head, lane, new_keys, new_values)

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
        stored = (getattr(fx, target.fp8), fx.Int8, fx.Uint8) if apply_scale else (element,)
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
