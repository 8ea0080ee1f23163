# SPDX-License-Identifier: Apache-2.0
"""LDS, structs, gathers, buffers and atomics when they run."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops

POINT = fx.Struct["tag" : fx.Int8, "value" : fx.Float32]


@pytest.mark.parametrize("static", [True, False])
def test_structs_and_arrays_in_lds(static):
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        i = fx.thread_idx.x
        allocator = fx.SharedAllocator(static=static)
        points = allocator.allocate(fx.Array[POINT, 64]).peek()
        scale = allocator.allocate(fx.Float32)
        if i == 0:
            scale.poke(3.0)
        points[63 - i] = POINT(fx.Int8(1), x[i])
        fx.barrier()
        point = points[i]
        y[i] = point.value * scale.peek() + point.tag

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(1,), block=(64,))

    x, y = torch.randn(64), torch.empty(64)
    launch(x, y)
    assert torch.equal(y, x.flip(0) * 3 + 1)


def test_gather_and_scatter():
    @flyc.kernel
    def kernel(table: fx.Tensor, rows: fx.Tensor, out: fx.Tensor):
        i = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float32)
        offsets = fx.make_rmem_tensor((1, 2), fx.Int32)
        offsets[0, 0] = rows[i] * 2
        offsets[0, 1] = rows[i] * 2 + 2
        data = fx.make_rmem_tensor(((2, 1), 2), fx.Float32)
        fx.gather(atom, table.iter, offsets, data)
        data.store(data.load() + 1.0)
        offsets[0, 0] = i * 4
        offsets[0, 1] = i * 4 + 2
        fx.scatter(atom, data, out.iter, offsets)

    @flyc.jit
    def launch(table: fx.Tensor, rows: fx.Tensor, out: fx.Tensor):
        kernel(table, rows, out).launch(grid=(1,), block=(32,))

    table, out = torch.randn(202), torch.empty(128)
    rows = torch.randint(0, 99, (32,), dtype=torch.int32)
    tables = [flyc.from_dlpack(t, assumed_align=8) for t in (table,)]
    launch(*tables, rows, flyc.from_dlpack(out, assumed_align=8))
    expected = torch.stack([table[2 * r : 2 * r + 4] for r in rows.tolist()]).flatten() + 1
    assert torch.equal(out, expected)


def test_buffer_bounds():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        i = fx.thread_idx.x
        source = buffer_ops.create_buffer_resource(x, num_records_bytes=n * 2)
        target = buffer_ops.create_buffer_resource(y, max_size=False)
        buffer_ops.buffer_store(buffer_ops.buffer_load(source, i), target, i)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel(x, y, n).launch(grid=(1,), block=(64,))

    x, y = torch.randn(64).half(), torch.full((64,), -1.0).half()
    launch(x, y, 10)
    assert torch.equal(y[:10], x[:10])
    assert not y[10:].any()


def test_atomics():
    @flyc.kernel
    def kernel(total: fx.Tensor, largest: fx.Tensor, x: fx.Tensor):
        i = fx.thread_idx.x
        fx.atomic_add(total.iter, 1)
        fx.atomic_fmax(largest.iter, x[i])

    @flyc.jit
    def launch(total: fx.Tensor, largest: fx.Tensor, x: fx.Tensor):
        kernel(total, largest, x).launch(grid=(1,), block=(128,))

    total, largest, x = torch.zeros(1, dtype=torch.int32), torch.full((1,), -100.0), torch.randn(128) - 10
    launch(total, largest, x)
    assert total.item() == 128
    assert largest.item() == x.max().item()


def test_vectors_of_a_tensor():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        i = fx.thread_idx.x
        row = fx.make_rmem_tensor(8, fx.Float32)
        fx.copy_atom_call(fx.make_copy_atom(fx.UniversalCopy(256), fx.Float32), x[i, None], row)
        v = row.load()
        y[i, 0] = v.reduce("add")
        y[i, 1] = v.reduce("max")
        y[i, 2] = v[i % 8]
        y[i, 3] = (v > 0).select(v, 0.0).reduce("add")

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(1,), block=(32,))

    x, y = torch.randn(32, 8), torch.empty(32, 4)
    launch(flyc.from_dlpack(x), y)
    assert torch.allclose(y[:, 0], x.sum(1), atol=1e-5)
    assert torch.equal(y[:, 1], x.max(1).values)
    assert torch.equal(y[:, 2], x[torch.arange(32), torch.arange(32) % 8])
    assert torch.allclose(y[:, 3], x.clamp(min=0).sum(1), atol=1e-5)


def test_an_array_of_booleans():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        i = fx.thread_idx.x
        flags = fx.SharedAllocator().allocate(fx.Array[fx.Boolean, 64]).peek()
        flags[63 - i] = x[i] > 0.0
        fx.barrier()
        y[i] = flags[i].select(1.0, 0.0)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=(1,), block=(64,))

    x, y = torch.randn(64), torch.empty(64)
    launch(x, y)
    assert torch.equal(y, (x.flip(0) > 0).float())


@flyc.kernel(known_block_size=(64, 1, 1))
def some_by_way_of_lds(x: fx.Tensor, y: fx.Tensor):
    thread = fx.Int32(fx.thread_idx.x)
    room = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 64]).peek()
    room.ptr[thread] = -1.0
    one = fx.make_layout(1, 1)
    wanted = fx.make_rmem_tensor(1, fx.Boolean)
    wanted[0] = thread % 3 == 0
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    fx.copy(atom, fx.make_view(x.iter + thread, one), fx.make_view(room.ptr + thread, one), pred=wanted)
    fx.barrier()
    y[thread] = room.ptr[63 - thread]


def test_a_copy_from_memory_to_memory_under_a_predicate():
    x, y = torch.arange(64.0), torch.full((64,), float("nan"))

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        some_by_way_of_lds(x, y).launch(grid=(1,), block=(64,))

    launch(x, y)
    assert torch.equal(y.flip(0), torch.where(torch.arange(64) % 3 == 0, x, -1.0))
