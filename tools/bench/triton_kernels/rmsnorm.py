# SPDX-License-Identifier: Apache-2.0
"""RMSNorm over rows: one program a row."""

import triton
import triton.language as tl


@triton.jit
def rmsnorm(x, weight, y, eps, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """y[row] = x[row] / sqrt(mean of squares + eps) * weight; BLOCK is a power of two, at least COLUMNS."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    if BLOCK == COLUMNS:
        values = tl.load(x + row * COLUMNS + places).to(tl.float32)
        w = tl.load(weight + places).to(tl.float32)
    else:
        inside = places < COLUMNS
        values = tl.load(x + row * COLUMNS + places, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + places, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) * (1.0 / COLUMNS) + eps)
    result = values * scale * w
    if BLOCK == COLUMNS:
        tl.store(y + row * COLUMNS + places, result)
    else:
        tl.store(y + row * COLUMNS + places, result, mask=places < COLUMNS)
