# SPDX-License-Identifier: Apache-2.0
"""What happens to the sums of a tile before they are stored: scales, bias, activation, residual, cast, store.

result = cast(act(sum * scale_a[m] * scale_b[n] + bias[n]) + residual[m, n])        everything but the cast in f32
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..arch import architecture
from ..convert import round_to
from ..functions import UNARY
from ..kernels_common import cvt_sr_f32_to_bf16
from ..language import fx
from .cshuffle_epilogue import c_shuffle_epilog, default_epilog, mfma_epilog

__all__ = [
    "ACTIVATIONS",
    "EPILOGUES",
    "Epilogue",
    "activate",
    "c_shuffle_epilog",
    "default_epilog",
    "element_functions",
    "mfma_epilog",
    "parse_epilogue",
    "rounded_at_random",
]

_FUNCTIONS = {"none": None, "relu": "relu", "silu": "silu", "gelu": "gelu_tanh"}
ACTIVATIONS = tuple(_FUNCTIONS)
EPILOGUES = ("none", "bias", "bias_relu", "bias_silu", "bias_gelu")


@dataclass(frozen=True)
class Epilogue:
    """What to do with a sum.

    Attributes:
        scaled: multiply by scale_a of the row and scale_b of the column (f32).
        bias: add bias of the column (in the output's type).
        activation: one of `ACTIVATIONS`.
        residual: add the element of a tensor like the output.
    """

    scaled: bool = False
    bias: bool = False
    activation: str = "none"
    residual: bool = False


def parse_epilogue(name: str, *, scaled: bool) -> Epilogue:
    """The epilogue that a builder's argument names; ValueError for a name that is none of `EPILOGUES`."""
    if name not in EPILOGUES:
        raise ValueError(f"epilogue {name!r} is not supported; use one of {', '.join(EPILOGUES)}")
    bias, _, activation = name.partition("_")
    return Epilogue(scaled, bias == "bias", activation or "none")


def activate(values: Any, activation: str) -> Any:
    """An activation of a vector of f32: relu, silu, or gelu in its tanh form, which is within 5e-4 of the exact one."""
    if activation not in _FUNCTIONS:
        raise ValueError(f"activation {activation!r} is not supported; use one of {', '.join(ACTIVATIONS)}")
    name = _FUNCTIONS[activation]
    return values if name is None else UNARY[name](values)


def element_functions(epilogue: Epilogue, output: Any) -> list[tuple[Callable[..., Any], tuple[str, ...]]]:
    """What turns sums into results of type `output`, in order: functions of a vector of neighbouring columns of a row.

    Each comes with the names of what else it reads: "scale_a" (f32 of the row), "scale_b" (f32 of the columns), "bias"
    (of the columns), "residual" (of the elements).
    """
    if output is fx.Int32:  # exact sums, with nothing between
        return [(lambda sums: sums, ())]
    functions: list[tuple[Callable[..., Any], tuple[str, ...]]] = [(lambda sums: sums.to(fx.Float32), ())]
    if epilogue.scaled:
        functions.append((_scale, ("scale_a", "scale_b")))
    if epilogue.bias:
        functions.append((_add, ("bias",)))
    if epilogue.activation != "none":
        functions.append((lambda values: activate(values, epilogue.activation), ()))
    if epilogue.residual:
        functions.append((_add, ("residual",)))
    functions.append((lambda values: round_to(values, output), ()))
    return functions


def rounded_at_random(values: fx.Vector, first: fx.Int32, seed: fx.Int32) -> fx.Vector:
    """f32 values of neighbouring elements, `first` being the number of the first, as bf16, rounded by random bits.

    The bits are a mix of the element's number and the seed: Murmur's finaliser, which every bit of both reaches.
    """
    elements = []
    for number in range(values.shape[0]):
        bits = fx.Uint32(first + number) * 0x9E3779B9 + fx.Uint32(seed)
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            bits = (bits ^ (bits >> shift)) * factor
        elements.append(cvt_sr_f32_to_bf16(values[number], bits ^ (bits >> 16)))
    return fx.Vector.from_elements(elements, fx.BFloat16)


def _scale(values: Any, row: Any, columns: Any) -> Any:
    return values * (usual_nan(columns) * usual_nan(row))


def _add(values: Any, summands: Any) -> Any:
    return values + summands.to(fx.Float32)


def usual_nan(scales: Any) -> Any:
    """f32 with the usual NaN for each NaN: `round_to` would take one whose bits are all set for a number."""
    if architecture().converts_bf16:
        return scales
    return (scales == scales).select(scales, math.nan)
