# SPDX-License-Identifier: Apache-2.0
"""grouped_gemm(a, b, group_offs): groups of rows of a with weights of their own."""

from __future__ import annotations

import torch
from torch import Tensor

from ..gemm.grouped_dispatch import check_grouped, multiply_grouped
from .launching import empty, stream_of
from .registration import operator


@operator("grouped_gemm")
def _grouped_gemm(
    a: Tensor, b: Tensor, group_offs: Tensor, scale_a: Tensor | None, scale_b: Tensor | None, out_dtype: torch.dtype
) -> Tensor:
    check_grouped("grouped_gemm", a, b, group_offs, scale_a, scale_b, out_dtype)
    out = empty(a, a.shape[0], b.shape[1], dtype=out_dtype)
    return multiply_grouped("grouped_gemm", a, b, out, group_offs, scale_a, scale_b, stream_of(a))


@_grouped_gemm.register_fake
def _(
    a: Tensor, b: Tensor, group_offs: Tensor, scale_a: Tensor | None, scale_b: Tensor | None, out_dtype: torch.dtype
) -> Tensor:
    check_grouped("grouped_gemm", a, b, group_offs, scale_a, scale_b, out_dtype)
    return empty(a, a.shape[0], b.shape[1], dtype=out_dtype)


def grouped_gemm(
    a: Tensor,
    b: Tensor,
    group_offs: Tensor,
    *,
    scale_a: Tensor | None = None,
    scale_b: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """a b[g]^T * scales of rows group_offs[g] to group_offs[g + 1], for each group g, summed in f32.

    Args:
        a: (M, K), float16, bfloat16, or float8: E4M3FN or E5M2 on gfx950, E4M3FNUZ on gfx942.
        b: (groups, N, K) of the same type; of float8 on gfx950 also of the other.
        group_offs: (groups + 1) of int64, which do not fall, on the device: the host does not read it.
        scale_a, scale_b: f32, for float8: (M) and (groups, N), or one number each for all.
        out_dtype: float16, bfloat16 or float32; by default that of a, bfloat16 for float8.

    Returns (M, N). Rows of no group have any values. K is a multiple of 64 bytes (of 128 of E5M2), or the operands are
    copied with zeros behind their rows. Not differentiable.

    Raises ValueError for operands that do not fit each other or that no kernel takes, with the reason.
    """
    kind = out_dtype
    if kind is None:
        kind = a.dtype if a.dtype in (torch.float16, torch.bfloat16) else torch.bfloat16
    result: Tensor = _grouped_gemm(a, b, group_offs, scale_a, scale_b, kind)
    return result
