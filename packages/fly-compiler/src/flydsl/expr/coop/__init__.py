# SPDX-License-Identifier: Apache-2.0
"""Cooperation of the lanes of a wave and the threads of a workgroup: reductions and scans.

`fx.coop.universal` always holds the portable version of a name; the names here are the ones for the target.
"""

from __future__ import annotations

from . import universal as universal
from .universal import *  # noqa: F403 - a documented aggregation
from .universal import __all__ as _portable

__all__ = ["universal", *_portable]
