# SPDX-License-Identifier: Apache-2.0
"""The backend for NVIDIA devices."""

from .backend import CudaBackend

__all__ = ["CudaBackend"]
