# SPDX-License-Identifier: Apache-2.0
"""Element types by name, rounding by random bits, and streams as launches take them."""

from __future__ import annotations

from typing import Any

from flydsl.runtime.device import get_rocm_arch

from .arch import float8_of
from .dtypes import float_type as dtype_to_elem_type
from .language import fx

__all__ = [
    "cvt_sr_f32_to_bf16",
    "default_f8_type",
    "dtype_to_elem_type",
    "stream_ptr_to_async_token",
    "validate_moe_dtypes",
]

# Which weights a mixture of experts multiplies activations of a type with.
_MOE_WEIGHTS = {
    "fp8": ("fp8", "fp4", "mxfp4"),
    "int8": ("int8", "int4"),
    "int8smooth": ("int8",),
    "fp4": ("fp4", "mxfp4"),
    "bf16": ("bf16", "int4", "fp4", "mxfp4"),
    "fp16": ("fp16",),
}


def default_f8_type() -> Any:
    """The language's type of the 8-bit float with 3 bits of mantissa that the target's instructions take.

    Float8E4M3FN on gfx95 and gfx12, Float8E4M3FNUZ on gfx94. Raises RuntimeError for a target without one.
    """
    return getattr(fx, float8_of(get_rocm_arch()).name)


def cvt_sr_f32_to_bf16(x: Any, rand: Any) -> Any:
    """A Float32 as BFloat16, rounded up in magnitude with the probability of the part that bf16 has no room for.

    `rand` is 32 uniform random bits. gfx950 has an instruction for it; elsewhere the upper 16 of them are added to the
    number's bits before its lower half is dropped, except to infinities and NaN.
    """
    if get_rocm_arch().startswith("gfx95"):
        return fx.rocdl.cdna4.cvt_sr_f32_to_bf16(x, rand)
    value = fx.Float32(x)
    bits = value.bitcast(fx.Uint32)
    noise = fx.Uint32(rand) >> 16
    finite = (bits & 0x7F800000) != 0x7F800000
    quiet = (value == value).select(bits, bits | 0x400000)
    rounded = finite.select(bits + noise, quiet)
    return (rounded >> 16).to(fx.Uint16).bitcast(fx.BFloat16)


def validate_moe_dtypes(a: str, b: str) -> None:
    """Refuse types of activations and weights that no mixture-of-experts GEMM multiplies with each other.

    Args:
        a: activations: "fp8", "int8", "int8smooth", "fp4", "bf16", "fp16".
        b: weights: the same type, or "int4", "fp4" ("mxfp4") behind wider activations.

    Raises:
        ValueError: an unknown type, or two that do not go together.
    """
    if a not in _MOE_WEIGHTS:
        raise ValueError(f"activations of {a!r} are not supported; use one of {', '.join(_MOE_WEIGHTS)}")
    if b not in _MOE_WEIGHTS[a]:
        raise ValueError(
            f"weights of {b!r} are not supported behind activations of {a!r}; use one of {', '.join(_MOE_WEIGHTS[a])}"
        )


def stream_ptr_to_async_token(v: Any) -> Any:
    """A stream as a `gpu.launch_func` written by hand takes it: the `!gpu.async.token` that stands for it.

    `v` is an `fx.Stream`, or the pointer (`!llvm.ptr`) to the stream.
    """
    return fx.Stream(v).async_token()
