# SPDX-License-Identifier: Apache-2.0
"""Fast signatures: what of an argument its specialisation depends on, in a fraction of a microsecond.

Two values with equal signatures have equal specs (`classify`), not the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.expr.numeric import Numeric

from .tensor import is_immutable_type, is_tensor_type, is_torch_type, plain_spec

__all__ = ["SIGNATURES", "signature"]


class _Signatures(dict[type, Callable[[Any], Any]]):
    """From a class to the function that gives the signature of its objects."""

    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        function = self[kind] = _function_for(kind)
        return function


class _UnitAxes(dict[tuple[int, ...], tuple[int, int]]):
    """From strides to rank and first axis of stride 1 (-1: none)."""

    def __missing__(self, strides: tuple[int, ...]) -> tuple[int, int]:
        if len(self) >= 4096:
            self.clear()
        found = self[strides] = (len(strides), strides.index(1) if 1 in strides else -1)
        return found


def _function_for(kind: type) -> Callable[[Any], Any]:
    if is_torch_type(kind):
        return _torch_signature
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        return _numpy_signature
    if hasattr(kind, "__cache_signature__"):
        return _own_signature if not issubclass(kind, Numeric) else type
    if is_tensor_type(kind):
        return _dlpack_signature
    return type


SIGNATURES = _Signatures()
_unit_axes = _UnitAxes()


def signature(value: Any) -> Any:
    """Return the signature of an argument."""
    return SIGNATURES[type(value)](value)


def _torch_signature(tensor: Any) -> Any:
    return (tensor.dtype, _unit_axes[tensor.stride()])


def _numpy_signature(array: Any) -> Any:
    stride, size = array.strides, array.itemsize
    return (array.dtype, len(stride), stride.index(size) if size in stride else -1 if array.size else -2)


def _dlpack_signature(tensor: Any) -> Any:
    kind = type(tensor)
    try:
        return (plain_spec(tensor), is_immutable_type(kind))
    except (TypeError, RuntimeError, ValueError):
        return kind  # nothing is compiled for it: `classify` says why, and which argument it is


def _own_signature(value: Any) -> Any:
    return value.__cache_signature__()
