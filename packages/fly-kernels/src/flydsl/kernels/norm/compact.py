# SPDX-License-Identifier: Apache-2.0
"""Which norms hold a row in its own type, of 16 bits, and convert it anew for each pass over it: on sm_90a.

Long rows need bytes in flight, 64 to 96 KiB of a multiprocessor, and so several workgroups on each. In f32 a row of
16,384 elements leaves room for two of 256 threads; in its own type it takes half the registers, and there is room for
three. Weights come through the L1, which is to keep them for the next row: some vectors of each are asked for before
the reductions, the others while results are stored.

What is in the table was measured on an H200 (docs/benchmarks/hopper.md), as were the lengths and kernels that are not
in it, which were as fast or faster as they were.
"""

from __future__ import annotations

from typing import NamedTuple

from ..common.arch import architecture
from ..common.row_plan import VECTOR_BYTES, RowPlan

__all__ = ["Compact", "compact_of"]


class Compact(NamedTuple):
    """How a row is held compact."""

    together: int  # workgroups of a multiprocessor, which bounds the registers of each
    ahead: int  # vectors of each weight that a thread asks for before the reductions
    depth: int  # and, when results are stored, how many vectors ahead of the one that is


# By threads of a row and elements of a thread.
_LAYERNORM = {(128, 48): Compact(6, 0, 4), (128, 64): Compact(4, 4, 6)}
_LAYERNORM |= {(256, elements): Compact(3, 2, 4) for elements in (40, 48, 64)}
_ADD_LAYERNORM = {(128, 64): Compact(4, 4, 4), (256, 64): Compact(2, 4, 4)}
_RMSNORM_BF16 = {(256, elements): Compact(3, 2, 4) for elements in (40, 48, 64)}


def compact_of(plan: RowPlan, bits: int, *, centred: bool, residual: bool, bfloat: bool) -> Compact | None:
    """How a norm with rows and weights of `bits` an element holds a row compact; None: it doesn't.

    `centred`: LayerNorm, else RMSNorm; `residual`: behind an addition; `bfloat`: of bf16.
    """
    whole = plan.vector * bits == 8 * VECTOR_BYTES and plan.columns % (plan.vector * plan.threads) == 0
    if not architecture().nvidia or bits != 16 or not whole or not plan.in_registers or plan.rows > 1:
        return None
    if centred:
        table = _ADD_LAYERNORM if residual else _LAYERNORM
    else:
        table = _RMSNORM_BF16 if bfloat and not residual else {}
    return table.get((plan.threads, plan.elements))
