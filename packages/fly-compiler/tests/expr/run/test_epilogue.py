# SPDX-License-Identifier: Apache-2.0
"""Epilogues: chains of element functions over tiles in several arrangements, against float64."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 128
# Tile, threads and values, as `make_tiled_copy` takes them: strides are column-major indices in the tile.
ARRANGEMENTS = {
    "neighbours in a column": ((64, 16), ((16, 8), (4, 64)), ((4, 2), (1, 512))),
    "as a matrix instruction": ((32, 32), ((4, 16, 2), (4, 32, 16)), ((4, 2), (1, 512))),
    "one element an access": ((128, 3), ((128,), (1,)), ((1, 3), (0, 128))),
}
BEYOND = 7.0  # what is there before


def run_chain(name, kind, torch_kind, extents=None, buffers=False):
    """out = kind(2 * results * row + column + element), for a tile or the part of it within `extents`."""
    (columns, rows), threads, values = ARRANGEMENTS[name]
    per_access = values[0][0]

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def kernel(
        x: fx.Tensor, by_row: fx.Tensor, by_column: fx.Tensor, each: fx.Tensor, out: fx.Tensor, m: fx.Int32, n: fx.Int32
    ):
        shape = (columns, rows)
        held = fx.make_copy_atom(fx.UniversalCopy(32 * per_access), fx.Float32)
        layout = fx.make_layout((threads[0], values[0]), (threads[1], values[1]))
        mine = fx.make_tiled_copy(held, layout, shape).get_slice(fx.thread_idx.x)
        if fx.const_expr(buffers):
            by_row, by_column, each, out = [fx.rocdl.make_buffer_tensor(one) for one in (by_row, by_column, each, out)]
        view = lambda one, steps: fx.make_view(fx.get_iter(one), fx.make_layout(shape, steps))  # noqa: E731
        source = mine.partition_S(view(x, (1, columns)))
        results = fx.make_fragment_like(source)
        fx.copy(held, source, results)
        chain = (
            fx.Epilogue()
            .then(lambda values: values * 2.0)
            .then(lambda values, row, column: values * row + column, view(by_row, (0, 1)), view(by_column, (1, 0)))
            .then(lambda values, one: values + one.to(fx.Float32), view(each, (1, columns)))
            .then(lambda values: values.to(kind))
        )
        inside = (n, m) if fx.const_expr(extents) else None
        chain.store(mine, results, view(out, (1, columns)), inside=inside)

    @flyc.jit
    def launch(
        x: fx.Tensor, by_row: fx.Tensor, by_column: fx.Tensor, each: fx.Tensor, out: fx.Tensor, m: fx.Int32, n: fx.Int32
    ):
        kernel(x, by_row, by_column, each, out, m, n).launch(grid=(1,), block=(THREADS,))

    generator = torch.Generator().manual_seed(len(name))
    x, by_row, by_column = (torch.randn(*one, generator=generator) for one in ((rows, columns), (rows,), (columns,)))
    each = torch.randn(rows, columns, generator=generator).to(torch_kind)
    out = torch.full((rows, columns), BEYOND, dtype=torch_kind)
    m, n = extents or (rows, columns)
    tensors = [flyc.from_dlpack(one, assumed_align=16) for one in (x, by_row, by_column, each, out)]
    launch(*tensors, m, n)
    expected = 2 * x.double() * by_row.double()[:, None] + by_column.double() + each.double()
    return out, expected


@pytest.mark.parametrize("buffers", [False, True])
@pytest.mark.parametrize(("kind", "torch_kind", "unit"), [(fx.Float32, torch.float32, 2.0**-23),
                                                         (fx.BFloat16, torch.bfloat16, 2.0**-8)])  # fmt: skip
@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_rows_columns_and_elements(name, kind, torch_kind, unit, buffers):
    out, expected = run_chain(name, kind, torch_kind, buffers=buffers)
    assert ((out.double() - expected).abs() <= 4 * unit * (1 + expected.abs())).all()


@pytest.mark.parametrize("extents", [(3, 16), (16, 8), (1, 4), (2, 32)])
def test_beyond_the_extents_nothing_is_stored(extents):
    out, expected = run_chain("as a matrix instruction", fx.Float32, torch.float32, extents)
    m, n = extents
    inside = torch.zeros_like(out, dtype=torch.bool)
    inside[:m, :n] = True
    assert ((out.double() - expected).abs()[inside] <= 2.0**-20).all()
    assert (out[~inside] == BEYOND).all()


def traced(chain, results=None, inside=None, tile=(64, 2)):
    """Store a thread's results (one access of 1 element a thread) through a chain."""

    @flyc.kernel(known_block_size=(64, 1, 1))
    def kernel(out: fx.Tensor):
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        mine = fx.make_tiled_copy(atom, fx.make_layout((64, (1, 2)), (1, (0, 64))), (64, 2)).get_slice(fx.thread_idx.x)
        held = fx.make_rmem_tensor(2, fx.Float32)
        held.fill(1.0)
        one = fx.make_rmem_tensor(1, fx.Float32)
        one.fill(1.0)
        view = fx.make_view(fx.get_iter(out), fx.make_layout(tile, (1, 64)))
        chain().store(mine, [one.load()] * (results or 2), view, inside=inside)

    @flyc.jit
    def launch(out: fx.Tensor):
        kernel(out).launch(grid=(1,), block=(64,))

    out = torch.zeros(128)
    launch(out)
    return out


def test_mistakes():
    assert (traced(fx.Epilogue) == 1).all()
    with pytest.raises(Exception, match=r"the chain gives Int32, and the tile holds Float32: add .then\(lambda"):
        traced(lambda: fx.Epilogue().then(lambda values: values.to(fx.Int32)))
    with pytest.raises(Exception, match="results of 1 accesses for a tile of 2"):
        traced(fx.Epilogue, results=1)
    with pytest.raises(Exception, match="results of 3 accesses for a tile of 2"):
        traced(fx.Epilogue, results=3)
    with pytest.raises(Exception, match="inside is two extents"):
        traced(fx.Epilogue, inside=(3,))
    with pytest.raises(TypeError, match="takes an element function first, not int"):
        fx.Epilogue().then(3)
    with pytest.raises(TypeError, match="an operand of an epilogue is a tensor of the tile's shape, not float"):
        fx.Epilogue().then(lambda values, one: values, 1.0)
