# SPDX-License-Identifier: Apache-2.0
"""Raw builders of the `arith` dialect: they return SSA values. Names that are not here are the dialect's own."""

from __future__ import annotations

from typing import Any

from .compat.arith_value import ArithValue as ArithValue
from .ops.arith import *  # noqa: F403
from .ops.arith import __all__ as _all
from .ops.arith import __doc__ as __doc__

__all__ = sorted(["ArithValue", *_all])


def __getattr__(name: str) -> Any:
    from flydsl._mlir.dialects import arith as dialect

    from .ops.dialect_proxy import proxy

    return proxy(dialect, name, __name__)
