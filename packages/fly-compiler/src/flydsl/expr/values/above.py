# SPDX-License-Identifier: Apache-2.0
"""Functions of higher modules, for the methods of lower ones.

The modules of `flydsl.expr` import downwards only. A value has methods all the same whose functions stand above it:
`pointer.view(layout)` is `make_view`. Such a method calls `above.make_view(self, layout)`. The module that defines the
function attaches it; all of them are imported with `flydsl.expr`, before any value can be made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["attach"]


def attach(**functions: Callable[..., Any]) -> None:
    """Make functions (or classes) attributes of this module, under the names that the methods below call."""
    globals().update(functions)


def __getattr__(name: str) -> Callable[..., Any]:
    raise AttributeError(f"nothing above has attached '{name}': import flydsl.expr first")
