# SPDX-License-Identifier: Apache-2.0
"""Softmax over the rows of a matrix, forward.

y[m, n] = exp(x[m, n] - max_k x[m, k]) / sum_k exp(x[m, k] - max_k x[m, k]), in f32, rounded once to the element type.

One workgroup of 256 threads a row. A thread owns groups of `vector` neighbouring elements, 256 groups apart, so that
every access of a wave is one contiguous stretch. A row of up to 32,768 elements is read once, kept in registers, and
written once; a longer one is read twice, the first time with the running maximum and the rescaled running sum
(Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
"""

from __future__ import annotations

import math
from typing import Any

from ..common.dtypes import expect, float_type
from ..common.language import flyc, fx
from ..common.reduce import block_reduce

THREADS = 256
REGISTER_ELEMENTS = 128  # of one row, per thread: 128 VGPRs of 512
_LOG2_E = math.log2(math.e)


def build_softmax_module(M: int, N: int | str | None = None, dtype_str: str = "f32") -> Any:
    """Build the launcher of a row softmax.

    `build_softmax_module(M, N, dtype_str)`, or `build_softmax_module(N, dtype_str)`: M only documents the caller's
    intent, the number of rows is an argument of the launch.

    Returns a `@flyc.jit` function `(A, C, m_in, stream)`: A and C are (rows, N) tensors of `dtype_str` ("f32", "f16",
    "bf16") with unit stride along a row and any stride between rows; rows 0 to m_in - 1 of C are written.

    Raises ValueError for an N that is not positive and for an unknown dtype, ImportError without the compiler.
    """
    columns = M if N is None or isinstance(N, str) else N
    if isinstance(N, str):
        dtype_str = N
    if isinstance(columns, bool) or not isinstance(columns, int) or columns < 1:
        raise ValueError(f"softmax: N must be a positive integer, got {columns!r}")
    element = float_type(dtype_str)
    widest = 128 // element.width
    vector = math.gcd(columns, widest)  # a group is inside the row or outside it, never across its end
    groups = columns // vector
    steps = -(-groups // THREADS)
    ragged = groups % THREADS != 0
    in_registers = steps * vector <= REGISTER_ELEMENTS

    def load(atom: Any, row: Any, group: Any) -> Any:
        """The f32 values of one group; -inf where the group is outside the row."""
        fragment = fx.make_rmem_tensor(vector, element)
        if fx.const_expr(ragged):
            fragment.fill(-math.inf)
            fx.copy_atom_call(atom, row[None, group], fragment, pred=inside(group))
        else:
            fx.copy_atom_call(atom, row[None, group], fragment)
        return fragment.load().to(fx.Float32)

    def store(atom: Any, values: Any, row: Any, group: Any) -> None:
        fragment = fx.make_rmem_tensor(vector, element)
        fragment.store(values.to(element))
        if fx.const_expr(ragged):
            fx.copy_atom_call(atom, fragment, row[None, group], pred=inside(group))
        else:
            fx.copy_atom_call(atom, fragment, row[None, group])

    def inside(group: Any) -> Any:
        predicate = fx.make_rmem_tensor(1, fx.Boolean)
        predicate[0] = group < groups
        return predicate

    @flyc.kernel(name=f"softmax_{dtype_str}_{columns}", known_block_size=(THREADS, 1, 1))
    def softmax_kernel(A: fx.Tensor, C: fx.Tensor) -> None:
        thread = fx.thread_idx.x
        tile = fx.make_layout(vector, 1)
        source = fx.logical_divide(A[fx.block_idx.x, None], tile)
        target = fx.logical_divide(C[fx.block_idx.x, None], tile)
        atom = fx.make_copy_atom(fx.UniversalCopy(vector * element.width), element)
        waves = THREADS // fx.num_warp_threads()
        allocator = fx.SharedAllocator()
        max_slots = allocator.allocate(fx.Array[fx.Float32, waves]).peek()
        sum_slots = allocator.allocate(fx.Array[fx.Float32, waves]).peek()

        if fx.const_expr(in_registers):
            held = [load(atom, source, thread + step * THREADS) for step in range(steps)]
            highest = held[0].reduce("max")
            for values in held[1:]:
                highest = fx.max(highest, values.reduce("max"))
            highest = block_reduce(highest, "max", max_slots, thread, THREADS)
            held = [fx.exp2((values - highest) * _LOG2_E) for values in held]
            total = held[0].reduce("add")
            for values in held[1:]:
                total = total + values.reduce("add")
            scale = 1.0 / block_reduce(total, "add", sum_slots, thread, THREADS)
            for step, values in enumerate(held):
                store(atom, values * scale, target, thread + step * THREADS)
        else:
            highest = fx.Float32(-math.inf)
            total = fx.Float32(0.0)
            for step in range(steps):
                values = load(atom, source, thread + step * THREADS)
                risen = fx.max(highest, values.reduce("max"))
                # Until a finite value has come, both maxima are -inf and their difference is no number.
                kept = (risen == -math.inf).select(fx.Float32(0.0), risen)
                total = total * fx.exp2((highest - kept) * _LOG2_E) + fx.exp2((values - kept) * _LOG2_E).reduce("add")
                highest = risen
            row_highest = block_reduce(highest, "max", max_slots, thread, THREADS)
            kept = (row_highest == -math.inf).select(fx.Float32(0.0), row_highest)
            total = total * fx.exp2((highest - kept) * _LOG2_E)
            scale = 1.0 / block_reduce(total, "add", sum_slots, thread, THREADS)
            for step in range(steps):
                group = thread + step * THREADS
                values = load(atom, source, group)
                store(atom, fx.exp2((values - row_highest) * _LOG2_E) * scale, target, group)

    @flyc.jit
    def softmax(A: fx.Tensor, C: fx.Tensor, m_in: fx.Int32, stream: fx.Stream = fx.Stream(None)) -> None:
        expect("A", A, element, rank=2)
        expect("C", C, element, rank=2)
        softmax_kernel(A, C).launch(grid=(m_in,), block=(THREADS,), stream=stream)

    return softmax
