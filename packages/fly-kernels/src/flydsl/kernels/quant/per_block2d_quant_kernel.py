# SPDX-License-Identifier: Apache-2.0
"""Quantisation to 8 bits with one scale for each block of 128 x 128: what weights of block-scaled GEMMs are.

scale[i, j] = max |x| over rows 128 i ... and columns 128 j ..., over the largest number of the type (1 where that is
0); q = round(x / scale) to nearest even. The types, and the rounding of both divisions, are those of
`per_token_quant_kernel`. The last blocks of rows and columns may be smaller.

A workgroup has a block: a thread holds a vector of 16 bytes of every 16th (of 16-bit types) or 8th row, the maximum
goes through LDS once. x is read once and q written once.

Limits: N a multiple of 16 bytes' elements, up to 2^20, any M; gfx942, gfx950, gfx1201 and sm_90a (gfx1100: int8 only).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.arch import architecture
from ..common.checks import positive_integer
from ..common.convert import Divisor
from ..common.dtypes import float_type, rows_builder
from ..common.language import flyc, fx
from ..common.reduce import block_reduce
from ..common.row_arguments import expect_count, expect_rows
from ..common.rows import highest, row_start
from ..common.utils import cdiv
from ..common.views import predicate, store_number
from ..gemm.arguments import row_strides, tile_tensor
from .codes import code

__all__ = ["BLOCK", "build_per_block2d_quant_module"]

BLOCK = 128
_THREADS = 256
_MOST_COLUMNS = 1 << 20
_PAST = 1 << 30  # bytes: past the end of any block's resource


@rows_builder
def build_per_block2d_quant_module(
    N: int, dtype_str: str = "bf16", quant_dtype_str: str = "fp8"
) -> Callable[..., None]:
    """Build the launcher `(Input, Output, Scale, m_in, stream)`.

    Input (M, N) of `dtype_str` ("f32", "f16", "bf16") and Output (M, N) of `quant_dtype_str` ("fp8", "int8") have unit
    stride along a row; Scale (ceil(M / 128), ceil(N / 128)) is f32. An fp8 output may be an int8 or uint8 tensor.

    Raises ValueError for an N that is no multiple of 8 (f32: 4) or too large and for an unknown dtype, ImportError
    without the compiler.
    """
    element, target = float_type(dtype_str), code(quant_dtype_str)
    vector = 128 // element.width
    positive_integer("N", N, _MOST_COLUMNS)
    if N % vector:
        raise ValueError(f"N must be a multiple of {vector} for {dtype_str}, got {N}: pad the rows")
    lanes = BLOCK // vector
    down = _THREADS // lanes
    across = cdiv(N, BLOCK)
    nvidia = architecture().nvidia

    @flyc.kernel(name=f"per_block2d_{target.name}_{dtype_str}_{N}", known_block_size=(_THREADS, 1, 1))
    def per_block2d_quant_kernel(Input: Any, Output: Any, Scale: Any, m_in: fx.Int32) -> None:
        thread = fx.thread_idx.x
        first_row, first_column = fx.block_idx.y * BLOCK, fx.block_idx.x * BLOCK
        rows, columns = fx.min(m_in - first_row, BLOCK), fx.min(N - first_column, BLOCK)
        lane, row = thread % lanes, thread // lanes
        past = (lane * vector < columns).select(0, 1)

        def mine(tensor: Any, kind: Any) -> Any:
            """(elements of a vector, rows) of this thread; what does not exist is past the end of the resource.

            NVIDIA's GPUs have no resources, but predicates: there it is what `move` leaves out.
            """
            width, stride = kind.width // 8, fx.Int32(N)
            if isinstance(tensor, fx.Tensor) and fx.rank(tensor) == 2:
                stride = fx.Int32(tensor.stride[0].unpack())
            if fx.const_expr(nvidia):
                start = row_start(tensor, first_row, N) + first_column
                layout = fx.make_layout((vector, lanes, down, BLOCK // down), (1, vector, stride, stride * down))
                return fx.make_view(start, layout)[None, lane, row, None]
            size = ((rows - 1) * stride + columns) * width
            shape = vector, lanes, down, BLOCK // down, 2
            layout = fx.make_layout(shape, (1, vector, stride, stride * down, _PAST // width))
            tile = tile_tensor(tensor, kind, first_row, stride * width, size, first_column * width, layout)
            return tile[None, lane, row, None, past]

        def move(kind: Any, source: Any, target: Any) -> None:
            """Copy the vectors of this thread that exist."""
            if fx.const_expr(not nvidia):
                fx.copy(fx.make_copy_atom(fx.rocdl.BufferCopy(kind.width * vector), kind), source, target)
                return
            atom = fx.make_copy_atom(fx.UniversalCopy(kind.width * vector), kind)
            for one in fx.range_constexpr(BLOCK // down):
                there = (lane * vector < columns) & (row + one * down < rows)
                fx.copy(atom, source[None, one], target[None, one], pred=predicate(there))

        source = mine(Input, element)
        held = fx.make_fragment_like(source)
        if fx.const_expr(nvidia):
            held.fill(0)  # which a buffer reads past its end
        move(element, source, held)
        values = [held[None, one].load().to(fx.Float32) for one in range(BLOCK // down)]
        slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, _THREADS // fx.num_warp_threads(), 16]).peek()
        largest = block_reduce(highest(fx.absf(one) for one in values), "max", slots, thread, _THREADS)
        scale = target.scale_of(largest)
        divisor = Divisor(scale)
        output = mine(Output, Output.element_type)
        codes = fx.make_fragment_like(output)
        for one in fx.range_constexpr(BLOCK // down):
            codes[None, one].store(target.quantise(values[one], divisor, Output.element_type))
        move(Output.element_type, codes, output)
        store_number(Scale, fx.block_idx.y * across + fx.block_idx.x, scale, thread == 0)

    @flyc.jit
    def per_block2d_quant(
        Input: Any, Output: Any, Scale: Any, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ) -> None:
        expect_count("m_in", m_in)
        expect_rows("Input", Input, element, N, m_in)
        target.expect("Output", Output)
        expect_rows("Output", Output, Output.element_type, N, m_in, written=True)
        expect_rows("Scale", Scale, fx.Float32, across, cdiv(m_in, BLOCK), written=True)
        row_strides({"Input": Input, "Output": Output}, {"Input": N, "Output": N}, BLOCK)  # refuses those too far apart
        per_block2d_quant_kernel(Input, Output, Scale, m_in).launch(
            grid=(across, cdiv(m_in, BLOCK)), block=(_THREADS,), stream=stream
        )

    built: Callable[..., None] = per_block2d_quant
    return built
