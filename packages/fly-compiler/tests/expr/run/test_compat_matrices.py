# SPDX-License-Identifier: Apache-2.0
"""Code written for other implementations of the language: matrix and wave operations."""

import os

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import arith, gpu, range_constexpr, rocdl
from flydsl.expr.typing import T


@pytest.mark.parametrize("spelling", ["list", "operands"])
def test_direct_mfma(spelling):
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        lane = fx.thread_idx.x
        row, group = lane % 16, lane // 16
        Vec = fx.Vector
        va = Vec.from_elements([a[row, group * 4 + j] for j in range_constexpr(4)])
        vb = Vec.from_elements([b[row, group * 4 + j] for j in range_constexpr(4)])
        acc = Vec.filled(4, 0.0, fx.Float32)
        if fx.const_expr(spelling == "list"):
            acc = Vec(rocdl.mfma_f32_16x16x16f16(T.f32x4, [va.ir_value(), vb.ir_value(), acc.ir_value(), 0, 0, 0]))
        else:
            acc = rocdl.mfma_f32_16x16x16_f16(va, vb, acc)
        for j in range_constexpr(4):
            c[group * 4 + j, row] = acc[j]

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        kernel(a, b, c).launch(grid=(1,), block=(64,))

    a, b, c = torch.randn(16, 16).half(), torch.randn(16, 16).half(), torch.empty(16, 16)
    launch(a, b, c)
    assert torch.allclose(c, a.float() @ b.float().t(), atol=1e-4)


def matrices(kernel, a, b, dtype=torch.float32):
    """Run a kernel of one wave on two matrices; return the 16 x 16 result."""

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        kernel(a, b, c).launch(grid=(1,), block=(64,))

    c = torch.empty(16, 16, dtype=dtype)
    launch(a, b, flyc.from_dlpack(c))
    return c


def packed(t, row, group):
    """Return 8 bytes of a row as one 64-bit operand."""
    words = fx.Vector.from_elements([t[row, group * 2 + j] for j in range_constexpr(2)])
    return words.bitcast(fx.Int64)[0]


def test_int8_and_fp8_mfma():
    @flyc.kernel
    def ints(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        row, group = fx.thread_idx.x % 16, fx.thread_idx.x // 16
        acc = fx.Vector.filled(4, 0, fx.Int32)
        acc = rocdl.mfma_i32_16x16x32i8(packed(a, row, group), packed(b, row, group), acc)
        for j in range_constexpr(4):
            c[group * 4 + j, row] = acc[j]

    @flyc.kernel
    def floats(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        row, group = fx.thread_idx.x % 16, fx.thread_idx.x // 16
        acc = fx.Vector.filled(4, 0.0, fx.Float32)
        acc = rocdl.mfma_f32_16x16x32_fp8(packed(a, row, group), packed(b, row, group), acc)
        for j in range_constexpr(4):
            c[group * 4 + j, row] = acc[j]

    a, b = (torch.randint(-100, 100, (16, 32), dtype=torch.int8) for _ in range(2))
    c = matrices(ints, a.view(torch.int32), b.view(torch.int32), torch.int32)
    assert torch.equal(c, a.int() @ b.int().t())
    kind = torch.float8_e4m3fnuz if os.environ.get("FLYDSL_GPU_ARCH", "gfx942") == "gfx942" else torch.float8_e4m3fn
    a, b = (torch.randn(16, 32).to(kind) for _ in range(2))
    c = matrices(floats, a.view(torch.int32), b.view(torch.int32))
    assert torch.allclose(c, a.float() @ b.float().t(), atol=1e-4)


def test_mfma_atom():
    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor):
        atom = fx.make_mma_atom(rocdl.MFMA(16, 16, 4, fx.Float32))
        mma = fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (0, 0, 0)))
        part = mma.get_slice(fx.thread_idx.x)
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        fa, fb, fc = part.make_fragment_A(a), part.make_fragment_B(b), part.make_fragment_C(c)
        for make, source, fragment in ((fx.make_tiled_copy_A, a, fa), (fx.make_tiled_copy_B, b, fb)):
            copy = make(atom, mma).get_slice(fx.thread_idx.x)
            fx.copy(atom, copy.partition_S(source), copy.retile(fragment))
        fc.fill(0.0)
        fx.gemm(mma, fc, fa, fb, fc)
        out = fx.make_tiled_copy_C(atom, mma).get_slice(fx.thread_idx.x)
        fx.copy(atom, out.retile(fc), out.partition_D(c))

    a, b = torch.randn(16, 16), torch.randn(16, 16)
    c = matrices(kernel, flyc.from_dlpack(a), flyc.from_dlpack(b))
    assert torch.allclose(c, a @ b.t(), atol=1e-4)


def test_shuffle_op_and_carried_state():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        tid = fx.thread_idx.x
        value = x[tid].ir_value()
        for step in range_constexpr(6):
            peer = gpu.ShuffleOp(value, 1 << step, 64, mode="xor").shuffleResult
            value = arith.addf(value, peer)
        for _, state in range(fx.Index(0), fx.Index(n), fx.Index(1), init=[value]):
            results = yield [state[0] + 1.0]
        y[tid] = fx.Float32(results)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel(x, y, n).launch(grid=(1,), block=(64,))

    x, y = torch.randn(64), torch.empty(64)
    launch(x, y, 5)
    assert torch.allclose(y, (x.sum() + 5).expand(64), atol=1e-4)
