# SPDX-License-Identifier: Apache-2.0
"""Waits for copies straight to LDS, which name places and which the compiler counts."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

SIZE, STEPS = 256, 7


@flyc.kernel(known_block_size=(SIZE, 1, 1))
def sums(x: fx.Tensor, y: fx.Tensor, looped: fx.Int32, right: fx.Constexpr[bool]):
    """Sums of the elements of each column, by way of two buffers in LDS; a thread adds what another one has copied."""
    thread = fx.thread_idx.x
    layout = fx.make_layout(SIZE, 1)
    allocator = fx.SharedAllocator()
    arrays = [allocator.allocate(fx.Array[fx.Float32, SIZE]).peek().ptr for _ in range(3)]
    tiles = [fx.make_view(one, layout) for one in arrays]
    source = fx.rocdl.make_buffer_tensor(x)
    load = fx.make_copy_atom(fx.rocdl.BufferCopyLDS32b(), fx.Float32)
    first = fx.Int32(fx.rocdl.readfirstlane(fx.Int32.ir_type, thread // 64 * 64))
    total = fx.make_rmem_tensor(1, fx.Float32)
    total.fill(0.0)

    def step(now):
        if fx.const_expr(now.has(1)):
            place = fx.logical_divide(tiles[now.buffer(1, 2)], fx.make_layout(1, 1))
            there = fx.logical_divide(source[now.index(1), None], fx.make_layout(1, 1))
            fx.copy(load, there[None, thread], place[None, first])
        if fx.const_expr(now.has(0)):
            fx.rocdl.barrier_after_copies(tiles[now.buffer(0, 2)] if fx.const_expr(right) else arrays[2])
            total[0] = total[0] + tiles[now.buffer(0, 2)][SIZE - 1 - thread]
            fx.rocdl.barrier_after_copies(tiles[now.buffer(0, 2)])  # all have read

    fx.Pipeline(STEPS, ahead=1, unroll=2).run(step, looped)
    y[SIZE - 1 - thread] = total[0]


@flyc.jit
def launch(x: fx.Tensor, y: fx.Tensor, looped: fx.Int32, right: fx.Constexpr[bool]):
    sums(x, y, looped, right).launch(grid=1, block=SIZE)


def test_copies_are_there():
    x = torch.randn(STEPS, SIZE)
    y = torch.full((SIZE,), float("nan"))
    launch(x, y, 6, True)
    torch.testing.assert_close(y.double(), x.double().sum(0), rtol=0, atol=1e-5)


def test_a_place_that_nothing_is_copied_to_is_refused():
    with pytest.raises(flyc.DSLCompileError, match=r"names LDS that no copy of this kernel writes \('.*'\)"):
        launch(torch.zeros(STEPS, SIZE), torch.zeros(SIZE), 6, False)
