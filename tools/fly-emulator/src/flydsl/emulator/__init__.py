# SPDX-License-Identifier: Apache-2.0
"""An AMD GPU in a shared library: the HIP C API, executing AMD code objects on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flydsl.emulator._library import include_path, library_path, version

if TYPE_CHECKING:
    from flydsl.emulator.checking import CodeFinding, KernelCheck, check_code
    from flydsl.emulator.launch_file import SavedLaunch, save_launches
    from flydsl.emulator.orders import Difference, differing_orders, order
    from flydsl.emulator.predicting import Prediction, predict
    from flydsl.emulator.profiling import Profile, profile
    from flydsl.emulator.sanitizing import Report, sanitize

__all__ = [
    "CodeFinding",
    "Difference",
    "KernelCheck",
    "Prediction",
    "Profile",
    "Report",
    "SavedLaunch",
    "check_code",
    "differing_orders",
    "include_path",
    "library_path",
    "order",
    "predict",
    "profile",
    "sanitize",
    "save_launches",
    "version",
]

# What a process that only launches kernels never needs is imported when it is asked for.
_LAZY = {
    "CodeFinding": "checking",
    "KernelCheck": "checking",
    "check_code": "checking",
    "Difference": "orders",
    "Prediction": "predicting",
    "Profile": "profiling",
    "Report": "sanitizing",
    "differing_orders": "orders",
    "order": "orders",
    "predict": "predicting",
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
