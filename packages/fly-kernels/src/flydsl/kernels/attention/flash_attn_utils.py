# SPDX-License-Identifier: Apache-2.0
"""Builders and configuration of flash attention, by the module in which existing tests look for them."""

from .config import FlashConfig, block_rows, default_config
from .flash_attn_generic import build_flash_attn_func_module, build_flash_attn_func_module_primary
from .flash_attn_gfx950 import build_flash_attn_dualwave_swp_module
from .flash_attn_interface import flydsl_flash_attn_func

__all__ = [
    "FlashConfig",
    "block_rows",
    "build_flash_attn_dualwave_swp_module",
    "build_flash_attn_func_module",
    "build_flash_attn_func_module_primary",
    "default_config",
    "flydsl_flash_attn_func",
]
