# SPDX-License-Identifier: Apache-2.0
"""What the tensors of a call of attention say about the problem, and what is wrong with them.

Only `shape`, `dtype`, `stride`, `numel` and `is_contiguous` of a tensor are read, which tensors without data have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .config import check_head_dim
from .variant import PLAIN, AttentionVariant

if TYPE_CHECKING:
    import torch

_DTYPES = {"float16": "f16", "bfloat16": "bf16"}
_LARGEST_BYTES = 2**31  # of what one buffer resource covers
LATER = "comes with paged attention"


@dataclass(frozen=True)
class Problem:
    """The sizes of a forward: `seq_len` and `seq_len_kv` are the longest of `batch` sequences."""

    batch: int
    seq_len: int
    heads: int
    head_dim: int
    seq_len_kv: int
    kv_heads: int
    dtype: str
    lse_shape: tuple[int, ...]
    variant: AttentionVariant = PLAIN


def dense_problem(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, num_kv_heads: int | None) -> Problem:
    """The problem of q (B, Sq, H, D) and k, v (B, Skv, Hkv, D).

    Raises TypeError and ValueError as `flydsl_flash_attn_func` says.
    """
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        _modes(name, tensor, "(batch, tokens, heads, head size)", 4)
        if tensor.shape[0] and tensor.numel() // tensor.shape[0] * 2 >= _LARGEST_BYTES:
            raise ValueError(
                f"flash attention: one batch of {name!r} must be less than 2 GiB, got {tuple(tensor.shape)}"
            )
    batch, seq_len, heads, head_dim = (int(n) for n in q.shape)
    kv_heads = _heads(q, k, v, num_kv_heads)
    if int(k.shape[0]) != batch:
        raise ValueError(
            f"flash attention: 'q' {tuple(q.shape)} and 'k' {tuple(k.shape)} must agree in batch and head size"
        )
    lse_shape = (batch, heads, seq_len)
    return Problem(batch, seq_len, heads, head_dim, int(k.shape[1]), kv_heads, _dtype(q, k, v), lse_shape)


def varlen_problem(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    num_kv_heads: int | None,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_kv: torch.Tensor,
    max_seqlen_q: int | None,
    max_seqlen_kv: int | None,
    cross_seqlen: bool | None,
) -> Problem:
    """The problem of q (all query tokens, H, D) and k, v (all keys, Hkv, D) of sequences that follow each other.

    Raises TypeError and ValueError as `flydsl_flash_attn_func` says.
    """
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        _modes(name, tensor, "(tokens of all sequences, heads, head size) with cu_seqlens_q", 3)
    starts = {"cu_seqlens_q": cu_seqlens_q, "cu_seqlens_kv": cu_seqlens_kv}
    for name, tensor in starts.items():
        if tensor is None:
            raise ValueError(f"flash attention: sequences of several lengths need {name!r}")
        _modes(name, tensor, "(batch + 1)", 1)
        if str(tensor.dtype).rpartition(".")[2] != "int32":
            raise TypeError(f"flash attention: {name!r} must be int32, got {tensor.dtype}")
        if not tensor.is_contiguous():
            raise ValueError(f"flash attention: {name!r} must be contiguous")
    batch = int(cu_seqlens_q.shape[0]) - 1
    if batch < 0 or int(cu_seqlens_kv.shape[0]) - 1 != batch:
        raise ValueError(
            "flash attention: 'cu_seqlens_q' and 'cu_seqlens_kv' must both have batch + 1 elements, "
            f"got {int(cu_seqlens_q.shape[0])} and {int(cu_seqlens_kv.shape[0])}"
        )
    if max_seqlen_q is None or cross_seqlen is None:
        missing = "max_seqlen_q" if max_seqlen_q is None else "cross_seqlen"
        raise ValueError(f"flash attention: sequences of several lengths need {missing!r}")
    if cross_seqlen and max_seqlen_kv is None:
        raise ValueError("flash attention: 'max_seqlen_kv' is needed with cross_seqlen=True")
    longest_kv = max_seqlen_q if max_seqlen_kv is None else max_seqlen_kv
    for name, length, tensor in (("max_seqlen_q", max_seqlen_q, q), ("max_seqlen_kv", longest_kv, k)):
        if isinstance(length, bool) or not isinstance(length, int) or length < 0:
            raise ValueError(f"flash attention: {name!r} must be a number of tokens, got {length!r}")
        if length * int(tensor.shape[1]) * int(tensor.shape[2]) * 2 >= _LARGEST_BYTES:
            raise ValueError(f"flash attention: a sequence of {name!r} {length} tokens must be less than 2 GiB")
    heads, head_dim = int(q.shape[1]), int(q.shape[2])
    kv_heads = _heads(q, k, v, num_kv_heads)
    lse_shape = (batch, heads, max_seqlen_q)
    dtype, variant = _dtype(q, k, v), AttentionVariant(varlen=True)
    return Problem(batch, max_seqlen_q, heads, head_dim, longest_kv, kv_heads, dtype, lse_shape, variant)


def with_terms(
    problem: Problem,
    q: torch.Tensor,
    bias: torch.Tensor | None,
    alibi_slopes: torch.Tensor | None,
    sink: torch.Tensor | None,
) -> Problem:
    """The problem with the terms of the scores that were given.

    Raises TypeError and ValueError as `flydsl_flash_attn_func` says.
    """
    variant = problem.variant
    if bias is not None:
        rows = int(q.shape[0]) if variant.varlen else problem.seq_len
        _expect("bias", bias, q.dtype, [(rows, problem.seq_len_kv)])
        if problem.seq_len * problem.seq_len_kv * 2 >= _LARGEST_BYTES:
            raise ValueError("flash attention: the 'bias' of a sequence must be less than 2 GiB")
        variant = replace(variant, bias=True, bias_load=4 if problem.seq_len_kv % 4 == 0 else 1)
    if alibi_slopes is not None:
        shapes = [(problem.heads,), (problem.batch, problem.heads)]
        _expect("alibi_slopes", alibi_slopes, "float32", shapes)
        variant = replace(variant, alibi=True, slopes_per_batch=len(alibi_slopes.shape) == 2)
    if sink is not None:
        _expect("sink", sink, "float32", [(problem.heads,)])
        variant = replace(variant, sink=True)
    return replace(problem, variant=variant)


def with_options(problem: Problem, num_kv_splits: int, debug_counts: torch.Tensor | None) -> Problem:
    """The problem with splits of the keys and counters.

    Raises TypeError and ValueError as `flydsl_flash_attn_func` says.
    """
    variant = replace(problem.variant, splits=num_kv_splits, counts=debug_counts is not None)
    if debug_counts is not None:
        _expect("debug_counts", debug_counts, "float32", [(2,)])
    if variant.splits > 1 and problem.seq_len * problem.heads * problem.head_dim * 4 >= _LARGEST_BYTES:
        raise ValueError("flash attention: with num_kv_splits, one batch of 'q' in f32 must be less than 2 GiB")
    return replace(problem, variant=variant)


def _modes(name: str, tensor: Any, wanted: str, modes: int) -> None:
    if len(tensor.shape) != modes:
        raise ValueError(f"flash attention: {name!r} must be {wanted}, got {len(tensor.shape)} modes")


def _expect(name: str, tensor: Any, dtype: Any, shapes: list[tuple[int, ...]]) -> None:
    shape = tuple(int(n) for n in tensor.shape)
    if shape not in shapes:
        wanted = " or ".join(str(one) for one in shapes)
        raise ValueError(f"flash attention: {name!r} must have the shape {wanted}, got {shape}")
    if str(tensor.dtype).rpartition(".")[2] != str(dtype).rpartition(".")[2]:
        raise TypeError(f"flash attention: {name!r} must be {dtype}, got {tensor.dtype}")
    if not tensor.is_contiguous():
        raise ValueError(f"flash attention: {name!r} must be contiguous, got strides {tuple(tensor.stride())}")


def _heads(q: Any, k: Any, v: Any, num_kv_heads: int | None) -> int:
    """The heads of k, after comparing the last two modes of all three."""
    heads, head_dim, kv_heads = int(q.shape[-2]), int(q.shape[-1]), int(k.shape[-2])
    check_head_dim(head_dim)
    if tuple(k.shape) != tuple(v.shape):
        raise ValueError(f"flash attention: 'k' and 'v' must have one shape, got {tuple(k.shape)} and {tuple(v.shape)}")
    if int(k.shape[-1]) != head_dim:
        raise ValueError(
            f"flash attention: 'q' {tuple(q.shape)} and 'k' {tuple(k.shape)} must agree in batch and head size"
        )
    if num_kv_heads is not None and num_kv_heads != kv_heads:
        raise ValueError(f"flash attention: num_kv_heads is {num_kv_heads}, but 'k' has {kv_heads} heads")
    if heads < 1 or kv_heads < 1 or heads % kv_heads:
        raise ValueError(f"flash attention: heads of 'q' ({heads}) must be a multiple of those of 'k' ({kv_heads})")
    return kv_heads


def _dtype(q: Any, k: Any, v: Any) -> str:
    name = str(q.dtype).rpartition(".")[2]
    if name not in _DTYPES:
        hint = f"; fp8 {LATER}" if name.startswith("float8") else ""
        raise TypeError(f"flash attention: 'q' must be float16 or bfloat16, got {name}{hint}")
    for argument, tensor in (("k", k), ("v", v)):
        if tensor.dtype != q.dtype:
            raise TypeError(f"flash attention: {argument!r} must have the dtype of 'q', {q.dtype}, got {tensor.dtype}")
    return _DTYPES[name]
