# SPDX-License-Identifier: Apache-2.0
"""Loads and stores through a buffer resource, by element offset; the hardware checks bounds."""

from .rocdl.buffer_ops import *  # noqa: F403
from .rocdl.buffer_ops import __all__ as __all__
