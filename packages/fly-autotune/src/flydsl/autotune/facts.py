# SPDX-License-Identifier: Apache-2.0
"""What a key says, in words: the texts of `key.make_key` taken apart again, for people and for filters."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from .key import Key

__all__ = ["Facts", "facts_of"]

_NUMBER = re.compile(r"(?<![\w.-])\d+(?![\w.])")  # a whole number by itself


@dataclass(frozen=True)
class Facts:
    """What a finding is for; a text is empty where the key does not say.

    Attributes:
        shape: the arguments of `key`: shapes of tensors, values of others.
        dtypes: those of the tensors.
        source: a hash of the code.
        toolchain: compiler and runtime.
        architecture: the target.
        device: name, architecture and compute units; behind them "emulated" for one of the emulator.
        model: what names the emulator's model of time, where that predicted.
    """

    shape: str = ""
    dtypes: str = ""
    source: str = ""
    toolchain: str = ""
    architecture: str = ""
    device: str = ""
    model: str = ""

    @property
    def is_emulated(self) -> bool:
        """Whether what was found out is a prediction."""
        return self.device.endswith("emulated")

    @property
    def shape_class(self) -> str:
        """The shape with each number but 0 and 1 rounded up to a power of two: (5000, 64) is of (8192, 64)."""
        return _NUMBER.sub(lambda found: str(1 << (int(found[0]) - 1).bit_length() if int(found[0]) else 0), self.shape)


def facts_of(key: Key) -> Facts:
    """Take a key apart."""
    named: dict[str, tuple[str, ...]] = {}
    first = len(key)
    for place, part in enumerate(key):
        values = _tuple(part)
        if values and isinstance(values[0], str) and values[0].startswith("_") and values[0].endswith("_"):
            named[values[0]] = tuple(map(str, values[1:]))
            first = min(first, place)
    axes, tensors = key[: max(first - 2, 0)], key[max(first - 2, 0) : first]
    architecture, device, *_ = (*named.get("_device_", ()), "", "")
    device, _, model = device.partition(", model ")
    return Facts(
        shape=" ".join(axes),
        dtypes=" ".join(map(str, _tuple(tensors[0]) or ())) if len(tensors) == 2 else "",
        source="".join(named.get("_source_", ())),
        toolchain="".join(named.get("_toolchain_", ())),
        architecture=architecture,
        device=device,
        model=model,
    )


def _tuple(text: str) -> tuple[object, ...]:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    return value if isinstance(value, tuple) else ()
