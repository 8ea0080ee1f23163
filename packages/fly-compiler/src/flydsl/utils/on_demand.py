# SPDX-License-Identifier: Apache-2.0
"""Names whose files are imported at the first use of one: to import all of them takes longer than a small trace."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

__all__ = ["on_demand"]


def on_demand(module: str, names: Mapping[str, str], load: Callable[[str], ModuleType]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module; what it finds it leaves in the module.

    Args:
        module: the `__name__` of the module.
        names: by file, its names with blanks between them.
        load: imports a file of the module's package.

    Raises:
        AttributeError: (when called) no file has the name.
    """
    files = {name: file for file, of_it in names.items() for name in of_it.split()}

    def find(name: str) -> Any:
        file = files.get(name)
        if file is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = getattr(load(file), name)
        setattr(sys.modules[module], name, found)
        return found

    return find
