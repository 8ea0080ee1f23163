# SPDX-License-Identifier: Apache-2.0
"""What a forward has beside dense queries, keys and values: sequences of several lengths, and terms of the scores."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Form:
    """Which tensors a kernel gets beside Q, K, V, O and LSE, and what they mean.

    Attributes:
        varlen: tokens of all sequences follow each other; `cu_seqlens_q` and `cu_seqlens_kv` (int32, batch + 1) say
            where each begins, and `seq_len`, `seq_len_kv` of the launch are the longest.
        bias: `bias` of the type of Q, (seq_len, seq_len_kv), or (all query tokens, seq_len_kv) with `varlen`, is added
            to the scaled scores.
        bias_load: elements of it that one load takes: 4 where rows begin at multiples of 8 bytes, else 1.
        alibi: `alibi_slopes`, f32 (heads), or (batch, heads) with `slopes_per_batch`: -slope |i + Skv - Sq - j| is
            added (Press et al., "Train Short, Test Long", 2021).
        sink: `sink`, f32 (heads): the denominator has another term, exp(sink).
    """

    varlen: bool = False
    bias: bool = False
    bias_load: int = 4
    alibi: bool = False
    slopes_per_batch: bool = False
    sink: bool = False

    def chosen(self, cu_seqlens_q: Any, cu_seqlens_kv: Any, bias: Any, alibi_slopes: Any, sink: Any) -> dict[str, Any]:
        """Those of a launch's tensors that the kernel gets, by name."""
        given = {
            "cu_seqlens_q": cu_seqlens_q if self.varlen else None,
            "cu_seqlens_kv": cu_seqlens_kv if self.varlen else None,
            "bias": bias if self.bias else None,
            "alibi_slopes": alibi_slopes if self.alibi else None,
            "sink": sink if self.sink else None,
        }
        return {name: tensor for name, tensor in given.items() if tensor is not None}

    def __str__(self) -> str:
        """The part of a kernel's name."""
        said = [f.name for f in fields(self) if getattr(self, f.name) is True]
        return "_".join(["", *said, *(["unaligned"] if self.bias and self.bias_load == 1 else [])])


PLAIN = Form()
