# SPDX-License-Identifier: Apache-2.0
"""The operator flash_attention: against torch in float64, under torch.compile, and what it refuses."""

import pytest
import torch

import flydsl.kernels
import flydsl.kernels.operators.flash_attention  # which registers torch.ops.flydsl.flash_attention


def operands(batch, sq, skv, heads, kv_heads, head_dim, dtype=torch.bfloat16):
    generator = torch.Generator().manual_seed(sq + skv)
    shapes = ((batch, sq, heads, head_dim), (batch, skv, kv_heads, head_dim), (batch, skv, kv_heads, head_dim))
    return tuple(torch.randn(shape, generator=generator).to(dtype) for shape in shapes)


def reference(q, k, v, causal):
    q, k, v = (one.double().transpose(1, 2) for one in (q, k, v))
    mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2]) if causal else None
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    return out.transpose(1, 2)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_is_scaled_dot_product_attention(dtype, causal):
    q, k, v = operands(2, 50, 70, 4, 2, 64, dtype)
    got = flydsl.kernels.flash_attention(q, k, v, causal=causal)
    assert got.dtype == dtype
    assert (got.double() - reference(q, k, v, causal)).abs().max() <= 1.2e-2


def test_returns_the_logarithm_of_the_sums():
    q, k, v = operands(1, 40, 40, 2, 2, 64)
    out, lse = flydsl.kernels.flash_attention(q, k, v, causal=False, return_lse=True)
    scores = torch.einsum("bihd,bjhd->bhij", q.double(), k.double()) / 8
    assert out.shape == q.shape
    assert torch.allclose(lse.double(), torch.logsumexp(scores, -1), rtol=0, atol=1e-5)


def test_heads_before_tokens_are_copied():
    q, k, v = operands(1, 33, 33, 2, 2, 64)
    swapped = [one.transpose(1, 2).contiguous().transpose(1, 2) for one in (q, k, v)]
    assert not swapped[0].is_contiguous()
    assert torch.equal(flydsl.kernels.flash_attention(*swapped), flydsl.kernels.flash_attention(q, k, v))


def test_library_rules():
    q, k, v = operands(1, 33, 40, 2, 1, 64)
    torch.library.opcheck(torch.ops.flydsl.flash_attention.default, (q, k, v, True))


def test_a_bias_is_an_additive_mask():
    q, k, v = operands(2, 40, 52, 4, 2, 64)
    bias = torch.randn(52, 40, generator=torch.Generator().manual_seed(0)).bfloat16().t()  # copied, as other operands
    got = flydsl.kernels.flash_attention(q, k, v, causal=False, bias=bias)
    q64, k64, v64 = (one.double().transpose(1, 2) for one in (q, k, v))
    sdpa = torch.nn.functional.scaled_dot_product_attention
    wanted = sdpa(q64, k64, v64, attn_mask=bias.double(), enable_gqa=True).transpose(1, 2)
    assert (got.double() - wanted).abs().max() <= 1.2e-2


def test_library_rules_with_all_terms():
    q, k, v = operands(1, 33, 40, 2, 1, 64)
    terms = (torch.randn(33, 40).bfloat16(), torch.rand(2), torch.randn(2))
    torch.library.opcheck(torch.ops.flydsl.flash_attention.default, (q, k, v, True, *terms))


def test_stays_in_the_graph():
    q, k, v = operands(1, 48, 48, 2, 2, 64)

    def layer(x):
        return flydsl.kernels.flash_attention(x * 2, k, v) + 1

    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(q), layer(q))


def test_backward_says_that_it_is_not_there():
    q, k, v = operands(1, 32, 32, 1, 1, 64)
    out = flydsl.kernels.flash_attention(q.requires_grad_(), k, v)
    with pytest.raises(NotImplementedError, match="no backward yet"):
        out.sum().backward()


def test_what_it_refuses():
    q, k, v = operands(1, 32, 32, 2, 2, 64)
    with pytest.raises(TypeError, match="must be float16 or bfloat16"):
        flydsl.kernels.flash_attention(q.float(), k.float(), v.float())
    with pytest.raises(ValueError, match="must have one shape"):
        flydsl.kernels.flash_attention(q, k, v[:, :16])
