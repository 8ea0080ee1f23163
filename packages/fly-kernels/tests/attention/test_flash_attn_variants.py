# SPDX-License-Identifier: Apache-2.0
"""The variants of flash attention beside the plain one: bias, ALiBi, sinks, and sequences of several lengths."""

import math

import pytest
import torch
from attention_references import DTYPES, check, compare, reference, tensors

from flydsl.kernels.attention.config import FlashConfig
from flydsl.kernels.attention.flash_attn_generic import build_flash_attn_func_module_primary
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.kernels.attention.flash_attn_kernel import build_forward
from flydsl.kernels.attention.variant import AttentionVariant


def normal(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def launch(run, q, k, v, causal, dtype, variant, extra, config):
    """The kernel of a variant in all orders of waves, into poisoned outputs."""
    batch, sq, heads, head_dim = q.shape
    skv, kv_heads = k.shape[1:3]
    kernel = build_forward(heads, kv_heads, head_dim, dtype, causal, True, None, config, variant)
    out, lse = run.empty(q), run.empty(q, (batch, heads, sq), torch.float32)
    names = ("cu_seqlens_q", "cu_seqlens_kv", "bias", "alibi_slopes", "sink", "debug_counts")
    given = [extra.get(name, out) for name in names]
    run(kernel, q, k, v, out, lse, *given, batch, sq, skv, writes=[out, lse])
    return out, lse


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("dtype", "skv", "load"), [("bf16", 200, 4), ("f16", 201, 1)])
def test_bias(run, dtype, skv, load, causal):
    q, k, v = tensors(2, 100, skv, 2, 1, 64, dtype)
    bias = normal(100, skv, dtype=DTYPES[dtype])
    variant = AttentionVariant(bias=True, bias_load=load)
    out, lse = launch(run, q, k, v, causal, dtype, variant, {"bias": bias}, FlashConfig(waves=2))
    check(out, lse, q, k, v, causal, dtype, bias=bias)


def test_a_bias_of_minus_infinity_masks(run):
    """Whole tiles, and all keys of some rows."""
    q, k, v = tensors(1, 64, 256, 1, 1, 64, "bf16")
    bias = torch.zeros(64, 256, dtype=torch.bfloat16)
    bias[:32, 64:] = -math.inf
    bias[40:50] = -math.inf
    out, lse = launch(run, q, k, v, False, "bf16", AttentionVariant(bias=True), {"bias": bias}, FlashConfig(waves=2))
    check(out, lse, q, k, v, False, "bf16", bias=bias)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("per_batch", [False, True])
def test_alibi(run, per_batch, causal):
    q, k, v = tensors(2, 70, 150, 2, 2, 96, "f16")
    slopes = normal(2, 2).abs() if per_batch else normal(2).abs()
    variant = AttentionVariant(alibi=True, slopes_per_batch=per_batch)
    out, lse = launch(run, q, k, v, causal, "f16", variant, {"alibi_slopes": slopes.view(-1)}, FlashConfig(waves=2))
    check(out, lse, q, k, v, causal, "f16", alibi_slopes=slopes)


@pytest.mark.parametrize("value", [0.5, 300.0, -300.0, -math.inf])
def test_sink(run, value):
    """The first rows see no key: all their weight is the sink's."""
    q, k, v = tensors(1, 100, 70, 2, 1, 64, "bf16")
    sink = torch.tensor([value, 1.0])
    out, lse = launch(run, q, k, v, True, "bf16", AttentionVariant(sink=True), {"sink": sink}, FlashConfig(waves=2))
    check(out, lse, q, k, v, True, "bf16", sink=sink)


def test_all_terms_at_once():
    q, k, v = tensors(2, 70, 90, 4, 2, 128, "bf16")
    terms = {"bias": normal(70, 90, dtype=torch.bfloat16), "alibi_slopes": normal(4).abs(), "sink": normal(4)}
    out, lse = flydsl_flash_attn_func(q, k, v, return_lse=True, **terms)
    check(out, lse, q, k, v, True, "bf16", **terms)


# -- sequences of several lengths --------------------------------------------------------------------------------------


def packed(lengths, lengths_kv, heads, kv_heads, head_dim, dtype):
    """q, k, v of sequences that follow each other, and where each begins."""
    q, k, v = tensors(1, sum(lengths), sum(lengths_kv), heads, kv_heads, head_dim, dtype)
    starts = [torch.tensor([0, *n]).cumsum(0).to(torch.int32) for n in (lengths, lengths_kv)]
    return q[0], k[0], v[0], *starts


def check_packed(out, lse, q, k, v, starts, starts_kv, causal, dtype, bias=None, **terms):
    """Each sequence against the reference of its own tensors."""
    for i in range(len(starts) - 1):
        rows, keys = slice(*starts[i : i + 2].tolist()), slice(*starts_kv[i : i + 2].tolist())
        if rows.stop == rows.start:
            continue
        own = dict(terms) if bias is None else {**terms, "bias": bias[rows, : keys.stop - keys.start]}
        expected, expected_lse = reference(q[None, rows], k[None, keys], v[None, keys], causal, **own)
        compare(out[None, rows], lse[i : i + 1, :, : rows.stop - rows.start], expected, expected_lse, dtype)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("lengths", "lengths_kv"),
    [
        ([70, 1, 130], [70, 1, 130]),
        ([33, 0, 64, 5], [100, 40, 64, 0]),  # a sequence without queries, one without keys
        ([128], [65]),
    ],
)
def test_sequences_of_several_lengths(run, lengths, lengths_kv, causal):
    q, k, v, starts, starts_kv = packed(lengths, lengths_kv, 2, 1, 64, "bf16")
    kernel = build_flash_attn_func_module_primary(
        2, 64, causal, "bf16", num_kv_heads=1, varlen=True, return_lse=True, block_m=64
    )
    out, lse = run.empty(q), run.empty(q, (len(lengths), 2, max(lengths)), torch.float32)
    sizes = (len(lengths), max(lengths), max(lengths_kv))
    run(kernel, q, k, v, out, lse, starts, starts_kv, starts, 0, *sizes, writes=[out, lse])
    check_packed(out, lse, q, k, v, starts, starts_kv, causal, "bf16")


def test_function_on_sequences_of_several_lengths():
    q, k, v, starts, starts_kv = packed([40, 90], [130, 90], 4, 2, 128, "f16")
    terms = {"alibi_slopes": normal(2, 4).abs()[:1], "sink": normal(4)}
    bias = normal(130, 130, dtype=torch.float16)
    out, lse = flydsl_flash_attn_func(
        q,
        k,
        v,
        cu_seqlens_q=starts,
        cu_seqlens_kv=starts_kv,
        max_seqlen_q=90,
        max_seqlen_kv=130,
        cross_seqlen=True,
        bias=bias,
        alibi_slopes=terms["alibi_slopes"].view(-1),
        sink=terms["sink"],
        return_lse=True,
    )
    assert lse.shape == (2, 4, 90)
    assert bool((lse[0, :, 40:] == -math.inf).all())
    check_packed(out, lse, q, k, v, starts, starts_kv, True, "f16", bias=bias, **terms)


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"cu_seqlens_kv": None}, ValueError, "need 'cu_seqlens_kv'"),
        ({"max_seqlen_q": None}, ValueError, "need 'max_seqlen_q'"),
        ({"cross_seqlen": None}, ValueError, "need 'cross_seqlen'"),
        ({"max_seqlen_kv": None}, ValueError, "'max_seqlen_kv' is needed"),
        ({"max_seqlen_q": -1}, ValueError, "'max_seqlen_q' must be a number of tokens"),
        ({"cu_seqlens_q": torch.zeros(3)}, TypeError, "'cu_seqlens_q' must be int32"),
        ({"cu_seqlens_q": torch.zeros(2, dtype=torch.int32)}, ValueError, "batch \\+ 1 elements, got 2 and 3"),
        ({"q": torch.zeros(1, 8, 1, 64, dtype=torch.float16)}, ValueError, "'q' must be \\(tokens of all sequences"),
        ({"bias": torch.zeros(8, 8, dtype=torch.float16)}, ValueError, "'bias' must have the shape \\(8, 6\\)"),
    ],
)
def test_wrong_sequences(changed, error, said):
    q, k, v, starts, starts_kv = packed([3, 5], [6, 2], 1, 1, 64, "f16")
    call = {"q": q, "k": k, "v": v, "cu_seqlens_q": starts, "cu_seqlens_kv": starts_kv}
    call |= {"max_seqlen_q": 5, "max_seqlen_kv": 6, "cross_seqlen": True, **changed}
    with pytest.raises(error, match=said):
        flydsl_flash_attn_func(call.pop("q"), call.pop("k"), call.pop("v"), **call)


@pytest.mark.parametrize(
    ("argument", "tensor", "error", "said"),
    [
        ("bias", torch.zeros(8, 9, dtype=torch.float16), ValueError, "'bias' must have the shape \\(8, 8\\)"),
        ("bias", torch.zeros(8, 8), TypeError, "'bias' must be torch.float16"),
        ("bias", torch.zeros(8, 8, dtype=torch.float16).t(), ValueError, "'bias' must be contiguous"),
        ("alibi_slopes", torch.zeros(3), ValueError, "the shape \\(2,\\) or \\(1, 2\\)"),
        ("alibi_slopes", torch.zeros(2, dtype=torch.float64), TypeError, "'alibi_slopes' must be float32"),
        ("sink", torch.zeros(1, 2), ValueError, "'sink' must have the shape \\(2,\\)"),
    ],
)
def test_wrong_terms(argument, tensor, error, said):
    q, k, v = tensors(1, 8, 8, 2, 2, 64, "f16")
    with pytest.raises(error, match=said):
        flydsl_flash_attn_func(q, k, v, **{argument: tensor})


def test_empty_sequences_have_the_sink_alone():
    q, k, v = tensors(1, 4, 0, 2, 2, 64, "f16")
    sink = torch.tensor([1.0, -2.0])
    out, lse = flydsl_flash_attn_func(q, k, v, sink=sink, return_lse=True)
    assert torch.equal(out, torch.zeros_like(q))
    assert torch.equal(lse, sink.view(1, 2, 1).expand(1, 2, 4))
