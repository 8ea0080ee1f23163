# SPDX-License-Identifier: Apache-2.0
"""Tensors that a program writes: those that never change are refused, and autograd is told of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.runtime import is_seen_to_write, tell_autograd

from .passed import Passed, refuse_immutable, unwrapped
from .tensor_kinds import tensor_kind

__all__ = ["check_written", "is_recorded", "is_written", "telling"]


def is_written(entries: list[dict[str, Any]], parameter: str) -> bool:
    """Tell whether a program is seen to write a tensor of a parameter, by the entries of its artifact's note."""
    return any(is_seen_to_write(one) and one["name"].partition(".")[0] == parameter for one in entries)


def is_recorded(kind: type) -> bool:
    """Tell whether tensors of a class have a `requires_grad`, which must be false where a kernel writes."""
    found = tensor_kind(kind)
    return found is not None and found.records


def check_written(where: str, value: Any) -> None:
    """Refuse a value for a tensor that a program writes when it must not be, else tell autograd of the change.

    Raises:
        ValueError: it never changes (JAX), or autograd cannot know of the change.
    """
    refuse_immutable(where, value)
    tensor = unwrapped(value)
    if is_recorded(type(tensor)) and tensor.requires_grad:
        tell_autograd(where, tensor)


def telling(passed: Passed, where: str) -> Callable[[Any], Any] | None:
    """Return the conversion of an argument, followed by `check_written` for what it gives."""
    convert = passed.convert
    if convert is None:
        return None

    def converted(value: Any) -> Any:
        found = convert(value)
        for one in found if passed.unpacked else (found,):
            check_written(where, one)
        return found

    return converted
