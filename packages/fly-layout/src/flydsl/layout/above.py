# SPDX-License-Identifier: Apache-2.0
"""Names of higher layers, for the methods of lower ones.

The modules of this package import downwards only. A layout has methods all the same whose functions stand above it:
``layout.complement()`` is `flydsl.layout.complement`. Such a method calls ``above.complement(self)``. What is above is
registered from there: the package's ``__init__``, which Python runs before any of its modules, says how a public name
is found, and an attribute of this module is that name.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["register"]

_find: "Callable[[str], Any]"


def register(find: "Callable[[str], Any]") -> None:
    """Take ``find``, which gives the public name of the package (a function, class or sub-package), or raises."""
    global _find
    _find = find


def __getattr__(name: str) -> "Any":
    value = globals()[name] = _find(name)
    return value
