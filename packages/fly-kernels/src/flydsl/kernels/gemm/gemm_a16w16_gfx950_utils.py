# SPDX-License-Identifier: Apache-2.0
"""Parameters of `gemm_a16w16_gfx950`, by the module in which existing tests look for them."""

from .gemm_a16w16_gfx950 import (
    DTYPE_IDS,
    GemmA16W16Param,
    make_gemm_a16w16_gfx950_kernel_name,
    make_gemm_a16w16_gfx950_param,
    make_gemm_a16w16_param_and_validate,
)

__all__ = [
    "DTYPE_IDS",
    "GemmA16W16Param",
    "make_gemm_a16w16_gfx950_kernel_name",
    "make_gemm_a16w16_gfx950_param",
    "make_gemm_a16w16_param_and_validate",
]
