# SPDX-License-Identifier: Apache-2.0
"""An AMD GPU in a shared library: the HIP C API, executing AMD code objects on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl.emulator._library import include_path, library_path, version

if TYPE_CHECKING:
    from flydsl.emulator.launch_file import SavedLaunch, save_launches
    from flydsl.emulator.orders import Difference, differing_orders, order
    from flydsl.emulator.profiling import Profile, profile
    from flydsl.emulator.sanitizing import Report, sanitize

__all__ = [
    "Difference",
    "Profile",
    "Report",
    "SavedLaunch",
    "differing_orders",
    "include_path",
    "library_path",
    "order",
    "profile",
    "sanitize",
    "save_launches",
    "version",
]

# What a process that only launches kernels never needs is imported when it is asked for.
_LAZY = {
    "Difference": "orders",
    "Profile": "profiling",
    "Report": "sanitizing",
    "differing_orders": "orders",
    "order": "orders",
    "profile": "profiling",
    "SavedLaunch": "launch_file",
    "sanitize": "sanitizing",
    "save_launches": "launch_file",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
