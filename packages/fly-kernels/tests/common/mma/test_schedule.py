# SPDX-License-Identifier: Apache-2.0
"""The order of one stage of a GEMM's main loop, on the host: what it must hold for any tile."""

import itertools

import pytest

from flydsl.kernels.common.mma.schedule import VmemOrder, loads_of, stage_steps
from flydsl.kernels.common.mma.tile_plan import LDS_BYTES, plan_tile

TILES = [(16, 64, 512), (64, 256, 128), (128, 128, 128), (128, 256, 128), (48, 64, 64), (160, 64, 96)]
SIZES = {"bf16": 2, "fp8": 1, "int8": 1}


GRIDS = [((1, 4), 1), ((1, 2), 2), ((1, 1), 4)]  # of waves, and waves along K


def plans():
    for arch, (dtype, size), (m, n, k), buffers in itertools.product(LDS_BYTES, SIZES.items(), TILES, (1, 2)):
        if k * size % 64 == 0:
            for waves, k_waves in GRIDS[: 1 if buffers == 1 or m * n > 128 * 128 else 3]:
                yield plan_tile(
                    arch, dtype, size, K=8 * k, tile_m=m, tile_n=n, buffers=buffers, waves=waves,
                    k_waves=k_waves,
                )  # fmt: skip


def name(plan):
    waves = "x".join(map(str, (*plan.waves, plan.k_waves)))
    geometry = f"{plan.tile_m}x{plan.tile_n}-{plan.stage_bytes}-{plan.buffers}-{waves}"
    return f"{plan.arch}-{plan.product.instruction}-{geometry}"


ALL = [pytest.param(plan, id=name(plan)) for plan in plans()]


@pytest.mark.parametrize("plan", ALL)
def test_two_workgroups_fit_a_compute_unit(plan):
    shortest = plan.stage_bytes == 64 * plan.k_waves
    assert 2 * plan.lds_bytes <= LDS_BYTES[plan.arch] or shortest


@pytest.mark.parametrize("plan", ALL)
def test_every_product_once(plan):
    steps = [step.key for step in stage_steps(plan) if step.kind == "mfma"]
    assert len(steps) == len(set(steps))
    packs = {packs for _, _, packs, _ in steps}
    assert sorted(itertools.chain(*packs)) == list(range(plan.packs))
    assert len(steps) == plan.row_blocks * plan.column_blocks * len(packs) * plan.product.halves


def orders(plan):
    yield stage_steps(plan)
    yield stage_steps(plan, (3, 1))
    if plan.private:
        return
    if plan.arch == "gfx950":
        yield stage_steps(plan, direct=True)


@pytest.mark.parametrize("plan", ALL)
def test_reads_come_after_the_barrier_that_writes_come_before(plan):
    for steps in orders(plan):
        barriers = [at for at, step in enumerate(steps) if step.kind == "barrier"]
        if plan.private:
            assert not barriers
            assert {step.kind for step in steps} == {"wait", "mfma", "own_a", "load_b"}
            continue
        assert len(barriers) == (1 if plan.buffers == 2 else 2)
        writes = [at for at, step in enumerate(steps) if step.kind == "write_a"]
        of_this = [at for at, step in enumerate(steps) if step.kind == "read_a" and not step.key[2]]
        of_next = [at for at, step in enumerate(steps) if step.kind == "read_a" and step.key[2]]
        assert all(at < barriers[-1] for at in writes)
        assert all(at > barriers[-1] for at in of_next)
        assert all(at < barriers[0] for at in of_this)
        if plan.buffers == 1:
            assert all(at > barriers[0] for at in writes)


@pytest.mark.parametrize("plan", ALL)
def test_nothing_is_replaced_before_its_last_use(plan):
    for steps in orders(plan):
        for at, step in enumerate(steps):
            if step.kind == "load_b":
                n, pack = step.key
                later = [one.key for one in steps[at:] if one.kind == "mfma"]
                assert not any(other == n and pack in packs for _, other, packs, _ in later)
            if step.kind == "own_a":
                m, pack = step.key
                later = [one.key for one in steps[at:] if one.kind == "mfma"]
                assert not any(other == m and pack in packs for other, _, packs, _ in later)
            if step.kind == "load_a":
                assert step.key not in [one.key for one in steps[at:] if one.kind == "write_a"]


@pytest.mark.parametrize("plan", ALL)
def test_a_wait_before_what_was_read_or_loaded_is_used(plan):
    """Two stages in a row: each operand was asked for, and a wait that names it came in between."""
    for steps in orders(plan):
        asked, there = set(), set()
        for turn, step in itertools.product(range(2), steps):
            if step.kind in ("load_a", "own_a", "load_b"):
                asked.add((step.kind, step.key))
                there.discard((step.kind, step.key))
            elif step.kind == "read_a":
                asked.add(step.key[:2])
            elif step.kind == "wait":
                there |= {one for one in asked if one in step.key or not isinstance(one[0], str)}
            elif turn and step.kind == "mfma":
                m, n, packs, _ = step.key
                a = [("own_a", (m, pack)) if plan.private else (m, pack) for pack in packs]
                assert all(one in there for one in [*a, *[("load_b", (n, pack)) for pack in packs]])
            elif turn and step.kind == "write_a":
                assert ("load_a", step.key) in there


def test_loads_come_back_in_order():
    order = VmemOrder()
    assert order.outstanding([("load_a", 0)]) is None
    for key in ("a", "b", "c", "a"):
        order.issue((key, 0))
    assert order.outstanding([("b", 0)]) == 2
    assert order.outstanding([("b", 0), ("c", 0)]) == 1
    assert order.outstanding([("a", 0)]) == 0
    assert [step.kind for step in loads_of(stage_steps(next(plans())))]


def test_several_stages_of_a_may_be_on_their_way():
    order = VmemOrder(stages=3)
    for _ in range(3):
        order.issue(("load_b", 0))
        order.issue(("load_a", 0))
    assert order.outstanding([("load_a", 0)]) == 4  # the first of three
    assert order.outstanding([("load_b", 0)]) == 1  # the last
    order.stages = 1
    assert order.outstanding([("load_a", 0)]) == 0
