# SPDX-License-Identifier: Apache-2.0
"""The functions that the pointwise kernels apply, and their derivatives: of vectors of Float32, one line each where
one line is enough.

Each is exact to a few units of the last place of f32; the result is rounded once to the element type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .convert import exp2, reciprocal
from .language import fx

_LOG2_E = math.log2(math.e)


def _exp(x: Any) -> Any:
    return exp2(x * _LOG2_E)


def _sigmoid(x: Any) -> Any:
    return reciprocal(exp2(x * -_LOG2_E) + 1.0)


def _gelu(x: Any) -> Any:
    return x * 0.5 * (fx.erf(x * math.sqrt(0.5)) + 1.0)


_CUBE = 0.044715
_SLOPE = 2.0 * math.sqrt(2.0 / math.pi)


def _gelu_tanh(x: Any) -> Any:
    # 0.5 · (1 + tanh(u)) is the sigmoid of 2 · u.
    return x * _sigmoid((x + x * x * x * _CUBE) * _SLOPE)


def _softplus(x: Any) -> Any:
    return fx.max(x, 0.0) + fx.log1p(_exp(-fx.absf(x)))


# The derivative of a sigmoid is σ(x) · σ(-x), which loses nothing where σ is almost 1.


def _silu_gradient(dy: Any, x: Any) -> Any:
    return dy * _sigmoid(x) * (x * _sigmoid(-x) + 1.0)


def _gelu_gradient(dy: Any, x: Any) -> Any:
    density = exp2(x * x * (-0.5 * _LOG2_E)) * (1.0 / math.sqrt(2.0 * math.pi))
    return dy * ((fx.erf(x * math.sqrt(0.5)) + 1.0) * 0.5 + x * density)


def _gelu_tanh_gradient(dy: Any, x: Any) -> Any:
    argument = (x + x * x * x * _CUBE) * _SLOPE
    inner = (x * x * (3.0 * _CUBE) + 1.0) * _SLOPE
    return dy * _sigmoid(argument) * (x * _sigmoid(-argument) * inner + 1.0)


UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: fx.absf(x),
    "exp": _exp,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "log": lambda x: fx.log(x),
    "neg": lambda x: -x,
    "relu": lambda x: fx.max(x, 0.0),  # NaN stays NaN
    "rsqrt": lambda x: reciprocal(fx.sqrt(x)),
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "softplus": _softplus,
    "sqrt": lambda x: fx.sqrt(x),
    "square": lambda x: x * x,
    "tanh": lambda x: fx.tanh(x),
}

GRADIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda dy, x: (x > 0.0).select(dy, (x < 0.0).select(-dy, dy * 0.0)),
    "exp": lambda dy, x: dy * _exp(x),
    "gelu": _gelu_gradient,
    "gelu_tanh": _gelu_tanh_gradient,
    "log": lambda dy, x: dy * reciprocal(x),
    "neg": lambda dy, x: -dy,
    "relu": lambda dy, x: (x > 0.0).select(dy, dy * 0.0),
    "rsqrt": lambda dy, x: dy * -0.5 * reciprocal(x * fx.sqrt(x)),
    "sigmoid": lambda dy, x: dy * _sigmoid(x) * _sigmoid(-x),
    "silu": _silu_gradient,
    "softplus": lambda dy, x: dy * _sigmoid(x),
    "sqrt": lambda dy, x: dy * 0.5 * reciprocal(fx.sqrt(x)),
    "square": lambda dy, x: dy * 2.0 * x,
    "tanh": lambda dy, x: dy * 4.0 * _sigmoid(x * 2.0) * _sigmoid(x * -2.0),
}
"""What the functions of `UNARY` make of a gradient: (dy, x) to dx."""

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
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"function {name!r} is not known; use one of {', '.join(table)}")
    return table[name]
