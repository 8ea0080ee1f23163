# SPDX-License-Identifier: Apache-2.0
"""What a measurement depends on beside the call's arguments: environment, toolchain, source, device."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable
from importlib import metadata
from types import ModuleType
from typing import Any

import flydsl.runtime as runtime
from flydsl.runtime.architecture import requested_arch
from flydsl.runtime.device import get_rocm_arch

from . import layers
from .tensors import unwrapped

__all__ = [
    "call_device",
    "device_descriptor",
    "device_fingerprint",
    "device_text",
    "env_fingerprint",
    "replaceable",
    "source_fingerprint",
    "toolchain_fingerprint",
]

# The architecture's variables are not among them: the device's fingerprint has what they say.
_VARIABLES = (
    "FLYDSL_COMPILE_BACKEND",
    "FLYDSL_COMPILE_LLVM_DIR",
    "FLYDSL_COMPILE_OPT_LEVEL",
    "FLYDSL_DEBUG_ENABLE_DEBUG_INFO",
    "FLYDSL_EMU_SANITIZE",
    "FLYDSL_EXTRA_SOURCE_DIRS",
    "FLYDSL_KTRACE_BLOCKS",
    "FLYDSL_KTRACE_BUFFER_BYTES",
    "FLYDSL_KTRACE_ENABLE",
)


def replaceable() -> ModuleType:
    """The package: its functions `_…_fingerprint`, `_device_descriptor` and `_normalize_strides` are looked up there.

    So a program that knows better, or a test, may replace them.
    """
    return sys.modules[__package__ or "flydsl.autotune"]


def env_fingerprint() -> tuple[tuple[str, str], ...]:
    """The variables that change code, with their present values."""
    return tuple((name, os.environ.get(name, "")) for name in _VARIABLES)


@functools.lru_cache(maxsize=1)
def toolchain_fingerprint() -> str:
    """A text for the compiler that is installed, and for the runtime."""
    try:
        version = metadata.version("fly-runtime")
    except metadata.PackageNotFoundError:
        version = "source tree"
    return f"fly-runtime {version} {layers.toolchain_hash()}".rstrip()


def source_fingerprint(fn: Callable[..., Any], target: Callable[..., Any]) -> str:
    """A hash of the code that is tuned: of a `@flyc.jit` function all that it reaches, else the function's own text.

    A function with an attribute `source_digest`, a text, is taken at its word: one that launches kernels of a library
    depends on more than its own text.
    """
    told = getattr(fn, "source_digest", None)
    if isinstance(told, str) and told:
        return told
    digest = layers.source_digest(fn)
    if digest is not None:
        return digest
    try:
        text = inspect.getsource(target if inspect.isroutine(target) else type(target))
    except (OSError, TypeError):  # no source: built in, or typed into an interpreter
        text = f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', type(target).__qualname__)}"
    return hashlib.sha256(text.encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def _devices() -> tuple[runtime.Device, ...]:
    """All devices; asking the library takes longer than all else that a call needs."""
    return runtime.devices()


def call_device(named: dict[str, Any]) -> runtime.Device | None:
    """The device that a call with these arguments runs on; None where there is none (a compile-only machine).

    It is that of the first tensor on a HIP device, else the current one.
    """
    try:
        devices = _devices()
        for value in named.values():
            where = getattr(unwrapped(value), "device", None)
            if getattr(where, "type", None) == "cuda" and getattr(where, "index", None) is not None:
                return devices[where.index]  # type: ignore[union-attr]
        return devices[0] if len(devices) == 1 else runtime.current_device()
    except (runtime.DeviceError, FileNotFoundError, IndexError):
        return None


def device_descriptor(device: runtime.Device | None = None) -> dict[str, Any] | None:
    """Name, architecture and compute units of a device (None: the current one), or None where there is none.

    The name of an emulated device says so.
    """
    device = device if device is not None else call_device({})
    if device is None:
        return None
    return {"name": device.name, "arch": device.arch, "compute_units": device.compute_units}


def device_fingerprint() -> str:
    """The target architecture."""
    device = None if requested_arch() else call_device({})
    return get_rocm_arch() if device is None else device.arch


def device_text(device: runtime.Device | None) -> str:
    """What tells a device from others: what was measured on one says little about another.

    Its last words are "emulated, model …" for a device of the emulator, with what names the model that predicts: what
    another version predicted says nothing. It is empty where there is no device.
    """
    if device is None:
        return ""
    kind = f"emulated, model {layers.prediction_model()}" if device.emulated else device.kind
    return f"{device.name}, {device.arch}, {device.compute_units} compute units, {kind}"
