# SPDX-License-Identifier: Apache-2.0
"""Plans of rows: every element belongs to one thread, whatever the length, the type and the configuration."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import check, layernorm, rmsnorm, row, rows

from flydsl.kernels.common.row_config import row_config
from flydsl.kernels.common.row_plan import MAX_THREADS, RowConfig, Step, plan_rows
from flydsl.kernels.norm.layernorm_kernel import build_layernorm_module
from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module
from flydsl.kernels.norm.softmax_kernel import build_softmax_module

CONFIGS = st.builds(
    RowConfig,
    elements=st.sampled_from([4, 8, 16, 32, 64]),
    held=st.sampled_from([8, 16, 32, 64]),
    wave_aim=st.sampled_from([None, 16, 64]),
    wave_limit=st.sampled_from([None, 32, 128]),
    single=st.booleans(),
    block=st.sampled_from([None, 64, 256, 1024]),
    threads_aim=st.sampled_from([None, 64, 128, 1024]),
    even_aim=st.sampled_from([None, 64, 256]),
    wave_block=st.sampled_from([64, 128, 256]),
)


def moved(plan):
    """How often each element of a row is moved, by the steps that a kernel's body goes through."""
    count = [0] * plan.columns
    steps = plan.steps
    if not plan.in_registers:
        steps = [Step(plan.vector, step * plan.threads) for step in range(plan.full_steps)] + plan.last_steps
    for thread in range(plan.threads):
        lane = thread
        if plan.stretch:
            lane = thread // plan.stretch * (plan.full_steps * plan.stretch) + thread % plan.stretch
        for step in steps:
            if step.groups is None or lane + step.first < step.groups:
                first = (lane + step.first) * step.vector + step.offset
                for element in range(first, first + step.vector):
                    count[element] += 1
    return count


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 9000), st.sampled_from([16, 32]), CONFIGS, st.sampled_from([32, 64]))
def test_every_element_is_moved_once(columns, bits, config, wave):
    plan = plan_rows(columns, bits, config, wave)
    assert moved(plan) == [1] * columns
    assert plan.block <= MAX_THREADS
    assert plan.block % wave == 0
    assert plan.stretch in (None, wave)
    if plan.in_registers:
        assert plan.elements <= max(config.held, config.wave_limit or 0, config.elements)


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("kernel", ["softmax", "norm", "quantised_norm", "norm_bwd", "per_token_quant", "argmax"])
def test_classes_of_lengths(kernel, wave):
    """Short rows share a wave, long ones have up to 1024 threads, longer ones are streamed."""
    short, long, longer = (
        plan_rows(columns, 16, row_config(kernel, columns, 16), wave) for columns in (64, 16384, 200_000)
    )
    assert short.threads <= wave
    assert long.threads > wave
    assert long.rows == 1
    assert short.in_registers
    assert long.in_registers
    assert longer.threads == MAX_THREADS
    assert not longer.in_registers
    assert row_config(kernel, 64, 16, RowConfig(elements=8)).elements == 8


def test_threads_have_more_elements_before_there_are_more_threads():
    """As Hopper wants it: rows of 1024 to 100 000 columns, and what each thread then holds."""
    config = RowConfig(elements=16, held=64, threads_aim=128)
    plans = [plan_rows(columns, 16, config, 32) for columns in (1024, 2048, 4096, 8192, 16384, 32768, 32769, 100_000)]
    assert [plan.threads for plan in plans] == [64, 128, 128, 128, 256, 512, 1024, 1024]
    assert [plan.in_registers for plan in plans] == [True] * 6 + [False] * 2


def test_rows_that_come_out_even_have_other_threads():
    config = RowConfig(elements=16, threads_aim=128, even_aim=256)
    plans = [plan_rows(columns, 16, config, 32) for columns in (2048, 4096, 4104, 6144, 7168, 8192, 12288)]
    assert [plan.threads for plan in plans] == [128, 256, 128, 256, 128, 256, 256]


def test_rows_of_a_wave_fill_a_workgroup_of_the_size_that_is_asked_for():
    plans = [plan_rows(600, 16, RowConfig(elements=16, wave_limit=32, wave_block=block), 32) for block in (64, 128)]
    assert [(plan.threads, plan.rows) for plan in plans] == [(32, 2), (32, 4)]
    with pytest.raises(ValueError, match="RowConfig: wave_block must be 64, 128, 256, 512 or 1024, got 96"):
        RowConfig(wave_block=96)


def test_rows_are_streamed_by_as_many_threads_as_are_asked_for():
    config = RowConfig(elements=16, held=32, threads_aim=512, streaming=512)
    plans = [plan_rows(columns, 16, config, 32) for columns in (8192, 16384, 16392, 100_000)]
    assert [(plan.threads, plan.in_registers) for plan in plans] == [(512, True)] * 2 + [(512, False)] * 2
    with pytest.raises(ValueError, match="RowConfig: streaming must be 64, 128, 256, 512 or 1024, got 96"):
        RowConfig(streaming=96)


@pytest.mark.parametrize("field", ["elements", "held", "wave_aim", "wave_limit", "unroll", "threads_aim", "even_aim"])
@pytest.mark.parametrize("value", [0, -4, 2.5, True])
def test_numbers_are_positive(field, value):
    with pytest.raises(ValueError, match=f"RowConfig: {field} must be a positive integer, got {value}"):
        RowConfig(**{field: value})


def test_configurations_are_values():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RowConfig().held = 8
    with pytest.raises(ValueError, match="BLOCK_THREADS must be 64, 128, 256, 512 or 1024, got 96"):
        RowConfig(block=96)


@pytest.mark.parametrize("config", [RowConfig(elements=4, held=4), RowConfig(block=64, held=8, unroll=1)])
def test_other_configurations_give_the_same_numbers(config, run):
    x = torch.randn(3, 5001, generator=torch.Generator().manual_seed(0))
    y = run.empty(x)
    run(build_softmax_module(5001, "f32", config=config), x, y, 3, writes=[y])
    assert (y - torch.softmax(x, -1)).abs().max() <= 1e-6


# How Hopper divides some lengths, which are right on any target.
AS_ON_HOPPER = [
    (1000, RowConfig(elements=16, wave_limit=32, wave_block=128)),
    (1536, RowConfig(elements=16, held=64, block=64)),
    (4096, RowConfig(elements=16, threads_aim=128, even_aim=256)),
    (20480, RowConfig(elements=16, held=128, block=256)),
]


@pytest.mark.parametrize(("columns", "config"), AS_ON_HOPPER)
def test_plans_of_hopper_give_the_same_numbers(columns, config, run):
    x, gamma, beta = rows(5, columns, "bf16"), row(columns, "bf16"), row(columns, "bf16", 2)
    for builder, weights, expected in (
        (build_softmax_module, (), torch.softmax(x.double(), -1)),
        (build_rmsnorm_module, (gamma,), rmsnorm(x, gamma)[0]),
        (build_layernorm_module, (gamma, beta), layernorm(x, gamma, beta)[0]),
    ):
        y = run.empty(x)
        run(builder(columns, "bf16", config=config), x, *weights, y, 5, writes=[y])
        check(y, expected, "bf16", 4.0)


def test_other_targets_are_refused(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx1151")
    monkeypatch.setenv("ARCH", "gfx1151")
    with pytest.raises(RuntimeError, match=r"written for gfx942, .*, gfx1250, sm_90a; the target is gfx1151"):
        build_softmax_module(64, "f32")
