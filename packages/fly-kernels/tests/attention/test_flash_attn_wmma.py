# SPDX-License-Identifier: Apache-2.0
"""Flash attention on waves of 32 lanes (gfx1201, gfx1100) against float64."""

import math
from dataclasses import replace

import pytest
import torch
from attention_references import check, compare, reference, tensors

from flydsl.kernels.attention.config import FlashConfig, block_rows, configuration, default_config, shape_config
from flydsl.kernels.attention.flash_attn_generic import build_flash_attn_func_module_primary
from flydsl.kernels.attention.flash_attn_gfx950 import build_flash_attn_dualwave_swp_module
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.kernels.attention.flash_attn_kernel import build_dense
from flydsl.kernels.attention.swa_gfx950 import build_gqa_attn


@pytest.fixture(autouse=True)
def wmma(arch):
    if arch not in ("gfx1100", "gfx1201"):
        pytest.skip(f"WMMA is RDNA's; the target is {arch}")


def launch(run, q, k, v, causal, dtype, config, sm_scale=None):
    """The kernel of one configuration in all orders of waves, into poisoned outputs."""
    batch, sq, heads, head_dim = q.shape
    skv, kv_heads = k.shape[1:3]
    kernel = build_dense(heads, kv_heads, head_dim, dtype, causal, True, sm_scale, config)
    out, lse = run.empty(q), run.empty(q, (batch, heads, sq), torch.float32)
    run(kernel, q, k, v, out, lse, batch, sq, skv, writes=[out, lse])
    return out, lse


@pytest.mark.parametrize(
    ("head_dim", "dtype", "causal"),
    [
        (64, "bf16", False),
        (96, "f16", True),  # 32 lanes share no such head evenly
        (96, "bf16", False),
        (128, "bf16", True),
        (128, "f16", False),
        (192, "bf16", False),
        (256, "f16", True),
        *[
            pytest.param(head_dim, dtype, causal, marks=pytest.mark.slow)
            for head_dim in (64, 96, 128, 160, 192, 224, 256)
            for dtype in ("f16", "bf16")
            for causal in (False, True)
        ],
    ],
)
def test_head_sizes_and_dtypes(run, head_dim, dtype, causal):
    q, k, v = tensors(1, 140, 200, 2, 1, head_dim, dtype)
    out, lse = launch(run, q, k, v, causal, dtype, default_config(head_dim))
    check(out, lse, q, k, v, causal, dtype)


# Single ones; more queries than keys, whose first rows see none; one more than a block and than four tiles.
@pytest.mark.parametrize(
    ("sq", "skv", "causal"), [(1, 1, True), (1, 300, True), (17, 1, False), (128, 64, True), (65, 257, False)]
)
def test_lengths(run, sq, skv, causal):
    q, k, v = tensors(1, sq, skv, 1, 1, 96, "f16", seed=sq + skv)
    out, lse = launch(run, q, k, v, causal, "f16", FlashConfig(waves=4))
    check(out, lse, q, k, v, causal, "f16")


@pytest.mark.parametrize(("waves", "blocks", "kv_tile"), [(1, 2, 32), (3, 1, 64), (16, 1, 64)])
def test_shapes_of_workgroups(run, waves, blocks, kv_tile):
    q, k, v = tensors(1, 100, 150, 1, 1, 64, "bf16", seed=waves)
    out, lse = launch(run, q, k, v, True, "bf16", FlashConfig(waves=waves, query_blocks=blocks, kv_tile=kv_tile))
    check(out, lse, q, k, v, True, "bf16")


def test_two_tiles_in_lds(run):
    q, k, v = tensors(1, 130, 200, 1, 1, 64, "f16")
    config = replace(FlashConfig(waves=4, kv_tile=32), stages=2, stagger=True, setprio=True)
    out, lse = launch(run, q, k, v, True, "f16", config)
    check(out, lse, q, k, v, True, "f16")


# What the default is for much, some and little work; long and short sequences are cut up alike.
@pytest.mark.parametrize(
    ("head_dim", "heads", "causal"),
    [
        (64, 64, True),
        (96, 1, False),
        (128, 1, True),
        (192, 64, False),
        (256, 64, False),
        *[
            pytest.param(head_dim, heads, causal, marks=pytest.mark.slow)
            for head_dim in (64, 96, 128, 160, 192, 224, 256)
            for heads in (64, 8, 1)
            for causal in (False, True)
        ],
    ],
)
def test_nothing_is_spilled_by_default(counters, arch, head_dim, heads, causal):
    config = shape_config(arch, heads, 1024 if heads > 1 else 1, 1024, head_dim, causal)
    q, k, v = tensors(1, 40, 40, 1, 1, head_dim, "bf16")
    out = torch.full_like(q, math.nan)
    kernel = build_dense(1, 1, head_dim, "bf16", causal, False, None, config)
    profile = counters(kernel, q, k, v, out, torch.empty(0), 1, 40, 40)
    compare(out, None, *reference(q, k, v, causal), "bf16")
    assert profile["registers"]["vgpr_spills"] == profile["scratch_bytes"] == 0


def test_queries_read_again_beside_two_tiles_in_lds(run):
    q, k, v = tensors(1, 70, 200, 1, 1, 64, "f16", seed=5)
    config = FlashConfig(waves=4, kv_tile=32, stages=2, reload_queries=True)
    out, lse = launch(run, q, k, v, True, "f16", config)
    check(out, lse, q, k, v, True, "f16")


def test_groups_of_query_heads_and_batches(run):
    q, k, v = tensors(2, 40, 70, 4, 2, 64, "f16")
    out, lse = launch(run, q, k, v, True, "f16", default_config(64, 64), 0.3)
    check(out, lse, q, k, v, True, "f16", 0.3)


def test_scores_that_grow_from_tile_to_tile(run):
    """Tiles are taken from the last to the first; each raises the maximum by more than the lazy reference allows."""
    q, k, v = tensors(1, 32, 448, 1, 1, 64, "bf16")
    tile = torch.arange(448).div(64, rounding_mode="floor").flip(0)
    q[:], k[..., 0] = q * 0.01, 1.0
    q[..., 0] = 400.0
    k[..., 0] *= 8 * tile.view(1, -1, 1)
    out, lse = launch(run, q, k, v, False, "bf16", FlashConfig(waves=2))
    check(out, lse, q, k, v, False, "bf16")


def test_the_row_whose_maximum_grows_is_in_any_lane(run):
    """References are renewed where one row of 32 asks for it, in either half of the wave."""
    for row in (0, 31):
        q, k, v = tensors(1, 32, 192, 1, 1, 64, "f16", seed=row, q_scale=0.01)
        q[0, row, 0, 0], k[0, :64, 0, 0] = 100.0, 60.0
        out, lse = launch(run, q, k, v, False, "f16", FlashConfig(waves=1, query_blocks=2))
        check(out, lse, q, k, v, False, "f16")


def test_nan_reaches_only_the_rows_that_see_it_or_its_tile(run):
    q, k, v = tensors(1, 96, 96, 1, 1, 64, "bf16")
    q[0, 50] = math.nan
    v[0, 80] = math.nan
    out, _ = launch(run, q, k, v, True, "bf16", FlashConfig(waves=4))
    bad = out[0, :, 0].isnan().any(-1)
    assert bad.nonzero().flatten().tolist() == [50, *range(64, 96)]


def test_all_terms_at_once():
    generator = torch.Generator().manual_seed(3)
    q, k, v = tensors(2, 70, 131, 4, 2, 96, "f16")
    bias = torch.randn((70, 131), generator=generator).half()
    slopes, sink = torch.rand((2, 4), generator=generator), torch.randn(4, generator=generator)
    out, lse = flydsl_flash_attn_func(q, k, v, bias=bias, alibi_slopes=slopes, sink=sink, return_lse=True)
    expected = reference(q, k, v, True, bias=bias, alibi_slopes=slopes, sink=sink)
    compare(out, lse, *expected, "f16")


def test_sequences_of_several_lengths(run):
    causal = True
    lengths, lengths_kv = [33, 0, 64, 5], [100, 40, 64, 0]
    both = zip(lengths, lengths_kv, strict=True)
    parts = [tensors(1, sq, skv, 2, 1, 64, "bf16", seed=n) for n, (sq, skv) in enumerate(both)]
    q, k, v = (torch.cat([part[n][0] for part in parts]) for n in range(3))
    starts, starts_kv = (
        torch.tensor([0, *torch.tensor(one).cumsum(0).tolist()], dtype=torch.int32) for one in (lengths, lengths_kv)
    )
    kernel = build_flash_attn_func_module_primary(
        2, 64, causal, "bf16", num_kv_heads=1, varlen=True, return_lse=True, block_m=32
    )
    out, lse = run.empty(q), run.empty(q, (4, 2, 64), torch.float32)
    run(kernel, q, k, v, out, lse, starts, starts_kv, starts, 0, 4, 64, 100, writes=[out, lse])
    for n, (one_q, one_k, one_v) in enumerate(parts):
        mine = out[int(starts[n]) : int(starts[n + 1])].unsqueeze(0)
        if lengths[n]:
            check(mine, lse[n : n + 1, :, : lengths[n]], one_q, one_k, one_v, causal, "bf16")
        assert lse[n, :, lengths[n] :].isnan().all()  # rows past the end stay as they were


def test_splits_of_the_keys():
    q, k, v = tensors(1, 20, 300, 2, 1, 128, "bf16")
    out, lse = flydsl_flash_attn_func(q, k, v, causal=True, num_kv_splits=3, return_lse=True)
    check(out, lse, q, k, v, True, "bf16")


def test_windows_and_rows_apart(run):
    q, k, v = tensors(2, 75, 75, 2, 1, 96, "bf16")
    wide = torch.full((2, 75, 4, 96), math.nan, dtype=torch.bfloat16)
    wide[:, :, :2], wide[:, :, 2:3], wide[:, :, 3:] = q, k, v
    kernel = build_gqa_attn(ATTN_B=2, ATTN_H=2, ATTN_H_KV=1, ATTN_D=96, sliding_window=(20, 0))
    out, flat = run.empty(q), wide.view(-1)
    row = 4 * 96
    run(kernel, flat, flat[2 * 96 :], flat[3 * 96 :], out, row, row, row, 2 * 96, 75, 75, writes=[out])
    compare(out, None, *reference(q, k, v, False, window=(20, 0)), "bf16")


def test_the_operator():
    import flydsl.kernels as fk

    q, k, v = tensors(2, 50, 50, 4, 2, 64, "f16")
    out = fk.flash_attention(q, k, v, causal=True)
    compare(out, None, *reference(q, k, v, True), "f16")


def test_configurations(arch):
    assert (default_config(128).block_m, default_config(128).threads) == (128, 256)
    assert (default_config(64, 256).block_m, default_config(64, 256).query_blocks) == (256, 2)
    assert default_config(128).kv_tile == (64 if arch == "gfx1201" else 32)
    assert block_rows(arch, 8, 16, 4096, 64) == 256
    assert block_rows(arch, 1, 1, 33, 128) == 64
    assert [block_rows(arch, 1, 1, 1, head_dim) for head_dim in (64, 128, 192, 256)] == [64, 64, 96, 128]
    assert configuration(128, 32, None, None).block_m == 128
    assert [configuration(d, 32, None, None).block_m for d in (160, 256)] == [160, 256]
    assert (configuration(256, 8, None, None).waves, configuration(256, 32, 128, None).waves) == (8, 8)
    assert default_config(160).reload_queries
    assert block_rows(arch, 8, 16, 4096, 192) == 192
    with pytest.raises(ValueError, match="block_m 512 is not supported for head_dim 64"):
        configuration(64, 32, 512, None)


def test_the_builder_of_gfx950_is_refused(arch):
    with pytest.raises(ValueError, match=f"flash_attn_gfx950 is for gfx950, the target is {arch}"):
        build_flash_attn_dualwave_swp_module(2, 64, True)
