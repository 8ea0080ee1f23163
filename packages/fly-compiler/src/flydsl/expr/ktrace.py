# SPDX-License-Identifier: Apache-2.0
"""`fx.ktrace`: marks and ranges that the waves of a kernel record while it runs."""

from .ops.ktrace import *  # noqa: F403
from .ops.ktrace import __all__ as __all__
from .ops.ktrace import __doc__ as __doc__
