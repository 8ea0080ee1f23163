# SPDX-License-Identifier: Apache-2.0
"""RMSNorm backward: dx, and the gradient of the weight by atomics or in two deterministic stages.

Shapes: Input (or Added), DY, DResidualOut, DX (M, N) with unit stride along a row; Gamma (N,), of the rows' type or
f32; Rstd (M,) f32, as the forward stores it; DWeight (N,) f32; Partial (num_programs · N,) f32. Element types: f32,
f16, bf16.
Limits: N from 1 to 2^30, fewer than 2^31 rows; gfx942, gfx950, gfx1100 and gfx1201.
`backward.py` holds the algorithm and says what is moved.

`rmsnorm_bwd` and `fused_add_rmsnorm_bwd` are the operators of torch, by the names that existing code uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..common.operators_by_name import operators_by_name
from ..common.row_plan import RowConfig
from .backward import BackwardNorm, backward_norm
from .launchers import norm_launcher

__getattr__ = operators_by_name(__name__, "rmsnorm", ("fused_add_rmsnorm_bwd", "rmsnorm_bwd"))


def is_rmsnorm_bwd_two_stage_vec_config(N: int, dtype_str: str) -> bool:
    """Whether callers size `num_programs` for wide accesses: 16-bit rows of at least 4096 elements in eights.

    The kernels here use 16-byte accesses for every N.
    """
    return dtype_str in ("f16", "bf16") and N >= 4096 and N % 8 == 0


def _norm(N: int, dtype_str: str, weight_dtype_str: str | None, **fields: Any) -> Any:
    return backward_norm(
        BackwardNorm(centred=False, columns=N, dtype=dtype_str, weight_dtype=weight_dtype_str, **fields)
    )


def build_rmsnorm_bwd_module(
    N: int, dtype_str: str, weight_dtype_str: str | None = None, config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build the launcher `(Input, Gamma, DY, Rstd, DX, DWeight, m_in, stream)`; DWeight is added to: zero it before.

    Raises ValueError for an N that is not positive, an unknown dtype, and a weight dtype that is neither the rows' nor
    "f32"; ImportError without the compiler.
    """
    launch = _norm(N, dtype_str, weight_dtype_str, config=config)
    return norm_launcher("rmsnorm_bwd", "Input Gamma DY Rstd DX DWeight", launch)


def build_fused_add_rmsnorm_bwd_module(
    N: int, dtype_str: str, weight_dtype_str: str | None = None, config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build `(Added, Gamma, DY, DResidualOut, Rstd, DX, DWeight, m_in, stream)`: DResidualOut is added to dx.

    Raises as `build_rmsnorm_bwd_module` does.
    """
    launch = _norm(N, dtype_str, weight_dtype_str, residual=True, config=config)
    return norm_launcher("fused_add_rmsnorm_bwd", "Added Gamma DY DResidualOut Rstd DX DWeight", launch)


def build_rmsnorm_bwd_two_stage_module(
    N: int, dtype_str: str, num_programs: int, weight_dtype_str: str | None = None, config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build the launcher `(Input, Gamma, DY, Rstd, DX, DWeight, Partial, m_in, stream)`.

    The same inputs give the same bits. Workgroup p of `num_programs` handles the rows p, p + num_programs, … and
    stores its part of the weight's gradient as row p of Partial; a second kernel adds the rows of Partial.

    Raises ValueError unless `num_programs` is positive, else as `build_rmsnorm_bwd_module` does.
    """
    launch = _norm(N, dtype_str, weight_dtype_str, programs=num_programs, config=config)
    return norm_launcher("rmsnorm_bwd_two_stage", "Input Gamma DY Rstd DX DWeight Partial", launch)


def build_fused_add_rmsnorm_bwd_two_stage_module(
    N: int, dtype_str: str, num_programs: int, weight_dtype_str: str | None = None, config: RowConfig | None = None
) -> Callable[..., Any]:
    """Build `(Added, Gamma, DY, DResidualOut, Rstd, DX, DWeight, Partial, m_in, stream)`: both of the above.

    Raises as `build_rmsnorm_bwd_two_stage_module` does.
    """
    launch = _norm(N, dtype_str, weight_dtype_str, programs=num_programs, residual=True, config=config)
    tensors = "Added Gamma DY DResidualOut Rstd DX DWeight Partial"
    return norm_launcher("fused_add_rmsnorm_bwd_two_stage", tensors, launch)
