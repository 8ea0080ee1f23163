# SPDX-License-Identifier: Apache-2.0
"""The key under which the best configuration of a call is remembered: texts, so that it can be written to a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import flydsl.runtime as runtime

from . import layers
from .fingerprint import device_text, replaceable
from .tensors import is_tensor, shape_of, tensors_in, unwrapped

__all__ = ["Key", "make_key"]

Key = tuple[str, ...]


def _axis(value: Any) -> str:
    """What counts of an argument that the key names: the shape of a tensor, else the value (a dtype's is its text)."""
    value = unwrapped(value)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_axis, value))})"
    return str(shape_of(value)) if is_tensor(value) else str(value)


def _hints(fn: Any) -> tuple[tuple[str, str, str], ...]:
    """The compile hints in effect for a call of the function: its own, then those of enclosing blocks."""
    own = getattr(fn, "compile_hints", None)
    merged = {**(own if isinstance(own, Mapping) else {}), **layers.ambient_hints()}
    return tuple(sorted((name, type(value).__name__, repr(value)) for name, value in merged.items()))


def make_key(
    fn: Callable[..., Any],
    source: str,
    names: Sequence[str],
    given: Mapping[str, Any],
    complete: Mapping[str, Any],
    device: runtime.Device | None,
    artifact: Sequence[Any] | None,
) -> Key:
    """The key of a call.

    Args:
        fn: the function that is tuned.
        source: a hash of its code.
        names: the arguments whose shape, dtype or value counts.
        given: the call's arguments by name.
        complete: the same with defaults.
        device: what the call runs on.
        artifact: what names the offline artifact of the call, when there may be one.
    """
    tensors = sorted(
        (one for name, value in given.items() for one in tensors_in(name, value)), key=lambda named: named[0]
    )
    facts = replaceable()
    parts: list[Any] = [_axis(complete.get(name)) for name in names]
    parts.append(tuple(f"{name}:{value.dtype}" for name, value in tensors))
    parts.append(tuple(f"{name}:{facts._normalize_strides(value)}" for name, value in tensors))
    parts.append(("_env_", facts._env_fingerprint()))
    parts.append(("_toolchain_", facts._toolchain_fingerprint()))
    parts.append(("_source_", source))
    parts.append(("_device_", facts._device_fingerprint(), device_text(device)))
    hints = _hints(fn)
    if hints:
        parts.append(("_hints_", hints))
    if artifact is not None:
        parts.append(("_artifact_", *artifact))
    return tuple(str(part) for part in parts)
