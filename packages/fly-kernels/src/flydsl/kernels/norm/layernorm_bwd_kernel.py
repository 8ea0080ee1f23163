# SPDX-License-Identifier: Apache-2.0
"""LayerNorm backward, alone and behind a residual addition: dx, and the gradients of weight and bias by atomics.

Shapes: Input (or Added), DY, DResidualOut, DX (M, N) with unit stride along a row; Gamma (N,), of the rows' type or
f32; Mean, Rstd (M,) f32, as the forward stores them; DGamma, DBias (N,) f32. Element types: f32, f16, bf16.
Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
`backward.py` holds the algorithm and says what is moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.row_plan import RowConfig
from .backward import BackwardNorm, backward_norm
from .launchers import norm_launcher


def _norm(N: int, dtype_str: str, weight_dtype_str: str | None, **fields: Any) -> Any:
    return backward_norm(
        BackwardNorm(centred=True, columns=N, dtype=dtype_str, weight_dtype=weight_dtype_str, **fields)
    )


def build_layernorm_bwd_module(
    N: int, dtype_str: str, weight_dtype_str: str | None = None, config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build the launcher `(Input, Gamma, DY, Mean, Rstd, DX, DGamma, DBias, m_in, stream)`.

    DGamma and DBias are added to: zero them before.

    Raises ValueError for an N that is not positive, an unknown dtype, and a weight dtype that is neither the rows' nor
    "f32"; ImportError without the compiler.
    """
    launch = _norm(N, dtype_str, weight_dtype_str, config=config)
    return norm_launcher("layernorm_bwd", "Input Gamma DY Mean Rstd DX DGamma DBias", launch)


def build_fused_add_layernorm_bwd_module(
    N: int, dtype_str: str, weight_dtype_str: str | None = None, config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build `(Added, Gamma, DY, DResidualOut, Mean, Rstd, DX, DGamma, DBias, m_in, stream)`.

    Added is the sum that the forward stored; DResidualOut, its gradient from elsewhere, is added to dx, which is the
    gradient of both summands.

    Raises as `build_layernorm_bwd_module` does.
    """
    launch = _norm(N, dtype_str, weight_dtype_str, residual=True, config=config)
    return norm_launcher("fused_add_layernorm_bwd", "Added Gamma DY DResidualOut Mean Rstd DX DGamma DBias", launch)
