# SPDX-License-Identifier: Apache-2.0
"""The functions of mathematics; names that are not here are the `math` dialect's own builders."""

from __future__ import annotations

from typing import Any

from .ops.math import *  # noqa: F403
from .ops.math import __all__ as __all__
from .ops.math import __doc__ as __doc__


def __getattr__(name: str) -> Any:
    from flydsl._mlir.dialects import math as dialect

    from .ops.dialect_proxy import proxy

    return proxy(dialect, name, __name__)
