# SPDX-License-Identifier: Apache-2.0
"""Calls of external device functions."""

from .ops.extern import *  # noqa: F403
from .ops.extern import __all__ as __all__
from .ops.extern import __doc__ as __doc__
