# SPDX-License-Identifier: Apache-2.0
"""An AMD GPU in a shared library: the HIP C API, executing AMD code objects on the CPU."""

from __future__ import annotations

from flydsl.emulator._library import include_path, library_path, version

__all__ = ["include_path", "library_path", "version"]
