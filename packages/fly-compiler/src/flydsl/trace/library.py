# SPDX-License-Identifier: Apache-2.0
"""Which folders of `flydsl` are the compiler's own: code that is not shown, rewritten or watched as a user's is."""

from __future__ import annotations

__all__ = ["MODULES", "PACKAGES", "is_of_compiler"]

PACKAGES = ("trace", "expr", "frontend", "compile", "call", "compiler", "extension", "utils")
"""The folders that this wheel puts into the namespace `flydsl`, in the order in which data flows."""

MODULES = tuple(f"flydsl.{one}" for one in PACKAGES)
_PREFIXES = tuple(f"{one}." for one in MODULES)


def is_of_compiler(module: str) -> bool:
    """Tell whether a module, by its name, is one of this wheel's."""
    return module in MODULES or module.startswith(_PREFIXES)
