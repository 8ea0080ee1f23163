# SPDX-License-Identifier: Apache-2.0
"""What a forward has beside dense queries, keys and values: several lengths, terms of the scores, windows, splits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

MOST_SPLITS = 128
_ANY_LENGTH = 2**24  # more keys than a sequence below 2 GiB has


@dataclass(frozen=True)
class AttentionVariant:
    """Which tensors a kernel gets beside Q, K, V, O and LSE, what they mean, and which keys it takes.

    Attributes:
        varlen: tokens of all sequences follow each other; `cu_seqlens_q` and `cu_seqlens_kv` (int32, batch + 1) say
            where each begins, and `seq_len`, `seq_len_kv` of the launch are the longest.
        bias: `bias` of the type of Q, (seq_len, seq_len_kv), or (all query tokens, seq_len_kv) with `varlen`, is added
            to the scaled scores.
        bias_load: elements of it that one load takes: 4 where rows begin at multiples of 8 bytes, else 1.
        alibi: `alibi_slopes`, f32 (heads), or (batch, heads) with `slopes_per_batch`: -slope |i + Skv - Sq - j| is
            added (Press et al., "Train Short, Test Long", 2021).
        sink: `sink`, f32 (heads): the denominator has another term, exp(sink).
        window: (left, right): query i, which stands at key d = i + Skv - Sq, sees keys d - left to d + right only.
        splits: workgroups that share the keys of the same query rows. From 2 on the kernel writes its part of the
            result, for `split_combine_kernel`: O is (batch, splits, seq_len, heads, head_dim) f32, LSE (batch, splits,
            heads, seq_len) f32 with base-2 logarithms, and neither has the sink in it. Not with `varlen`.
        strided: tokens of Q, K, V and O (in this order, elements) are `strides` of the launch apart; heads follow each
            other, and sequences as many tokens as they have. Not with `varlen` and `splits`.
        whole_tiles: the number of keys is a multiple of a tile, so that none is masked for being past the end. Not with
            `varlen`.
        counts: to `debug_counts`, f32 (2), is added how often a wave renewed the references of its rows, with all that
            is rescaled then, and how many tiles it took without.

    Raises:
        ValueError: numbers that make no sense, or that do not go together.
    """

    varlen: bool = False
    bias: bool = False
    bias_load: int = 4
    alibi: bool = False
    slopes_per_batch: bool = False
    sink: bool = False
    window: tuple[int, int] | None = None
    splits: int = 1
    strided: bool = False
    whole_tiles: bool = False
    counts: bool = False

    def __post_init__(self) -> None:
        if self.window is not None:
            pair = self.window if isinstance(self.window, tuple | list) and len(self.window) == 2 else (None,)
            if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in pair):
                raise ValueError(
                    f"flash attention: a sliding window is two non-negative numbers of keys, got {self.window!r}"
                )
            object.__setattr__(self, "window", tuple(pair))
        if isinstance(self.splits, bool) or not isinstance(self.splits, int) or not 1 <= self.splits <= MOST_SPLITS:
            raise ValueError(f"flash attention: num_kv_splits must be 1 to {MOST_SPLITS}, got {self.splits!r}")
        if self.splits > 1 and self.varlen:
            raise ValueError("flash attention: num_kv_splits is not for sequences of several lengths")
        if self.strided and (self.varlen or self.splits > 1):
            raise ValueError("flash attention: strides are not for sequences of several lengths, nor for num_kv_splits")
        if self.whole_tiles and self.varlen:
            raise ValueError("flash attention: skip_kv_pad_mask is not for sequences of several lengths")

    def bounds(self, causal: bool) -> tuple[int | None, int | None]:
        """How many keys a query sees to the left and to the right of its own, None for all."""
        left, right = self.window or (None, None)
        if left is not None and left >= _ANY_LENGTH:
            left = None
        if right is not None and right >= _ANY_LENGTH:
            right = None
        return left, 0 if causal else right

    def chosen(
        self,
        cu_seqlens_q: torch.Tensor | None,
        cu_seqlens_kv: torch.Tensor | None,
        bias: torch.Tensor | None,
        alibi_slopes: torch.Tensor | None,
        sink: torch.Tensor | None,
        debug_counts: torch.Tensor | None,
    ) -> dict[str, Any]:
        """Those of a launch's tensors that the kernel gets, by name."""
        given = {
            "cu_seqlens_q": cu_seqlens_q if self.varlen else None,
            "cu_seqlens_kv": cu_seqlens_kv if self.varlen else None,
            "bias": bias if self.bias else None,
            "alibi_slopes": alibi_slopes if self.alibi else None,
            "sink": sink if self.sink else None,
            "debug_counts": debug_counts if self.counts else None,
        }
        return {name: tensor for name, tensor in given.items() if tensor is not None}

    def __str__(self) -> str:
        """The part of a kernel's name."""
        said = [f.name for f in fields(self) if getattr(self, f.name) is True]
        unaligned = ["unaligned"] if self.bias and self.bias_load == 1 else []
        window = ["window{}_{}".format(*self.window)] if self.window else []
        splits = [f"splits{self.splits}"] if self.splits > 1 else []
        return "_".join(["", *said, *unaligned, *window, *splits])


PLAIN = AttentionVariant()
