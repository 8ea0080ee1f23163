# SPDX-License-Identifier: Apache-2.0
"""The name by which existing code finds LayerNorm."""

from .norm.layernorm_kernel import build_layernorm_module

__all__ = ["build_layernorm_module"]
