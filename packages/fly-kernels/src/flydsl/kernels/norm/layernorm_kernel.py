# SPDX-License-Identifier: Apache-2.0
"""LayerNorm forward: y = (x - mean) · rstd · gamma + beta with rstd = 1 / sqrt(mean((x - mean)²) + eps), also behind a
residual addition, and with int8 output.

Shapes: rows (M, N) with unit stride along a row, or contiguous ones flattened or as pointers; gamma, beta and xscale
(N,), of the rows' type or f32; mean, rstd and yscale (M,) f32. Element types: f32, f16, bf16.
Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
`forward.py` holds the algorithm and says what is moved.

The operators of torch, by the names that existing code uses, are here too: `layernorm_fwd`, `layernorm_bwd`,
`layernorm`, `fused_add_layernorm_fwd`, `fused_add_layernorm_bwd`, `fused_add_layernorm` (see
`flydsl.kernels.operators`), and the backward's builders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.dtypes import quantised_type, rows_builder
from ..common.operators_by_name import operators_by_name
from ..common.row_plan import RowConfig
from .forward import EPS, ForwardNorm, block_of, forward_norm
from .launchers import norm_launcher
from .layernorm_bwd_kernel import build_fused_add_layernorm_bwd_module as build_fused_add_layernorm_bwd_module
from .layernorm_bwd_kernel import build_layernorm_bwd_module as build_layernorm_bwd_module

BLOCK_THREADS = 256

__getattr__ = operators_by_name(
    __name__,
    "layernorm",
    (
        "fused_add_layernorm",
        "fused_add_layernorm_bwd",
        "fused_add_layernorm_fwd",
        "layernorm",
        "layernorm_bwd",
        "layernorm_fwd",
    ),
)


def _norm(N: int, dtype_str: str, weight_dtype_str: str | None, **fields: Any) -> Any:
    return forward_norm(ForwardNorm(centred=True, columns=N, dtype=dtype_str, weight_dtype=weight_dtype_str, **fields))


@rows_builder
def build_layernorm_module(
    N: int,
    dtype_str: str = "f32",
    store_stats: bool = False,
    eps: float = EPS,
    BLOCK_THREADS: int = BLOCK_THREADS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher of LayerNorm; `(M, N, dtype_str, …)` is understood too, M is only informative.

    Returns a `@flyc.jit` function `(Input, Gamma, Beta, Output, m_in, stream)`, or with `store_stats`
    `(Input, Gamma, Beta, Output, Mean, Rstd, m_in, stream)`. `BLOCK_THREADS` other than the default makes workgroups
    of that size, whatever N is. `config` is a division of rows among threads other than the default.

    Raises ValueError for an N or a number of threads that is not admissible, an unknown dtype, and a weight dtype that
    is neither the rows' nor "f32"; ImportError without the compiler.
    """
    options = {"stats": store_stats, "block": block_of(BLOCK_THREADS), "config": config}
    launch = _norm(N, dtype_str, weight_dtype_str, eps=eps, **options)
    if store_stats:
        return norm_launcher("layernorm_stats", "Input Gamma Beta Output Mean Rstd", launch)
    return norm_launcher("layernorm", "Input Gamma Beta Output", launch)


def build_fused_add_layernorm_module(
    N: int,
    dtype_str: str,
    store_stats: bool = False,
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher of r = x + residual, y = LayerNorm(r).

    Returns a `@flyc.jit` function `(Input, ResidualIn, Gamma, Beta, Output, ResidualOut[, Mean, Rstd], m_in, stream)`.
    r is rounded to the rows' type, stored as ResidualOut (which may be ResidualIn), and what was stored is normed.

    Raises as `build_layernorm_module` does.
    """
    launch = _norm(N, dtype_str, weight_dtype_str, eps=eps, stats=store_stats, residual=True, config=config)
    tensors = "Input ResidualIn Gamma Beta Output ResidualOut"
    if store_stats:
        return norm_launcher("fused_add_layernorm_stats", f"{tensors} Mean Rstd", launch)
    return norm_launcher("fused_add_layernorm", tensors, launch)


def build_layernorm_dynamicquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Build the launcher of LayerNorm with int8 output and a step per row.

    Returns a `@flyc.jit` function `(Input, Gamma, Beta, Output, YScale, m_in, stream)`: YScale[m] = max_n |y| / 127 (1
    where that is 0), Output = trunc(y / YScale[m]).

    Raises ValueError for a `quant_dtype_str` other than "i8" and "int8", else as `build_layernorm_module` does.
    """
    quantised_type(quant_dtype_str)
    launch = _norm(N, dtype_str, weight_dtype_str, eps=eps, quantised=True, config=config)
    return norm_launcher("layernorm_dynamicquant", "Input Gamma Beta Output YScale", launch)


def build_layernorm_smoothquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """The same with y · XScale in the place of y: `(Input, Gamma, Beta, XScale, Output, YScale, m_in, stream)`."""
    quantised_type(quant_dtype_str)
    launch = _norm(N, dtype_str, weight_dtype_str, eps=eps, quantised=True, smooth=True, config=config)
    return norm_launcher("layernorm_smoothquant", "Input Gamma Beta XScale Output YScale", launch)


def build_fused_add_layernorm_dynamicquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """Behind a residual addition: `(Input, ResidualIn, Gamma, Beta, Output, ResidualOut, YScale, m_in, stream)`."""
    quantised_type(quant_dtype_str)
    launch = _norm(N, dtype_str, weight_dtype_str, eps=eps, quantised=True, residual=True, config=config)
    tensors = "Input ResidualIn Gamma Beta Output ResidualOut YScale"
    return norm_launcher("fused_add_layernorm_dynamicquant", tensors, launch)


def build_fused_add_layernorm_smoothquant_module(
    N: int,
    dtype_str: str,
    quant_dtype_str: str = "i8",
    eps: float = EPS,
    weight_dtype_str: str | None = None,
    config: RowConfig | None = None,
) -> Callable[..., Any]:
    """With both: `(Input, ResidualIn, Gamma, Beta, XScale, Output, ResidualOut, YScale, m_in, stream)`."""
    quantised_type(quant_dtype_str)
    launch = _norm(N, dtype_str, weight_dtype_str, eps=eps, quantised=True, residual=True, smooth=True, config=config)
    tensors = "Input ResidualIn Gamma Beta XScale Output ResidualOut YScale"
    return norm_launcher("fused_add_layernorm_smoothquant", tensors, launch)
