# SPDX-License-Identifier: Apache-2.0
"""Every operator but products, as users call it: its default configuration for rows of bf16.

A call under COMPILE_ONLY compiles and runs nothing. Backward passes are called by the operators of torch that autograd
calls, so that each is the first compilation of its process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

_ROWS, _COLUMNS, _MANY_ROWS = 4, 8192, 1024
_UNARY = (
    "absolute", "exp", "gelu", "log", "relu", "rsqrt", "sigmoid", "silu", "softplus", "sqrt", "tanh",
)  # fmt: skip
_BINARY = ("add", "maximum", "multiply")
_ATTENTION = ((64, 256), (64, 4096), (128, 256), (128, 4096), (192, 4096), (256, 256), (256, 4096))  # head, tokens
Compile = Callable[[], Any]


def cases(arch: str) -> Iterator[tuple[str, Compile]]:
    """(name, call) of each kernel for a target."""
    yield from _rows()
    yield from _backward()
    yield from _quantised(arch)
    yield "rope_cache", _rope
    yield from _attention()


def _rows() -> Iterator[tuple[str, Compile]]:
    import flydsl.kernels as fk

    x, w = torch.zeros(_ROWS, _COLUMNS, dtype=torch.bfloat16), torch.ones(_COLUMNS, dtype=torch.bfloat16)
    for name in (*_UNARY, "swiglu", "geglu", "softmax", "row_sum", "mean", "row_max", "argmax"):
        yield name, lambda name=name: getattr(fk, name)(x)
    for name in _BINARY:
        yield name, lambda name=name: getattr(fk, name)(x, x)
    yield "rmsnorm", lambda: fk.rmsnorm(x, w)
    yield "layernorm", lambda: fk.layernorm(x, w, w)
    yield "fused_add_rmsnorm", lambda: fk.fused_add_rmsnorm(x, x, w)
    yield "fused_add_layernorm", lambda: fk.fused_add_layernorm(x, x, w, w)
    for name, more in (("", ()), (", smoothed", (w,))):
        yield f"rmsnorm_quant{name}", lambda more=more: fk.rmsnorm_quant(x, w, *more)
        yield f"layernorm_quant{name}", lambda more=more: fk.layernorm_quant(x, w, w, *more)
        yield f"fused_add_rmsnorm_quant{name}", lambda more=more: fk.fused_add_rmsnorm_quant(x, x, w, *more)
        yield f"fused_add_layernorm_quant{name}", lambda more=more: fk.fused_add_layernorm_quant(x, x, w, w, *more)


def _backward() -> Iterator[tuple[str, Compile]]:
    from flydsl.kernels import operators_of

    for module in ("elementwise", "softmax", "rmsnorm", "layernorm"):
        operators_of(module)  # makes its operators of torch
    ops: Any = torch.ops.flydsl
    x, w = torch.zeros(_ROWS, _COLUMNS, dtype=torch.bfloat16), torch.ones(_COLUMNS, dtype=torch.bfloat16)
    wide, one = torch.zeros(_ROWS, 2 * _COLUMNS, dtype=torch.bfloat16), torch.zeros(_ROWS)
    yield "gelu, backward", lambda: ops.unary_backward(x, x, "gelu")
    yield "silu, backward", lambda: ops.unary_backward(x, x, "silu")
    yield "swiglu, backward", lambda: ops.gated_backward(x, wide, "silu")
    yield "geglu, backward", lambda: ops.gated_backward(x, wide, "gelu")
    yield "softmax, backward", lambda: ops.softmax_backward(x, x)
    for rows, form in ((_ROWS, ""), (_MANY_ROWS, " of many rows")):
        y, r = torch.zeros(rows, _COLUMNS, dtype=torch.bfloat16), torch.zeros(rows)
        yield f"rmsnorm, backward{form}", lambda y=y, r=r: ops.rmsnorm_backward(y, w, y, r)
        yield f"fused_add_rmsnorm, backward{form}", lambda y=y, r=r: ops.fused_add_rmsnorm_backward(y, w, y, y, r)
    yield "layernorm, backward", lambda: ops.layernorm_backward(x, w, x, one, one, None)
    yield "fused_add_layernorm, backward", lambda: ops.layernorm_backward(x, w, x, one, one, x)


def _quantised(arch: str) -> Iterator[tuple[str, Compile]]:
    import flydsl.kernels as fk

    x, scale = torch.zeros(_ROWS, _COLUMNS, dtype=torch.bfloat16), torch.ones(1)
    for kind in ("fp8", "int8"):
        yield f"per_token_quant {kind}", lambda kind=kind: fk.per_token_quant(x, kind)
        yield f"per_block_quant {kind}", lambda kind=kind: fk.per_block_quant(x, kind)
        yield f"per_block2d_quant {kind}", lambda kind=kind: fk.per_block2d_quant(x, kind)
        yield f"per_tensor_quant {kind}", lambda kind=kind: fk.per_tensor_quant(x, kind)
        yield f"per_tensor_quant {kind}, scale given", lambda kind=kind: fk.per_tensor_quant(x, kind, scale)
    for kind in ("fp4", "fp8") if arch == "gfx950" else ():  # gfx942 has no matrix instruction that takes it
        yield f"mx_quant {kind}", lambda kind=kind: fk.mx_quant(x, kind)


def _rope() -> None:
    import flydsl.kernels as fk

    tokens, heads, kv_heads, head, page = 32, 32, 8, 128, 16
    q = torch.zeros(tokens, heads, head, dtype=torch.bfloat16)
    k = torch.zeros(tokens, kv_heads, head, dtype=torch.bfloat16)
    table = torch.zeros(64, head // 2, dtype=torch.bfloat16)
    places = torch.zeros(tokens, dtype=torch.int32)
    keys, values = (torch.zeros(4, page, kv_heads, head, dtype=torch.bfloat16) for _ in range(2))
    fk.rope_cache(q, k, k, places, table, table, places, keys, values)


def _attention() -> Iterator[tuple[str, Compile]]:
    from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
    from flydsl.kernels.attention.swa_gfx950 import build_gqa_attn

    def dense(head: int, tokens: int, causal: bool, **more: Any) -> Any:
        q = torch.zeros(1, tokens, 16, head, dtype=torch.bfloat16)
        return flydsl_flash_attn_func(q, q, q, causal=causal, **more)

    for head, tokens in _ATTENTION:
        for causal in (False, True):
            name = f"flash_attention D{head}, {tokens} tokens{', causal' * causal}"
            yield name, lambda head=head, tokens=tokens, causal=causal: dense(head, tokens, causal)
    for causal in (False, True):
        yield f"flash_attention D128, lengths{', causal' * causal}", lambda causal=causal: _lengths(causal)
        yield (
            f"flash_attention D128, 4 splits and their combination{', causal' * causal}",
            lambda causal=causal: dense(128, 4096, causal, num_kv_splits=4),
        )
    bias, slopes = torch.zeros(4096, 4096, dtype=torch.bfloat16), torch.zeros(16)
    yield "flash_attention D128, bias", lambda: dense(128, 4096, False, bias=bias)
    yield "flash_attention D128, ALiBi, causal", lambda: dense(128, 4096, True, alibi_slopes=slopes)

    def window() -> None:
        q, k = (torch.zeros(1, 4096, heads, 128, dtype=torch.bfloat16) for heads in (64, 8))
        launch = build_gqa_attn(ATTN_B=1, sliding_window=(512, 0))
        strides = [one.stride(1) for one in (q, k, k, q)]
        launch(q, k, k, q, *strides, 4096, 4096)

    yield "flash_attention D128, window", window


def _lengths(causal: bool) -> Any:
    from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func

    q = torch.zeros(4096, 16, 128, dtype=torch.bfloat16)
    starts = torch.tensor([0, 1024, 4096], dtype=torch.int32)
    return flydsl_flash_attn_func(
        q, q, q, causal=causal, cu_seqlens_q=starts, cu_seqlens_kv=starts, max_seqlen_q=3072, max_seqlen_kv=3072,
        cross_seqlen=False,
    )  # fmt: skip
