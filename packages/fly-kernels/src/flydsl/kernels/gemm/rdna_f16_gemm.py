# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in f16 or bf16 with WMMA, for gfx1201 (RDNA 4); `rdna3_f16_gemm` has the builder for gfx1100.

Shapes and layouts
    A (M, K), B_T (N, K), C (M, N), row-major. A and B_T are both "bf16" or both "fp16"; C is "bf16", "fp16" or "f32".
    Sums are f32.

Limits
    K is two or more steps of 16 reg_k, N a multiple of 4. M and N need not be multiples of the tile.

Algorithm and data movement
    A workgroup of waves_m x waves_n waves computes a tile of (16 reg_m waves_m) x (16 reg_n waves_n); both operands go
    through two LDS buffers with padded rows. See `common/mma/staged_loop.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..common.language import flyc, fx
from ..common.mma.mfma_epilogues import Epilogue
from .tile_gemm import build_tile_gemm
from .tile_spec import OUTPUTS
from .wmma_gemm import WmmaTile, target_of, wmma_gemm

__all__ = ["check_half_types", "create_wmma_gemm_module"]


def check_half_types(in_dtype: str, out_dtype: str, rounding: str) -> None:
    """ValueError for types and roundings that there are not."""
    if in_dtype not in ("bf16", "fp16"):
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use bf16 or fp16")
    if out_dtype not in OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(OUTPUTS)}")
    if rounding not in ("rn", "rs"):
        raise ValueError(f"rounding {rounding!r} is not supported; use rn (to nearest even) or rs (stochastic)")
    if rounding == "rs" and out_dtype != "bf16":
        raise ValueError(f"rounding 'rs' is for out_dtype 'bf16', not {out_dtype!r}")


def create_wmma_gemm_module(
    M: int,
    N: int,
    K: int,
    in_dtype: str = "bf16",
    out_dtype: str = "bf16",
    *,
    rounding: str = "rn",
    reg_m: int = 4,
    reg_n: int = 4,
    reg_k: int = 2,
    waves_m: int = 2,
    waves_n: int = 2,
    group_m: int = 8,
    a_k_pad: int = 8,
    b_k_pad: int = 8,
) -> Callable[..., None]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        M, N, K: extents.
        in_dtype, out_dtype: "bf16" or "fp16"; C also "f32".
        rounding: "rn", to nearest even; or "rs", stochastic, for a bf16 C: up with the probability of what bf16 has no
            room for, the same for the same `sr_seed`.
        reg_m, reg_n, reg_k: blocks of 16 rows and columns of a wave, and matrix instructions along K in a step.
        waves_m, waves_n: grid of waves.
        group_m: row tiles that are walked together, of which the grid need not be a multiple; 0 keeps the order.
        a_k_pad, b_k_pad: elements behind each row in LDS.

    Returns a `@flyc.jit` function `(C, A, B_T, stream, sr_seed=0)`; `sr_seed` is for stochastic rounding.

    Raises:
        RuntimeError: the target is not gfx1201.
        ValueError: a limit is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    arch = target_of("rdna_f16_gemm", ("gfx1201",))
    check_half_types(in_dtype, out_dtype, rounding)
    tile = WmmaTile((reg_m, reg_n, reg_k), (waves_m, waves_n), (a_k_pad, b_k_pad))
    gemm = wmma_gemm(
        arch, (M, N, K), tile, in_dtype=in_dtype, out_dtype=out_dtype, epilogue=Epilogue(), group_m=group_m,
        stochastic=rounding == "rs",
    )  # fmt: skip
    multiply = build_tile_gemm(gemm, "wmma_gemm")

    @flyc.jit
    def launch_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B_T: fx.Tensor,
        stream: fx.Stream = fx.Stream(None),
        sr_seed: fx.Int32 = 0,  # type: ignore[assignment]
    ) -> None:
        multiply(C, A, B_T, fx.Int32(M), stream, **({"sr_seed": sr_seed} if rounding == "rs" else {}))

    return launch_gemm
