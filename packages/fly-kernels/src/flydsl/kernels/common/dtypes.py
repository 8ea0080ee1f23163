# SPDX-License-Identifier: Apache-2.0
"""The names that kernels give to element types."""

from __future__ import annotations

from typing import Any

from .language import fx

_FLOATS = {"f32": "Float32", "f16": "Float16", "bf16": "BFloat16"}


def float_type(dtype: str) -> Any:
    """The language's type for "f32", "f16" or "bf16".

    Raises ValueError for any other name.
    """
    if dtype not in _FLOATS:
        raise ValueError(f"dtype {dtype!r} is not supported; use one of {', '.join(_FLOATS)}")
    return getattr(fx, _FLOATS[dtype])
