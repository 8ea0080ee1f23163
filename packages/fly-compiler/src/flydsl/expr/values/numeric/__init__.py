# SPDX-License-Identifier: Apache-2.0
"""Numeric scalar types: construction, conversion, promotion, operators."""

from .base import Numeric, as_numeric
from .cast import RoundingMode
from .meta import NumericMeta
from .types import *  # noqa: F403 - a documented aggregation
from .types import __all__ as _types

__all__ = ["Numeric", "NumericMeta", "RoundingMode", "as_numeric", *_types]
