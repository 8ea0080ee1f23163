# SPDX-License-Identifier: Apache-2.0
"""Attention in float64, and the tensors that tests compare with it."""

import importlib
import importlib.util
import math
from pathlib import Path

import torch

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
# Absolute, for normal inputs. The output is a mean of values below 5, rounded to 8 (11) bits: 2^-9 (2^-12) of it; the
# weights before it are rounded once, with errors that average out. The contract allows 1e-2.
TOLERANCE = {"f16": 2e-3, "bf16": 1.2e-2}
LSE_TOLERANCE = 2e-6  # relative to max(1, |lse|): f32 sums


def tensors(batch, sq, skv, heads, kv_heads, head_dim, dtype, seed=0, q_scale=1.0):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator)

    q = normal(batch, sq, heads, head_dim) * q_scale
    k, v = normal(batch, skv, kv_heads, head_dim), normal(batch, skv, kv_heads, head_dim)
    return tuple(one.to(DTYPES[dtype]) for one in (q, k, v))


def reference(q, k, v, causal, scale=None, bias=None, alibi_slopes=None, sink=None, window=None):
    """Output and log-sum-exp in float64; rows without a key are 0 and -inf (the sink, where there is one)."""
    q, k, v = (one.double().transpose(1, 2) for one in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    rows, keys = scores.shape[-2:]
    if bias is not None:
        scores = scores + bias.double()
    if alibi_slopes is not None:
        distance = (torch.arange(rows).view(-1, 1) + keys - rows - torch.arange(keys)).abs()
        scores = scores - alibi_slopes.double().view(-1, q.shape[1], 1, 1) * distance
    visible = torch.ones(scores.shape[-2:], dtype=torch.bool)
    if causal:
        visible = visible.tril(keys - rows)
    if window is not None:
        visible = visible.tril(keys - rows + window[1]).triu(keys - rows - window[0])
    scores = scores.masked_fill(~visible, -math.inf)
    lse = torch.logsumexp(scores, -1)
    if sink is not None:
        lse = torch.logaddexp(lse, sink.double().view(-1, 1).expand_as(lse))
    weights = torch.exp(scores - lse.unsqueeze(-1)).nan_to_num(0.0)
    return (weights @ v).transpose(1, 2), lse


def compare(out, lse, expected, expected_lse, dtype, tolerance=None):
    """Assert that an output, and an LSE where there is one, are those of `reference` within the tolerances."""
    assert not out.isnan().any()
    error = (out.double() - expected).abs().max().item()
    assert error <= (tolerance or TOLERANCE[dtype]), f"largest error {error}"
    if lse is not None:
        empty = expected_lse == -math.inf
        assert torch.equal(lse == -math.inf, empty)
        ratio = ((lse.double() - expected_lse) / expected_lse.abs().clamp_min(1.0))[~empty].abs()
        assert not ratio.numel() or ratio.max().item() <= LSE_TOLERANCE, f"lse: largest error {ratio.max().item()}"


def check(out, lse, q, k, v, causal, dtype, scale=None, tolerance=None, **terms):
    compare(out, lse, *reference(q, k, v, causal, scale, **terms), dtype, tolerance)


def broken(tmp_path, name, old, new):
    """A module of attention with one piece of its text replaced."""
    text = Path(importlib.import_module(f"flydsl.kernels.attention.{name}").__file__).read_text()
    assert old in text
    text = text.replace(old, new)
    text = text.replace("from ..", "from flydsl.kernels.").replace("from .", "from flydsl.kernels.attention.")
    path = tmp_path / f"broken_{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
