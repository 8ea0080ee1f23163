# SPDX-License-Identifier: Apache-2.0
"""Builders of arithmetic under an established module path: names of `flydsl.expr.arith` and `flydsl.expr`."""

from __future__ import annotations

from typing import Any

from .. import arith as _arith
from .._forward import forward

_names = forward(__name__)


def __getattr__(name: str) -> Any:
    return getattr(_arith, name) if name in (*_arith.__all__, "_to_raw") else _names(name)
