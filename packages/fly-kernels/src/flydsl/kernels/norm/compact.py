# SPDX-License-Identifier: Apache-2.0
"""How norms with rows and weights of 16 bits divide and hold a row on sm_90a, where that isn't the default.

Rows need bytes in flight, 40 to 96 KiB of a multiprocessor, and so several workgroups on each: registers decide. Most
of these norms hold a row in its own type and convert it anew for each pass over it. In f32 a row of 16,384 elements
leaves room for two workgroups of 256 threads; in its own type it takes half the registers, and there is room for three.
Weights then come through the L1, which is to keep them for the next row: some vectors of each are asked for before the
reductions, the others while results are stored. How many threads of a multiprocessor that is follows from what each
holds: 1536 hold 16 elements, 1024 hold 32, 768 hold 48 to 64, 512 hold up to 128. Others hold the row in f32 and ask
for the weights when it is normed.

What is said here was measured on an H200 (docs/benchmarks/hopper.md), as were the lengths and kernels that are not,
which were as fast or faster as they were. Norms with statistics are as those without, of f16 as of bf16 where it is
not said; behind an addition only what is said.
"""

from __future__ import annotations

from typing import NamedTuple

from ..common.arch import architecture
from ..common.row_plan import VECTOR_BYTES, RowPlan

__all__ = ["Compact", "Fetched", "form_of", "threads_of"]


class Compact(NamedTuple):
    """The row is held in its own type."""

    together: int  # workgroups of a multiprocessor, which bounds the registers of each
    ahead: int  # vectors of each weight that a thread asks for before the reductions
    depth: int  # and, when results are stored, how many vectors ahead of the one that is


class Fetched(NamedTuple):
    """The row is held in f32, and weights, which there would be room for, are not kept beside it."""

    together: int | None  # as of `Compact`; None: not bounded


# By threads of a row and elements of a thread; below 64 threads eight rows are a workgroup.
_LONG: dict[tuple[int, int], Compact | Fetched] = {(256, n): Compact(2, 2, 4) for n in range(72, 129, 8)}
_LAYERNORM = _LONG | {(32, 16): Compact(6, 2, 2), (32, 24): Compact(5, 0, 2), (32, 32): Compact(4, 0, 2)}
_LAYERNORM |= {(64, 56): Compact(12, 2, 4), (128, 16): Fetched(12), (128, 32): Compact(8, 1, 2)}
_LAYERNORM |= {(128, 48): Compact(6, 2, 4), (128, 56): Compact(6, 2, 4), (128, 64): Compact(4, 4, 6)}
_LAYERNORM |= {(256, 40): Compact(4, 0, 2)} | {(256, n): Compact(3, 2, 4) for n in (48, 56, 64)}
_ADD_LAYERNORM: dict[tuple[int, int], Compact | Fetched] = {
    (128, 64): Compact(4, 4, 4),
    (256, 64): Compact(2, 4, 4),
}
_RMSNORM = _LONG | {(32, 32): Compact(4, 0, 2)}
_RMSNORM_BF16 = _RMSNORM | {(256, n): Compact(3, 2, 4) for n in (40, 48, 56, 64)}


def threads_of(columns: int, bits: int, *, centred: bool) -> int | None:
    """How many threads share a row of a norm without an addition; None: as many as the defaults say.

    `centred`: LayerNorm, else RMSNorm.
    """

    def even(threads: int) -> bool:
        return bits == 16 and columns * bits % (8 * VECTOR_BYTES * threads) == 0

    if not architecture().nvidia:
        return None
    if 64 * 256 < columns <= 128 * 256 and even(256):
        return 256  # compact, two workgroups; in f32 a row takes the registers of a whole multiprocessor
    if centred and 1024 < columns < 4096 and even(64) and not even(128):
        return 64  # else half of 128 threads have a vector more, which the others wait for
    if not centred and columns == 16 * 256 and even(256):
        return 256
    return None


def form_of(plan: RowPlan, bits: int, *, centred: bool, residual: bool, bfloat: bool) -> Compact | Fetched | None:
    """How a norm with rows and weights of `bits` an element holds a row; None: in f32, with weights if there is room.

    `centred`: LayerNorm, else RMSNorm; `residual`: behind an addition; `bfloat`: of bf16.
    """
    usual = plan.rows == 1 or plan.block == 256
    if not architecture().nvidia or bits != 16 or not usual or not plan.in_registers:
        return None
    if plan.vector * bits != 8 * VECTOR_BYTES:
        return None
    if plan.columns % (plan.vector * plan.threads):
        # Without kept weights there is room for a third workgroup.
        few = not centred and not residual and plan.threads == 256 and plan.full_steps == 5
        return Fetched(None) if few else None
    if centred:
        table = _ADD_LAYERNORM if residual else _LAYERNORM
    else:
        table = {} if residual else _RMSNORM_BF16 if bfloat else _RMSNORM
    return table.get((plan.threads, plan.elements))
