# SPDX-License-Identifier: Apache-2.0
"""gemm(a, b): C = act(a b^T * scales + bias) + residual."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..gemm.dispatch import check_operands, multiply
from ..gemm.scaled_dispatch import check_scaled, multiply_scaled
from .launching import empty, stream_of
from .registration import operator


def _out_dtype(a: Tensor, out_dtype: torch.dtype | None) -> torch.dtype:
    if out_dtype is not None:
        return out_dtype
    return a.dtype if a.dtype in (torch.float16, torch.bfloat16) else torch.bfloat16


@operator("gemm")
def _gemm(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor | None,
    scale_b: Tensor | None,
    bias: Tensor | None,
    residual: Tensor | None,
    activation: str,
    out_dtype: torch.dtype | None,
    shuffled: bool,
    in_dtype: str | None = None,
) -> Tensor:
    out = empty(a, a.shape[0], b.shape[0], dtype=_out_dtype(a, out_dtype))
    return multiply(
        a.contiguous(), b.contiguous(), out, scale_a=scale_a, scale_b=scale_b, bias=bias, residual=residual,
        activation=activation, shuffled=shuffled, in_dtype=in_dtype, stream=stream_of(a),
    )  # fmt: skip


@_gemm.register_fake
def _(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor | None,
    scale_b: Tensor | None,
    bias: Tensor | None,
    residual: Tensor | None,
    activation: str,
    out_dtype: torch.dtype | None,
    shuffled: bool,
    in_dtype: str | None = None,
) -> Tensor:
    kind = _out_dtype(a, out_dtype)
    check_operands(
        a, b, scale_a=scale_a, scale_b=scale_b, bias=bias, residual=residual, out_dtype=kind, activation=activation,
        in_dtype=in_dtype,
    )  # fmt: skip
    return empty(a, a.shape[0], b.shape[0], dtype=kind)


@operator("scaled_gemm")
def _scaled_gemm(
    a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor, block: int, out_dtype: torch.dtype, shuffled: bool
) -> Tensor:
    check_scaled(a, b, a_scale, b_scale, block, out_dtype)
    out = empty(a, a.shape[0], b.shape[0], dtype=out_dtype)
    return multiply_scaled(
        a, b, out, a_scale=a_scale, b_scale=b_scale, block=block, shuffled=shuffled, stream=stream_of(a)
    )


@_scaled_gemm.register_fake
def _(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor, block: int, *others: Any) -> Tensor:
    check_scaled(a, b, a_scale, b_scale, block, others[0])
    return empty(a, a.shape[0], b.shape[0], dtype=others[0])


def gemm(
    a: Tensor,
    b: Tensor,
    *,
    scale_a: Tensor | None = None,
    scale_b: Tensor | None = None,
    bias: Tensor | None = None,
    residual: Tensor | None = None,
    activation: str = "none",
    out_dtype: torch.dtype | None = None,
    shuffled: bool = False,
    in_dtype: str | None = None,
    a_scale: Tensor | None = None,
    b_scale: Tensor | None = None,
    block: int | None = None,
) -> Tensor:
    """act(a b^T * scale_a[:, None] * scale_b + bias) + residual, accumulated in f32 (int32 for integers), rounded once.

    Args:
        a: (..., K), float16, bfloat16, int8 or the architecture's float8 E4M3 (FNUZ on gfx942, OCP on gfx950).
        b: (N, K) of the same type, as the weight of `torch.nn.functional.linear`.
        scale_a: (...) of f32, one of each row, or one number for all, as `per_tensor_quant` gives it; needed for 8-bit
            types and int4, refused for others.
        scale_b: (N) of f32, or one number, as scale_a.
        bias: (N) of the output's type.
        residual: (..., N) of the output's type.
        activation: "none", "relu", "silu" or "gelu" (the tanh form).
        out_dtype: float16, bfloat16 or float32; by default that of a, bfloat16 for 8-bit types.
        shuffled: b is `flydsl.kernels.common.shuffle.shuffle_weight` of the weight.
        in_dtype: "int4" or "uint4" (gfx1100, gfx1201): a and b are int8 or uint8 bytes, (..., K / 2) and (N, K / 2), of
            two each, as `flydsl.kernels.gemm.int4_weights.pack_int4_pairs` gives them. Else the type is that of a.
        a_scale, b_scale: scales of parts of K, where there is a `block`.
        block: 128: a and b are the architecture's fp8, a_scale (..., K / 128) and b_scale (ceil(N / 128), K / 128) f32
            (`per_block_quant` gives a_scale). 32 (gfx950): a and b are float8 E4M3FN, E5M2 or pairs of fp4 in bytes, in
            any mix, a_scale (..., K / 32) and b_scale (N, K / 32) bytes of E8M0, as `mx_quant` gives them. K is a
            multiple of 128, the output float16 or bfloat16 (the default), and there is none of the steps above.

    Returns (..., N). K is a multiple of 64 bytes and N of 4 (of 16 when shuffled). Not differentiable. On sm_90a rows
    of a, b and the result are multiples of 16 bytes, 8-bit floats are E4M3FN, and there are no shuffled weights, int4
    and block.

    Raises ValueError for operands that do not fit each other or that no kernel takes, with the reason.
    """
    if a.dim() == 0:
        raise ValueError("gemm: expected a (..., K), got a scalar")
    if (block is None) != (a_scale is None) or (block is None) != (b_scale is None):
        raise ValueError("gemm: a_scale, b_scale and block go together; scales of whole rows are scale_a and scale_b")
    leading, columns = a.shape[:-1], b.shape[0]
    rows = a.reshape(leading.numel(), a.shape[-1])
    if block is not None and a_scale is not None and b_scale is not None:
        if activation != "none" or any(one is not None for one in (scale_a, scale_b, bias, residual, in_dtype)):
            raise ValueError(
                f"gemm: with block = {block} there are no other scales, bias, activation, residual or in_dtype"
            )
        kind = torch.bfloat16 if out_dtype is None else out_dtype
        parts = a_scale.reshape(rows.shape[0], -1)
        scaled: Tensor = _scaled_gemm(rows, b, parts, b_scale, block, kind, shuffled)
        return scaled.view(*leading, columns)
    scales = None if scale_a is None else scale_a.reshape(-1)
    added = None if residual is None else residual.reshape(rows.shape[0], -1)
    result: Tensor = _gemm(rows, b, scales, scale_b, bias, added, activation, out_dtype, shuffled, in_dtype)
    return result.view(*leading, columns)


# `import flydsl.kernels.gemm.config as config` goes through the attribute `gemm`, which is this function; Python then
# looks the module up by this name.
gemm.__name__ = "flydsl.kernels.gemm"
