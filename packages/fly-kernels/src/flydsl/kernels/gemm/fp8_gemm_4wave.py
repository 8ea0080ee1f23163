# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds the row-wise fp8 GEMM of small blocks; `rowwise_fp8` has the contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .rowwise_fp8 import build_rowwise_fp8_gemm

__all__ = ["compile_fp8_gemm_4w"]


def compile_fp8_gemm_4w(
    *, K: int, BLOCK_M: int = 256, BLOCK_N: int = 256, use_xcd_remap: bool = True, b_preshuffled: bool = False
) -> Callable[..., Any]:
    """Build the launcher `(A, B_T, C, A_scale, B_scale, c_m, c_n, stream)`.

    Blocks are multiples of 64. With `use_xcd_remap` neighbouring column blocks share an XCD. Raises as
    `build_rowwise_fp8_gemm` does.
    """
    options = {"b_preshuffled": b_preshuffled, "use_xcd_remap": use_xcd_remap}
    return build_rowwise_fp8_gemm(
        "compile_fp8_gemm_4w", K=K, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, multiples=(64, 64), **options
    )
