# SPDX-License-Identifier: Apache-2.0
"""Vectors; names that are not here are the `vector` dialect's own builders."""

from __future__ import annotations

from typing import Any

from .values.vector import *  # noqa: F403
from .values.vector import __all__ as _vector
from .values.vector import __doc__ as __doc__
from .values.vector_alias import *  # noqa: F403
from .values.vector_alias import __all__ as _alias
from .values.vector_factory import *  # noqa: F403
from .values.vector_factory import __all__ as _factory

__all__ = sorted([*_vector, *_alias, *_factory])


def __getattr__(name: str) -> Any:
    from flydsl._mlir.dialects import vector as dialect

    from .ops.dialect_proxy import proxy

    return proxy(dialect, name, __name__)
