# SPDX-License-Identifier: Apache-2.0
"""LayerNorm over rows: one program a row."""

import triton
import triton.language as tl


@triton.jit
def layernorm(x, weight, bias, y, eps, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """y[row] = (x[row] - mean) / sqrt(variance + eps) * weight + bias; BLOCK is a power of two, at least COLUMNS."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    if BLOCK == COLUMNS:
        values = tl.load(x + row * COLUMNS + places).to(tl.float32)
        w = tl.load(weight + places).to(tl.float32)
        b = tl.load(bias + places).to(tl.float32)
    else:
        inside = places < COLUMNS
        values = tl.load(x + row * COLUMNS + places, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + places, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(bias + places, mask=inside, other=0.0).to(tl.float32)
    centred = values - tl.sum(values, axis=0) * (1.0 / COLUMNS)
    if BLOCK != COLUMNS:
        centred = tl.where(places < COLUMNS, centred, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) * (1.0 / COLUMNS) + eps)
    result = centred * scale * w + b
    if BLOCK == COLUMNS:
        tl.store(y + row * COLUMNS + places, result)
    else:
        tl.store(y + row * COLUMNS + places, result, mask=places < COLUMNS)
