# SPDX-License-Identifier: Apache-2.0
"""Attention and rotary embedding of random shapes, types, variants and orders of waves."""

import functools
import math

import pytest
import torch
from attention_references import DTYPES, compare, reference, tensors
from test_fused_rope_cache_kernel import Case

from flydsl.kernels.attention import flash_attn_interface
from flydsl.kernels.attention.config import default_config
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.kernels.attention.flash_attn_kernel import build_forward
from flydsl.kernels.attention.flash_attn_splits import build_split_forward
from flydsl.kernels.attention.rope_config import RopeConfig
from flydsl.kernels.attention.variant import AttentionVariant

pytestmark = pytest.mark.fuzz


def compare_both(out, lse, q, k, v, causal, dtype, **terms):
    """Assert that an output and an LSE are those of `reference`, with tolerances that fit large scores."""
    tolerance = None if q.abs().max() < 6 else 6e-2  # weights close to 0 and 1: an error is that of a value
    expected, expected_lse = reference(q, k, v, causal, **terms)
    compare(out, None, expected, expected_lse, dtype, tolerance)
    # A score is a sum of head_dim products, in f32: where these are large it is off by more than its own unit.
    products = q.double().abs().amax() * k.double().abs().amax() * q.shape[-1] ** 0.5
    error = (lse.double() - expected_lse).nan_to_num(0.0).abs()
    allowed = 2e-6 * expected_lse.abs().clamp_min(1.0) + products * 2.0**-22
    assert (error <= allowed).logical_or(expected_lse.isinf()).all()
    assert torch.equal(lse == -math.inf, expected_lse == -math.inf)


def test_attention(run, draws, monkeypatch):
    for seed, choose in draws:
        dtype, causal = choose.choice(["f16", "bf16"]), choose.random() < 0.5
        head_dim = choose.choice([64, 64, 96, 128, 128, 160, 192, 224, 256])
        kv_heads = choose.randrange(1, 3)
        heads, batch = kv_heads * choose.randrange(1, 3), choose.randrange(1, 3)
        sq, skv = draws.length(choose, 260), draws.length(choose, 400)
        generator = torch.Generator().manual_seed(seed)
        terms = {}
        if choose.random() < 0.25:
            terms["bias"] = torch.randn(sq, skv, generator=generator).to(DTYPES[dtype])
        if choose.random() < 0.25:
            shape = (batch, heads) if choose.random() < 0.5 else (heads,)
            terms["alibi_slopes"] = torch.rand(shape, generator=generator)
        if choose.random() < 0.25:
            terms["sink"] = torch.randn(heads, generator=generator)
        splits = choose.choice([1, 1, 2, 3, 7])
        rows = choose.choice([32, 64, 128, 256, 512] if head_dim == 64 and "bias" not in terms else [32, 64, 128, 256])
        config = default_config(head_dim, rows)
        monkeypatch.setattr(flash_attn_interface, "shape_config", lambda *of, config=config: config)
        q, k, v = tensors(batch, sq, skv, heads, kv_heads, head_dim, dtype, seed=seed, q_scale=choose.choice([1, 6]))
        out, results = run.empty(q), []

        def attend(q=q, k=k, v=v, causal=causal, out=out, terms=terms, splits=splits, results=results):
            more = {"num_kv_splits": splits, "out": out, "return_lse": True, **terms}
            results.append(flydsl_flash_attn_func(q, k, v, causal=causal, **more)[1])

        said = f"seed {seed}: {batch, sq, skv, heads, kv_heads, head_dim} {dtype} {causal=} {rows=} {splits=}"
        said += f" {sorted(terms)}"
        try:
            run(attend, writes=[out], seeds=draws.orders(choose))
            assert all(torch.equal(one, results[0]) for one in results)
            compare_both(out, results[0], q, k, v, causal, dtype, **terms)
        except Exception as error:
            raise AssertionError(said) from error


def test_windows(run, draws):
    """Split or not, causal or not; `test_sliding_window` has the builder."""
    for seed, choose in draws:
        dtype, causal = choose.choice(["f16", "bf16"]), choose.random() < 0.3
        head_dim = choose.choice([64, 96, 128, 256])
        sq, skv = draws.length(choose, 300), draws.length(choose, 600)
        window = tuple(choose.choice([0, choose.randrange(20), draws.length(choose, 600), 2**30]) for _ in range(2))
        rows = choose.choice([32, 64, 128, 256, 512] if head_dim == 64 else [32, 64, 128, 256])
        variant, config = (
            AttentionVariant(window=window, splits=choose.choice([1, 1, 2, 5])),
            default_config(head_dim, rows),
        )
        q, k, v = tensors(1, sq, skv, 1, 1, head_dim, dtype, seed=seed, q_scale=choose.choice([1, 6]))
        out, lse = run.empty(q), run.empty(q, (1, 1, sq), torch.float32)
        parts, parts_lse = (run.empty(q, (variant.splits * n,), torch.float32) for n in (q.numel(), sq))
        build = build_forward if variant.splits == 1 else build_split_forward
        kernel = build(1, 1, head_dim, dtype, causal, True, None, config, variant)
        between = (parts, parts_lse) if variant.splits > 1 else (q, q)
        writes = [out, lse, *(between if variant.splits > 1 else ())]
        said = f"seed {seed}: {sq, skv, head_dim} {dtype} {causal=} {rows=} {variant=}"
        try:
            run(kernel, q, k, v, out, lse, *between, q, q, q, q, 1, sq, skv, writes=writes, seeds=draws.orders(choose))
            compare_both(out, lse, q, k, v, causal, dtype, window=window)
        except Exception as error:
            raise AssertionError(said) from error


def test_rope(run, draws, arch):
    for seed, choose in draws:
        dtype, head_dim = choose.choice(["f16", "bf16"]), 16 << choose.randrange(6)
        kv_heads, block_size = choose.randrange(1, 6), choose.choice([1, 4, 16])
        q_heads, tokens = choose.randrange(1, 40), choose.randrange(1, 8 * block_size + 1)
        options = {
            "flash_layout": choose.random() < 0.5,
            "reuse_freqs_front_part": choose.random() < 0.7,
            "pos_type": choose.choice([torch.int32, torch.int64]),
            "config": choose.choice([None, None, RopeConfig(64, 64), RopeConfig(512, 512)]),
        }
        if choose.random() < 0.3:
            options["fp8"] = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
        if choose.random() < 0.3:
            options |= {"c_dtype": torch.float32, "s_dtype": torch.float32}
        said = f"seed {seed}: {tokens, q_heads, kv_heads, head_dim, block_size} {dtype} {options}"
        ordered = functools.partial(run, seeds=draws.orders(choose))
        ordered.empty = run.empty
        try:
            Case(ordered, tokens, q_heads, kv_heads, head_dim, block_size, dtype, **options).check(dtype)
        except Exception as error:
            raise AssertionError(said) from error
