# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds RMSNorm."""

from .norm.rmsnorm_kernel import build_rmsnorm_module

__all__ = ["build_rmsnorm_module"]
