# SPDX-License-Identifier: Apache-2.0
"""The functions that the pointwise kernels apply: of vectors of Float32, one line each where one line is enough.

Each is exact to a few units of the last place of f32; the result is rounded once to the element type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..common.convert import exp2, reciprocal
from ..common.language import fx

_LOG2_E = math.log2(math.e)


def _exp(x: Any) -> Any:
    return exp2(x * _LOG2_E)


def _sigmoid(x: Any) -> Any:
    return reciprocal(exp2(x * -_LOG2_E) + 1.0)


def _gelu(x: Any) -> Any:
    return x * 0.5 * (fx.erf(x * math.sqrt(0.5)) + 1.0)


def _gelu_tanh(x: Any) -> Any:
    # 0.5 · (1 + tanh(u)) is the sigmoid of 2 · u.
    return x * _sigmoid((x + x * x * x * 0.044715) * (2.0 * math.sqrt(2.0 / math.pi)))


UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: fx.absf(x),
    "exp": _exp,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "neg": lambda x: -x,
    "relu": lambda x: fx.max(x, 0.0),  # NaN stays NaN
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "square": lambda x: x * x,
    "tanh": lambda x: fx.tanh(x),
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "div": lambda x, y: x / y,
    "max": lambda x, y: fx.max(x, y),
    "min": lambda x, y: fx.min(x, y),
    "mul": lambda x, y: x * y,
    "sub": lambda x, y: x - y,
}


def function(table: dict[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
    """The entry; ValueError with those that there are."""
    if name not in table:
        raise ValueError(f"function {name!r} is not known; use one of {', '.join(table)}")
    return table[name]
