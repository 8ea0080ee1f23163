# SPDX-License-Identifier: Apache-2.0
"""Quantisation per token: one program a row."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quant(x, y, scales, LARGEST: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """scales[row] = max |x[row]| / LARGEST (1 for zeros), y[row] = x[row] / scales[row], rounded for integers."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    if BLOCK == COLUMNS:
        values = tl.load(x + row * COLUMNS + places).to(tl.float32)
    else:
        values = tl.load(x + row * COLUMNS + places, mask=places < COLUMNS, other=0.0).to(tl.float32)
    highest = tl.max(tl.abs(values), axis=0)
    scale = tl.where(highest > 0.0, highest * (1.0 / LARGEST), 1.0)
    tl.store(scales + row, scale)
    scaled = values * (1.0 / scale)
    if y.dtype.element_ty == tl.int8:
        scaled = libdevice.rint(scaled)
    if BLOCK == COLUMNS:
        tl.store(y + row * COLUMNS + places, scaled.to(y.dtype.element_ty))
    else:
        tl.store(y + row * COLUMNS + places, scaled.to(y.dtype.element_ty), mask=places < COLUMNS)
