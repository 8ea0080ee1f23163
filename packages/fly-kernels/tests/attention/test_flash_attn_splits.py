# SPDX-License-Identifier: Apache-2.0
"""Attention with the keys split over workgroups."""

import math

import pytest
import torch
from attention_references import DTYPES, check, tensors

from flydsl.kernels.attention.config import FlashConfig, default_config
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.kernels.attention.flash_attn_splits import build_split_forward
from flydsl.kernels.attention.variant import AttentionVariant


def launch(run, q, k, v, causal, dtype, splits, config, sm_scale=None, **terms):
    """Both kernels in all orders of waves, into poisoned outputs and working memory."""
    batch, sq, heads, head_dim = q.shape
    skv, kv_heads = k.shape[1:3]
    variant = AttentionVariant(
        splits=splits,
        bias="bias" in terms,
        bias_load=4 if skv % 4 == 0 else 1,
        alibi="alibi_slopes" in terms,
        sink="sink" in terms,
    )
    kernel = build_split_forward(heads, kv_heads, head_dim, dtype, causal, True, sm_scale, config, variant)
    out, lse = run.empty(q), run.empty(q, (batch, heads, sq), torch.float32)
    parts = run.empty(q, (batch, splits, sq, heads, head_dim), torch.float32)
    parts_lse = run.empty(q, (batch, splits, heads, sq), torch.float32)
    extra = [terms.get(name, out) for name in ("bias", "alibi_slopes", "sink", "debug_counts")]
    writes = [out, lse, parts, parts_lse]
    run(kernel, q, k, v, out, lse, parts, parts_lse, *extra, batch, sq, skv, writes=writes)
    return out, lse


@pytest.mark.parametrize(
    ("sq", "skv", "splits"),
    [
        (1, 1, 2),  # more splits than tiles
        (1, 331, 5),
        (67, 65, 3),  # fewer keys than queries: the first rows see none
        (257, 259, 2),  # the first blocks see a part of the tiles only
    ],
)
@pytest.mark.parametrize("causal", [False, True])
def test_lengths(run, sq, skv, splits, causal):
    q, k, v = tensors(1, sq, skv, 1, 1, 64, "bf16", seed=sq + skv)
    out, lse = launch(run, q, k, v, causal, "bf16", splits, FlashConfig(waves=4))
    check(out, lse, q, k, v, causal, "bf16")


@pytest.mark.parametrize(
    ("head_dim", "dtype"), [(96, "f16"), (128, "bf16"), pytest.param(256, "f16", marks=pytest.mark.slow)]
)
def test_head_sizes_groups_and_batches(run, head_dim, dtype):
    q, k, v = tensors(2, 40, 150, 2, 1, head_dim, dtype)
    out, lse = launch(run, q, k, v, True, dtype, 3, default_config(head_dim, 64))
    check(out, lse, q, k, v, True, dtype)


@pytest.mark.slow
def test_two_blocks_of_rows_a_wave(run):
    q, k, v = tensors(1, 513, 300, 1, 1, 64, "bf16")
    out, lse = launch(run, q, k, v, False, "bf16", 2, default_config(64, 512))
    check(out, lse, q, k, v, False, "bf16")


def test_terms_and_scale(run):
    """The sink is in the denominator once, not once a part; the first rows have nothing else."""
    q, k, v = tensors(1, 100, 90, 2, 1, 64, "f16")
    generator = torch.Generator().manual_seed(5)
    terms = {
        "bias": torch.randn(100, 90, generator=generator).to(DTYPES["f16"]),
        "alibi_slopes": torch.rand(2, generator=generator),
        "sink": torch.tensor([1.5, -math.inf]),
    }
    out, lse = launch(run, q, k, v, True, "f16", 2, FlashConfig(waves=2), 0.3, **terms)
    check(out, lse, q, k, v, True, "f16", scale=0.3, **terms)


def test_parts_of_very_different_size(run):
    """The weights of one part against those of another underflow, or are all."""
    q, k, v = tensors(1, 64, 256, 1, 1, 64, "bf16", q_scale=0.0)
    q[..., 0], k[:, :, :, 0] = 64.0, 0.0
    k[:, 77, :, 0] = 64.0
    out, _ = launch(run, q, k, v, False, "bf16", 4, FlashConfig(waves=2))
    assert torch.equal(out, v[:, 77:78].expand_as(out))


def test_infinite_scores_and_numbers_that_are_none(run):
    q, k, v = tensors(1, 64, 256, 1, 1, 64, "bf16")
    q[..., 0] = 1.0
    k[:, 128:, :, 0] = -math.inf  # a part without a weight
    out, lse = launch(run, q, k, v, False, "bf16", 2, FlashConfig(waves=2))
    check(out, lse, q, k, v, False, "bf16")
    q[0, 50] = math.nan
    out, _ = launch(run, q, k, v, False, "bf16", 2, FlashConfig(waves=2))
    assert out[0, :, 0].isnan().any(-1).nonzero().flatten().tolist() == [50]


def test_no_keys(run):
    q, k, v = tensors(1, 40, 0, 1, 1, 64, "bf16")
    out, lse = launch(run, q, k, v, False, "bf16", 3, FlashConfig(waves=2))
    assert torch.equal(out, torch.zeros_like(q))
    assert torch.equal(lse, torch.full_like(lse, -math.inf))


@pytest.mark.parametrize("causal", [False, True])
def test_function(causal):
    q, k, v = tensors(2, 40, 250, 4, 2, 128, "bf16")
    sink, counts = torch.tensor([0.0, 1.0, -1.0, 3.0]), torch.zeros(2)
    given = {"sink": sink, "debug_counts": counts}
    out, lse = flydsl_flash_attn_func(q, k, v, causal=causal, num_kv_splits=3, return_lse=True, **given)
    check(out, lse, q, k, v, causal, "bf16", sink=sink)
    assert counts[0] >= 2 * 4 * 3  # the first tile of each part, batch and head


def test_function_on_empty_tensors():
    q, k, v = tensors(1, 4, 0, 2, 2, 64, "f16")
    assert torch.equal(flydsl_flash_attn_func(q, k, v, num_kv_splits=2), torch.zeros_like(q))


@pytest.mark.parametrize("splits", [0, -1, 129, True, 2.0, "2"])
def test_wrong_numbers(splits):
    q, k, v = tensors(1, 8, 8, 1, 1, 64, "f16")
    with pytest.raises(ValueError, match="num_kv_splits must be 1 to 128"):
        flydsl_flash_attn_func(q, k, v, num_kv_splits=splits)


def test_not_with_sequences_of_several_lengths():
    q, k, v = (one[0] for one in tensors(1, 8, 8, 1, 1, 64, "f16"))
    starts = torch.tensor([0, 8], dtype=torch.int32)
    given = {"cu_seqlens_q": starts, "cu_seqlens_kv": starts, "max_seqlen_q": 8, "cross_seqlen": False}
    with pytest.raises(ValueError, match="num_kv_splits is not for sequences of several lengths"):
        flydsl_flash_attn_func(q, k, v, num_kv_splits=2, **given)


@pytest.mark.parametrize(
    ("name", "spoiled", "error", "said"),
    [
        ("Parts", lambda x: x.bfloat16(), TypeError, "'O': expected Float32"),
        ("Parts", lambda x: x.view(-1)[1:], ValueError, "'O': expected 10240 elements"),
        ("PartsLSE", lambda x: x[:, :1].contiguous(), ValueError, "'LSE': expected 160 elements"),
        ("O", lambda x: x[:, :39].contiguous(), ValueError, "'O': expected 5120 elements"),
        ("LSE", lambda x: x.double(), TypeError, "'LSE': expected Float32"),
    ],
)
def test_launcher_refuses_tensors_that_it_would_misread(name, spoiled, error, said):
    q, k, v = tensors(1, 40, 40, 2, 2, 64, "f16")
    given = {"Q": q, "K": k, "V": v, "O": torch.zeros_like(q), "LSE": torch.zeros(1, 2, 40)}
    given |= {"Parts": torch.zeros(1, 2, 40, 2, 64), "PartsLSE": torch.zeros(1, 2, 2, 40)}
    given[name] = spoiled(given[name])
    kernel = build_split_forward(2, 2, 64, "f16", False, True, None, FlashConfig(waves=2), AttentionVariant(splits=2))
    with pytest.raises(error, match=said):
        kernel(*given.values(), q, q, q, q, 1, 40, 40)
    assert (given["O"] == 0).all()


def test_parts_move_once(counters):
    """Of 128 rows: parts and logarithms are written and read once, in whole transactions, without bank conflicts."""
    q, k, v = tensors(1, 128, 512, 1, 1, 128, "bf16")
    kernel = build_split_forward(1, 1, 128, "bf16", False, True, None, FlashConfig(waves=4), AttentionVariant(splits=4))
    out, lse = torch.empty_like(q), torch.empty(1, 1, 128)
    parts, parts_lse = torch.empty(4 * 128 * 128), torch.empty(4 * 128)
    total = counters(kernel, q, k, v, out, lse, parts, parts_lse, q, q, q, q, 1, 128, 512)["total"]  # of the last one
    read = 4 * (parts.numel() + 2 * 16 * parts_lse.numel())  # 16 threads a row read its logarithms, twice
    assert 4 * parts.numel() <= total["bytes_loaded"] <= read + 4096
    assert total["bytes_stored"] == 2 * q.numel() + 4 * 128
    assert total["lds_conflict_cycles"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("head_dim", [64, 96, 128, 160, 192, 224, 256])
@pytest.mark.parametrize(("sq", "skv", "splits"), [(512, 512, 2), (257, 509, 3), (384, 100, 8), (5, 701, 4)])
def test_more_lengths(run, sq, skv, splits, head_dim, dtype, causal):
    q, k, v = tensors(1, sq, skv, 2, 1, head_dim, dtype, seed=sq)
    out, lse = launch(run, q, k, v, causal, dtype, splits, default_config(head_dim, 256 if sq > 128 else 128))
    check(out, lse, q, k, v, causal, dtype)
