# SPDX-License-Identifier: Apache-2.0
"""Names of torch operators in the modules where existing code looks for them; torch is imported at their first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flydsl import kernels


def operators_by_name(module: str, operators: str, names: Iterable[str]) -> Callable[[str], Any]:
    """The `__getattr__` of `module`, in which `names` are those of `flydsl.kernels.operators.<operators>`.

    The returned function raises AttributeError for any other name.
    """
    known = frozenset(names)

    def find(name: str) -> Any:
        if name in known:
            return getattr(kernels.operators_of(operators), name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find
