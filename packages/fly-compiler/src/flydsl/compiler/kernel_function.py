# SPDX-License-Identifier: Apache-2.0
"""`@flyc.kernel`, and the compilation that a traced kernel or host function belongs to."""

from flydsl.call.kernel_function import *  # noqa: F403
from flydsl.call.kernel_function import __all__ as __all__
