# SPDX-License-Identifier: Apache-2.0
"""Code written for other implementations of the language: copies, buffers and LDS."""

import pytest
import torch
from launchers import launcher

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr import arith, buffer_ops, const_expr, gpu, rocdl
from flydsl.expr.typing import T
from flydsl.utils.smem_allocator import SmemAllocator


@pytest.mark.parametrize(
    ("op", "lanes"),
    [
        (fx.UniversalCopy32b, 1),
        (lambda: fx.UniversalCopy(64), 2),
        (lambda: fx.UniversalCopy(128), 4),
        (lambda: rocdl.BufferCopy32b(), 1),
        (lambda: rocdl.BufferCopy128b(), 4),
    ],
)
def test_copy_atoms(op, lanes):
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        tid = fx.thread_idx.x
        if const_expr("buffer" in str(op())):
            x, y = rocdl.make_buffer_tensor(x), rocdl.make_buffer_tensor(y)
        source = fx.logical_divide(x, fx.make_layout(lanes, 1))
        target = fx.logical_divide(y, fx.make_layout(lanes, 1))
        atom = fx.make_copy_atom(op(), fx.Float32)
        registers = fx.make_rmem_tensor(lanes, fx.Float32)
        fx.copy_atom_call(atom, fx.slice(source, (None, tid)), registers)
        values = fx.memref_load_vec(registers)
        kind = fx.MemRefType.get(T.f32, fx.LayoutType.get(lanes, 1), fx.AddressSpace.Register)
        result = fx.memref_alloca(kind, fx.make_layout(lanes, 1))
        fx.memref_store_vec(arith.addf(values, values), result)
        fx.copy_atom_call(fx.make_copy_atom(op(), 32), result, fx.slice(target, (None, tid)))

    x, y = torch.randn(64 * lanes), torch.empty(64 * lanes)
    launcher(kernel)(flyc.from_dlpack(x, assumed_align=16), flyc.from_dlpack(y, assumed_align=16))
    assert torch.equal(y, x * 2)


def test_tiled_copies():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        tid = fx.thread_idx.x
        x, y = rocdl.make_buffer_tensor(x), rocdl.make_buffer_tensor(y)
        tile_mn, layout_thr_val = fx.make_layout_tv(fx.make_layout((4, 16), (16, 1)), fx.make_layout((1, 4), (4, 1)))
        atom = fx.make_copy_atom(rocdl.BufferCopy128b(), fx.Float32)
        mine = fx.make_tiled_copy(atom, layout_thr_val, tile_mn).get_slice(tid)
        source, target = mine.partition_S(x), mine.partition_D(y)
        fragment = fx.make_fragment_like(source)
        fx.copy(atom, source, fragment)
        fx.copy(atom, fragment, target)

    x, y = torch.randn(16, 64), torch.empty(16, 64)
    launcher(kernel)(flyc.from_dlpack(x, assumed_align=16), flyc.from_dlpack(y, assumed_align=16))
    assert torch.equal(x, y)


def test_buffer_operations():
    kinds = []

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        tid = fx.thread_idx.x
        source = buffer_ops.create_buffer_resource(x, max_size=False)
        target = buffer_ops.create_buffer_resource(y, max_size=True)
        values = buffer_ops.buffer_load(source, tid * 4, vec_width=4)
        bits = buffer_ops.buffer_load(source, tid * 2, vec_width=2, dtype=T.i32)
        kinds.extend([values.dtype, bits.dtype])
        buffer_ops.buffer_store(values, target, tid * 4)

    x, y = torch.randn(64).bfloat16(), torch.ones(128).bfloat16()
    launcher(kernel, 32)(x, y)  # threads 16 to 31 read beyond the resource: zeros, by the hardware's bounds checks
    assert kinds == [fx.BFloat16, fx.Int32]
    assert torch.equal(y[:64], x)
    assert not y[64:].any()


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


def test_finalizing_is_checked():
    allocator = SmemAllocator(None, arch="gfx942", global_sym_name="smem1")
    handle = allocator.allocate_array(T.f16, 64)

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        handle(allocator.get_base()).store(fx.Float16(1.0), [fx.thread_idx.x])

    with pytest.raises(RuntimeError, match="was not finalized"):
        launcher(kernel)(torch.empty(64), torch.empty(64))

    @flyc.jit
    def twice(a: fx.Tensor, b: fx.Tensor):
        with ir.InsertionPoint(CompilationContext.get_current().gpu_module_body):
            allocator.finalize()
            allocator.finalize()
        kernel(a, b).launch(grid=(1,), block=(64,))

    with pytest.raises(RuntimeError, match="finalize"):
        twice(torch.empty(64), torch.empty(64))
