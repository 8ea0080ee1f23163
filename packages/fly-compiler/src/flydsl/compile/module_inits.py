# SPDX-License-Identifier: Apache-2.0
"""Callbacks on the loaded device module, once for each device that a function is launched on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flydsl.runtime import Artifact, current_device
from flydsl.runtime.forks import new_lock

__all__ = ["InitialisedFunction"]


class InitialisedFunction:
    """The entry of an artifact; before its first launch on a device, callbacks get the module loaded there.

    Args:
        artifact: what was compiled.
        callbacks: called in order with the device runtime's handle of the module, as an integer. One that raises keeps
            the launch from happening, and all are called again at the next one.
        dlpack_device: DLPack's number for the backend's devices; `None` where arguments do not say on which one to
            launch.
    """

    def __init__(
        self, artifact: Artifact, callbacks: Sequence[Callable[[int], Any]], dlpack_device: int | None
    ) -> None:
        self._artifact = artifact
        self._dlpack_device = dlpack_device
        self._callbacks = list(callbacks)
        self._initialised: set[int] = set()
        self._lock = new_lock()

    def prepare(self, device: int) -> None:
        """Load the module on a device and call back, unless that was done."""
        if device in self._initialised:
            return
        with self._lock:
            if device not in self._initialised:
                module = self._artifact.load_module(device)
                for callback in self._callbacks:
                    callback(module)
                self._initialised.add(device)

    def __call__(self, *args: Any) -> None:
        """Launch on the device of the first tensor in a device's memory, else on the current one."""
        self.prepare(self._device_of(args))
        self._artifact.entry(*args)

    def direct(self, args: tuple[Any, ...]) -> None:
        """Return nothing: every call has to come here (see `flydsl.runtime.ArtifactFunction.direct`)."""

    def _device_of(self, args: tuple[Any, ...]) -> int:
        for one in args:
            place = getattr(one, "__dlpack_device__", None)
            if place is not None:
                kind, index = place()
                if int(kind) == self._dlpack_device:
                    return int(index)
        return current_device().index
