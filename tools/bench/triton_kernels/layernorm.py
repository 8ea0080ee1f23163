# SPDX-License-Identifier: Apache-2.0
"""LayerNorm over rows: one program a row."""

import triton
import triton.language as tl


@triton.jit
def layernorm(x, weight, bias, y, columns, eps, BLOCK: tl.constexpr):
    """y[row] = (x[row] - mean) / sqrt(variance + eps) * weight + bias; BLOCK is a power of two, at least `columns`."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * columns + places, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w = tl.load(weight + places, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(bias + places, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * columns + places, centred * scale * w + b, mask=inside)
