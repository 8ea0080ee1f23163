# SPDX-License-Identifier: Apache-2.0
"""Launch arguments by the names under which kernels import them."""

from .compat.jit_argument import *  # noqa: F403
from .compat.jit_argument import __all__ as __all__
