# SPDX-License-Identifier: Apache-2.0
"""Softmax over rows: one program a row."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    """y[row] = softmax(x[row]); BLOCK is a power of two, at least `columns`."""
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * columns + places, mask=inside, other=float("-inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + places, powers / tl.sum(powers, axis=0), mask=inside)
