# SPDX-License-Identifier: Apache-2.0
"""Established spellings, run on the device."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import scf
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr import arith, buffer_ops, gpu, range_constexpr, rocdl
from flydsl.expr.typing import T
from flydsl.utils.smem_allocator import SmemAllocator


def test_legacy_lds_and_raw_values():
    allocator = SmemAllocator(None, arch="gfx942", global_sym_name="smem0")
    handle = allocator.allocate_array(fx.Float32, 64)

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        tid = gpu.thread_id("x")
        lds = handle(allocator.get_base())
        lds._view_cache = None
        source = buffer_ops.create_buffer_resource(x, max_size=True)
        target = buffer_ops.create_buffer_resource(y, max_size=True)
        lds.store(buffer_ops.buffer_load(source, tid), [tid])
        gpu.barrier()
        value = lds.load([arith.index(63) - tid])
        doubled = arith.addf(value, value)
        buffer_ops.buffer_store(doubled, target, tid)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        with ir.InsertionPoint(CompilationContext.get_current().gpu_module_body):
            allocator.finalize()
        kernel(x, y).launch(grid=(1, 1, 1), block=[64, 1, 1])

    x, y = torch.randn(64), torch.empty(64)
    launch(x, y)
    assert torch.equal(y, x.flip(0) * 2)
    launch(flyc.from_dlpack(x), y)  # another specialisation: a module of its own


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
