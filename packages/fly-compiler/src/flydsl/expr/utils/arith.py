# SPDX-License-Identifier: Apache-2.0
"""Builders of arithmetic under a compatibility path: names of `flydsl.expr.arith` and `flydsl.expr`."""

from __future__ import annotations

from typing import Any

from ..compat import arith as _compat
from ..compat.forward import forward
from ..ops import arith as _arith

_names = forward(__name__)


def __getattr__(name: str) -> Any:
    if name in _compat.__all__:
        return getattr(_compat, name)
    return getattr(_arith, name) if name in (*_arith.__all__, "_to_raw") else _names(name)
