# SPDX-License-Identifier: Apache-2.0
"""RMSNorm over rows: one program a row."""

import triton
import triton.language as tl


@triton.jit
def rmsnorm(x, weight, y, columns, eps, BLOCK: tl.constexpr):
    """y[row] = x[row] / sqrt(mean of squares + eps) * weight; BLOCK is a power of two, at least `columns`."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * columns + places, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + eps)
    w = tl.load(weight + places, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * columns + places, values * scale * w, mask=inside)
