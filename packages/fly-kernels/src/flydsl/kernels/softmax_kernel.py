# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds the row softmax."""

from .norm.softmax_kernel import build_softmax_module

__all__ = ["build_softmax_module"]
