# SPDX-License-Identifier: Apache-2.0
"""Quantisation to 8 bits with one scale for each block of neighbouring elements of a row.

scale[m, b] = max |x| over block b of row m, over the largest number of the type (1 where that is 0);
q = round(x / scale[m, b]) to nearest even. The types are those of `per_token_quant_kernel`.

A thread holds one vector of 16 bytes, the 4 to 64 lanes of a block take its maximum among themselves: no LDS, no
barrier, unless a block has more lanes than a wave of the target. x is read once and q written once. A workgroup works
on neighbouring vectors of one row, 256 of them by default (`WorkgroupConfig`). What is left of a row after its last
whole vector is moved element by element, by the thread that comes after that of the last vector.

Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 (int8 only), gfx1201 and sm_90a, where N is a
multiple of the vector: NVIDIA's GPUs have no unaligned accesses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.arch import architecture
from ..common.checks import positive_integer
from ..common.convert import Divisor
from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.row_arguments import expect_count, expect_rows
from ..common.row_plan import aligned_vector
from ..common.rows import COMBINE, RowPlan, RowThread, RowView, Step, highest, row_start
from ..common.views import store_number
from ..common.workgroup_config import WorkgroupConfig, workgroup_config
from .codes import code


@rows_builder
def build_per_block_quant_module(
    N: int,
    dtype_str: str = "bf16",
    quant_dtype_str: str = "fp8",
    block: int = 128,
    config: WorkgroupConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher `(Input, Output, Scale, m_in, stream)`.

    Input and Output are those of `build_per_token_quant_module`; Scale (M, ceil(N / block)) is f32 with unit stride
    along a row. N is any number: the last block of a row may be shorter.

    `config` is another cut into workgroups than the default.

    Raises ValueError for an N that is not positive or that the target cannot access in whole vectors, where `block` is
    not 4 to 64 vectors of 16 bytes (and a power of two of them), for an unknown dtype; ImportError without the
    compiler.
    """
    element, target = float_type(dtype_str), code(quant_dtype_str)
    vector = 128 // element.width
    positive_integer("N", N)
    positive_integer("block", block)
    lanes = block // vector
    if block % vector or lanes not in (4, 8, 16, 32, 64):
        allowed = ", ".join(str(count * vector) for count in (4, 8, 16, 32, 64))
        raise ValueError(f"block must be one of {allowed} for {dtype_str}, got {block}")
    if aligned_vector(N, element.width) != vector:
        raise ValueError(
            f"N must be a multiple of {vector} for {dtype_str} on {architecture().name}, which has no unaligned "
            f"accesses, got {N}: pad the rows, or use build_per_token_quant_module"
        )
    whole, rest = N // vector, N % vector
    groups = -(-N // vector)  # threads of a row that have something
    config = workgroup_config("per_block_quant", config)
    threads, span = config.threads, config.threads * config.vectors
    parts = -(-groups // span)  # workgroups of a row
    scales_of_row = -(-N // block)
    plan = RowPlan(columns=N, vector=vector, threads=threads, rows=1, in_registers=True)

    def lanes_of_block(at: RowThread) -> Any:
        """This thread's slice of the tile (lanes of a block, blocks of a workgroup), a number for each thread."""
        layout = fx.make_layout(((lanes, threads // lanes), 1), ((1, lanes), 0))
        atom = fx.make_copy_atom(fx.UniversalCopy(32), fx.Float32)
        return fx.make_tiled_copy(atom, layout, (lanes, threads // lanes)).get_slice(at.lane)

    def quantise(at: RowThread, source: RowView, output: RowView, scales: Any, first: Any) -> None:
        """One vector of each thread, from the row's vector `first` on."""
        group = at.lane + first
        step = Step(vector, first, 0, whole if whole % span or rest else None)
        values, is_last = source.load_f32(step), group == whole
        if fx.const_expr(rest):
            last = [source.load_one(whole * vector + index, is_last) for index in range(rest)]
            filled = fx.Vector.from_elements([*last, *[fx.Float32(0.0)] * (vector - rest)])
            values = is_last.select(filled, values)
        mine = lanes_of_block(at)
        storage = None
        if lanes > fx.num_warp_threads():
            storage = at.allocator().allocate(fx.coop.tiled_reduce_storage(mine, 0, fx.Float32))
        largest = fx.coop.tiled_reduce(fx.Vector(highest([fx.absf(values)])), COMBINE["max"], mine, 0, storage=storage)
        scale = target.scale_of(largest)
        codes = target.quantise(values, Divisor(scale), output.element)
        output.store(step, codes)
        for index in fx.range_constexpr(rest):
            output.store_one(whole * vector + index, codes[index], is_last)
        store_number(scales, group // lanes, scale, (group % lanes == 0) & (group < groups))

    @flyc.kernel(name=f"per_block{block}_{target.name}_{dtype_str}_{N}", known_block_size=(threads, 1, 1))
    def per_block_quant_kernel(Input: Any, Output: Any, Scale: Any) -> None:
        at = RowThread(plan)
        row, part = fx.block_idx.x // parts, fx.block_idx.x % parts
        source, output = RowView(Input, at, row), RowView(Output, at, row)
        scales = row_start(Scale, row, scales_of_row)
        for one in fx.range_constexpr(config.vectors):
            quantise(at, source, output, scales, part * span + one * threads)

    @flyc.jit
    def per_block_quant(
        Input: Any, Output: Any, Scale: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ) -> None:
        expect_count("m_in", m_in)
        expect_rows("Input", Input, element, N, m_in)
        target.expect("Output", Output)
        expect_rows("Output", Output, Output.element_type, N, m_in, written=True)
        expect_rows("Scale", Scale, fx.Float32, scales_of_row, m_in, written=True)
        per_block_quant_kernel(Input, Output, Scale).launch(grid=(m_in * parts,), block=(threads,), stream=stream)

    return per_block_quant
