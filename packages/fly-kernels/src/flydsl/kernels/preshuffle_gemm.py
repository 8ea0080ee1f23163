# SPDX-License-Identifier: Apache-2.0
"""The names by which existing code finds the preshuffled GEMM."""

from __future__ import annotations

from typing import Any

from .common.checks import positive_integer
from .common.language import flyc, fx
from .gemm.preshuffle_gemm import build_preshuffle_gemm, compile_preshuffle_gemm

__all__ = ["compile_preshuffle_gemm", "compile_preshuffle_gemm_a8"]


def compile_preshuffle_gemm_a8(
    *,
    M: int,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    in_dtype: str = "fp8",
    lds_stage: int = 2,
    use_cshuffle_epilog: bool = False,
    out_dtype: str | None = None,
    **options: Any,
) -> Any:
    """Build the launcher `(C, A, B, scale_a, scale_b, M, N, stream)` of `gemm.preshuffle_gemm` without bias.

    All tensors may be flattened, the scales of 16-bit types are empty, and the output's type, "fp16" or "bf16", is that
    of C, which has to be `out_dtype` if that is given. M documents the caller's intent: the number of rows is an
    argument of the launch. With `use_cshuffle_epilog` the results go through LDS and leave in whole rows of the tile,
    16 bytes a lane; else each lane stores the 8 bytes that it has. `options` are those of `compile_preshuffle_gemm`
    but `epilogue`.

    `in_dtype="int4"` (W4A8) multiplies A of int8 with weights of int4: B is `gemm.int4_weights.pack_int4` of the
    shuffled int8 values -8 to 7, two a byte, and K < 131072. They are unpacked in registers.

    Raises:
        ValueError: as `compile_preshuffle_gemm`; M or a flag that is no number.
    """
    positive_integer("M", M)
    if not isinstance(use_cshuffle_epilog, (bool, int)):
        raise ValueError(f"use_cshuffle_epilog is a bool, got {use_cshuffle_epilog!r}")
    given = sorted({"epilogue", "types", "shuffled_store"} & set(options))
    if given:
        raise ValueError(f"compile_preshuffle_gemm_a8 takes no {given[0]}; compile_preshuffle_gemm does")
    if in_dtype == "int4" and isinstance(K, int) and K >= 1 << 17:
        raise ValueError(f"K = {K} int4 may overflow 32-bit sums; K must be less than {1 << 17}")
    numbers: dict[str, Any] = {
        "N": N, "K": K, "tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "lds_stage": lds_stage,
        "in_dtype": in_dtype, "types": ("fp8", "int8", "int4", "fp16", "bf16"),
        "shuffled_store": bool(use_cshuffle_epilog), **options,
    }  # fmt: skip
    outputs = ("fp16", "bf16") if out_dtype is None else (out_dtype,)
    launches = {name: build_preshuffle_gemm(**numbers, out_dtype=name) for name in outputs}

    @flyc.jit
    def preshuffle_gemm_a8(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        kinds: dict[Any, str] = {fx.Float16: "fp16", fx.BFloat16: "bf16"}
        if fx.const_expr(kinds.get(C.element_type) not in launches):
            wanted = " or ".join(kind.__name__ for kind, name in kinds.items() if name in launches)
            raise TypeError(f"argument 'C': expected {wanted}, got {C.element_type.__name__}")
        launches[kinds[C.element_type]](C, A, B, M, N, stream, scale_a=scale_a, scale_b=scale_b)

    if options.get("waves_per_eu"):
        preshuffle_gemm_a8.compile_hints = {"waves_per_eu": options["waves_per_eu"]}
    return preshuffle_gemm_a8
