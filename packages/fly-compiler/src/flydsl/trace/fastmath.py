# SPDX-License-Identifier: Apache-2.0
"""Fast-math flags: specifications, the `with fx.fastmath(...)` block, and which flags an op gets.

A specification is a string (`"fast"`, `"nnan,nsz"`), one `FastMathFlags`, an `|`-combination of them, or a list, tuple
or set of any of these. An op takes the explicit `fastmath=` argument, else the innermost `fastmath` block, else the
ambient compile hint. Integer operations have no flags.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import TypeAlias

from flydsl._mlir import ir

from .build import attribute
from .context import state

__all__ = ["FastMathFlags", "fastmath"]


class FastMathFlags(enum.IntFlag):
    """The relaxations of floating-point arithmetic that an op may be given."""

    none = 0
    reassoc = 1
    nnan = 2
    ninf = 4
    nsz = 8
    arcp = 16
    contract = 32
    afn = 64
    fast = 127

    def __str__(self) -> str:
        return (
            "fast" if self == FastMathFlags.fast else ",".join(n for n in _NAMES if self & FastMathFlags[n]) or "none"
        )


_NAMES = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")


FastMath: TypeAlias = "FastMathFlags | str | int | Sequence[FastMath] | AbstractSet[FastMath] | None"
"""A specification."""


def normalise(spec: FastMath) -> FastMathFlags:
    """Return the flags that `spec` means.

    Raises:
        ValueError: an unknown flag name.
        TypeError: not a specification.
    """
    if spec is None:
        return FastMathFlags.none
    if isinstance(spec, FastMathFlags):
        return spec
    if isinstance(spec, str):
        flags = FastMathFlags.none
        for name in spec.replace("|", ",").split(","):
            key = name.strip()
            if not key:
                continue
            if key not in FastMathFlags.__members__:
                known = ", ".join(FastMathFlags.__members__)
                raise ValueError(f"unknown fast-math flag '{key}'; the flags are {known}")
            flags |= FastMathFlags[key]
        return flags
    if isinstance(spec, (list, tuple, set, frozenset)):
        flags = FastMathFlags.none
        for item in spec:
            flags |= normalise(item)
        return flags
    if isinstance(spec, int) and not isinstance(spec, bool) and 0 <= spec <= FastMathFlags.fast:
        return FastMathFlags(spec)  # flags of MLIR's own enumeration have the same bits
    raise TypeError(f"a fast-math specification is a string, FastMathFlags or a collection of them, not {spec!r}")


@contextmanager
def fastmath(spec: FastMath) -> Iterator[None]:
    """Give every float operation traced in the block the flags of `spec`; `None` clears the ambient ones."""
    flags = normalise(spec)
    outer, outer_set = state.fastmath, state.fastmath_set
    state.fastmath, state.fastmath_set = flags, True
    try:
        yield
    finally:
        state.fastmath, state.fastmath_set = outer, outer_set


def ambient() -> FastMathFlags | None:
    """Return the flags of the innermost `fastmath` block, else of the compile hint; `None` without either."""
    if state.fastmath_set:
        flags: FastMathFlags = state.fastmath
        return flags
    trace = state.trace
    return None if trace is None or trace.fastmath is None else normalise(trace.fastmath)


def flags_attribute(explicit: FastMath = None) -> dict[str, ir.Attribute] | None:
    """Return the attributes of a float op: `explicit` wins, then the block, then the compile hint; else `None`."""
    if explicit is None:
        if not state.fastmath_set and (state.trace is None or state.trace.fastmath is None):
            return None  # as for most
        flags = ambient()
    else:
        flags = normalise(explicit)
    if not flags:
        return None
    return {"fastmath": attribute(f"#arith.fastmath<{flags}>")}
