# SPDX-License-Identifier: Apache-2.0
"""Reductions along a mode of a tile, by the layout alone: of copies in many arrangements, and of an accumulator."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

# Tile, threads and values, as `make_tiled_copy` takes them: strides are column-major indices in the tile.
ARRANGEMENTS = {
    "lanes along a row": ((8, 32), ((8, 8), (32, 1)), ((4,), (8,))),
    "a row a lane": ((64, 12), ((64,), (1,)), ((12,), (64,))),
    "waves along a row": ((1, 2048), ((256,), (4,)), ((4, 2), (1, 1024))),
    "waves apart": ((1, 2048), ((64, 4), (4, 512)), ((4, 2), (1, 256))),
    "rows in the high lanes": ((4, 128), ((16, 4, 4), (8, 1, 128)), ((2,), (4,))),
    "rows in the low lanes": ((4, 256), ((4, 64), (1, 4)), ((4,), (256,))),
    "rows of a thread": ((4, 128), ((64,), (4,)), ((4, 2), (1, 256))),
    "odd values": ((2, 64 * 5), ((64, 2), (2, 1)), ((5,), (128,))),
    "replicated": ((1, 64), ((32, 2), (1, 0)), ((2,), (32,))),
}


def reduced(tile, threads, values, mode, op, dtype, torch_type):
    """Reduce a tile of integers; each thread stores what it gets for its elements in their places."""
    rows, columns = tile
    count = 1
    for extent in threads[0]:
        count *= extent

    @flyc.kernel(known_block_size=(count, 1, 1))
    def kernel(source: fx.Tensor, target: fx.Tensor):
        atom = fx.make_copy_atom(fx.UniversalCopy(dtype.width), dtype)
        layout = fx.make_layout((threads[0], values[0]), (threads[1], values[1]))
        mine = fx.make_tiled_copy(atom, layout, tile).get_slice(fx.thread_idx.x)
        part = mine.partition_S(source)
        fragment = fx.make_fragment_like(part)
        fx.copy(atom, part, fragment)
        kind = fx.coop.tiled_reduce_storage(mine, mode, dtype)
        storage = None if kind is fx.Empty else fx.SharedAllocator().allocate(kind)
        result = fx.coop.tiled_reduce(fragment, op, mine, mode, storage=storage)
        fragment.store(result)
        fx.copy(atom, fragment, mine.partition_D(target))

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor):
        kernel(source, target).launch(grid=(1,), block=(count,))

    generator = torch.Generator().manual_seed(7)
    source = torch.randint(-100, 100, (rows, columns), generator=generator).to(torch_type)
    target = torch.full_like(source, 77)
    launch(flyc.from_dlpack(source), flyc.from_dlpack(target))
    return source, target


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_sums_along_a_mode(name, mode):
    """Of integers, so that each result is exact in every order."""
    source, target = reduced(*ARRANGEMENTS[name], mode, "add", fx.Int32, torch.int32)
    assert torch.equal(target, source.sum(mode, keepdim=True).expand_as(source).int())


@pytest.mark.parametrize("op", ["max", "min", lambda a, b: fx.maxnumf(a, b)])
@pytest.mark.parametrize("name", ["waves apart", "rows of a thread"])
def test_other_operations_on_floats(name, op):
    source, target = reduced(*ARRANGEMENTS[name], 1, op, fx.Float32, torch.float32)
    expected = source.amin(1, keepdim=True) if op == "min" else source.amax(1, keepdim=True)
    assert torch.equal(target, expected.expand_as(source))


def test_a_repeated_tile():
    """A tensor of 2 x 3 tiles: the repetitions along the mode are combined too, the others are not."""

    @flyc.kernel(known_block_size=(128, 1, 1))
    def kernel(source: fx.Tensor, target: fx.Tensor):
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        copy = fx.make_tiled_copy_tv(atom, fx.make_layout((2, 64), (64, 1)), fx.make_layout((1, 1), (1, 1)))
        mine = copy.get_slice(fx.thread_idx.x)
        part = mine.partition_S(source)
        fragment = fx.make_fragment_like(part)
        fx.copy(atom, part, fragment)
        fragment.store(fx.coop.tiled_reduce(fragment, "add", mine, 1))
        fx.copy(atom, fragment, mine.partition_D(target))

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor):
        kernel(source, target).launch(grid=(1,), block=(128,))

    source = torch.arange(4 * 192.0).view(4, 192)
    target = torch.empty_like(source)
    launch(flyc.from_dlpack(source), flyc.from_dlpack(target))
    assert torch.equal(target, source.sum(1, keepdim=True).expand_as(source))


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("waves", [(2, 2, 1), (1, 4, 1)])
def test_an_accumulator(mode, waves):
    """Rows (or columns) of a b^T in the registers of a tiled MMA: what online softmax needs of its scores."""

    @flyc.kernel(known_block_size=(256, 1, 1))
    def kernel(a: fx.Tensor, b: fx.Tensor, target: fx.Tensor):
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        mma = fx.make_tiled_mma(atom, fx.make_layout(waves, (1, waves[0], 0)))
        mine = mma.get_slice(fx.thread_idx.x)
        load = fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16)
        fa, fb, fc = mine.make_fragment_A(a), mine.make_fragment_B(b), mine.make_fragment_C(target)
        for make, source, fragment in ((fx.make_tiled_copy_A, a, fa), (fx.make_tiled_copy_B, b, fb)):
            copy = make(load, mma).get_slice(fx.thread_idx.x)
            fx.copy(load, copy.partition_S(source), copy.retile(fragment))
        fc.fill(0.0)
        fx.gemm(mma, fc, fa, fb, fc)
        times = fx.size(fc).unpack() // 4
        kind = fx.coop.tiled_reduce_storage(mine, mode, fx.Float32, repetitions=times)
        storage = None if kind is fx.Empty else fx.SharedAllocator().allocate(kind)
        fc.store(fx.coop.tiled_reduce(fc, "max", mine, mode, storage=storage))
        store = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        out = fx.make_tiled_copy_C(store, mma).get_slice(fx.thread_idx.x)
        fx.copy(store, out.retile(fc), out.partition_D(target))

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, target: fx.Tensor):
        kernel(a, b, target).launch(grid=(1,), block=(256,))

    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randint(-4, 4, (64, 32), generator=generator).half() for _ in range(2))
    target = torch.empty(64, 64)
    launch(*(flyc.from_dlpack(one, assumed_align=16) for one in (a, b, target)))
    scores = a.float() @ b.float().t()
    assert torch.equal(target, scores.amax(mode, keepdim=True).expand_as(scores))


def test_a_scalar_that_a_thread_has_combined_already():
    """Each lane adds up its own elements of a row of 64, the lanes of the row do the rest."""

    @flyc.kernel(known_block_size=(64, 1, 1))
    def kernel(source: fx.Tensor, target: fx.Tensor):
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        copy = fx.make_tiled_copy_tv(atom, fx.make_layout((4, 16), (16, 1)), fx.make_layout((1, 4), (4, 1)))
        mine = copy.get_slice(fx.thread_idx.x)
        part, to = mine.partition_S(source), mine.partition_D(target)
        fragment = fx.make_fragment_like(part)
        fx.copy(copy, part, fragment)
        own = fragment.load().reshape(4)
        fragment.fill(fx.coop.tiled_reduce(own[0] + own[1] + own[2] + own[3], "add", mine, 1))
        fx.copy(copy, fragment, to)

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor):
        kernel(source, target).launch(grid=(1,), block=(64,))

    source = torch.randint(-50, 50, (4, 64), generator=torch.Generator().manual_seed(1)).float()
    target = torch.empty_like(source)
    launch(flyc.from_dlpack(source, assumed_align=16), flyc.from_dlpack(target, assumed_align=16))
    assert torch.equal(target, source.sum(1, keepdim=True).expand_as(source))


def test_a_scalar_for_elements_of_several_results_is_refused():
    @flyc.kernel(known_block_size=(64, 1, 1))
    def kernel():
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        copy = fx.make_tiled_copy_tv(atom, fx.make_layout((4, 16), (16, 1)), fx.make_layout((1, 4), (4, 1)))
        fx.coop.tiled_reduce(fx.Float32(1.0), "add", copy.get_slice(fx.thread_idx.x), 0)

    @flyc.jit
    def launch():
        kernel().launch(grid=(1,), block=(64,))

    with pytest.raises(ValueError, match="have 4 results along mode 0, not one"):
        launch()
