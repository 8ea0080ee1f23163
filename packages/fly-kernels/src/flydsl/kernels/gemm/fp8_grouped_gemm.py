# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds the fp8 GEMM of groups of rows; `grouped_dispatch` has what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .grouped_dispatch import check_grouped, multiply_grouped

if TYPE_CHECKING:
    import torch

__all__ = ["grouped_gemm_fp8_forward"]


def grouped_gemm_fp8_forward(
    a: torch.Tensor,
    b_T: torch.Tensor,
    a_scale: torch.Tensor,
    b_scale: torch.Tensor,
    group_offs: torch.Tensor,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return C (M_total, N): rows group_offs[g] to group_offs[g + 1] are a_scale b_scale a b_T[g]^T.

    Args:
        a: (M_total, K), float8_e4m3fn or float8_e5m2 (gfx950), float8_e4m3fnuz (gfx942).
        b_T: (groups, N, K), as a; on gfx950 its type may be the other one.
        a_scale, b_scale: (1) of f32 each.
        group_offs: (groups + 1) of int64, on the device; the host does not read it. Rows of no group are not written.
        out_dtype: bfloat16 (where left out), float16 or float32.

    Raises ValueError for a shape, type or device that does not fit, by the name of the argument.
    """
    import torch

    kind = torch.bfloat16 if out_dtype is None else out_dtype
    what = "grouped_gemm_fp8_forward"
    for name, scale in (("a_scale", a_scale), ("b_scale", b_scale)):
        if scale.numel() != 1 or scale.dtype != torch.float32:
            got = f"{tuple(scale.shape)} of {scale.dtype}"
            raise ValueError(f"{what}: {name}: expected (1,) of torch.float32, got {got}")
    if a.element_size() != 1:
        raise ValueError(f"{what}: a is {a.dtype}, expected a type of 8 bits; flydsl.kernels.grouped_gemm has others")
    check_grouped(what, a, b_T, group_offs, a_scale, b_scale, kind)
    out = a.new_empty((a.shape[0], b_T.shape[1]), dtype=kind)
    stream = torch.cuda.current_stream(a.device).cuda_stream if a.is_cuda else None
    return multiply_grouped(what, a, b_T, out, group_offs, a_scale, b_scale, stream)
