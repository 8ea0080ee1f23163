# SPDX-License-Identifier: Apache-2.0
"""How a tile is divided among waves, and what its main loop can reach."""

import itertools

import pytest

from flydsl.kernels.common.mma.tile_plan import LDS_BYTES, best_plan, plan_tile

SIZES = {"bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 1}


def best(arch, dtype, tile, K=4096, **options):
    tile_m, tile_n = tile
    return best_plan(arch, dtype, SIZES[dtype], K=K, tile_m=tile_m, tile_n=tile_n, **options)


@pytest.mark.parametrize("arch", LDS_BYTES)
@pytest.mark.parametrize("dtype", SIZES)
def test_two_waves_a_simd_wherever_there_is_a_choice(arch, dtype):
    for rows, columns in itertools.product((16, 48, 64, 80, 96, 112, 128, 144, 160), (64, 128, 192, 256)):
        plan = best(arch, dtype, (rows, columns))
        assert plan.threads in (256, 512)
        assert 2 * plan.lds_bytes <= LDS_BYTES[arch]
        assert plan.sum_registers <= 128 or rows * columns > 64 * 4 * 128
        assert not plan.crowded
        plan.check()


@pytest.mark.parametrize("arch", LDS_BYTES)
def test_few_rows_take_waves_along_k_and_no_lds(arch):
    plan = best(arch, "bf16", (16, 64))
    assert (plan.waves, plan.k_waves, plan.passes, plan.buffer_chunks) == ((1, 1), 4, 0, 0)
    assert plan.lds_bytes == plan.sum_chunks * 16 > 0


@pytest.mark.parametrize("arch", LDS_BYTES)
def test_a_short_k_is_not_worth_a_sum_over_waves(arch):
    assert best(arch, "bf16", (16, 128), K=256).k_waves == 1
    assert best(arch, "bf16", (16, 128), K=8192).k_waves > 1
    assert best(arch, "bf16", (128, 128), K=8192).k_waves == 1  # many rows share A by way of LDS


def test_one_lds_buffer_has_no_waves_along_k():
    assert best("gfx942", "fp8", (128, 128), buffers=1).k_waves == 1


def test_large_tiles_take_eight_waves_and_larger_ones_are_refused():
    assert best("gfx942", "bf16", (256, 256)).waves == (2, 4)
    with pytest.raises(ValueError, match="8 waves need 512 registers a thread for the sums"):
        best("gfx950", "bf16", (512, 512)).check()


def test_waves_that_do_not_divide_k():
    with pytest.raises(ValueError, match="k_waves = 4 waves of 64 bytes of K each do not divide 320 bytes"):
        plan_tile("gfx942", "bf16", 2, K=160, tile_m=16, tile_n=64, waves=(1, 1), k_waves=4)
