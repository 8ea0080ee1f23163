# SPDX-License-Identifier: Apache-2.0
"""RMSNorm forward: y = x · rstd · gamma with rstd = 1 / sqrt(mean(x²) + eps), also behind a residual addition, and with
int8 output.

Shapes: rows (M, N) with unit stride along a row, or contiguous ones flattened or as pointers; gamma and xscale (N,), of
the rows' type or f32; rstd and yscale (M,) f32. Element types: f32, f16, bf16.
Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
`forward.py` holds the algorithm and says what is moved.

The builders of the backward kernels (`rmsnorm_bwd_kernel`) have their names here too, for code that looks for them.

The operators of torch, by the names that existing code uses, are here too: `rmsnorm_fwd`, `rmsnorm_bwd`, `rmsnorm`,
`fused_add_rmsnorm_fwd`, `fused_add_rmsnorm_bwd`, `fused_add_rmsnorm` (see `flydsl.kernels.operators`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.dtypes import quantised_type, rows_builder
from ..common.operators_by_name import operators_by_name
from ..common.row_plan import RowConfig
from .forward import EPS, ForwardNorm, block_of, forward_norm
from .launchers import norm_launcher
from .rmsnorm_bwd_kernel import build_fused_add_rmsnorm_bwd_module as build_fused_add_rmsnorm_bwd_module
from .rmsnorm_bwd_kernel import (
    build_fused_add_rmsnorm_bwd_two_stage_module as build_fused_add_rmsnorm_bwd_two_stage_module,
)
from .rmsnorm_bwd_kernel import build_rmsnorm_bwd_module as build_rmsnorm_bwd_module
from .rmsnorm_bwd_kernel import build_rmsnorm_bwd_two_stage_module as build_rmsnorm_bwd_two_stage_module
from .rmsnorm_bwd_kernel import is_rmsnorm_bwd_two_stage_vec_config as is_rmsnorm_bwd_two_stage_vec_config

BLOCK_THREADS = 256

__getattr__ = operators_by_name(
    __name__,
    "rmsnorm",
    ("fused_add_rmsnorm", "fused_add_rmsnorm_bwd", "fused_add_rmsnorm_fwd", "rmsnorm", "rmsnorm_bwd", "rmsnorm_fwd"),
)


def rmsnorm_launch(N: int, dtype_str: str, weight_dtype_str: str | None, **fields: Any) -> Any:
    """`forward_norm` of RMSNorm; `fields` are those of `ForwardNorm`."""
    return forward_norm(ForwardNorm(centred=False, columns=N, dtype=dtype_str, weight_dtype=weight_dtype_str, **fields))


@rows_builder
def build_rmsnorm_module(
    N: int,
    dtype_str: str = "f32",
    store_rstd: bool = False,
    eps: float = EPS,
    BLOCK_THREADS: int = BLOCK_THREADS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher of RMSNorm; `(M, N, dtype_str, …)` is understood too, M is only informative.

    Returns a `@flyc.jit` function `(Input, Gamma, Output, m_in, stream)`, or with `store_rstd`
    `(Input, Gamma, Output, Rstd, m_in, stream)`. `BLOCK_THREADS` other than the default makes workgroups of that size,
    whatever N is. `config` is a division of rows among threads other than the default.

    Raises ValueError for an N or a number of threads that is not admissible, an unknown dtype, and a weight dtype that
    is neither the rows' nor "f32"; ImportError without the compiler.
    """
    options = {"stats": store_rstd, "block": block_of(BLOCK_THREADS), "config": config}
    launch = rmsnorm_launch(N, dtype_str, weight_dtype_str, eps=eps, **options)

    if store_rstd:
        return norm_launcher("rmsnorm_rstd", "Input Gamma Output Rstd", launch)
    return norm_launcher("rmsnorm", "Input Gamma Output", launch)


def build_fused_add_rmsnorm_module(
    N: int,
    dtype_str: str,
    store_rstd: bool = False,
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher of r = x + residual, y = RMSNorm(r).

    Returns a `@flyc.jit` function `(Input, ResidualIn, Gamma, Output, ResidualOut[, Rstd], m_in, stream)`. r is rounded
    to the rows' type, stored as ResidualOut (which may be ResidualIn), and what was stored is normed.

    Raises as `build_rmsnorm_module` does.
    """
    launch = rmsnorm_launch(N, dtype_str, weight_dtype_str, eps=eps, stats=store_rstd, residual=True, config=config)

    if store_rstd:
        return norm_launcher("fused_add_rmsnorm_rstd", "Input ResidualIn Gamma Output ResidualOut Rstd", launch)
    return norm_launcher("fused_add_rmsnorm", "Input ResidualIn Gamma Output ResidualOut", launch)


def build_rmsnorm_dynamicquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher of RMSNorm with int8 output and a step per row.

    Returns a `@flyc.jit` function `(Input, Gamma, Output, YScale, m_in, stream)`: YScale[m] = max_n |y| / 127 (1 where
    that is 0), Output = trunc(y / YScale[m]).

    Raises ValueError for a `quant_dtype_str` other than "i8" and "int8", else as `build_rmsnorm_module` does.
    """
    quantised_type(quant_dtype_str)
    launch = rmsnorm_launch(N, dtype_str, weight_dtype_str, eps=eps, quantised=True, config=config)
    return norm_launcher("rmsnorm_dynamicquant", "Input Gamma Output YScale", launch)


def build_rmsnorm_smoothquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """The same with y · XScale in the place of y: `(Input, Gamma, XScale, Output, YScale, m_in, stream)`."""
    quantised_type(quant_dtype_str)
    launch = rmsnorm_launch(N, dtype_str, weight_dtype_str, eps=eps, quantised=True, smooth=True, config=config)
    return norm_launcher("rmsnorm_smoothquant", "Input Gamma XScale Output YScale", launch)


def build_fused_add_rmsnorm_dynamicquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Behind a residual addition: `(Input, ResidualIn, Gamma, Output, ResidualOut, YScale, m_in, stream)`."""
    quantised_type(quant_dtype_str)
    launch = rmsnorm_launch(N, dtype_str, weight_dtype_str, eps=eps, quantised=True, residual=True, config=config)
    return norm_launcher("fused_add_rmsnorm_dynamicquant", "Input ResidualIn Gamma Output ResidualOut YScale", launch)


def build_fused_add_rmsnorm_smoothquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """With both: `(Input, ResidualIn, Gamma, XScale, Output, ResidualOut, YScale, m_in, stream)`."""
    quantised_type(quant_dtype_str)
    launch = rmsnorm_launch(
        N, dtype_str, weight_dtype_str, eps=eps, quantised=True, residual=True, smooth=True, config=config
    )
    tensors = "Input ResidualIn Gamma XScale Output ResidualOut YScale"
    return norm_launcher("fused_add_rmsnorm_smoothquant", tensors, launch)
