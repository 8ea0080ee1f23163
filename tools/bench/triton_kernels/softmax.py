# SPDX-License-Identifier: Apache-2.0
"""Softmax over rows: one program a row."""

import triton
import triton.language as tl

LOG2_E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def softmax(x, y, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """y[row] = softmax(x[row]); BLOCK is a power of two, at least COLUMNS: only what sticks out is masked."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    if BLOCK == COLUMNS:
        values = tl.load(x + row * COLUMNS + places).to(tl.float32)
    else:
        values = tl.load(x + row * COLUMNS + places, mask=places < COLUMNS, other=float("-inf")).to(tl.float32)
    powers = tl.exp2((values - tl.max(values, axis=0)) * LOG2_E)
    result = powers * (1.0 / tl.sum(powers, axis=0))
    if BLOCK == COLUMNS:
        tl.store(y + row * COLUMNS + places, result)
    else:
        tl.store(y + row * COLUMNS + places, result, mask=places < COLUMNS)
