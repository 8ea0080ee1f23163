# SPDX-License-Identifier: Apache-2.0
"""The registry of device runtimes, and which compile backend goes with which.

A device runtime answers for the devices of one kind. There is one today, "rocm": HIP hardware and the emulator alike.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod

from . import hardware, variables
from .errors import DeviceError

COMPILE_BACKEND_TO_RUNTIME_KIND: dict[str, str] = {"rocm": "rocm"}
"""Which kind of runtime runs what a compile backend makes."""

_DEFAULT_BACKEND = "rocm"
_lock = threading.Lock()
_kinds: dict[str, type[DeviceRuntime]] = {}
_instance: DeviceRuntime | None = None


class DeviceRuntime(ABC):
    """What the layers above ask of the devices of one kind."""

    kind: str = ""
    """The name under which the class is registered."""

    @abstractmethod
    def device_count(self) -> int:
        """How many devices there are; 0 when there is none."""

    @abstractmethod
    def current_device_id(self) -> int:
        """The calling thread's current device. Raises DeviceError when there is none."""


class RocmDeviceRuntime(DeviceRuntime):
    """AMD devices through HIP's interface: hardware, or the emulator."""

    kind = "rocm"

    def device_count(self) -> int:
        """How many devices there are, emulated ones included; 0 when there is none."""
        try:
            return len(hardware.devices())
        except DeviceError:
            return 0

    def current_device_id(self) -> int:
        """The calling thread's current device. Raises DeviceError when there is none."""
        return hardware.current_device().index


def register_device_runtime(cls: type[DeviceRuntime], *, kind: str | None = None, force: bool = False) -> None:
    """Register a device runtime under `kind` (default: its own `kind`).

    Raises TypeError for a class that is no DeviceRuntime, and ValueError for an empty kind, or one that is taken
    unless `force`.
    """
    if not (isinstance(cls, type) and issubclass(cls, DeviceRuntime)):
        raise TypeError(f"register_device_runtime: expected a subclass of DeviceRuntime, got {cls!r}")
    name = kind or cls.kind
    if not name:
        raise ValueError(f"register_device_runtime: {cls.__name__} has no kind; pass kind=")
    global _instance
    with _lock:
        if name in _kinds and not force:
            raise ValueError(f"device runtime kind {name!r} is {_kinds[name].__name__} already; pass force=True")
        _kinds[name] = cls
        if _instance is not None and _instance.kind == name:
            _instance = None


def register_compile_runtime_mapping(backend: str, kind: str, *, force: bool = False) -> None:
    """Say that code of a compile backend runs on a kind of runtime.

    Raises ValueError when the backend is mapped to another kind, unless `force`.
    """
    with _lock:
        present = COMPILE_BACKEND_TO_RUNTIME_KIND.get(backend)
        if present not in (None, kind) and not force:
            raise ValueError(f"compile backend {backend!r} runs on {present!r} already; pass force=True")
        COMPILE_BACKEND_TO_RUNTIME_KIND[backend] = kind


def _class_of(kind: str) -> type[DeviceRuntime]:
    cls = _kinds.get(kind)
    if cls is None:
        raise ValueError(f"unknown device runtime kind {kind!r}; there are: {', '.join(sorted(_kinds))}")
    return cls


def get_device_runtime() -> DeviceRuntime:
    """The process's device runtime, of the kind that FLYDSL_RUNTIME_KIND named at the first call (default "rocm").

    Raises ValueError for a kind that nobody has registered.
    """
    global _instance
    with _lock:
        if _instance is None:
            _instance = _class_of(variables.KIND.get())()
        return _instance


def ensure_compile_runtime_compatible(backend: str, kind: str | None = None) -> None:
    """Raise RuntimeError unless code of a compile backend runs on a kind of runtime (None: the process's).

    Raises ValueError for a kind that nobody has registered.
    """
    wanted = kind if kind is not None else variables.KIND.get()
    _class_of(wanted)
    mapped = COMPILE_BACKEND_TO_RUNTIME_KIND.get(backend)
    if mapped is None:
        raise RuntimeError(
            f"compile backend {backend!r} has no device runtime; register_compile_runtime_mapping says which one it has"
        )
    if mapped != wanted:
        raise RuntimeError(
            f"compile backend {backend!r} makes code for device runtime {mapped!r}, but the runtime is {wanted!r} "
            "(FLYDSL_RUNTIME_KIND)"
        )


def ensure_compile_runtime_pairing_from_env() -> None:
    """`ensure_compile_runtime_compatible` for FLYDSL_COMPILE_BACKEND and FLYDSL_RUNTIME_KIND (default: rocm)."""
    ensure_compile_runtime_compatible(os.environ.get("FLYDSL_COMPILE_BACKEND") or _DEFAULT_BACKEND)


register_device_runtime(RocmDeviceRuntime)
