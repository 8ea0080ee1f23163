# SPDX-License-Identifier: Apache-2.0
"""Shuffles, wave and block collectives, and random numbers when they run."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 256
ALGORITHMS = fx.coop.BlockReduceAlgorithm


def run(body, x, outputs, threads=THREADS):
    """Run body(i, x[i]) -> values, one thread per element, and return a tensor per value."""

    @flyc.kernel(known_block_size=(threads, 1, 1))
    def kernel(source: fx.Tensor, target: fx.Tensor):
        i = fx.thread_idx.x
        for j, value in enumerate(body(i, source[i])):
            target[j, i] = value.to(target.dtype)

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor):
        kernel(source, target).launch(grid=(1,), block=(threads,))

    target = torch.empty(outputs, threads, dtype=x.dtype)
    launch(x, target)
    return target


def values(dtype=torch.int32):
    return torch.randint(-50, 50, (THREADS,), generator=torch.Generator().manual_seed(3)).to(dtype)


def test_shuffles():
    x = values()
    lanes = torch.arange(THREADS) % 64
    got = run(
        lambda i, v: (
            fx.gpu.shuffle_xor(v, 5),
            fx.gpu.shuffle_idx(v, 3),
            fx.gpu.shuffle_up(v, 2),
            fx.gpu.shuffle_down(v, 2),
            fx.gpu.shuffle_xor(v, 3, 8),
        ),
        x,
        5,
    )
    base = torch.arange(THREADS) - lanes
    assert torch.equal(got[0], x[base + (lanes ^ 5)])
    assert torch.equal(got[1], x[base + 3])
    assert torch.equal(got[2][lanes >= 2], x[(base + lanes - 2)[lanes >= 2]])
    assert torch.equal(got[3][lanes < 62], x[(base + lanes + 2)[lanes < 62]])
    assert torch.equal(got[4], x[base + (lanes ^ 3)])


def test_rows_of_lanes():
    x = values()
    got = run(lambda i, v: fx.rocdl.broadcast_rows(v), x, 4)
    rows = x.view(-1, 4, 16)  # of each wave
    for row in range(4):
        assert torch.equal(got[row].view(-1, 4, 16), rows[:, row : row + 1].expand(-1, 4, -1))


@pytest.mark.parametrize("width", [64, 16, 1])
def test_wave_collectives(width):
    x = values()
    groups = x.view(-1, width)

    def body(i, v):
        inclusive, exclusive, total = fx.coop.warp_scan_with_aggregate(v, "add", width=width, init=7)
        largest = fx.coop.warp_reduce(v, "max", width=width)
        return inclusive, exclusive, total, largest, fx.coop.warp_exclusive_scan(v, "max", width=width)

    got = run(body, x, 5).view(5, -1, width)
    inclusive = groups.cumsum(1)
    assert torch.equal(got[0], inclusive.int() + 7)
    assert torch.equal(got[1], (inclusive - groups).int() + 7)
    assert torch.equal(got[2], groups.sum(1, keepdim=True).expand_as(groups).int())
    assert torch.equal(got[3], groups.max(1, keepdim=True).values.expand_as(groups))
    before = torch.cat([torch.full((len(groups), 1), -(2**31), dtype=torch.int32), groups.cummax(1).values[:, :-1]], 1)
    assert torch.equal(got[4], before)


@pytest.mark.parametrize(
    "algorithm", [ALGORITHMS.WARP_REDUCTIONS, ALGORITHMS.RAKING, ALGORITHMS.RAKING_COMMUTATIVE_ONLY]
)
def test_block_reduce(algorithm):
    x = values()

    def body(i, v):
        reduce = fx.coop.BlockReduce[fx.Int32, THREADS, algorithm]
        allocator = fx.SharedAllocator()
        first, second = (allocator.allocate(reduce.SharedStorage) for _ in range(2))
        return reduce(v, "add", storage=first), reduce(v, fx.ReductionOp.MIN, storage=second)

    got = run(body, x, 2)
    assert (got[0] == x.sum()).all()
    assert (got[1] == x.min()).all()


@pytest.mark.parametrize("init", [None, 11])
@pytest.mark.parametrize("threads", [256, 64])
def test_block_scan(init, threads):
    x = values()[:threads].contiguous()

    def body(i, v):
        scan = fx.coop.BlockScan[fx.Int32, threads]
        allocator = fx.SharedAllocator()
        one, two = (allocator.allocate(scan.SharedStorage) for _ in range(2))
        inclusive, total = scan.inclusive_with_aggregate(v, "add", storage=one, init=init)
        return inclusive, total, scan.exclusive(v, "add", storage=two, init=init)

    got = run(body, x, 3, threads)
    start = init or 0
    assert torch.equal(got[0], (x.cumsum(0) + start).int())
    assert (got[1] == x.sum()).all()
    assert torch.equal(got[2], (x.cumsum(0) - x + start).int())


def test_random_words_are_those_of_the_static_form():
    x = torch.zeros(THREADS, dtype=torch.int32)
    got = run(lambda i, v: fx.random.randint4x(fx.Int64(2**40 + 5) + v, i), x, 4)
    for offset in (0, 1, 200):
        expected = [w.to(fx.Int32).value for w in fx.random.randint4x(fx.Int64(2**40 + 5), fx.Int32(offset))]
        assert got[:, offset].tolist() == expected


def test_launch_extents():
    @flyc.kernel
    def kernel(target: fx.Tensor):
        if fx.thread_idx.x + fx.thread_idx.y == 0:
            block = fx.block_idx.x + fx.block_idx.y * fx.grid_dim.x
            target[block, 0] = fx.block_dim.x
            target[block, 1] = fx.block_dim.y
            target[block, 2] = fx.grid_dim.x
            target[block, 3] = fx.grid_dim.y

    @flyc.jit
    def launch(target: fx.Tensor, x: fx.Int32, y: fx.Int32):
        kernel(target).launch(grid=(3, 2), block=(x, y))

    target = torch.zeros(6, 4, dtype=torch.int32)
    launch(target, 16, 4)
    assert target.tolist() == [[16, 4, 3, 2]] * 6


def test_lane_instructions():
    x = values()
    lanes = torch.arange(THREADS)

    def body(i, v):
        mask = fx.Int64(fx.rocdl.ballot(fx.T.i64, v > 0))
        return fx.rocdl.readfirstlane(v), fx.ctpop(mask), fx.lane_id(), fx.rocdl.wave_id()

    got = run(body, x, 4)
    waves = x.view(-1, 64)
    assert torch.equal(got[0], waves[:, :1].expand(-1, 64).flatten())
    assert torch.equal(got[1], (waves > 0).sum(1, keepdim=True).expand(-1, 64).flatten().int())
    assert torch.equal(got[2], (lanes % 64).int())
    assert torch.equal(got[3], (lanes // 64).int())
