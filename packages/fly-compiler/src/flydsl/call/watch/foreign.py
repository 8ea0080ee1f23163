# SPDX-License-Identifier: Apache-2.0
"""Whose code and whose classes: those of users are followed, those of Python, of large packages and ours are not."""

from __future__ import annotations

import sys
import types
from typing import Any

from flydsl.trace.library import MODULES

__all__ = ["is_foreign", "is_foreign_class"]

_ROOTS = frozenset(sys.stdlib_module_names) - {"__main__"} | {
    "_pytest",
    "jax",
    "jaxlib",
    "ml_dtypes",
    "numpy",
    "pytest",
    "torch",
    "tvm_ffi",
}
_LIBRARY = frozenset(
    (
        *MODULES,
        *(f"flydsl.{one}" for one in ("_mlir", "autotune", "dialect", "emulator", "kernels", "layout", "runtime")),
    )
)


def is_foreign(module: str) -> bool:
    """Tell whether a module's code is none of the user's."""
    root, _, rest = module.partition(".")
    return root in _ROOTS or (root == "flydsl" and f"flydsl.{rest.partition('.')[0]}" in _LIBRARY)


def is_foreign_class(cls: type) -> bool:
    """Tell whether a class is none of the user's; one that does not say where it comes from is."""
    module: Any = getattr(cls, "__module__", None)
    if module == "types" and vars(types).get(cls.__name__) is not cls:
        return False  # `types.new_class` and older `dataclasses.make_dataclass` made it for somebody
    return isinstance(module, str) and is_foreign(module)
