# SPDX-License-Identifier: Apache-2.0
"""Quantisation per token: one program a row."""

import triton
import triton.language as tl


@triton.jit
def quant(x, y, scales, columns, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    """scales[row] = max |x[row]| / LARGEST (1 for zeros), y[row] = x[row] / scales[row], rounded for integers."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * columns + places, mask=inside, other=0.0).to(tl.float32)
    highest = tl.max(tl.abs(values), axis=0)
    scale = tl.where(highest > 0.0, highest / LARGEST, 1.0)
    tl.store(scales + row, scale)
    scaled = values / scale
    if y.dtype.element_ty == tl.int8:
        scaled = tl.floor(scaled + 0.5)
    tl.store(y + row * columns + places, scaled.to(y.dtype.element_ty), mask=inside)
