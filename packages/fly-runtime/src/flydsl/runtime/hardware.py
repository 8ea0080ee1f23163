# SPDX-License-Identifier: Apache-2.0
"""The devices that artifacts run on, and the library that serves them."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from dataclasses import dataclass
from typing import Any, Literal

from . import _library, variables
from .architecture import processor, requested_arch
from .errors import DeviceError

_said = threading.Event()
_all: tuple[Device, ...] | None = None  # once chosen they stay, in the C library too
_SANITIZE = "FLYDSL_EMU_SANITIZE"
_SAID = {"emulator": "emulated device (no AMD GPU is used)", "hip": "HIP device", "cuda": "CUDA device"}
_HINT = f"{_SANITIZE}=all has it look for wrong accesses, races and missing waits"


@dataclass(frozen=True)
class Device:
    """One device: real (`kind` "hip" or "cuda") or emulated (`kind` "emulator")."""

    index: int
    name: str
    arch: str
    """The processor, without features: "gfx942", "sm_90a"."""
    features: tuple[str, ...]
    """What HIP reports after the processor: ("sramecc+", "xnack-")."""
    kind: Literal["hip", "cuda", "emulator"]
    library: str
    """The path of the library that serves the device."""
    warp_size: int
    compute_units: int
    memory_bytes: int
    lds_bytes: int
    """LDS that one workgroup may have."""
    max_threads: int
    """Threads that one workgroup may have."""

    @property
    def emulated(self) -> bool:
        """Whether the device is the emulator's: what it computes is exact, what takes time on it says nothing."""
        return self.kind == "emulator"

    def __repr__(self) -> str:
        what = "emulated" if self.emulated else self.kind
        return f"<Device {self.index}: {self.name} ({self.arch}, {what}, {self.library})>"


def _tell_the_emulator() -> None:
    """Before the library is chosen: the emulator presents the target, unless its devices are given by name.

    Raises ValueError when the environment asks for no architecture, or for two.
    """
    if _said.is_set():
        return
    target = requested_arch()
    if target is not None and not variables.EMULATED_DEVICES.is_set():
        _library.check(_library.load().flydsl_set_emulated_devices(processor(target).encode()))


def describe() -> dict[str, Any]:
    """The library in use, each place that was searched for it, and its devices, as the C interface reports them.

    `library` is None when nothing was found. Raises ValueError for a setting that is not valid.
    """
    _tell_the_emulator()
    text = ctypes.c_char_p()
    _library.check(_library.load().flydsl_describe(ctypes.byref(text)))
    report: dict[str, Any] = json.loads(text.value or b"{}")
    return report


def devices() -> tuple[Device, ...]:
    """All devices of the library in use. The first call chooses the library, and says in the log which one.

    Raises DeviceError, with every place that was searched, when there is none.
    """
    global _all
    if _all is not None:
        return _all
    _tell_the_emulator()
    count = ctypes.c_int32()
    _library.check(_library.load().flydsl_device_count(ctypes.byref(count)))
    report = describe()
    found = []
    for entry in report["devices"]:
        arch, *features = entry.pop("arch").split(":")
        found.append(
            Device(arch=arch, features=tuple(features), kind=report["kind"], library=report["library"], **entry)
        )
    if not _said.is_set():
        _said.set()
        import logging  # costs more than the rest of this module together

        emulated = report["kind"] == "emulator"
        what = _SAID[report["kind"]]
        hint = f"; {_HINT}" if emulated and not os.environ.get(_SANITIZE) else ""
        # Who did not ask for the emulator is told at a terminal without having to set up a log.
        chosen = (variables.DEVICE, variables.HIP_LIBRARY, variables.CUDA_LIBRARY)
        by_itself = not any(variable.is_set() for variable in chosen)
        told = emulated and by_itself and sys.stderr is not None and sys.stderr.isatty()
        logging.getLogger("flydsl").log(
            logging.WARNING if told else logging.INFO,
            "%s: %s, from %s%s", what, ", ".join(device.arch for device in found), report["library"], hint,
        )  # fmt: skip
    _all = tuple(found)
    return _all


def current_device() -> Device:
    """The calling thread's current device. Raises DeviceError when there is none."""
    all_devices = devices()
    index = ctypes.c_int32()
    _library.check(_library.load().flydsl_get_device(ctypes.byref(index)))
    return all_devices[index.value]


def set_current_device(index: int) -> None:
    """Make a device current for the calling thread. Calls with tensors on a GPU use that one instead.

    Raises ValueError for an index that no device has, and DeviceError when there is no device at all.
    """
    _library.check(_library.load().flydsl_set_device(index))


def load_driver_compiler() -> None:
    """Have the CUDA driver load its compiler in a thread of the runtime's, while ours is at work: once in a process.

    Nothing happens on other devices, before the first use of a device, and where the thread has no CUDA context.
    """
    _library.begin_loading(None)


def load_ptx_ahead(arch: str, ptx: bytes) -> None:
    """Begin to load PTX for an architecture on the current CUDA device, in a thread of the runtime's.

    The driver compiles it while the artifact that will hold it is made, which takes what was loaded.

    Nothing happens on other devices, before the first use of a device, and where the thread has no CUDA context. What
    fails is raised by the launch.
    """
    _library.begin_loading_ptx(arch, ptx)


def synchronize(stream: int | None = None) -> None:
    """Wait until a stream (an address; None is the default stream) has finished its work."""
    _library.check(_library.load().flydsl_synchronize(stream))


def find_arch() -> str | None:
    """The current device's processor, or None on a machine without a device library (a compile-only machine)."""
    try:
        return current_device().arch
    except (DeviceError, FileNotFoundError):
        return None
