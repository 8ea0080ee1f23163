# SPDX-License-Identifier: Apache-2.0
"""Builders of arithmetic under an established module path: names of `flydsl.expr.arith` and `flydsl.expr`."""

from __future__ import annotations

from typing import Any

from ..established import arith as _established
from ..established.forward import forward
from ..ops import arith as _arith

_names = forward(__name__)


def __getattr__(name: str) -> Any:
    if name in _established.__all__:
        return getattr(_established, name)
    return getattr(_arith, name) if name in (*_arith.__all__, "_to_raw") else _names(name)
