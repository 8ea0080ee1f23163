# SPDX-License-Identifier: Apache-2.0
"""The second half of attention with split keys: the parts of a row, weighed by their denominators, make its result.

A part is softmax over its keys times their values, and the base-2 logarithm m of its denominator. The row's result is
sum(2^(m_i - m) O_i) / sum(2^(m_i - m)), with m the largest m_i; a part without a key has m_i = -inf and the weight 0.
A sink is another term of the denominator.

A thread has 8 neighbouring elements of one row: two loads of 16 bytes for each part, one store of 16 bytes. Rows of a
workgroup follow each other in one head, so that parts are read in stretches of 4 bytes by the head's elements, and the
logarithms as well as the LSE in one. Every element is read once and written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..common.language import flyc, fx
from ..common.utils import cdiv
from ..common.views import MOST, start_of
from .matrix import exp2
from .online_softmax import NO_KEY

_THREADS = 256
_ELEMENTS = 8  # of a thread
_LN_2, _LOG2_E = math.log(2.0), math.log2(math.e)


def build_split_combine(
    num_heads: int, head_dim: int, element: type[fx.Numeric], splits: int, *, return_lse: bool, sink: bool
) -> Callable[..., None]:
    """Return the function `(Parts, PartsLSE, Out, LSE, Sink, batch, seq_len, stream)` that launches the kernel.

    It is to be called in a `@flyc.jit` body. Parts is (batch, splits, seq_len, num_heads, head_dim) f32 and PartsLSE
    (batch, splits, num_heads, seq_len) f32, see `AttentionVariant.splits`; Out is (batch, seq_len, num_heads, head_dim)
    of `element`, LSE (batch, num_heads, seq_len) f32, natural logarithms, only touched with `return_lse`; Sink f32
    (num_heads), only read with `sink`. The caller has checked the tensors.
    """
    threads_a_row = head_dim // _ELEMENTS
    rows = _THREADS // threads_a_row  # of a workgroup
    extras = ("_lse" if return_lse else "") + ("_sink" if sink else "")
    name = f"flash_attn_combine_{element.__name__}_d{head_dim}_splits{splits}{extras}"

    @flyc.kernel(name=name, known_block_size=(_THREADS, 1, 1))
    def split_combine_kernel(
        Parts: fx.Tensor,
        PartsLSE: fx.Tensor,
        Out: fx.Tensor,
        given: dict[str, fx.Tensor],
        seq_len: fx.Int32,
    ) -> None:
        thread, head, batch = fx.thread_idx.x, fx.block_idx.y, fx.Int64(fx.block_idx.z)
        row = fx.block_idx.x * rows + thread // threads_a_row
        if (thread < threads_a_row * rows) & (row < seq_len):
            part_elements, part_rows = fx.Int64(seq_len) * (num_heads * head_dim), fx.Int64(seq_len) * num_heads
            # (elements of a head, rows, heads, batches), the parts with a mode of their own; and (rows, heads, …).
            extents, steps = (head_dim, seq_len, num_heads), (1, num_heads * head_dim, head_dim)
            whole = fx.make_layout((*extents, MOST), (*steps, part_elements))
            in_parts = fx.make_layout((*extents, splits, MOST), (*steps, part_elements, part_elements * splits))
            parts = fx.make_view(start_of(Parts), in_parts)
            by_row = fx.make_layout((seq_len, num_heads, splits, MOST), (1, seq_len, part_rows, part_rows * splits))
            logs = fx.make_view(start_of(PartsLSE), by_row)[row, head, None, batch]

            highest = fx.Float32(NO_KEY)
            if fx.const_expr(sink):
                term = fx.rocdl.readfirstlane(given["sink"][head]) * _LOG2_E
                highest = fx.maxnumf(highest, term)
            for part in range(splits):
                highest = fx.maxnumf(highest, logs[part])
            total, output = fx.Float32(0.0), fx.full(_ELEMENTS, 0.0, fx.Float32)
            if fx.const_expr(sink):
                total = exp2(fx.full(1, term - highest, fx.Float32))[0]

            def slice_of(kind: Any) -> fx.ThrCopy:
                atom = fx.make_copy_atom(fx.UniversalCopy128b(), kind)
                across = fx.make_layout((threads_a_row, rows), (1, threads_a_row))
                return fx.make_tiled_copy_tv(atom, across, fx.make_layout((_ELEMENTS, 1), (1, 1))).get_slice(thread)

            def tile_of(tensor: Any) -> Any:
                return fx.flat_divide(tensor, (head_dim, rows))

            get, put = slice_of(fx.Float32), slice_of(element)
            source = get.partition_S(tile_of(parts[None, None, head, None, batch])[None, None, 0, fx.block_idx.x, None])
            for part in range(splits):
                weight = exp2(fx.full(1, logs[part] - highest, fx.Float32))[0]
                total = total + weight
                fragment = fx.make_fragment_like(source[None, None, None, 0])
                fx.copy(get.tiled_copy, source[None, None, None, part], fragment)
                output = output + fragment.load().reshape(_ELEMENTS) * weight
            inverse = (total > 0.0).select(1.0 / total, fx.Float32(0.0))
            outputs = fx.make_view(start_of(Out), whole)[None, None, head, batch]
            target = put.partition_D(tile_of(outputs)[None, None, 0, fx.block_idx.x])
            result = fx.make_fragment_like(target)
            result.store((output * inverse).to(element))
            fx.copy(put.tiled_copy, result, target)
            if fx.const_expr(return_lse):
                of_batch = fx.make_layout((seq_len, num_heads, MOST), (1, seq_len, part_rows))
                lse = fx.make_view(start_of(given["lse"]), of_batch)
                if thread % threads_a_row == 0:
                    lse[row, head, batch] = (highest + fx.log2(total)) * _LN_2

    def launch(
        Parts: Any,
        PartsLSE: Any,
        Out: Any,
        LSE: Any,
        Sink: Any,
        batch: Any,
        seq_len: Any,
        stream: Any,
    ) -> None:
        given = {**({"lse": LSE} if return_lse else {}), **({"sink": Sink} if sink else {})}
        split_combine_kernel(Parts, PartsLSE, Out, given, seq_len).launch(
            grid=(cdiv(seq_len, rows), num_heads, batch), block=(_THREADS,), stream=stream
        )

    return launch
