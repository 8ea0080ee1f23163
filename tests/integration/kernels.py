# SPDX-License-Identifier: Apache-2.0
"""Small kernels of the language that the integration tests share."""

import flydsl.compiler as flyc
import flydsl.expr as fx

BLOCK = 64


@flyc.kernel
def scale_kernel(A: fx.Tensor, B: fx.Tensor, factor: fx.Float32, n: fx.Int32):
    i = fx.block_idx.x * BLOCK + fx.thread_idx.x
    if i < n:
        B[i] = A[i] * factor


@flyc.jit
def scale(A: fx.Tensor, B: fx.Tensor, factor: fx.Float32, n: fx.Int32):
    """B[:n] = A[:n] * factor."""
    scale_kernel(A, B, factor, n).launch(grid=((n + BLOCK - 1) // BLOCK,), block=(BLOCK,))


@flyc.kernel
def vector_add_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * BLOCK + fx.thread_idx.x
    if i < n:
        C[i] = A[i] + B[i]


@flyc.jit
def vector_add(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32):
    """C[:n] = A[:n] + B[:n], as packages/fly-runtime/examples/call_from_cpp.cpp calls it."""
    vector_add_kernel(A, B, C, n).launch(grid=((n + BLOCK - 1) // BLOCK,), block=(BLOCK,))
