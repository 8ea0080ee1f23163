# SPDX-License-Identifier: Apache-2.0
"""Attention whose waves mix weights and products (`FlashConfig.pipelined`), against float64."""

from dataclasses import replace

import pytest
import torch
from attention_references import broken, check, tensors

from flydsl.kernels.attention import flash_attn_kernel
from flydsl.kernels.attention.config import FlashConfig, default_config
from flydsl.kernels.attention.flash_attn_kernel import build_dense, build_forward
from flydsl.kernels.attention.variant import AttentionVariant

PIPELINED = FlashConfig(waves=4, stages=2, pipelined=True)


def launch(run, q, k, v, causal, dtype, config=PIPELINED):
    """The kernel in all orders of waves, into poisoned outputs."""
    batch, sq, heads, head_dim = q.shape
    skv, kv_heads = k.shape[1:3]
    kernel = build_dense(heads, kv_heads, head_dim, dtype, causal, True, None, config)
    out, lse = run.empty(q), run.empty(q, (batch, heads, sq), torch.float32)
    run(kernel, q, k, v, out, lse, batch, sq, skv, writes=[out, lse])
    return out, lse


@pytest.mark.parametrize(("sq", "skv"), [(1, 1), (33, 65), (128, 64), (129, 128), (70, 129), (128, 192), (31, 600)])
@pytest.mark.parametrize(("causal", "dtype"), [(False, "bf16"), (True, "f16")])
def test_lengths(run, sq, skv, causal, dtype):
    """No tile without masks, one, and several; lengths that no tile divides."""
    q, k, v = tensors(1, sq, skv, 2, 1, 64, dtype, seed=sq + skv)
    out, lse = launch(run, q, k, v, causal, dtype)
    check(out, lse, q, k, v, causal, dtype)


@pytest.mark.parametrize(("head_dim", "dtype", "causal"), [(96, "f16", True), (128, "bf16", True), (128, "f16", False)])
def test_head_sizes(run, head_dim, dtype, causal):
    """Two tiles of heads of 128 fill the LDS of gfx942: their rows are swizzled there, others are padded."""
    q, k, v = tensors(1, 100, 330, 2, 1, head_dim, dtype, seed=head_dim)
    out, lse = launch(run, q, k, v, causal, dtype)
    check(out, lse, q, k, v, causal, dtype)


def test_no_bank_conflicts_in_the_loop(counters):
    """Padded or swizzled; only where the output passes through LDS two lanes meet in a bank."""
    q, k, v = tensors(1, 128, 1024, 1, 1, 128, "bf16")
    kernel, out = build_dense(1, 1, 128, "bf16", False, False, None, PIPELINED), torch.empty_like(q)
    total = counters(kernel, q, k, v, out, out, 1, 128, 1024)["total"]
    assert total["lds_conflict_cycles"] <= 4 * 4 * 4 * 4


def test_it_is_the_default_of_waves_of_64():
    assert [default_config(head, 256).pipelined for head in (64, 96, 128, 160, 256)] == [True] * 3 + [False] * 2
    assert default_config(128, 128).pipelined
    assert not default_config(128, 64).pipelined


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("rising", [32, 64, 1])
def test_scores_that_grow_renew_the_references(run, rising, dtype):
    """From each block of keys, tile or key to the one that is visited next, in rows of their own."""
    q, k, v = tensors(1, 64, 330, 1, 1, 64, dtype)
    step = 100.0 * rising / 64
    k[:, :, :, 0] += step * torch.arange(330).div(rising, rounding_mode="floor").flip(0).view(1, -1, 1)
    q[..., 0] = torch.where(torch.arange(64) % 3 == 0, 2.0, 0.0).view(1, -1, 1)
    out, lse = launch(run, q, k, v, False, dtype, replace(PIPELINED, waves=2))
    check(out, lse, q, k, v, False, dtype)


@pytest.mark.parametrize("growing", [False, True])
def test_each_wave_counts_each_tile_once(growing):
    q, k, v = tensors(1, 64, 300, 1, 1, 64, "bf16")
    if growing:
        k[:, :, :, 0] += 100.0 * torch.arange(300).div(32, rounding_mode="floor").flip(0).view(1, -1, 1)
        q[..., 0] = 2.0
    counts, out = torch.zeros(2), torch.empty_like(q)
    config, variant = replace(PIPELINED, waves=2), AttentionVariant(counts=True)
    kernel = build_forward(1, 1, 64, "bf16", False, False, None, config, variant)
    kernel(q, k, v, out, *[out] * 6, counts, 1, 64, 300)
    check(out, None, q, k, v, False, "bf16")
    assert counts.tolist() == ([10, 0] if growing else [2, 8])  # of 5 tiles of each wave one has masked keys


@pytest.mark.parametrize("fields", [{"stages": 1}, {"kv_tile": 32}, {"stagger": True}])
def test_what_it_needs(fields):
    with pytest.raises(ValueError, match="pipelined needs stages=2, kv_tile=64 and stagger=False"):
        replace(PIPELINED, **fields)


def test_a_missing_barrier_is_found(emulator, tmp_path, monkeypatch):
    if emulator is None:
        pytest.skip("races are found by the emulator")
    old, new = "                taken = taken + again\n                fx.barrier()\n", "                pass\n"
    monkeypatch.setattr(flash_attn_kernel, "PipelinedLoop", broken(tmp_path, "pipelined_loop", old, new).PipelinedLoop)
    q, k, v = tensors(1, 128, 400, 1, 1, 64, "bf16")
    out = torch.empty_like(q)
    with pytest.raises(RuntimeError, match="race"):
        build_dense(1, 1, 64, "bf16", False, False, None, PIPELINED)(q, k, v, out, out, 1, 128, 400)
