# SPDX-License-Identifier: Apache-2.0
"""What code that generates kernels asks of a trace."""

from flydsl.trace.options import *  # noqa: F403
from flydsl.trace.options import __all__ as __all__
