# SPDX-License-Identifier: Apache-2.0
"""Code written for other implementations of the language: imports, layouts, kernels, values, memory, matrices."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import scf
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr import arith, buffer_ops, const_expr, gpu, math, range_constexpr, rocdl, vector
from flydsl.expr.arith import ArithValue
from flydsl.expr.numeric import Float32
from flydsl.expr.typing import T
from flydsl.utils.smem_allocator import SmemAllocator


def launcher(kernel, block=64, grid=1):
    """Return a host function that launches `kernel` with whatever it is given."""

    @flyc.jit
    def launch(a, b):
        kernel(a, b).launch(grid=(grid,), block=(block,))

    return launch


# -- Imports ----------------------------------------------------------------------------------------------------------


def test_imports():
    assert Float32 is fx.Float32
    assert const_expr is fx.const_expr
    assert range_constexpr is fx.range_constexpr
    assert all((arith, gpu, buffer_ops, rocdl, vector, math, T, SmemAllocator, CompilationContext, ArithValue))
    assert ir.Context
    from flydsl._mlir import dialects

    assert dialects


# -- Layouts ----------------------------------------------------------------------------------------------------------


def layouts():
    """Return what the page says of layouts; the same inside and outside a trace."""
    shape, stride = fx.make_shape(8, 16), fx.make_stride(1, 8)
    plain = fx.make_layout(shape, stride)
    nested = fx.make_layout(fx.make_shape(9, (4, 8)), fx.make_stride(59, (13, 1)))
    tile = fx.make_layout((4, 8), (8, 1))
    thr, val = fx.make_layout((4, 16), (16, 1)), fx.make_layout((1, 4), (4, 1))
    a, b = fx.make_layout((2, 5), (5, 1)), fx.make_layout((3, 4), (1, 3))
    return {
        "with tuples": fx.make_layout((8, 16), (1, 8)) == plain if not isinstance(plain, fx.Layout) else True,
        "integers": fx.make_layout(7, 1),
        "identity": fx.make_identity_layout((4, 8)),
        "crd2idx": int(fx.crd2idx(fx.make_coord(3, 5), plain)),
        "crd2idx of a tuple": int(fx.crd2idx((3, 5), plain)),
        "idx2crd": fx.idx2crd(43, plain),
        "size": int(fx.size(plain)),
        "cosize": int(fx.cosize(plain)),
        "rank": fx.rank(nested),
        "shape": fx.get_shape(nested),
        "stride": fx.get_stride(nested),
        "get": fx.get((8, 16), 1),
        "composition": fx.composition(fx.make_layout((6, 2), (8, 2)), fx.make_layout((4, 3), (3, 1))),
        "complement": fx.complement(fx.make_layout(4, 1), 24),
        "coalesce": fx.coalesce(fx.make_layout((2, (1, 6)), (1, (6, 2)))),
        "right_inverse": fx.right_inverse(tile),
        "recast_layout": fx.recast_layout(tile, 16, 32),
        "logical_product": fx.logical_product(a, b),
        "raked_product": fx.raked_product(thr, val),
        "block_product": fx.block_product(a, b),
        "blocked_product": fx.blocked_product(a, b),
        "zipped_product": fx.zipped_product(a, b),
        "tiled_product": fx.tiled_product(a, b),
        "flat_product": fx.flat_product(a, b),
        "logical_divide": fx.logical_divide(tile, fx.make_tile(2, 4)),
        "zipped_divide": fx.zipped_divide(tile, (2, 4)),
        "tiled_divide": fx.tiled_divide(tile, (2, 4)),
        "flat_divide": fx.flat_divide(tile, (2, 4)),
        "select": fx.select(fx.make_shape(2, 3, 4), indices=[0, 2]),
        "group": fx.group(fx.make_shape(2, 3, 4), begin=1, end=3),
        "append": fx.append(fx.make_shape(2, 3), 4),
        "prepend": fx.prepend(fx.make_shape(2, 3), 4),
        "zip": fx.zip(fx.make_shape(2, 3), fx.make_shape(4, 5)),
        "slice": fx.slice(tile, (None, 3)),
        "tile of layouts": fx.make_tile(fx.make_layout(4, 1), fx.make_layout(8, 2)),
    }


LAYOUTS = {
    "with tuples": "True",
    "integers": "7:1",
    "identity": "(4,8):(1E0,1E1)",
    "crd2idx": "43",
    "crd2idx of a tuple": "43",
    "idx2crd": "(3,5)",
    "size": "128",
    "cosize": "128",
    "rank": "2",
    "shape": "(9,(4,8))",
    "stride": "(59,(13,1))",
    "get": "16",
    "composition": "((2,2),3):((24,2),8)",
    "complement": "6:4",
    "coalesce": "12:1",
    "right_inverse": "(8,4):(4,1)",
    "recast_layout": "(4,4):(4,1)",
    "logical_product": "((2,5),(3,4)):((5,1),(10,30))",
    "raked_product": "((1,4),(4,16)):((0,16),(64,1))",
    "block_product": "((2,3),(5,4)):((5,10),(1,30))",
    "blocked_product": "((2,3),(5,4)):((5,10),(1,30))",
    "zipped_product": "((2,5),(3,4)):((5,1),(10,30))",
    "tiled_product": "((2,5),3,4):((5,1),10,30)",
    "flat_product": "(2,5,3,4):(5,1,10,30)",
    "logical_divide": "((2,2),(4,2)):((8,16),(1,4))",
    "zipped_divide": "((2,4),(2,2)):((8,1),(16,4))",
    "tiled_divide": "((2,4),2,2):((8,1),16,4)",
    "flat_divide": "(2,4,2,2):(8,1,16,4)",
    "select": "(2,4)",
    "group": "(2,(3,4))",
    "append": "(2,3,4)",
    "prepend": "(4,2,3)",
    "zip": "((2,4),(3,5))",
    "slice": "4:8",
    "tile of layouts": "[4:1|8:2]",
}


def spelled(value):
    """Return the text of a value: of a traced one without its class, of a host one without blanks."""
    text = str(value).replace(" ", "")
    return text[text.index("<") + 1 : -1] if "<" in text and text[0].isupper() else text


def test_layouts_at_the_prompt():
    found = {name: spelled(value) for name, value in layouts().items()}
    assert found == LAYOUTS


def test_layouts_in_a_kernel():
    found = {}

    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor):
        found.update({name: spelled(value) for name, value in layouts().items()})

    launcher(kernel)(torch.empty(1), torch.empty(1))
    assert found == LAYOUTS


# -- Kernels and launchers --------------------------------------------------------------------------------------------


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


# -- Values -----------------------------------------------------------------------------------------------------------


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


# -- Memory -----------------------------------------------------------------------------------------------------------


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


# -- Matrix and wave operations ---------------------------------------------------------------------------------------


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


# -- Tools and settings -----------------------------------------------------------------------------------------------


def test_fly_opt(tmp_path):
    tool = shutil.which("fly-opt")
    if tool is None:
        pytest.skip("fly-opt is not on the path")
    source = tmp_path / "in.mlir"
    source.write_text("func.func @f() { return }")
    for flag in ("--fly-canonicalize", "--fly-layout-lowering"):
        subprocess.run([tool, flag, source], check=True, capture_output=True)
    assert "--fly-canonicalize" in subprocess.run([tool, "--help"], check=True, capture_output=True, text=True).stdout


KERNEL = """
import numpy, flydsl.compiler as flyc, flydsl.expr as fx
@flyc.kernel
def k(x: fx.Tensor):
    x[fx.thread_idx.x] = 1.0
@flyc.jit
def launch(x: fx.Tensor):
    k(x).launch(grid=(1,), block=(64,))
launch(flyc.from_dlpack(numpy.empty(64, numpy.float32)))
"""


def run(tmp_path, **variables):
    """Run a small kernel in a process of its own, in which the variables are set."""
    script = tmp_path / "one.py"
    script.write_text(KERNEL)
    environment = {name: value for name, value in os.environ.items() if name != "FLYDSL_RUNTIME_CACHE_DIR"}
    environment |= {"HOME": str(tmp_path), **variables}
    return subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)


def test_dumps(tmp_path):
    run(tmp_path, FLYDSL_DUMP_IR="1", FLYDSL_DUMP_DIR=str(tmp_path / "dump"), FLYDSL_DEBUG_ENABLE_DEBUG_INFO="1")
    names = sorted(path.name for path in (tmp_path / "dump").rglob("*") if path.is_file())
    assert names[0] == "00_origin.mlir"
    assert names[-1].endswith("final_isa.s")


def test_caches(tmp_path):
    run(tmp_path, FLYDSL_RUNTIME_ENABLE_CACHE="0")
    assert not list(Path(tmp_path, ".flydsl").rglob("*.so"))
    run(tmp_path, ARCH="gfx942", FLYDSL_GPU_ARCH="gfx942", FLYDSL_COMPILE_OPT_LEVEL="3")
    assert [path for path in Path(tmp_path, ".flydsl", "cache").rglob("*") if path.is_file()]
