# SPDX-License-Identifier: Apache-2.0
"""How norms, and softmax, of rows and weights of 16 bits divide and hold a row on sm_90a, if not as the defaults say.

Rows need bytes in flight, 40 to 96 KiB of a multiprocessor, and so several workgroups on each: registers decide. Most
of these norms hold a row in its own type and convert it anew for each pass over it. In f32 a row of 16,384 elements
leaves room for two workgroups of 256 threads; in its own type it takes half the registers, and there is room for three.
Weights then come through the L1, which is to keep them for the next row: some vectors of each are asked for before the
reductions, the others while results are stored. How many threads of a multiprocessor that is follows from what each
holds: 1536 hold 16 elements, 1024 hold 32, 768 hold 48 to 64, 512 hold up to 128. Others hold the row in f32 and ask
for the weights when it is normed. Softmax of long rows converts each element and takes its exponential twice.

A row comes out uneven where some threads have nothing in its last access. They get their first vector again, so that no
branch parts them from the others, and neither add nor store it.

What is said here was measured on an H200 (docs/benchmarks/hopper.md), as were the lengths and kernels that are not,
which were as fast or faster as they were; uneven lengths follow from those measured next to them. Norms with statistics
are as those without, of f16 as of bf16 where it is not said; behind an addition only what is said.
"""

from __future__ import annotations

from typing import NamedTuple

from ..common.arch import architecture
from ..common.row_plan import VECTOR_BYTES, RowPlan

__all__ = ["COMPACT_THREADS", "Compact", "Fetched", "form_of", "softmax_together", "threads_of"]


class Compact(NamedTuple):
    """The row is held in its own type."""

    together: int  # workgroups of a multiprocessor, which bounds the registers of each
    ahead: int  # vectors of each weight that a thread asks for before the reductions
    depth: int  # and, when results are stored, how many vectors ahead of the one that is


class Fetched(NamedTuple):
    """The row is held in f32, and weights, which there would be room for, are not kept beside it."""

    together: int  # as of `Compact`


COMPACT_THREADS = 256  # of a row of more than 16,384 elements

# By threads of a row and elements of a thread, in whole vectors; below 64 threads eight rows are a workgroup. Where a
# row comes out uneven, that takes registers: what is ahead there is as much as doesn't spill.
_LONG: dict[tuple[int, int], Compact | Fetched] = {(256, n): Compact(2, 2, 4) for n in range(72, 129, 8)}
_LAYERNORM = _LONG | {(32, 32): Compact(4, 0, 2), (128, 32): Compact(8, 1, 2), (128, 64): Compact(4, 4, 6)}
_LAYERNORM |= {(256, 40): Compact(4, 0, 2)}
_EVEN_LAYERNORM = _LAYERNORM | {(32, 16): Compact(6, 2, 2), (32, 24): Compact(5, 0, 2), (128, 16): Fetched(12)}
_EVEN_LAYERNORM |= {(128, n): Compact(6, 2, 4) for n in (48, 56)} | {(256, n): Compact(3, 2, 4) for n in (48, 56, 64)}
_UNEVEN_LAYERNORM = _LAYERNORM | {(128, 16): Compact(12, 0, 1), (128, 24): Compact(10, 0, 2)}
_UNEVEN_LAYERNORM |= {(128, 40): Compact(6, 2, 4), (128, 48): Compact(6, 2, 3), (128, 56): Compact(5, 2, 4)}
_UNEVEN_LAYERNORM |= {(256, 48): Compact(3, 2, 3), (256, 56): Compact(3, 0, 3), (256, 64): Compact(3, 0, 2)}
_ADD_LAYERNORM: dict[tuple[int, int], Compact | Fetched] = {
    (128, 64): Compact(4, 4, 4),
    (256, 64): Compact(2, 4, 4),
}
_RMSNORM = _LONG | {(32, 24): Compact(5, 0, 2), (32, 32): Compact(4, 0, 2), (256, 56): Compact(3, 2, 4)}
_RMSNORM_BF16_OR_UNEVEN = _RMSNORM | {(256, n): Compact(3, 2, 4) for n in (40, 48, 64)}


def _even(columns: int, bits: int, threads: int) -> bool:
    """Whether so many threads have the same number of whole vectors each."""
    return columns * bits % (8 * VECTOR_BYTES * threads) == 0


def threads_of(columns: int, bits: int, *, centred: bool) -> int | None:
    """How many threads share a row of a norm without an addition; None: as many as the defaults say.

    `centred`: LayerNorm, else RMSNorm.
    """
    if not architecture().nvidia or bits != 16 or not _even(columns, bits, 1):
        return None
    if 64 * COMPACT_THREADS < columns <= 128 * COMPACT_THREADS:
        return COMPACT_THREADS  # compact, two workgroups; in f32 a row takes the registers of a whole multiprocessor
    if centred and 1024 < columns < 3072 and _even(columns, bits, 64) and not _even(columns, bits, 128):
        return 64  # half of 128 threads would have a vector more, of two or three, which the others wait for
    if not centred and columns == 16 * 256:
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
    over = plan.groups % plan.threads  # threads with a vector in an access that not all have
    if residual:
        table = _ADD_LAYERNORM if centred and not over else {}
    elif centred:
        table = _UNEVEN_LAYERNORM if over else _EVEN_LAYERNORM
    else:
        table = _RMSNORM_BF16_OR_UNEVEN if bfloat or over else _RMSNORM
    elements = -(-plan.groups // plan.threads) * plan.vector
    if elements == 16 and 0 < over < plan.threads * 3 // 4:
        return None  # one of the two accesses is of too few threads
    return table.get((plan.threads, elements))


def softmax_together(columns: int, bits: int) -> int | None:
    """For how many workgroups a multiprocessor softmax holds rows compact, with `COMPACT_THREADS`; None: in f32."""
    if not architecture().nvidia or not _even(columns, bits, 1):
        return None
    if bits != 16 or not 64 * COMPACT_THREADS < columns <= 128 * COMPACT_THREADS:
        return None
    if columns <= 48 * 512 and _even(columns, bits, 512):
        return None  # with 64 registers in f32 there is room for two workgroups of 512 threads
    fits = columns <= 104 * COMPACT_THREADS or columns == 112 * COMPACT_THREADS  # in 80 registers
    return 3 if fits else 2
