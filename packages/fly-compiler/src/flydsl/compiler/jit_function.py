# SPDX-License-Identifier: Apache-2.0
"""`@flyc.jit`."""

from flydsl.call.jit_function import *  # noqa: F403
from flydsl.call.jit_function import __all__ as __all__
