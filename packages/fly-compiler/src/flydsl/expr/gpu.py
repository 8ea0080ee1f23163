# SPDX-License-Identifier: Apache-2.0
"""Threads, barriers and shuffles; names that are not here are the `gpu` dialect's own builders."""

from __future__ import annotations

from typing import Any

from .compat.forward import forward
from .ops.gpu import *  # noqa: F403
from .ops.gpu import __all__ as __all__
from .ops.gpu import __doc__ as __doc__

_OF_THE_LANGUAGE = ("Arena", "Array", "SharedAllocator", "Storage", "get_dyn_shared")


def __getattr__(name: str) -> Any:
    if name in _OF_THE_LANGUAGE:
        return forward(__name__)(name)
    from flydsl._mlir.dialects import gpu as dialect

    from .ops.dialect_proxy import proxy

    return proxy(dialect, name, __name__)
