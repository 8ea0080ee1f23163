# SPDX-License-Identifier: Apache-2.0
"""What the runtime raises beside Python's own exceptions."""

from __future__ import annotations


class ArtifactError(RuntimeError):
    """A file is not an artifact that this runtime can load; the text says which file and why."""


class DeviceError(RuntimeError):
    """There is no device, or the device library failed; the text has every place that was searched."""
