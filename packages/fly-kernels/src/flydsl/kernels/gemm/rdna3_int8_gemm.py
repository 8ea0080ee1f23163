# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in 8-bit integers with WMMA, for gfx1100 (RDNA 3), by its usual name; `wmma_integers` has the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from .wmma_gemm import target_of
from .wmma_integers import create_wmma_integer_gemm_module

__all__ = ["create_wmma_int8_gemm_module"]

_Arguments = ParamSpec("_Arguments")
_Made = TypeVar("_Made")


def _of_bytes(build: Callable[_Arguments, _Made]) -> Callable[_Arguments, _Made]:
    """The builder, with its arguments, for "int8" and "uint8" on gfx1100 alone."""

    @wraps(build)
    def narrowed(*args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Made:
        target_of("rdna3_int8_gemm", ("gfx1100",))
        given = signature(build).bind(*args, **keywords)
        given.apply_defaults()
        in_dtype = given.arguments["in_dtype"]
        if in_dtype not in ("int8", "uint8"):
            raise ValueError(f"in_dtype {in_dtype!r} is not supported; use int8 or uint8")
        return build(*args, **keywords)

    return narrowed


create_wmma_int8_gemm_module = _of_bytes(create_wmma_integer_gemm_module)
"""`create_wmma_integer_gemm_module` with A and B_T of "int8" (the default) or "uint8", which are elements of a byte.

Raises RuntimeError where the target is not gfx1100.
"""
