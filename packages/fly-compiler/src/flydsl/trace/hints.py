# SPDX-License-Identifier: Apache-2.0
"""Compile hints: what a caller may ask of code generation, checked when it is asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .event_settings import blocks_text

__all__ = [
    "ambient_hints",
    "compile_hints",
    "effective_fastmath_hint",
    "effective_hints",
    "hints_key",
    "merge_compile_hints",
    "validated",
    "waves_per_eu",
]


class _Ambient(threading.local):
    def __init__(self) -> None:
        self.stack: list[dict[str, Any]] = []


_ambient = _Ambient()


def ambient_hints() -> dict[str, Any]:
    """Return the hints of the enclosing `CompilationContext.compile_hints` blocks, merged."""
    return merge_compile_hints(*_ambient.stack)


@contextmanager
def compile_hints(hints: Mapping[str, Any]) -> Iterator[None]:
    """Apply hints to the compilations of a block; inner blocks add to outer ones, the later value wins."""
    _ambient.stack.append(validated(hints))
    try:
        yield
    finally:
        _ambient.stack.pop()


def merge_compile_hints(*layers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return some layers of hints as one: the later value wins, unless it is `None`."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged.update({key: value for key, value in (layer or {}).items() if value is not None})
    return merged


def effective_hints(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hints of a jit function under the ambient ones."""
    return merge_compile_hints(own, *_ambient.stack)


def effective_fastmath_hint(hints: Mapping[str, Any]) -> Any:
    """Return the fast-math flags that hints make the default of traced code, `None` for none.

    `fastmath` counts, also when it is `None`; without it `fast_fp_math` means `"fast"`.
    """
    return hints.get("fastmath", "fast" if hints.get("fast_fp_math") else None)


def has_ambient() -> bool:
    """Tell whether a `compile_hints` block is active on this thread."""
    return bool(_ambient.stack)


def hints_key(hints: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the hints as a part of a cache key."""
    return tuple(sorted((key, type(value).__name__, repr(value)) for key, value in hints.items()))


def validated(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `hints` after checking the known ones; unknown ones pass, and are part of the cache key.

    Raises:
        TypeError: not a mapping with text keys, or a known hint of the wrong type.
        ValueError: a known hint whose value has no meaning.
    """
    if not isinstance(hints, Mapping) or not all(isinstance(key, str) for key in hints):
        raise TypeError(f"compile hints are a dict with text keys, got {hints!r}")
    waves_per_eu(hints.get("waves_per_eu"))
    if hints.get("maxnreg") is not None:
        raise ValueError(
            "there is no hint maxnreg: on AMD GPUs the hint waves_per_eu bounds the registers of a kernel, on NVIDIA's "
            "its launch with value_attrs={'nvvm.maxnreg': count}"
        )
    for name in ("fast_fp_math", "unsafe_fp_math"):
        value = hints.get(name)
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"the hint {name} is a bool, got {type(value).__name__}")
    if not isinstance(hints.get("ktrace"), (bool, int, type(None))):
        raise TypeError(f"the hint ktrace is a bool, got {type(hints['ktrace']).__name__}")
    blocks_text(hints.get("ktrace_blocks"))
    options = hints.get("llvm_options")
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(
            f"the hint llvm_options is a dict from option to bool, int or str, got {type(options).__name__}"
        )
    return dict(hints)


def waves_per_eu(value: Any) -> tuple[int, int | None] | None:
    """Return the waves per execution unit as (least, most), `None` for no wish.

    Raises:
        TypeError: not an int, a pair of ints or a text.
        ValueError: negative, or the least is more than the most.
    """
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError("waves_per_eu is an int, a pair (min, max) or 'min,max', got bool")
    if isinstance(value, str):
        try:
            parts = tuple(int(part) for part in value.split(","))
        except ValueError:
            raise ValueError(f"waves_per_eu={value!r}: expected 'min' or 'min,max'") from None
    elif isinstance(value, int):
        parts = (value,)
    elif isinstance(value, (tuple, list)) and all(isinstance(x, int) and not isinstance(x, bool) for x in value):
        parts = tuple(value)
    else:
        raise TypeError(f"waves_per_eu is an int, a pair (min, max) or 'min,max', got {type(value).__name__}")
    if len(parts) not in (1, 2):
        kind = ValueError if isinstance(value, str) else TypeError
        raise kind(f"waves_per_eu={value!r}: expected one or two numbers")
    least, most = parts[0], parts[1] if len(parts) == 2 else None
    if least < 0 or (most is not None and most < 0):
        raise ValueError(f"waves_per_eu={value!r}: the numbers must not be negative")
    if most is not None and least > most:
        raise ValueError(f"waves_per_eu={value!r}: the minimum is more than the maximum")
    return None if least == 0 and not most else (least, most)
