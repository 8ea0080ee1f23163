# SPDX-License-Identifier: Apache-2.0
"""FlyDSL's runtime: loads compiled artifacts and calls them, on AMD and NVIDIA GPUs or on the emulator.

Importing this package loads nothing but this file: each name below imports its module when it is first used, and the
native library is loaded by the first use of a device or an artifact.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as typing's, whose import takes longer than all the rest

if TYPE_CHECKING:
    from . import device as device
    from ._library import include_dir, library_path
    from .artifact import Artifact, ArtifactFunction, load_artifact, prepare_calls, prepare_loading
    from .autograd import is_seen_to_write, tell_autograd
    from .device_buffer import DeviceBuffer, synchronize_device
    from .device_runtime import (
        COMPILE_BACKEND_TO_RUNTIME_KIND,
        CudaDeviceRuntime,
        DeviceRuntime,
        RocmDeviceRuntime,
        RuntimePairingError,
        ensure_compile_runtime_compatible,
        ensure_compile_runtime_pairing_from_env,
        get_device_runtime,
        register_compile_runtime_mapping,
        register_device_runtime,
    )
    from .errors import (
        ArtifactError,
        DeviceError,
        LaunchError,
        OutOfMemoryError,
    )
    from .hardware import (
        Device,
        current_device,
        devices,
        load_driver_compiler,
        load_ptx_ahead,
        set_current_device,
        synchronize,
    )
    from .note import read_note, seal_artifact

__version__ = "0.1.0"

__all__ = [
    "COMPILE_BACKEND_TO_RUNTIME_KIND",
    "Artifact",
    "ArtifactError",
    "ArtifactFunction",
    "CudaDeviceRuntime",
    "Device",
    "DeviceBuffer",
    "DeviceError",
    "DeviceRuntime",
    "LaunchError",
    "OutOfMemoryError",
    "RocmDeviceRuntime",
    "RuntimePairingError",
    "current_device",
    "device",
    "devices",
    "ensure_compile_runtime_compatible",
    "ensure_compile_runtime_pairing_from_env",
    "get_device_runtime",
    "include_dir",
    "is_seen_to_write",
    "library_path",
    "load_artifact",
    "load_driver_compiler",
    "load_ptx_ahead",
    "prepare_calls",
    "prepare_loading",
    "read_note",
    "register_compile_runtime_mapping",
    "register_device_runtime",
    "seal_artifact",
    "set_current_device",
    "synchronize",
    "synchronize_device",
    "tell_autograd",
]

_HOME = {
    "_library": ("include_dir", "library_path"),
    "artifact": ("Artifact", "ArtifactFunction", "load_artifact", "prepare_calls", "prepare_loading"),
    "autograd": ("is_seen_to_write", "tell_autograd"),
    "device_buffer": ("DeviceBuffer", "synchronize_device"),
    "device_runtime": (
        "COMPILE_BACKEND_TO_RUNTIME_KIND",
        "CudaDeviceRuntime",
        "DeviceRuntime",
        "RocmDeviceRuntime",
        "RuntimePairingError",
        "ensure_compile_runtime_compatible",
        "ensure_compile_runtime_pairing_from_env",
        "get_device_runtime",
        "register_compile_runtime_mapping",
        "register_device_runtime",
    ),
    "errors": (
        "ArtifactError",
        "DeviceError",
        "LaunchError",
        "OutOfMemoryError",
    ),
    "hardware": (
        "Device",
        "current_device",
        "devices",
        "load_driver_compiler",
        "load_ptx_ahead",
        "set_current_device",
        "synchronize",
    ),
    "note": ("read_note", "seal_artifact"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "device":
        return importlib.import_module(f"{__name__}.device")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
