# SPDX-License-Identifier: Apache-2.0
"""Numeric scalar types: construction, conversion, promotion, operators."""

from .values.numeric import *  # noqa: F403
from .values.numeric import __all__ as __all__
