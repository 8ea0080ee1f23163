# SPDX-License-Identifier: Apache-2.0
"""A barrier for what goes through LDS alone, with loads to registers on their way across it."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

SIZE, STEPS = 256, 6


@flyc.kernel(known_block_size=(SIZE, 1, 1))
def sums(x: fx.Tensor, y: fx.Tensor, looped: fx.Int32, alone: fx.Constexpr[bool]):
    """Sums of the elements of each column, which go through two buffers in LDS to another thread."""
    thread, barrier = fx.thread_idx.x, fx.rocdl.lds_barrier if alone else fx.barrier
    allocator = fx.SharedAllocator()
    rooms = [allocator.allocate(fx.Array[fx.Float32, SIZE]).peek().ptr for _ in range(2)]
    tiles = [fx.make_view(one, fx.make_layout(SIZE, 1)) for one in rooms]
    held, total = fx.make_rmem_tensor(1, fx.Float32), fx.make_rmem_tensor(1, fx.Float32)
    total.fill(0.0)

    def step(now):
        if fx.const_expr(now.has(1)):
            tiles[now.buffer(1, 2)][thread] = held[0] if fx.const_expr(now.has(0)) else x[0, thread]
        if fx.const_expr(now.has(2)):
            held[0] = x[now.index(2), thread]
        barrier()
        if fx.const_expr(now.has(0)):
            total[0] = total[0] + tiles[now.buffer(0, 2)][SIZE - 1 - thread]
            barrier()

    fx.Pipeline(STEPS, ahead=2, unroll=2).run(step, looped)
    y[SIZE - 1 - thread] = total[0]


@flyc.jit
def launch(x: fx.Tensor, y: fx.Tensor, looped: fx.Int32, alone: fx.Constexpr[bool]):
    sums(x, y, looped, alone).launch(grid=1, block=SIZE)


@pytest.mark.parametrize("alone", [True, False])
def test_what_others_wrote_is_there(alone):
    x = torch.randn(STEPS, SIZE)
    y = torch.full((SIZE,), float("nan"))
    launch(x, y, 4, alone)
    torch.testing.assert_close(y.double(), x.double().sum(0), rtol=0, atol=1e-5)


def test_loads_stay_on_their_way(monkeypatch):
    """On gfx1201: `fx.barrier` waits for them, and for what the first cache holds."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "gfx1201")
    x, y = torch.zeros(STEPS, SIZE), torch.zeros(SIZE)
    for alone in (True, False):
        flyc.compile.only(launch, x, y, 4, alone)
        code = sums.ir("isa").splitlines()
        code = [one.strip() for one in code]
        waited = [code[at - 1] for at, one in enumerate(code) if one.startswith("s_barrier_signal")]
        assert len(waited) > 2
        assert any("loadcnt" in one for one in waited) == (not alone)
        assert any(one.startswith("global_inv") for one in code) == (not alone)
