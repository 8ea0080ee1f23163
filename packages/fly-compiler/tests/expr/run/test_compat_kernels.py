# SPDX-License-Identifier: Apache-2.0
"""Code written for other implementations of the language: kernels, launchers and values."""

import re

import torch
from launchers import launcher

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import scf
from flydsl.expr import arith, const_expr, gpu, range_constexpr
from flydsl.expr.arith import ArithValue
from flydsl.expr.typing import T


@flyc.kernel(known_block_size=(64, 1, 1))
def scale(x: fx.Tensor, y: fx.Tensor, factor: fx.Constexpr[int], n: fx.Int32, untyped):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        y[i] = x[i] * fx.Float32(factor) + untyped


@flyc.jit
def scaled(x: fx.Tensor, y: fx.Tensor, N: fx.Constexpr[int], n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    scale(x, y, 2, n, fx.Float32(1.0)).launch(grid=(N // 64,), block=[64, 1, 1], stream=stream)


def test_parameters_and_launches():
    x, y = torch.randn(128), torch.zeros(128)
    scaled(x, y, 128, 100)
    assert torch.equal(y[:100], x[:100] * 2 + 1)
    assert not y[100:].any()
    z = torch.zeros(128)
    scaled(flyc.from_dlpack(x).mark_layout_dynamic(leading_dim=0, divisibility=4), z, 128, 128, stream=fx.Stream(None))
    assert torch.equal(z, x * 2 + 1)


def test_a_grid_computed_at_run_time():
    @flyc.kernel
    def kernel(y: fx.Tensor, n: fx.Int32):
        i = gpu.block_idx.x * 32 + gpu.thread_idx.x
        same = fx.Int32(gpu.block_id("x")) * 32 + fx.Int32(gpu.thread_id("x"))
        gpu.barrier()
        if i < n:
            y[i] = fx.Float32(same)

    @flyc.jit
    def launch(y: fx.Tensor, n: fx.Int32):
        block = 32
        kernel(y, n).launch(grid=((n + block - 1) // block, 1, 1), block=(block,))

    y = torch.zeros(100)
    launch(y, 70)
    assert torch.equal(y[:70], torch.arange(70.0))
    assert not y[70:].any()


def test_loops_and_branches():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, flag: fx.Constexpr[bool]):
        lane = fx.thread_idx.x
        total = fx.Float32(0.0)
        for j in range_constexpr(2):
            total = total + x[lane * 2 + j]
        for _ in range(n):
            total = total + 1.0
        for _, state in range(fx.Index(0), fx.Index(n), fx.Index(1), init=[total.ir_value()]):
            results = yield [state[0] + 1.0]
        for _, state in range(0, 3, 1, init=[results]):
            final = yield [state[0] + 10.0]
        total = fx.Float32(final)
        if const_expr(flag):
            total = total * 2.0
        if lane == 0:
            total = total + 100.0

        @flyc.jit
        def dispatch(value):
            if value > 0.0:
                y[lane] = value
            else:
                y[lane] = 0.0 - value

        dispatch(total)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, flag: fx.Constexpr[bool]):
        kernel(x, y, n, flag).launch(grid=(1,), block=(32,))

    x, y = torch.randn(64) * 50, torch.empty(32)
    launch(x, y, 5, True)
    expected = (x.view(32, 2).sum(1) + 5 + 5 + 30) * 2
    expected[0] += 100
    assert torch.allclose(y, expected.abs(), atol=1e-4)


def test_scalars():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        i = fx.thread_idx.x
        v = x[i]
        assert isinstance(v.ir_value(), ir.Value)
        a = fx.BFloat16(v).to(fx.Float32)
        b = (v > 0.0).select(a, fx.Float32(-1.0))
        c = b.maximumf(fx.Float32(0.25))
        least = arith.cmpi(arith.CmpIPredicate.slt, i, fx.Int32(8))
        d = arith.select(least, c, fx.Float32(fx.Int64(7)))
        raw = arith.addf(arith.unwrap(d), arith.constant(1.0, type=T.f32))
        assert isinstance(raw, ArithValue)
        assert str(T.f16) == "f16"
        assert str(T.bf16) == "bf16"
        assert str(T.i32) == "i32"
        y[i] = fx.Float32(raw) + abs(v) + fx.Float32(fx.Int32(fx.Index(2)))

    x, y = torch.randn(16), torch.empty(16)
    launcher(kernel, 16)(x, y)
    a = torch.where(x > 0, x.bfloat16().float(), torch.tensor(-1.0)).clamp(min=0.25)
    a[8:] = 7.0
    assert torch.allclose(y, a + 1 + x.abs() + 2)


def test_a_branch_built_by_hand():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        tid = fx.thread_idx.x
        condition = arith.cmpi(arith.CmpIPredicate.slt, tid.ir_value(), arith.constant(10, type=T.i32))
        branch = scf.IfOp(condition, has_else=False)
        with ir.InsertionPoint(branch.then_block):
            y[tid] = x[tid] + 1.0
            scf.YieldOp([])

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(1,), block=(32,))

    x, y = torch.randn(32), torch.zeros(32)
    launch(x, y)
    assert torch.equal(y[:10], x[:10] + 1)
    assert not y[10:].any()


def test_vectors():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        tid = fx.thread_idx.x
        Vec = fx.Vector
        v = Vec.from_elements([x[tid, j] for j in range_constexpr(4)])
        mask = v > fx.vec_broadcast(fx.Float32(0.0), shape=4)
        w = fx.vec_select(mask, abs(-v), v.to(fx.BFloat16).to(fx.Float32))
        bits = w.bitcast(fx.Int32) & 0x7FFFFFFF
        for j in range_constexpr(4):
            y[tid, j] = bits.bitcast(fx.Float32)[j]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(1,), block=(16,))

    x, y = torch.randn(16, 4), torch.empty(16, 4)
    launch(x, y)
    assert torch.equal(y, torch.where(x > 0, x, x.bfloat16().float()).abs())


def test_printing(capfd):
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        tid = fx.thread_idx.x
        fx.printf("tid={} val={}", tid, x[tid])

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(1,), block=(2,))

    launch(torch.tensor([0.5, 1.5]), torch.empty(2))
    found = re.findall(r"tid=(\d) val=([\d.]+)", capfd.readouterr().out)
    assert sorted((int(tid), float(value)) for tid, value in found) == [(0, 0.5), (1, 1.5)]
