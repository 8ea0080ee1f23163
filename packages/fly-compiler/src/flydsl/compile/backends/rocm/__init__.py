# SPDX-License-Identifier: Apache-2.0
"""The backend for AMD devices."""

from .backend import RocmBackend

__all__ = ["RocmBackend"]
