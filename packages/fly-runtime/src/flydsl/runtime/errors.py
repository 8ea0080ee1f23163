# SPDX-License-Identifier: Apache-2.0
"""What the runtime raises: one class for each class of failure of the C interface (`FlyStatus` in flydsl/runtime.h).

Every exception of a call has the attribute `launched`: whether the device had been given any work of the call when it
came. When it is false nothing of the call has run, and it can be made again.
"""

from __future__ import annotations

from typing import TypeVar

_Error = TypeVar("_Error", bound=Exception)


def refused(error: _Error) -> _Error:
    """The same exception, which says that nothing of the call has run."""
    error.launched = False  # type: ignore[attr-defined]
    return error


class ArtifactError(RuntimeError):
    """A file is not an artifact that this runtime can load; the text says which file and why."""


class DeviceError(RuntimeError):
    """There is no device or no code for it, or the device library failed; the text has the library's whole report.

    Attributes:
        launched: whether the device had been given work before. Then its results may hold anything.
    """

    launched = False


class LaunchError(DeviceError):
    """The device failed at what it was given, an assertion of a kernel among that. Results may hold anything."""

    launched = True


class OutOfMemoryError(DeviceError, MemoryError):
    """Memory, of the host or of a device, or threads ran out."""
