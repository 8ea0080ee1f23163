# SPDX-License-Identifier: Apache-2.0
"""Software pipelines: every step once and in order, at any depth, and what a body may ask for."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

SIZE = 64


@flyc.kernel(known_block_size=(SIZE, 1, 1))
def weighted_sum(x: fx.Tensor, y: fx.Tensor, looped: fx.Int32, pipeline: fx.Constexpr[tuple], told: fx.Constexpr[bool]):
    """y[i] = ((x[0, i] * 3 + x[1, i]) * 3 + x[2, i]) ..., rows loaded ahead into as many registers as there are."""
    steps, ahead, unroll = pipeline
    buffers = unroll
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Int32)
    held = [fx.make_rmem_tensor(1, fx.Int32) for _ in range(buffers)]
    total = fx.make_rmem_tensor(1, fx.Int32)
    total.fill(0)
    mine = fx.thread_idx.x

    def step(now):
        if fx.const_expr(now.has(0)):
            if fx.const_expr(ahead == 0):
                fx.copy(atom, fx.make_view(fx.get_iter(x) + (now.index() * SIZE + mine), fx.make_layout(1, 1)), held[0])
            total.store(total.load() * 3 + held[now.buffer(0, buffers)].load())
        if fx.const_expr(ahead and now.has(ahead)):
            source = fx.make_view(fx.get_iter(x) + (now.index(ahead) * SIZE + mine), fx.make_layout(1, 1))
            fx.copy(atom, source, held[now.buffer(ahead, buffers)])

    fx.Pipeline(steps, ahead, unroll).run(step, looped if fx.const_expr(told) else None)
    y[mine] = total[0]


@flyc.jit
def launch(x: fx.Tensor, y: fx.Tensor, looped: fx.Int32, pipeline: fx.Constexpr[tuple], told: fx.Constexpr[bool]):
    weighted_sum(x, y, looped, pipeline, told).launch(grid=(1,), block=(SIZE,))


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize(("ahead", "unroll"), [(0, 1), (1, 1), (1, 2), (2, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 12])
def test_every_step_once_and_in_order(steps, ahead, unroll, told):
    x = torch.randint(-50, 50, (steps, SIZE), dtype=torch.int32, generator=torch.Generator().manual_seed(steps))
    y = torch.full((SIZE,), -1, dtype=torch.int32)
    looped = fx.Pipeline(steps, ahead, unroll).looped
    launch(x, y, looped, (steps, ahead, unroll), told)
    expected = torch.zeros(SIZE, dtype=torch.int64)
    for row in x:
        expected = expected * 3 + row
    assert torch.equal(y, expected.to(torch.int32))


def numbers(pipeline):
    """(step, phase) of every call outside a run-time loop."""
    seen = []
    pipeline.run(lambda now: seen.append((now.number, now.phase)))
    return seen


def test_steps_of_a_short_pipeline():
    assert numbers(fx.Pipeline(3, ahead=2, unroll=2)) == [(-2, 0), (-1, 1), (0, 0), (1, 1), (2, 0)]


def test_which_steps_and_buffers_there_are():
    seen = {}
    fx.Pipeline(2, ahead=1, unroll=2).run(
        lambda now: seen.update({now.number: (now.has(0), now.has(1), now.buffer(0, 2), now.buffer(1, 2))})
    )
    assert seen == {-1: (False, True, 1, 0), 0: (True, True, 0, 1), 1: (True, False, 1, 0)}


@pytest.mark.parametrize(
    ("options", "why"),
    [({"steps": 0}, "steps is an int of 1 or more, got 0"), ({"steps": 4, "ahead": -1}, "ahead is"),
     ({"steps": 4, "unroll": 0}, "unroll is"), ({"steps": True}, "steps is")],
)  # fmt: skip
def test_refusals(options, why):
    with pytest.raises(ValueError, match=why):
        fx.Pipeline(**options)


def test_a_body_cannot_ask_for_what_it_is_not_told():
    with pytest.raises(ValueError, match="1 steps ahead asks for the step 2 ahead"):
        fx.Pipeline(1, ahead=1).run(lambda now: now.has(2))
    with pytest.raises(ValueError, match="need a pipeline with unroll=3"):
        fx.Pipeline(1, ahead=1, unroll=2).run(lambda now: now.buffer(0, 3))
