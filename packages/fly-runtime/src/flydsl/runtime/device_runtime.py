# SPDX-License-Identifier: Apache-2.0
"""The registry of device runtimes, and which compile backend goes with which.

A device runtime answers for the devices of one kind. Two are here: "rocm" (HIP hardware and the emulator alike) and
"cuda".
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

from . import hardware, variables
from .errors import DeviceError
from .forks import new_lock

COMPILE_BACKEND_TO_RUNTIME_KIND: dict[str, str] = {"rocm": "rocm", "cuda": "cuda"}
"""Which kind of runtime runs what a compile backend makes."""

_DEFAULT_BACKEND = "rocm"
_OWN_KINDS = ("rocm", "cuda")
_lock = new_lock()
_kinds: dict[str, type[DeviceRuntime]] = {}
_instance: DeviceRuntime | None = None


class RuntimePairingError(RuntimeError, ValueError):
    """A compile backend and a device runtime that do not go together, or one of them that nobody knows.

    Both kinds of error in one: whether a name is unknown or does not fit depends on what else is registered.
    """


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


class _ChosenDevices(DeviceRuntime):
    """The devices of the library in use, where they are of this kind."""

    device_kinds: tuple[str, ...] = ()
    """Of `hardware.Device.kind`."""

    def device_count(self) -> int:
        """How many devices of this kind there are, emulated ones included; 0 when there is none."""
        try:
            return sum(device.kind in self.device_kinds for device in hardware.devices())
        except DeviceError:
            return 0

    def current_device_id(self) -> int:
        """The calling thread's current device. Raises DeviceError when there is none of this kind."""
        device = hardware.current_device()
        if device.kind not in self.device_kinds:
            raise DeviceError(f"device runtime {self.kind!r} has no device: the device in use is {device!r}")
        return device.index


class RocmDeviceRuntime(_ChosenDevices):
    """AMD devices through HIP's interface: hardware, or the emulator."""

    kind = "rocm"
    device_kinds = ("hip", "emulator")


class CudaDeviceRuntime(_ChosenDevices):
    """NVIDIA devices through the CUDA driver's interface."""

    kind = "cuda"
    device_kinds = ("cuda",)


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


def register_compile_runtime_mapping(compile_backend: str, runtime_kind: str) -> None:
    """Say that code of a compile backend runs on a kind of runtime; the last word counts.

    Raises ValueError for an empty name.
    """
    if not compile_backend or not runtime_kind:
        raise ValueError(
            f"register_compile_runtime_mapping: expected two names, got {compile_backend!r}, {runtime_kind!r}"
        )
    with _lock:
        COMPILE_BACKEND_TO_RUNTIME_KIND[compile_backend] = runtime_kind


def _class_of(kind: str) -> type[DeviceRuntime]:
    cls = _kinds.get(kind)
    if cls is None:
        raise RuntimePairingError(f"unknown device runtime kind {kind!r}; there are: {', '.join(sorted(_kinds))}")
    return cls


def _kind_of_the_device() -> str:
    """The kind of runtime of the device in use; "rocm" where there is no device."""
    try:
        return "cuda" if hardware.current_device().kind == "cuda" else "rocm"
    except DeviceError:
        return "rocm"


def get_device_runtime() -> DeviceRuntime:
    """The process's device runtime, of the kind that FLYDSL_RUNTIME_KIND named at the first call; where it named none,
    of the kind of the device in use ("rocm" when there is no device).

    Raises RuntimePairingError for a kind that nobody has registered.
    """
    global _instance
    with _lock:
        if _instance is None:
            _instance = _class_of(variables.KIND.get() or _kind_of_the_device())()
        return _instance


def ensure_compile_runtime_compatible(compile_backend_id: str, *, runtime: DeviceRuntime | None = None) -> None:
    """Raise RuntimePairingError unless code of a compile backend runs on a runtime (None: the process's).

    Where FLYDSL_RUNTIME_KIND names none, the runtimes of this package will do: a launch tells when the device in use
    has no code, and a machine without a device compiles for any.
    """
    chosen = runtime.kind if runtime is not None else variables.KIND.get()
    if runtime is None and chosen:
        _class_of(chosen)
    mapped = COMPILE_BACKEND_TO_RUNTIME_KIND.get(compile_backend_id)
    wanted = chosen or (mapped if mapped in _OWN_KINDS else _OWN_KINDS[0])
    if mapped is None:
        raise RuntimePairingError(
            f"compile backend {compile_backend_id!r} has no device runtime; register_compile_runtime_mapping says "
            "which one it has"
        )
    if mapped != wanted:
        raise RuntimePairingError(
            f"compile backend {compile_backend_id!r} makes code for device runtime {mapped!r}, but the runtime is "
            f"{wanted!r} (FLYDSL_RUNTIME_KIND)"
        )


def ensure_compile_runtime_pairing_from_env(compile_backend_id: str | None = None) -> None:
    """`ensure_compile_runtime_compatible` for a backend (None: FLYDSL_COMPILE_BACKEND) and FLYDSL_RUNTIME_KIND."""
    ensure_compile_runtime_compatible(
        compile_backend_id or os.environ.get("FLYDSL_COMPILE_BACKEND") or _DEFAULT_BACKEND
    )


register_device_runtime(RocmDeviceRuntime)
register_device_runtime(CudaDeviceRuntime)
