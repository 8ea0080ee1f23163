# SPDX-License-Identifier: Apache-2.0
"""FlyDSL's runtime: loads compiled artifacts and calls them, on HIP devices or on the emulator.

Importing this package loads no native library; the first use of a device or an artifact does.
"""

from . import device
from ._library import include_dir, library_path
from .artifact import Artifact, ArtifactFunction, load_artifact
from .device_runtime import (
    COMPILE_BACKEND_TO_RUNTIME_KIND,
    DeviceRuntime,
    RocmDeviceRuntime,
    ensure_compile_runtime_compatible,
    ensure_compile_runtime_pairing_from_env,
    get_device_runtime,
    register_compile_runtime_mapping,
    register_device_runtime,
)
from .errors import ArtifactError, DeviceError
from .hardware import Device, current_device, devices, set_current_device, synchronize
from .note import read_note

__version__ = "0.1.0"

__all__ = [
    "COMPILE_BACKEND_TO_RUNTIME_KIND",
    "Artifact",
    "ArtifactError",
    "ArtifactFunction",
    "Device",
    "DeviceError",
    "DeviceRuntime",
    "RocmDeviceRuntime",
    "current_device",
    "device",
    "devices",
    "ensure_compile_runtime_compatible",
    "ensure_compile_runtime_pairing_from_env",
    "get_device_runtime",
    "include_dir",
    "library_path",
    "load_artifact",
    "read_note",
    "register_compile_runtime_mapping",
    "register_device_runtime",
    "set_current_device",
    "synchronize",
]
